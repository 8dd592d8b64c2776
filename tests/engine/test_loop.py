"""Policy, harness and Environment together: what the parts promise each other."""

import asyncio
from itertools import pairwise

import pytest
from engine_parts import text_policy
from msgspec.structs import replace

from screenloop.agent.base import Assignment, Turn
from screenloop.agent.dialects.tiny.touches import Tiny, TinyTree
from screenloop.agent.harness import Harness
from screenloop.config import Window
from screenloop.engine.local import LocalEngine
from screenloop.engine.tiny import tiny_pixels, tiny_text
from screenloop.engine.tokenizer import TinyWords
from screenloop.engine.vision import place
from screenloop.envs.fake import FakeEnvironment
from screenloop.envs.phone import PhoneEnvironment
from screenloop.messages import ImagePart, Sampling
from screenloop.store.blobs import MemoryBlobs
from screenloop.store.episodes import whole_prompts
from screenloop.suites.catalog import find_suite, select
from screenloop.types import EnvRef, Goal, Start, World

WORDS = TinyWords(
    words=tuple(
        "notes calendar wallet tools contacts messages gallery nimbus clock settings screenshot no "
        "longer shown open".split()
    )
)
PHONE = EnvRef(kind="phone", size_px=(412, 915))


def policy_for(dialect):
    return (tiny_text if isinstance(dialect, TinyTree) else tiny_pixels)(WORDS, seed=1)


async def episode(engine, blobs, dialect, name, steps, window, kind="fake"):
    """Play with an untrained policy; returns the calls' records."""
    environment = PhoneEnvironment(PHONE, blobs) if kind == "phone" else FakeEnvironment(blobs)
    (task,) = select(find_suite("fake"), glob="*", limit=1, seed=0)
    if kind == "phone":
        task = replace(task, env=PHONE, world=World(), goal=Goal(text="Open the clock"))
    harness = Harness(
        engine,
        blobs,
        dialect=dialect,
        window=window,
        image=dialect.image,
        sampling=Sampling(temperature=1.0, max_tokens=8, seed=2),
    )
    await environment.reset(Start(task=task), deadline_s=60)
    harness.begin(
        Assignment(episode_id=name, goal=task.goal, spec=environment.spec, mode="gui_only")
    )
    records, effects, error = [], (), None
    for step in range(steps):
        seen = await environment.observe(harness.wants, deadline_s=60)
        turn = Turn(step_index=step, observation=seen, effects=effects, parse_error=error)
        decision = await harness.decide(turn, deadline_s=60)
        records.append(decision.call)
        effects, error = (), decision.parse_error
        for action in decision.actions:
            if type(action).__name__ in ("Tap", "Scroll", "Swipe", "Key"):
                done = await environment.step(action, action_id=f"{name}/{step}", deadline_s=60)
                effects = (done.effect,)
    await environment.close()
    return records


@pytest.mark.parametrize("dialect", [Tiny(), TinyTree()])
async def test_every_call_of_an_episode_has_token_facts_that_fit_together(dialect):
    blobs = MemoryBlobs()
    engine = LocalEngine(policy_for(dialect), blobs)
    window = Window(steps=3, overlap=1)
    records = await episode(engine, blobs, dialect, "e", 7, window)
    prompts = whole_prompts(records)
    for record in records:
        assert len(record.token_ids) == len(record.logprobs) > 0
        assert record.weights_version == "0"
        assert not set(record.token_ids) & set(engine.policy.banned_ids)
    for before, after in pairwise(records):
        if after.parent_call_id is not None:
            held = prompts[before.call_id] + before.token_ids
            assert prompts[after.call_id][: len(held)] == held
            assert after.usage.cached >= len(held) - 1
    assert [r.parent_call_id is None for r in records] == [
        True,
        False,
        False,
        True,
        False,
        True,
        False,
    ]
    await engine.close()


async def test_pictures_are_found_in_the_ids_of_each_call():
    blobs = MemoryBlobs()
    engine = LocalEngine(policy_for(Tiny()), blobs)
    records = await episode(engine, blobs, Tiny(), "e", 3, Window())
    rule = engine.policy.vision
    pictures = []
    for record in records:
        parts = [p for m in record.messages for p in m.parts if isinstance(p, ImagePart)]
        pictures += [(p.key, p.size_px) for p in parts]
        placed = place(whole_prompts(records)[record.call_id], pictures, rule)
        assert [i.start for i in placed] == [i.start for i in record.images]
    assert len(pictures) == 3
    await engine.close()


async def test_a_tree_prompt_of_the_home_screen_is_at_most_120_tokens():
    blobs = MemoryBlobs()
    engine = LocalEngine(policy_for(TinyTree()), blobs)
    (record, *_) = await episode(engine, blobs, TinyTree(), "e", 1, Window(), "phone")
    text = engine.policy.tokenizer.decode(list(record.prompt_token_ids))
    assert "<e0> notes <e1> calendar" in text
    assert len(record.prompt_token_ids) <= 120
    await engine.close()


async def test_attempts_in_lockstep_give_the_same_records_each_time():
    async def run():
        blobs = MemoryBlobs()
        engine = LocalEngine(text_policy(), blobs)

        async def attempt(number):
            with engine.taking_part():
                return await episode(
                    engine, blobs, TinyTree(), f"e{number}", 2 + number % 2, Window()
                )

        records = await asyncio.gather(*(attempt(n) for n in range(5)))
        await engine.close()
        return [(r.prompt_token_ids, r.token_ids, r.logprobs) for e in records for r in e]

    assert await run() == await run()


async def test_the_engines_own_count_of_saved_tokens_is_high_within_windows():
    dialect, window = TinyTree(), Window(steps=10, overlap=2)
    blobs = MemoryBlobs()
    engine = LocalEngine(policy_for(dialect), blobs)
    await episode(engine, blobs, dialect, "e", 20, window)
    counted = engine.counters
    share = counted.session_cached_tokens / counted.prompt_tokens
    assert share >= 0.8
    assert counted.cached_tokens >= counted.session_cached_tokens
    await engine.close()
