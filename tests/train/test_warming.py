"""The course of a warm-up: what it learns from, when it measures, a run without one."""

import json

import msgspec
import pytest
import torch
from learner_parts import bench, recipe_with, same, shown, trainer_of
from msgspec.structs import replace
from pixel_parts import pixel_recipe
from trainer_parts import micro_settings

from screenloop.agent.dialects.tiny.tools import WORDS, TinyTools
from screenloop.config import Window
from screenloop.engine.tiny import TinySize, tiny_text
from screenloop.engine.tokenizer import TinyWords
from screenloop.envs.phone import PhoneEnvironments, phone_spec
from screenloop.manager.direct import DirectManager
from screenloop.messages import Sampling
from screenloop.report.training.metrics import EvaluationLine, WarmUpLine, read_metrics
from screenloop.rollout.context import RunContext
from screenloop.rollout.plans import golden_plan
from screenloop.store.blobs import MemoryBlobs
from screenloop.suites.catalog import find_suite, select
from screenloop.train.data.demonstrations import Tokeniser
from screenloop.train.loss.scoring import score
from screenloop.train.recipe import WarmUpSettings
from screenloop.train.rollouts import Rollouts, one_each, training_config
from screenloop.train.warm_up import WarmUp, WarmUpSeams, warm_up

SETTINGS = WarmUpSettings(
    batch=8,
    learning_rate=3e-3,
    max_steps=40,
    check_steps=5,
    watch_above=0.0,
    stop_from=1.0,
    stop_to=1.0,
)


def seams(patches=lambda samples: {}, success=0.0, collected=(), lines=None):
    """Return what a warm-up asks for; the collected Samples come with the first measurement."""
    left = [tuple(collected)]

    async def measure(step):
        return success

    async def collect(step):
        return left.pop() if left else ()

    lines = [] if lines is None else lines
    return WarmUpSeams(measure=measure, collect=collect, patches=patches, tell=lines.append)


async def demonstrated(parts, count=6):
    tokeniser = Tokeniser(parts.learner.policy)
    return [s for one in await shown(parts, count) for s in tokeniser.samples(one.episode)]


def odds(parts, samples, patches):
    """Return the mean log-probability of the Samples' replies."""
    with torch.no_grad():
        found = score(parts.learner.policy, samples, patches)
    return float(found.log_probs_B_S.sum()) / sum(s.sampled for s in samples)


@pytest.mark.parametrize("recipe", [recipe_with, pixel_recipe])
async def test_collected_successes_are_learnt_like_demonstrations(tmp_path, recipe):
    found = {}
    for collected in (False, True):
        async with bench(recipe(), tmp_path / str(collected)) as parts:
            vision = parts.learner.policy.vision

            def patches(samples, vision=vision, blobs=parts.blobs):
                keys = {image.key for sample in samples for image in sample.images}
                return {key: vision.pixels(blobs.get(key)) for key in keys}

            known, more = (await demonstrated(parts))[:2], (await demonstrated(parts))[2:]
            assert {s.token_ids for s in known}.isdisjoint(s.token_ids for s in more)
            lines = []
            pupil = WarmUp(parts.learner.policy, SETTINGS, seed=0)
            around = seams(patches, collected=more if collected else (), lines=lines)
            assert await warm_up(pupil, known, SETTINGS, around) == SETTINGS.max_steps
            found[collected] = odds(parts, more, patches(more))
            assert lines[0].samples == 2
            assert lines[-1].samples == (2 + len(more) if collected else 2)
    assert found[True] > found[False] + 1.0


async def test_a_run_learns_from_what_it_solved_itself(tmp_path):
    settings = micro_settings().warm_up
    warm = replace(settings, learning_rate=3e-3, max_steps=40, check_steps=10, collect=12, batch=16)
    async with bench(recipe_with(warm_up=warm, updates=0), tmp_path) as parts:
        trainer = trainer_of(parts, tmp_path)
        await trainer.begin(lambda: shown(parts, 6))
    lines = [line for line in read_metrics(tmp_path) if isinstance(line, WarmUpLine)]
    assert lines[-1].samples > lines[0].samples == 6
    kept = sorted((tmp_path / "episodes").glob("collected-*.jsonl"))
    verdicts = [
        json.loads(line)["verdict"]["success"]
        for path in kept
        for line in path.read_text().splitlines()
        if json.loads(line)["kind"] == "verdict"
    ]
    # The last ones may be from the final measurement, after which nothing is learnt.
    assert len(verdicts) >= lines[-1].samples - 6 > 0
    assert all(verdicts)


async def test_attempts_that_were_drawn_cooler_join_the_same_batch(tmp_path):
    async with bench(recipe_with(), tmp_path) as parts:
        tasks = parts.recipe.tasks().train[:2]
        tokeniser = Tokeniser(parts.learner.policy)
        cool = await parts.rollouts.play(one_each("c", tasks), parts.engine, temperature=0.5)
        drawn = [s for one in cool for s in tokeniser.samples(one.episode)]
        mixed = [*await demonstrated(parts, 2), *drawn]
        assert {s.temperature for s in mixed} == {1.0}
        told = WarmUp(parts.learner.policy, SETTINGS, seed=0).learn(mixed, {})
        assert told.step == 1


async def test_greedy_attempts_can_be_learnt_too(tmp_path):
    async with bench(recipe_with(), tmp_path) as parts:
        tasks = parts.recipe.tasks().train[:1]
        played = await parts.rollouts.play(one_each("c", tasks), parts.engine, temperature=0.0)
        (sample,) = Tokeniser(parts.learner.policy).samples(played[0].episode)
        (call,) = played[0].episode.calls
        assert sample.token_ids[: len(call.prompt_token_ids)] == call.prompt_token_ids
        assert parts.learner.policy.text_of(sample.token_ids[-sample.sampled :]) == call.reply


async def test_ids_of_another_tokenizer_are_written_anew(tmp_path):
    async with bench(recipe_with(), tmp_path) as parts:
        tasks = parts.recipe.tasks().train[:1]
        played = await parts.rollouts.play(one_each("c", tasks), parts.engine, temperature=1.0)
        episode = played[0].episode
        own = Tokeniser(parts.learner.policy).samples(episode)
        other = tiny_text(TinyWords(words=("other", "words")), seed=0)
        anew = Tokeniser(other).samples(episode)
        assert own[0].token_ids != anew[0].token_ids
        width = other.vocab
        assert all(token < width for s in anew for token in s.token_ids)


async def test_touch_and_tools_are_learnt_in_one_mix(tmp_path):
    tools = phone_spec((1080, 2400)).tools
    said = [*WORDS, *(word for tool in tools for word in tool.name.split("."))]
    policy = tiny_text(
        TinyWords(words=tuple(said), tools=len(tools)), size=TinySize(context_tokens=8192)
    )
    tasks = select(find_suite("phone-core"), glob="hush_app", seed=0)
    blobs = MemoryBlobs()
    opener = PhoneEnvironments(blobs, want=("tree",))
    manager = DirectManager(opener.open)
    rollouts = Rollouts(
        RunContext(manager=manager, want=("tree",)),
        blobs,
        config=training_config(
            tasks,
            dialect=TinyTools(),
            model="policy",
            window=Window(),
            sampling=Sampling(max_tokens=20),
        ),
        dialect=TinyTools(),
        run_id="r",
    )
    planned = [
        msgspec.structs.replace(one_each(mode, tasks)[0], mode=mode)
        for mode in ("gui_only", "hybrid")
    ]
    played = await rollouts.show(planned, golden_plan)
    await manager.close()
    samples = {one.planned.mode: Tokeniser(policy).samples(one.episode) for one in played}
    mix = [s for some in samples.values() for s in some]
    pupil = WarmUp(policy, replace(SETTINGS, batch=4), seed=0)
    losses = [pupil.learn(mix, {}).loss for _ in range(12)]
    assert losses[-1] < losses[0] / 2


async def test_without_a_warm_up_nothing_is_shown_and_nothing_measured_twice(tmp_path):
    warm_up = replace(micro_settings().warm_up, max_steps=0)

    async def never():
        raise AssertionError("there is nothing to demonstrate for")

    async with bench(recipe_with(warm_up=warm_up, updates=1), tmp_path) as parts:
        before = parts.learner.weights()
        trainer = trainer_of(parts, tmp_path)
        await trainer.begin(never)
        assert same(parts.learner.weights(), before)
        asked = parts.engine.counters.requests
        tests = len(parts.recipe.tasks().test) + len(parts.recipe.tasks().unseen)
        assert asked == tests
        assert trainer.counters.success_after_sft == trainer.counters.success_before
        assert trainer.counters.unseen_after_sft == trainer.counters.unseen_before is not None
        assert trainer.counters.warm_up_steps == 0
        await trainer.learn()
        assert trainer.counters.update == 1
    measured = [line for line in read_metrics(tmp_path) if isinstance(line, EvaluationLine)]
    assert [(line.when, line.of) for line in measured[:4]] == [
        ("before", "test"),
        ("before", "unseen"),
        ("after_sft", "test"),
        ("after_sft", "unseen"),
    ]
    assert [line.successes for line in measured[:2]] == [line.successes for line in measured[2:4]]
