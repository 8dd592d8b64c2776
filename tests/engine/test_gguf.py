"""Runs a GGUF file that holds the weights of a torch policy, and compares the two."""

import asyncio
import itertools

import pytest

pytest.importorskip("xllamacpp", reason="the extra `gguf` is not installed: GGUF is not tested")
pytest.importorskip(
    "gguf", reason="gguf is not installed, which writes the model files of these tests"
)

import torch
from engine_parts import assistant, image, play, request, user, words
from gguf_parts import (
    END_ID,
    IMAGE_ID,
    PARTIAL_IDS,
    WORDS,
    byte_policy,
    logits_of,
    write_gguf,
    write_projector,
)

from screenloop.engine.gguf.file import read_card
from screenloop.engine.gguf.model import GgufModel, call_seed, gguf_model
from screenloop.engine.gguf.server import GgufLimits
from screenloop.engine.local import LocalEngine
from screenloop.engine.sampling import banned_mask, processed_logprobs
from screenloop.errors import AgentError, ConfigError, DeadlinePassed, ModelUnavailable
from screenloop.messages import ImagePart, Sampling
from screenloop.models.catalog import make_model, parse_model
from screenloop.store.blobs import MemoryBlobs
from screenloop.store.episodes import CallRecord
from screenloop.train.data.records import call_tokens
from screenloop.types import Usage

EXACT = GgufLimits(context_tokens=1024, slots=2, cache_dtype="f32", threads=1)
TURNS = [[words("hello, tap the clock")], [words("now tap it again")], [words("and stop")]]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return write_gguf(byte_policy(), tmp_path_factory.mktemp("gguf") / "tiny.gguf")


@pytest.fixture
async def model(path):
    model = GgufModel(path, MemoryBlobs(), seed=7, limits=EXACT)
    yield model
    await model.close()


async def test_prompts_are_those_of_the_torch_engine_id_for_id(model):
    engine = LocalEngine(byte_policy(), MemoryBlobs(), threaded=False)
    chat = (user(words("hello, tap «é» <|im_end|>")), assistant(" tap it"), user(words("more")))
    ours = await model.complete(request("e/c0", *chat), deadline_s=60)
    theirs = await engine.complete(request("e/c0", *chat), deadline_s=60)
    await engine.close()
    assert ours.prompt_token_ids == theirs.prompt_token_ids
    assert ours.prompt_token_ids.count(END_ID) == 3
    assert ours.usage.prompt == len(ours.prompt_token_ids)
    assert ours.token_stack.tokenizer_hash == theirs.token_stack.tokenizer_hash
    assert ours.token_stack.template_hash == theirs.token_stack.template_hash


@pytest.mark.parametrize(
    "drawn",
    [
        {"temperature": 1.0},
        {"temperature": 0.6},
        {"temperature": 1.7},
        {"temperature": 1.0, "top_k": 7},
        {"temperature": 1.0, "top_p": 0.6},
        {"temperature": 0.8, "top_k": 40, "top_p": 0.9},
    ],
    ids=str,
)
async def test_log_probs_are_those_of_the_processed_distribution_in_torch(model, drawn):
    call = request("e/c0", user(words("hello, tap the clock")), max_tokens=60, **drawn)
    reply = await model.complete(call, deadline_s=60)
    policy = byte_policy()
    logits = logits_of(policy, reply.prompt_token_ids, reply.token_ids)
    banned = banned_mask(reply.banned_token_ids, policy.vocab)
    expected = processed_logprobs(logits, Sampling(**drawn), banned)
    expected = expected.gather(1, torch.tensor(reply.token_ids)[:, None])[:, 0]
    assert reply.banned_token_ids == policy.banned_ids
    assert len(reply.logprobs) == len(reply.token_ids) > 0
    torch.testing.assert_close(torch.tensor(reply.logprobs), expected, atol=1e-4, rtol=0)


async def test_the_most_likely_reply_is_the_torch_engines_and_has_no_log_probs(model):
    engine = LocalEngine(byte_policy(), MemoryBlobs(), threaded=False)
    call = request("e/c0", user(words("hello")), temperature=0.0, max_tokens=30)
    ours = await model.complete(call, deadline_s=60)
    theirs = await engine.complete(call, deadline_s=60)
    await engine.close()
    assert (ours.token_ids, ours.text) == (theirs.token_ids, theirs.text)
    assert ours.finish_reason == theirs.finish_reason
    assert ours.logprobs is None


async def test_a_call_draws_the_same_again_and_another_call_does_not(model):
    chat = user(words("hello"))
    first = await model.complete(request("e/c0", chat, max_tokens=20), deadline_s=60)
    again = await model.complete(request("e/c0", chat, max_tokens=20), deadline_s=60)
    other = await model.complete(request("f/c0", chat, max_tokens=20), deadline_s=60)
    assert again.token_ids == first.token_ids != other.token_ids
    assert call_seed(0, "e/c0") != call_seed(1, "e/c0")


async def test_each_prompt_of_an_episode_extends_the_one_before_and_is_read_from_the_cache(model):
    both = await asyncio.gather(play(model, "a", TURNS), play(model, "b", TURNS))
    for replies in both:
        for before, after in itertools.pairwise(replies):
            known = before.prompt_token_ids + before.token_ids
            assert after.prompt_token_ids[: len(known)] == known
            # The last token sampled was never read.
            assert after.usage.cached >= len(known) - 1


async def test_a_reply_that_reads_differently_when_encoded_again_keeps_its_ids(tmp_path):
    letters = {WORDS.index(letter) for letter in "helo"}
    path = write_gguf(
        byte_policy(), tmp_path / "helo.gguf", unused=sorted({*range(END_ID)} - letters)
    )
    model = GgufModel(path, MemoryBlobs(), limits=EXACT)
    try:
        first, last = await play(model, "a", TURNS[:2], max_tokens=60)
    finally:
        await model.close()
    start = len(first.prompt_token_ids)
    encoded = byte_policy().tokenizer.encode(first.text, add_special_tokens=False)
    assert tuple(encoded) != first.token_ids
    assert last.prompt_token_ids[start : start + len(first.token_ids)] == first.token_ids
    assert last.usage.cached >= start + len(first.token_ids) - 1


async def test_a_reply_that_ends_its_turn_brings_the_end_into_the_next_prompt_once(tmp_path):
    path = write_gguf(byte_policy(), tmp_path / "ends.gguf", unused=(*PARTIAL_IDS, END_ID - 2))
    model = GgufModel(path, MemoryBlobs(), limits=EXACT)
    try:
        first, last = await play(model, "a", TURNS[:2], max_tokens=800)
    finally:
        await model.close()
    assert first.finish_reason == "stop"
    assert first.token_ids[-1] == END_ID
    assert not first.text.endswith("<|im_end|>")
    assert last.prompt_token_ids.count(END_ID) == 3


async def test_banned_tokens_are_never_sampled(tmp_path):
    policy = byte_policy(seed=2)
    with torch.no_grad():
        # In half of all states this makes the image token as good as certain.
        policy.model.lm_head.weight[IMAGE_ID] *= 40
    model = GgufModel(write_gguf(policy, tmp_path / "image.gguf"), MemoryBlobs(), limits=EXACT)
    try:
        call = request("e/c0", user(words("hello")), max_tokens=200, temperature=2.0)
        reply = await model.complete(call, deadline_s=60)
    finally:
        await model.close()
    assert IMAGE_ID in reply.banned_token_ids
    assert not set(reply.banned_token_ids) & set(reply.token_ids)


async def test_where_a_token_ends_inside_a_character_the_reply_has_no_log_probs(tmp_path):
    path = write_gguf(byte_policy(), tmp_path / "bytes.gguf", unused=())
    model = GgufModel(path, MemoryBlobs(), limits=EXACT)
    try:
        call = request("e/c0", user(words("hello")), max_tokens=60)
        reply = await model.complete(call, deadline_s=60)
    finally:
        await model.close()
    assert len(reply.token_ids) == reply.usage.completion
    assert "\ufffd" in reply.text
    assert reply.logprobs is None


async def test_a_stop_text_ends_the_reply_before_it(model):
    call = request("e/c0", user(words("hello")), max_tokens=60)
    whole = await model.complete(call, deadline_s=60)
    stop = whole.text[20:22]
    call = request("e/c0", user(words("hello")), max_tokens=60, stop=(stop,))
    cut = await model.complete(call, deadline_s=60)
    assert cut.finish_reason == "stop"
    assert cut.text == whole.text.partition(stop)[0]
    assert cut.token_ids == whole.token_ids[: len(cut.token_ids)]


async def test_a_call_that_is_given_up_frees_its_slot(tmp_path):
    policy = byte_policy(context_tokens=65_536)
    path = write_gguf(policy, tmp_path / "long.gguf", unused=(*range(200), END_ID, END_ID - 2))
    one = GgufLimits(context_tokens=65_536, slots=1, threads=1)
    model = GgufModel(path, MemoryBlobs(), limits=one)
    try:
        await model.preflight()
        endless = request("e/c0", user(words("hello")), max_tokens=65_000)
        with pytest.raises(DeadlinePassed, match=r"no reply within 0\.3 s"):
            await model.complete(endless, deadline_s=0.3)
        reply = await model.complete(request("f/c0", user(words("hello"))), deadline_s=60)
    finally:
        await model.close()
    assert len(reply.token_ids) == 6


async def test_a_prompt_beyond_the_context_is_the_agents_failure(model):
    with pytest.raises(AgentError, match="does not fit the model's context of 1024"):
        await model.complete(request("e/c0", user(words("x" * 1100))), deadline_s=60)


async def test_a_model_without_its_mmproj_file_takes_no_pictures(model):
    picture = ImagePart(key="sha256-0.png", mime="image/png", size_px=(8, 8))
    with pytest.raises(ConfigError, match=r"MODEL\.gguf,MMPROJ\.gguf"):
        await model.complete(request("e/c0", user(picture)), deadline_s=60)


async def test_training_refuses_the_records(model):
    call = request("e/c0", user(words("hello")))
    reply = await model.complete(call, deadline_s=60)
    record = CallRecord(
        call_id=call.call_id,
        window_index=0,
        step_index=0,
        messages=call.messages,
        sampling=call.sampling,
        model=model.name,
        reply=reply.text,
        finish_reason=reply.finish_reason,
        usage=Usage(),
        took_s=0.0,
        prompt_token_ids=reply.prompt_token_ids,
        token_ids=reply.token_ids,
        logprobs=reply.logprobs,
        weights_version=reply.weights_version,
    )
    with pytest.raises(ConfigError, match="weights version 'sha256-"):
        call_tokens([record])


async def test_a_model_that_was_closed_is_loaded_again_by_the_next_call(model):
    call = request("e/c0", user(words("hello")))
    before = await model.complete(call, deadline_s=60)
    await model.close()
    await model.close()
    after = await model.complete(call, deadline_s=60)
    assert (after.token_ids, after.usage.cached) == (before.token_ids, 0)


async def test_closing_fails_the_calls_that_run(model):
    await model.preflight()
    call = request("e/c0", user(words("hello")), max_tokens=900, temperature=2.0)
    waiting = [asyncio.create_task(model.complete(call, deadline_s=60)) for _ in range(4)]
    await asyncio.sleep(0)
    await model.close()
    told = await asyncio.gather(*waiting, return_exceptions=True)
    assert all(isinstance(one, ModelUnavailable) for one in told)


@pytest.mark.parametrize(
    ("name", "words_of_it"),
    [
        ("none.gguf", "No such file"),
        ("text.gguf", "does not begin with GGUF"),
        ("cut.gguf", "cannot load"),
        ("alien.gguf", "architecture 'alien'"),
        ("silent.gguf", "no chat template"),
    ],
)
async def test_a_file_that_cannot_be_used_is_refused_before_anything_runs(
    path, tmp_path, name, words_of_it
):
    if name == "text.gguf":
        (tmp_path / name).write_text("weights")
    elif name == "cut.gguf":
        (tmp_path / name).write_bytes(path.read_bytes()[:-100_000])
    elif name == "alien.gguf":
        write_gguf(byte_policy(), tmp_path / name, architecture="alien")
    elif name == "silent.gguf":
        write_gguf(byte_policy(), tmp_path / name, template="")
    model = GgufModel(tmp_path / name, MemoryBlobs(), limits=EXACT)
    with pytest.raises(ConfigError, match=words_of_it):
        await model.preflight()
    await model.close()


async def test_pictures_are_seen_and_kept_in_the_cache(tmp_path):
    blobs = MemoryBlobs()
    path = write_gguf(byte_policy(), tmp_path / "sees.gguf")
    projector = write_projector(tmp_path / "mmproj.gguf")
    model = GgufModel(path, blobs, projector=projector, limits=EXACT)
    turns = [[words("look "), image(blobs, 1), words(" tap")], [image(blobs, 2)]]
    try:
        first, last = await play(model, "a", turns)
        again, _ = await play(model, "a", turns)
        call = request("a/c0", user(words("look "), image(blobs, 3), words(" tap")))
        other = await model.complete(call, deadline_s=60)
        huge = request("a/c0", user(words("x" * 1100), image(blobs, 1)))
        with pytest.raises(AgentError, match="smaller window or smaller images"):
            await model.complete(huge, deadline_s=60)
    finally:
        await model.close()
    assert again.token_ids == first.token_ids != other.token_ids
    assert other.usage.prompt == first.usage.prompt
    assert last.usage.cached >= first.usage.prompt
    assert len(first.logprobs) == len(first.token_ids)
    # Pictures have no ids here, so the prompt has none: nothing that only looks exact.
    assert first.prompt_token_ids is None
    assert first.weights_version == "+".join(
        (read_card(path).weights_version, first.token_stack.processor_hash)
    )


async def test_the_name_on_the_command_line_makes_the_model(path, tmp_path):
    projector = write_projector(tmp_path / "mmproj.gguf")
    for files in (f"{path}", f"{path},{projector}"):
        name = parse_model(f"gguf:{files}")
        model = make_model(name, blobs=MemoryBlobs(), render=str, actions={"tap"})
        await model.preflight()
        await model.close()
        assert model.name == "gguf:tiny"


async def test_a_picture_side_that_is_not_there_is_named(path):
    model = gguf_model(f"{path},none.gguf", MemoryBlobs())
    with pytest.raises(ConfigError, match=r"no file none\.gguf to read pictures with"):
        await model.preflight()
    await model.close()
