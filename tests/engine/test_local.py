import asyncio
from itertools import pairwise

import pytest
import torch
from engine_parts import (
    WORDS,
    full_logits,
    image,
    pixel_policy,
    play,
    request,
    text_policy,
    user,
    words,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from screenloop.engine.cache import common_prefix
from screenloop.engine.decoder import Limits
from screenloop.engine.local import LocalEngine
from screenloop.engine.network import Chunk
from screenloop.engine.sampling import banned_mask, processed_logprobs
from screenloop.engine.tiny import tiny_text
from screenloop.engine.vision import place
from screenloop.engine.weights import weights_of
from screenloop.errors import AgentError, ConfigError, DeadlinePassed, InfraFault, ModelUnavailable
from screenloop.messages import Sampling
from screenloop.store.blobs import MemoryBlobs

LONG = "open the red alarm clock notes save delete green blue " * 3


def engine(policy=None, blobs=None, **options):
    return LocalEngine(policy or text_policy(), blobs or MemoryBlobs(), **options)


def recomputed(policy, reply, sampling, images=(), patches=None):
    """Log-probs of a reply's ids by one whole pass without cache or batch."""
    ids = reply.prompt_token_ids + reply.token_ids
    chunk = Chunk(token_ids=ids, start=0, past=None, images=images, patches=patches or {})
    with torch.inference_mode():
        logits = full_logits(policy, [chunk])[0, len(reply.prompt_token_ids) - 1 : -1]
    logprobs = processed_logprobs(logits, sampling, banned_mask(policy.banned_ids, policy.vocab))
    return logprobs.gather(-1, torch.tensor(reply.token_ids)[:, None])[:, 0].tolist()


@pytest.mark.parametrize(
    "sampling",
    [
        {"temperature": 1.0},
        {"temperature": 0.5, "top_p": 0.8},
        {"temperature": 1.5, "top_k": 5},
        {"temperature": 0.0},
    ],
)
async def test_log_probs_equal_those_of_a_whole_pass(sampling):
    model = engine()
    replies = await play(
        model, "e", [(words(LONG),), (words("save"),), (words("tap"),)], **sampling
    )
    for reply in replies:
        assert len(reply.token_ids) == len(reply.logprobs) > 0
        expected = recomputed(model.policy, reply, Sampling(**sampling))
        assert reply.logprobs == pytest.approx(expected, abs=1e-4)
    await model.close()


async def test_pictures_are_read_once_and_their_log_probs_are_those_of_a_whole_pass():
    blobs = MemoryBlobs()
    model = engine(pixel_policy(), blobs)
    pictures = [image(blobs, n) for n in range(3)]
    replies = await play(model, "e", [(words("open"), p) for p in pictures])
    rule = model.policy.vision
    patches = {p.key: rule.pixels(blobs.get(p.key)) for p in pictures}
    for number, reply in enumerate(replies):
        shown = [(p.key, p.size_px) for p in pictures[: number + 1]]
        placed = place(reply.prompt_token_ids, shown, rule)
        assert [(i.key, i.start, i.length, i.grid_thw) for i in reply.images] == [
            (i.key, i.start, i.length, i.grid_thw) for i in placed
        ]
        expected = recomputed(model.policy, reply, Sampling(temperature=1.0), placed, patches)
        assert reply.logprobs == pytest.approx(expected, abs=1e-4)
        before = replies[number - 1]
        held = len(before.prompt_token_ids) + len(before.token_ids) - 1 if number else 0
        assert reply.usage.cached == held
    await model.close()


async def test_inside_a_window_each_prompt_extends_the_last_and_its_reply_id_for_id():
    model = engine()
    replies = await play(model, "e", [(words("open"),)] * 6, max_tokens=9)
    for before, after in pairwise(replies):
        held = before.prompt_token_ids + before.token_ids
        assert after.prompt_token_ids[: len(held)] == held
    await model.close()


async def test_cached_counts_are_the_longest_common_prefix_by_ids():
    model = engine()
    seen = []

    def held(ids):
        return max((common_prefix(ids[:-1], old) for old in seen), default=0)

    for episode in ("a", "b"):
        for reply in await play(model, episode, [(words(LONG),), (words(episode),)] * 2):
            assert reply.usage.cached == held(reply.prompt_token_ids)
            assert reply.usage.prompt == len(reply.prompt_token_ids)
            seen.append(reply.prompt_token_ids + reply.token_ids[:-1])
    counted = model.counters
    assert counted.cached_tokens > counted.session_cached_tokens > 0
    assert counted.prompt_tokens > counted.cached_tokens
    await model.close()


async def test_a_fresh_engine_counts_in_an_episode_what_the_history_policy_alone_would_save():
    model = engine()
    replies = await play(model, "e", [(words(LONG),)] * 4)
    alone = sum(
        common_prefix(b.prompt_token_ids[:-1], a.prompt_token_ids) for a, b in pairwise(replies)
    )
    assert model.counters.session_cached_tokens == alone
    await model.close()


async def test_what_a_call_says_does_not_depend_on_what_runs_beside_it():
    calls = [
        request(f"e{n}/c0", user(words(LONG * (n % 3) + "tap save"[: n + 1])), max_tokens=1 + n % 7)
        for n in range(12)
    ]
    together = engine(threaded=False)
    batched = await asyncio.gather(*(together.complete(c, deadline_s=60) for c in calls))
    assert together.counters.largest_batch > 4
    alone = engine(limits=Limits(cache_tokens=0, rows=1))
    for call, reply in zip(reversed(calls), reversed(batched), strict=True):
        single = await alone.complete(call, deadline_s=60)
        assert single.token_ids == reply.token_ids
        assert single.logprobs == pytest.approx(reply.logprobs, abs=1e-4)
        assert single.usage.cached == 0
    await together.close()
    await alone.close()


async def test_requests_join_between_tokens_and_leave_when_done():
    model = engine(threaded=False)
    long = asyncio.create_task(
        model.complete(request("a/c0", user(words("open")), max_tokens=200), deadline_s=60)
    )
    while model.counters.decoded_tokens < 3:
        await asyncio.sleep(0)
    short = await model.complete(request("b/c0", user(words("open")), max_tokens=2), deadline_s=60)
    assert len(short.token_ids) <= 2
    assert model.counters.largest_batch == 2 or long.done()
    await long
    await model.close()


async def test_attempts_at_one_task_read_their_prompt_once():
    model = engine(threaded=False)
    prompt = user(words(LONG))
    calls = [request(f"e{n}/c0", prompt) for n in range(8)]
    replies = await asyncio.gather(*(model.complete(c, deadline_s=60) for c in calls))
    length = len(replies[0].prompt_token_ids)
    assert sorted(r.usage.cached for r in replies) == [0] + [length - 1] * 7
    assert len({r.token_ids for r in replies}) > 1
    await model.close()


async def test_the_same_call_is_answered_the_same_and_another_seed_differs():
    model = engine(seed=3)
    call = request("e/c0", user(words(LONG)), max_tokens=12)
    first = await model.complete(call, deadline_s=60)
    assert (await model.complete(call, deadline_s=60)).token_ids == first.token_ids
    seeded = request("e/c0", user(words(LONG)), max_tokens=12, seed=3)
    assert (await model.complete(seeded, deadline_s=60)).token_ids == first.token_ids
    other = request("e/c0", user(words(LONG)), max_tokens=12, seed=4)
    assert (await model.complete(other, deadline_s=60)).token_ids != first.token_ids
    await model.close()


async def test_banned_ids_are_never_sampled_even_when_the_network_wants_nothing_else():
    policy = tiny_text(WORDS, seed=2)
    with torch.no_grad():
        policy.model.lm_head.weight[list(policy.banned_ids)] *= 200
    model = engine(policy)
    calls = [request(f"e{n}/c0", user(words(LONG)), max_tokens=20) for n in range(10)]
    replies = await asyncio.gather(*(model.complete(c, deadline_s=60) for c in calls))
    assert not {i for r in replies for i in r.token_ids} & set(policy.banned_ids)
    await model.close()


async def test_swapped_weights_answer_under_their_version_and_an_empty_cache():
    policy = tiny_text(WORDS, seed=1)
    model = engine(policy)
    call = request("e/c0", user(words(LONG)), max_tokens=10)
    before = await model.complete(call, deadline_s=60)
    assert before.weights_version == "0"
    await model.swap(weights_of(tiny_text(WORDS, seed=9).model), "1")
    after = await model.complete(call, deadline_s=60)
    assert (after.weights_version, after.usage.cached) == ("1", 0)
    assert after.token_ids != before.token_ids
    expected = recomputed(tiny_text(WORDS, seed=9), after, Sampling(temperature=1.0))
    assert after.logprobs == pytest.approx(expected, abs=1e-4)
    await model.close()


async def test_a_call_in_flight_finishes_on_its_weights_and_later_calls_wait_for_the_new():
    policy = tiny_text(WORDS, seed=1)
    model = engine(policy, threaded=False)
    call = request("a/c0", user(words(LONG)), max_tokens=60)
    running = asyncio.create_task(model.complete(call, deadline_s=60))
    while model.counters.decoded_tokens < 3:
        await asyncio.sleep(0)
    swap = asyncio.create_task(model.swap(weights_of(tiny_text(WORDS, seed=9).model), "next"))
    await asyncio.sleep(0)
    later = await model.complete(request("b/c0", user(words(LONG))), deadline_s=60)
    await swap
    first = await running
    assert (first.weights_version, later.weights_version) == ("0", "next")
    old = recomputed(tiny_text(WORDS, seed=1), first, Sampling(temperature=1.0))
    new = recomputed(tiny_text(WORDS, seed=9), later, Sampling(temperature=1.0))
    assert first.logprobs == pytest.approx(old, abs=1e-4)
    assert later.logprobs == pytest.approx(new, abs=1e-4)
    await model.close()


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda w: w.pop("lm_head.weight"), "lack lm_head.weight"),
        (lambda w: w.update(other=torch.zeros(1)), "no weight other"),
        (lambda w: w.update({"lm_head.weight": torch.zeros(2, 2)}), "shape"),
        (lambda w: w["lm_head.weight"].fill_(float("nan")), "not finite"),
    ],
)
async def test_weights_that_do_not_fit_are_refused_and_the_old_ones_stay(spoil, says):
    policy = tiny_text(WORDS, seed=1)
    model = engine(policy)
    weights = weights_of(policy.model)
    spoil(weights)
    with pytest.raises(ConfigError, match=says):
        await model.swap(weights, "1")
    assert model.weights_version == "0"
    await model.complete(request("e/c0", user(words("open"))), deadline_s=60)
    await model.close()


async def test_a_network_whose_numbers_are_spoilt_fails_its_calls_and_says_so():
    policy = tiny_text(WORDS, seed=1)
    model = engine(policy)
    with torch.no_grad():
        policy.model.lm_head.weight[20] = float("nan")
    with pytest.raises(ModelUnavailable, match="not finite"):
        await model.complete(request("e/c0", user(words("open"))), deadline_s=60)
    await model.swap(weights_of(text_policy().model), "good")
    await model.complete(request("e/c1", user(words("open"))), deadline_s=60)
    await model.close()


@settings(deadline=None, max_examples=8)
@given(st.lists(st.sampled_from(WORDS.words), min_size=1, max_size=30), st.integers(0, 60))
def test_the_cache_keeps_its_bound_whatever_is_asked(told, bound):
    async def ask():
        model = engine(limits=Limits(cache_tokens=bound), threaded=False)
        for number in range(3):
            call = request(f"e{number}/c0", user(words(" ".join(told[number:]))))
            await model.complete(call, deadline_s=60)
            assert model.cache_tokens <= bound
        await model.close()

    asyncio.run(ask())


async def test_a_stop_string_ends_the_reply_and_is_left_out_of_its_text():
    model = engine()
    plain = await model.complete(request("e/c0", user(words(LONG)), max_tokens=30), deadline_s=60)
    word = plain.text.split()[3]
    cut = await model.complete(
        request("e/c0", user(words(LONG)), max_tokens=30, stop=(word,)), deadline_s=60
    )
    assert cut.finish_reason == "stop"
    assert cut.text == plain.text.partition(word)[0]
    assert cut.token_ids == plain.token_ids[: len(cut.token_ids)]
    await model.close()


async def test_a_prompt_that_leaves_no_room_is_the_agents_failure():
    model = engine()
    with pytest.raises(AgentError, match="does not fit the model's context of 2048"):
        await model.complete(request("e/c0", user(words("save " * 2100))), deadline_s=60)
    almost = await model.complete(
        request("e/c0", user(words("save " * 2042)), max_tokens=50), deadline_s=60
    )
    assert len(almost.prompt_token_ids) + len(almost.token_ids) <= 2048
    await model.close()


async def test_a_missing_picture_fails_its_own_call_alone():
    blobs = MemoryBlobs()
    model = engine(pixel_policy(), blobs)
    gone = image(MemoryBlobs(), 5)
    good, bad = await asyncio.gather(
        model.complete(request("a/c0", user(image(blobs, 1))), deadline_s=60),
        model.complete(request("b/c0", user(gone)), deadline_s=60),
        return_exceptions=True,
    )
    assert good.token_ids
    assert isinstance(bad, InfraFault)
    await model.close()


async def test_a_deadline_ends_the_wait_and_the_engine_goes_on():
    model = engine()
    with pytest.raises(DeadlinePassed, match="within 0 s"):
        await model.complete(request("e/c0", user(words("open"))), deadline_s=0)
    await model.complete(request("e/c1", user(words("open"))), deadline_s=60)
    await model.close()


async def test_closing_fails_calls_that_wait_and_may_be_done_twice():
    model = engine(threaded=False)
    waiting = asyncio.create_task(
        model.complete(request("e/c0", user(words(LONG)), max_tokens=1000), deadline_s=60)
    )
    while model.counters.decoded_tokens < 2:
        await asyncio.sleep(0)
    await model.close()
    await model.close()
    with pytest.raises(ModelUnavailable, match="closed"):
        await waiting


async def test_in_lockstep_every_batch_is_the_calls_of_all_members():
    async def member(model, number, lag):
        with model.taking_part():
            replies = []
            for step in range(2 + number % 2):
                for _ in range(lag):
                    await asyncio.sleep(0)
                call = request(f"e{number}/c{step}", user(words(LONG)), max_tokens=3 + number)
                replies.append(await model.complete(call, deadline_s=60))
            return [r.logprobs for r in replies]

    async def run(lags):
        model = engine()
        told = await asyncio.gather(*(member(model, n, lag) for n, lag in enumerate(lags)))
        counted = model.counters.as_dict()
        await model.close()
        return told, counted

    one, other = await run([0, 0, 0, 0]), await run([40, 3, 0, 17])
    assert one == other
    assert one[1]["largest_batch"] == 4


async def test_the_card_names_what_a_record_needs():
    model = engine(pixel_policy(), seed=5)
    card = model.card()
    assert card.logprobs_mode == "processed"
    assert card.policy.dtype == "float32"
    assert card.policy.processor_hash
    assert set(card.policy.banned_token_ids) == set(model.policy.banned_ids)
    await model.preflight()
    reply = await model.complete(request("e/c0", user(words("open"))), deadline_s=60)
    assert reply.banned_token_ids == model.policy.banned_ids
    assert reply.token_stack.processor_hash == card.policy.processor_hash
    await model.close()
