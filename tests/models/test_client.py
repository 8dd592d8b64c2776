import asyncio
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screenloop.errors import AgentError, ConfigError, DeadlinePassed, ModelUnavailable
from screenloop.messages import ChatRequest, ImagePart, Message, Sampling, TextPart
from screenloop.models.client import OpenAIModel, api_key_from, parse_endpoint
from screenloop.models.retrying import RequestBackOff
from screenloop.models.usage import Price
from screenloop.store.blobs import MemoryBlobs
from screenloop.testing.fake_model_server import FakeReply, FakeServer, Fault

FAST = RequestBackOff(attempts=4, first_s=0.001, cap_s=0.002)
RETRIED_FAULTS = [
    Fault.RATE_LIMITED,
    Fault.SERVER_ERROR,
    Fault.TRUNCATED,
    Fault.WRONG_TYPES,
    Fault.NOT_UTF8,
    Fault.NO_CHOICES,
    Fault.HUGE,
    Fault.DROPPED,
]


def say(*texts: str, call_id: str = "e/c0", **sampling: object) -> ChatRequest:
    roles = ("user", "assistant")
    return ChatRequest(
        call_id=call_id,
        session_id="e/w0",
        messages=tuple(
            Message(role=roles[i % 2], parts=(TextPart(text=t),)) for i, t in enumerate(texts)
        ),
        sampling=Sampling(**sampling),
    )


def model_at(server: FakeServer, **options: object) -> OpenAIModel:
    options = {"blobs": MemoryBlobs(), "back_off": FAST, **options}
    return OpenAIModel(parse_endpoint(f"fake@{server.base_url}"), **options)


async def test_a_reply_carries_text_usage_and_the_number_of_tries():
    async with FakeServer(["hello there"]) as server:
        model = model_at(server)
        reply = await model.complete(say("hi", temperature=0.5, seed=3), deadline_s=60)
        await model.close()
    sent = server.requests[0].json
    assert reply.text == "hello there"
    assert reply.attempts == 1
    assert reply.usage.completion == 3
    assert reply.usage.cached == 0
    assert (sent["model"], sent["temperature"], sent["seed"]) == ("fake", 0.5, 3)
    assert sent["messages"] == [{"role": "user", "content": "hi"}]
    assert "top_k" not in sent
    assert "logprobs" not in sent


async def test_images_travel_as_data_urls_read_from_the_blob_store():
    blobs = MemoryBlobs()
    key = blobs.put(b"pixels", "png")
    image = ImagePart(key=key, mime="image/png", size_px=(1, 1))
    message = Message(role="user", parts=(TextPart(text="look"), image))
    request = ChatRequest(call_id="c", session_id="s", messages=(message,))
    async with FakeServer(["ok"]) as server:
        model = model_at(server, blobs=blobs)
        await model.complete(request, deadline_s=60)
        await model.close()
    assert server.requests[0].json["messages"][0]["content"] == [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,cGl4ZWxz"}},
    ]


async def test_equal_requests_send_equal_bytes():
    async with FakeServer(lambda request: "ok") as server:
        model = model_at(server)
        for call_id in ("a/c0", "b/c0"):
            await model.complete(say("hi", call_id=call_id), deadline_s=60)
        await model.close()
    assert server.requests[0].body == server.requests[1].body


async def test_token_facts_are_kept_when_asked_for():
    async with FakeServer(["hello there"]) as server:
        model = model_at(server, token_facts=True)
        reply = await model.complete(say("hi"), deadline_s=60)
        await model.close()
    assert reply.token_ids is not None
    assert reply.logprobs is not None
    assert reply.prompt_token_ids is not None
    assert len(reply.token_ids) == len(reply.logprobs) == reply.usage.completion
    assert len(reply.prompt_token_ids) == reply.usage.prompt


async def test_a_growing_prompt_is_counted_as_cached_up_to_its_common_prefix():
    async with FakeServer(lambda request: "four") as server:
        model = model_at(server)
        first = await model.complete(say("x" * 400), deadline_s=60)
        grown = await model.complete(say("x" * 400, "four", "next", call_id="e/c1"), deadline_s=60)
        other = await model.complete(say("y" * 400, call_id="e/c2"), deadline_s=60)
        await model.close()
    assert first.usage.cached == 0
    assert grown.usage.cached >= first.usage.prompt
    assert other.usage.cached < 5


@pytest.mark.parametrize("fault", RETRIED_FAULTS)
async def test_a_passing_fault_is_retried_under_the_same_key(fault: Fault):
    async with FakeServer(["fine"]) as server:
        server.fail(fault)
        model = model_at(server)
        reply = await model.complete(say("hi"), deadline_s=60)
        await model.close()
    assert reply.text == "fine"
    assert reply.attempts == 2
    assert server.keys == {"e/c0": 2}
    assert server.requests[0].body == server.requests[1].body


@pytest.mark.parametrize("fault", [f for f in RETRIED_FAULTS if f is not Fault.HUGE])
async def test_a_lasting_fault_ends_as_model_unavailable_after_bounded_tries(fault: Fault):
    async with FakeServer(["never"]) as server:
        server.fail(fault, times=10)
        model = model_at(server)
        with pytest.raises(ModelUnavailable, match="failed 4 times"):
            await model.complete(say("hi"), deadline_s=30)
        await model.close()
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd",
        b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
    ],
)
async def test_a_server_that_speaks_something_else_is_unavailable(answer: bytes):
    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(speak, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    endpoint = parse_endpoint(f"m@http://127.0.0.1:{port}/v1")
    model = OpenAIModel(endpoint, blobs=MemoryBlobs(), back_off=FAST)
    for call in (model.complete(say("hi"), deadline_s=60), model.preflight()):
        with pytest.raises(ModelUnavailable, match=f"127.0.0.1:{port}") as refused:
            await call
        assert len(str(refused.value).splitlines()) == 1
    await model.close()
    server.close()
    await server.wait_closed()


async def test_silence_ends_at_the_deadline():
    async with FakeServer(["never"]) as server:
        server.fail(Fault.SILENT)
        model = model_at(server)
        with pytest.raises(DeadlinePassed, match=r"within 0\.2 s"):
            await model.complete(say("hi"), deadline_s=0.2)
        await model.close()


async def test_a_wait_that_would_pass_the_deadline_is_not_begun():
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async with FakeServer(["never"]) as server:
        server.fail(Fault.SERVER_ERROR, times=9)
        patient = RequestBackOff(attempts=9, first_s=1000.0, cap_s=1000.0)
        model = model_at(server, back_off=patient, sleep=sleep)
        with pytest.raises(DeadlinePassed, match="HTTP 500"):
            await model.complete(say("hi"), deadline_s=30)
        await model.close()
    assert slept == []


async def test_the_servers_own_retry_after_is_kept():
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async with FakeServer(["fine"]) as server:
        server.fail(Fault.RATE_LIMITED)
        model = model_at(server, back_off=RequestBackOff(first_s=5.0), sleep=sleep)
        await model.complete(say("hi"), deadline_s=60)
        await model.close()
    assert slept == [0.0]


async def test_a_prompt_too_long_for_the_model_is_the_agents_failure():
    async with FakeServer(["never"]) as server:
        server.fail(Fault.OVERFLOW)
        model = model_at(server)
        with pytest.raises(AgentError, match="smaller window"):
            await model.complete(say("hi"), deadline_s=10)
        await model.close()
    assert len(server.requests) == 1


async def test_a_wrong_key_is_not_retried_and_never_shown():
    async with FakeServer(["never"]) as server:
        server.fail(Fault.UNAUTHORIZED)
        model = model_at(server, api_key="sk-very-secret")
        with pytest.raises(ModelUnavailable, match="OPENAI_API_KEY") as caught:
            await model.complete(say("hi"), deadline_s=10)
        await model.close()
    assert server.requests[0].authorization == "Bearer sk-very-secret"
    assert "sk-very-secret" not in str(caught.value)
    assert "sk-very-secret" not in repr(model)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("", ""),
        (None, ""),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "ab"),
        (42, "42"),
        ({"action": "tap"}, '{"action":"tap"}'),
        ('{"type": "tap", "at": [0.', '{"type": "tap", "at": [0.'),
    ],
)
async def test_whatever_the_model_said_comes_through_as_text(content: object, text: str):
    async with FakeServer([FakeReply(content=content, finish_reason=None)]) as server:
        model = model_at(server)
        reply = await model.complete(say("hi"), deadline_s=60)
        await model.close()
    assert reply.text == text
    assert reply.finish_reason == "unknown"


async def test_native_tool_calls_follow_the_text_as_blocks():
    call = {"type": "function", "function": {"name": "tap", "arguments": '{"at": [1, 2]}'}}
    broken = {"type": "function", "function": {"name": "tap", "arguments": '{"at": ['}}
    async with FakeServer([FakeReply(content="so", tool_calls=(call, broken))]) as server:
        model = model_at(server)
        reply = await model.complete(say("hi"), deadline_s=60)
        await model.close()
    assert reply.text == (
        'so\n<tool_call>\n{"name":"tap","arguments":{"at":[1,2]}}\n</tool_call>'
        '\n<tool_call>\n{"name":"tap","arguments":"{\\"at\\": ["}\n</tool_call>'
    )


async def test_costs_come_from_the_price_given():
    async with FakeServer(["abcd"]) as server:
        price = Price(prompt_usd=0.0, completion_usd=2.0, cached_usd=0.0)
        model = model_at(server, price=price)
        reply = await model.complete(say("hi"), deadline_s=60)
        await model.close()
    assert reply.usage.cost_usd == pytest.approx(2e-6)


async def test_concurrent_calls_share_one_model():
    async with FakeServer(lambda request: request.idempotency_key) as server:
        model = model_at(server)
        calls = [model.complete(say("hi", call_id=f"e/c{i}"), deadline_s=60) for i in range(20)]
        replies = await asyncio.gather(*calls)
        await model.close()
        await model.close()
    assert [reply.text for reply in replies] == [f"e/c{i}" for i in range(20)]


# ---- preflight -----------------------------------------------------------------------------


async def test_preflight_asks_for_the_model_list_only():
    async with FakeServer([]) as server:
        model = model_at(server)
        await model.preflight()
        await model.close()
    assert server.requests == []


async def test_preflight_tries_one_token_where_there_is_no_model_list():
    async with FakeServer(["H"], lists_models=False) as server:
        model = model_at(server)
        await model.preflight()
        await model.close()
    assert server.requests[0].json["max_tokens"] == 1


async def test_preflight_says_which_server_does_not_answer():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    model = OpenAIModel(parse_endpoint(f"m@http://127.0.0.1:{port}/v1"), blobs=MemoryBlobs())
    with pytest.raises(ModelUnavailable, match=f"127.0.0.1:{port}/v1.*Start the server"):
        await model.preflight()
    await model.close()


async def test_preflight_names_the_listed_models_when_the_asked_one_is_refused():
    async with FakeServer(["never"], model="other") as server:
        server.fail(Fault.UNAUTHORIZED)
        model = model_at(server)
        with pytest.raises(ModelUnavailable, match=r"HTTP 401.*lists: other"):
            await model.preflight()
        await model.close()


# ---- naming --------------------------------------------------------------------------------


def test_an_endpoint_is_a_model_at_a_base_url():
    endpoint = parse_endpoint("org/model@v2@https://host.example/v1/")
    assert endpoint.model == "org/model@v2"
    assert endpoint.base_url == "https://host.example/v1"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "model",
        "@http://host/v1",
        "m@ftp://host",
        "m@http://",
        "m@http://host:99999999/v1",
        "m@http://user:pw@host/v1",
        "m@http://host/v1?key=1",
        "m@http://[::1/v1",
    ],
)
def test_other_forms_of_an_endpoint_are_refused(text: str):
    with pytest.raises(ConfigError):
        parse_endpoint(text)


@given(st.text())
def test_any_endpoint_text_is_read_or_refused(text: str):
    for candidate in (text, f"m@http://{text}"):
        try:
            parse_endpoint(candidate)
        except ConfigError:
            continue


def test_the_projects_own_key_variable_comes_first():
    assert api_key_from({"OPENAI_API_KEY": "a", "SCREENLOOP_API_KEY": "b"}) == "b"
    assert api_key_from({"OPENAI_API_KEY": "a", "SCREENLOOP_API_KEY": ""}) == "a"
    assert api_key_from({}) is None
