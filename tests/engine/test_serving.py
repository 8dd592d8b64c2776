import asyncio
import base64

import aiohttp
import msgspec
import pytest
from engine_parts import WORDS, image, pixel_policy, play, png, request, text_policy, user, words
from msgspec.structs import replace

from screenloop.engine.local import LocalEngine
from screenloop.engine.serving import ModelServer, RecentBlobs, serve
from screenloop.engine.tiny import tiny_text
from screenloop.errors import AgentError, ConfigError, InfraFault, ModelUnavailable
from screenloop.models.client import Endpoint, OpenAIModel
from screenloop.store.blobs import MemoryBlobs

TURNS = ["open the red alarm clock", "save", "delete the notes"]


def served(policy, **options):
    blobs = RecentBlobs()
    return ModelServer(LocalEngine(policy, blobs, weights_version="7"), blobs, **options)


def client(server, blobs, model=None):
    endpoint = Endpoint(model=model or server.model, base_url=server.base_url)
    return OpenAIModel(endpoint, blobs=blobs, token_facts=True)


async def post(server, body, **headers):
    data = body if isinstance(body, bytes) else msgspec.json.encode(body)
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{server.base_url}/chat/completions", data=data, headers=headers) as answer,
    ):
        return answer.status, msgspec.json.decode(await answer.read())


@pytest.mark.parametrize("sees", [False, True])
async def test_over_http_every_token_fact_is_that_of_the_engine_in_this_process(sees):
    blobs = MemoryBlobs()
    policy = pixel_policy() if sees else text_policy()
    turns = [
        (words(text), image(blobs, n)) if sees else (words(text),) for n, text in enumerate(TURNS)
    ]
    here = LocalEngine(policy, blobs, weights_version="7")
    expected = await play(here, "e", turns, top_p=0.95)
    await here.close()
    async with served(policy) as server:
        remote = client(server, blobs)
        await remote.preflight()
        replies = await play(remote, "e", turns, top_p=0.95)
        await remote.close()
    for got, want in zip(replies, expected, strict=True):
        assert want.token_ids
        assert len(want.images) == sees * (1 + expected.index(want))
        assert got == replace(want, took_s=got.took_s)


async def test_concurrent_calls_share_passes_and_the_counters_tell():
    async with served(text_policy()) as server:
        remote = client(server, MemoryBlobs())
        calls = [request(f"e{n}/c0", user(words(TURNS[0])), max_tokens=20) for n in range(6)]
        await asyncio.gather(*(remote.complete(c, deadline_s=60) for c in calls))
        await remote.close()
        async with (
            aiohttp.ClientSession() as session,
            session.get(server.base_url.replace("/v1", "/stats")) as answer,
        ):
            stats = await answer.json()
    assert stats["requests"] == 6
    assert stats["cached_tokens"] > 0


async def test_a_call_sent_twice_gets_the_same_answer_and_one_without_a_key_is_drawn_anew():
    body = {"messages": [{"role": "user", "content": TURNS[0]}], "max_tokens": 20}
    async with served(text_policy()) as server:
        keyed = [await post(server, body, **{"Idempotency-Key": "k"}) for _ in range(2)]
        loose = [await post(server, body) for _ in range(3)]
        seeded = [await post(server, {**body, "seed": 4}) for _ in range(2)]
    texts = [[a["choices"][0]["message"]["content"] for _, a in x] for x in (keyed, loose, seeded)]
    assert [len(set(t)) for t in texts] == [1, 3, 1]


async def test_ids_and_log_probs_come_only_when_asked_for():
    body = {"messages": [{"role": "user", "content": "open"}], "max_tokens": 2}
    async with served(text_policy()) as server:
        _, bare = await post(server, body)
        _, full = await post(server, {**body, "logprobs": True, "return_token_ids": True})
    assert "prompt_token_ids" not in bare
    assert not {"token_ids", "logprobs"} & set(bare["choices"][0])
    told = full["screenloop"]
    assert told["images"] == []
    assert tuple(told["banned_token_ids"]) == text_policy().banned_ids
    assert told["token_stack"]["tokenizer_hash"] == text_policy().card().tokenizer_hash
    content = full["choices"][0]["logprobs"]["content"]
    assert [c["token_id"] for c in content] == full["choices"][0]["token_ids"]
    assert full["usage"]["total_tokens"] == len(full["prompt_token_ids"]) + len(content)


async def test_the_listed_model_tells_its_card():
    async with (
        served(text_policy(), model="mine") as server,
        aiohttp.ClientSession() as session,
        session.get(f"{server.base_url}/models") as answer,
    ):
        (entry,) = (await answer.json())["data"]
    assert (entry["id"], entry["weights_version"]) == ("mine", "7")
    assert entry["card"]["policy"]["tokenizer_hash"] == text_policy().card().tokenizer_hash


TURN = {"role": "user", "content": "open"}


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"{", "not valid"),
        (b'{"messages": "\xff"}', "not valid"),
        ({}, "messages"),
        ({"messages": []}, "empty"),
        ({"messages": [TURN], "stream": True}, "streaming"),
        ({"messages": [TURN], "n": 2}, r"\$.n"),
        ({"messages": [TURN], "logit_bias": {"1": 5}}, "logit_bias"),
        ({"messages": [TURN], "temperature": -1}, "temperature"),
        ({"messages": [TURN], "top_p": 0}, "top_p"),
        ({"messages": [TURN], "top_k": 0}, "top_k"),
        ({"messages": [TURN], "max_tokens": -3}, "max_tokens"),
        ({"messages": [TURN], "stop": ""}, "stop"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "role"),
        (
            {
                "messages": [
                    {
                        "role": "user",
                        "content": [
                            {
                                "type": "image_url",
                                "image_url": {"url": "http://example.invalid/a.png"},
                            }
                        ],
                    }
                ]
            },
            "data URL",
        ),
        (
            {
                "messages": [
                    {
                        "role": "user",
                        "content": [
                            {
                                "type": "image_url",
                                "image_url": {"url": "data:image/png;base64,####"},
                            }
                        ],
                    }
                ]
            },
            "cannot be read",
        ),
        (
            {
                "messages": [
                    {
                        "role": "user",
                        "content": [
                            {
                                "type": "image_url",
                                "image_url": {"url": "data:image/png;base64,AAAA"},
                            }
                        ],
                    }
                ]
            },
            "cannot be read",
        ),
        (
            {
                "messages": [
                    {
                        "role": "user",
                        "content": [
                            {
                                "type": "image_url",
                                "image_url": {
                                    "url": "data:image/png;base64,"
                                    + base64.b64encode(png(1)).decode()
                                },
                            }
                        ],
                    }
                ]
            },
            "takes no pictures",
        ),
    ],
)
async def test_what_cannot_be_done_is_refused_with_a_reason(body, says):
    async with served(text_policy()) as server:
        status, answer = await post(server, body)
    assert status == 400
    assert set(answer["error"]) == {"message", "type", "code"}
    with pytest.raises(AssertionError, match=says):
        raise AssertionError(answer["error"]["message"])


async def test_the_clients_errors_are_the_right_ones():
    async with served(text_policy()) as server:
        remote, stranger = client(server, MemoryBlobs()), client(server, MemoryBlobs(), "other")
        with pytest.raises(AgentError, match="does not fit"):
            await remote.complete(request("e/c0", user(words("save " * 2100))), deadline_s=60)
        with pytest.raises(ModelUnavailable, match="there is no model"):
            await stranger.complete(request("e/c0", user(words("save"))), deadline_s=60)
        await remote.close()
        await stranger.close()


async def test_a_picture_of_the_wrong_size_is_refused_with_the_right_factor():
    url = "data:image/png;base64," + base64.b64encode(png(1, (50, 64))).decode()
    turn = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}
    async with served(pixel_policy()) as server:
        status, answer = await post(server, {"messages": [turn]})
    assert status == 400
    assert "multiples of 16 px" in answer["error"]["message"]


async def test_a_saved_model_is_served_until_it_is_stopped(tmp_path):
    tiny_text(WORDS, seed=1).save(tmp_path / "mine")
    listening = asyncio.get_running_loop().create_future()

    def ready(base_url, model):
        listening.set_result(Endpoint(model=model, base_url=base_url))

    serving = asyncio.create_task(serve(tmp_path / "mine", port=0, ready=ready))
    endpoint = await listening
    assert endpoint.model == "tiny-text"
    remote = OpenAIModel(endpoint, blobs=MemoryBlobs(), token_facts=True)
    reply = await remote.complete(request("e/c0", user(words("open"))), deadline_s=60)
    assert reply.weights_version == "0"
    await remote.close()
    serving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await serving


async def test_a_taken_port_is_said_in_one_line(tmp_path):
    tiny_text(WORDS, seed=1).save(tmp_path / "mine")
    async with served(text_policy()) as server:
        port = int(server.base_url.split(":")[2].partition("/")[0])
        with pytest.raises(ConfigError, match="cannot listen"):
            await serve(tmp_path / "mine", port=port)


def test_old_pictures_of_requests_are_let_go():
    blobs = RecentBlobs(limit=2)
    keys = [blobs.put(bytes([n]), "png") for n in range(3)]
    assert blobs.get(keys[2]) == b"\x02"
    with pytest.raises(InfraFault, match="no longer kept"):
        blobs.get(keys[0])
