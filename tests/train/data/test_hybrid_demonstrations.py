"""Demonstrations by touch and with tools in one mix, on real phones."""

import asyncio
from dataclasses import replace

import msgspec
import pytest
from trainer_parts import few_tasks, micro, micro_settings

from screenloop.actions import Tap, Tool
from screenloop.agent.dialects.base import context_of
from screenloop.agent.dialects.tiny.tools import WORDS, TinyTools
from screenloop.agent.prompt import quotes
from screenloop.config import Window
from screenloop.engine.tiny import TinySize, tiny_text
from screenloop.engine.tokenizer import TinyWords, frequent_words
from screenloop.envs.phone import PhoneEnvironments, phone_spec
from screenloop.errors import ConfigError
from screenloop.manager.direct import DirectManager
from screenloop.rollout.context import RunContext
from screenloop.rollout.plans import golden_plan
from screenloop.store.blobs import MemoryBlobs
from screenloop.suites.catalog import find_suite, select
from screenloop.train.data.demonstrations import Tokeniser
from screenloop.train.recipe import Recipe, TaskSets
from screenloop.train.rollouts import Rollouts
from screenloop.train.run import demonstrations, run_config, run_recipe, train

NAMES = ("hush_app", "name_of_watch", "card_in_trouble", "alarms_at_full_volume")
TASKS = tuple(
    task
    for name in NAMES
    for seed in (0, 1)
    for task in select(find_suite("phone-core"), glob=name, seed=seed)
)
SPEC = phone_spec(TASKS[0].env.size_px)


def policy(sets, seed):
    """A text policy with a word for each tool."""
    said = [*WORDS, *(name for tool in SPEC.tools for name in tool.name.split("."))]
    known = frequent_words([task.goal.text for task in sets.train], 100)
    words = TinyWords(words=(*said, *known), tools=len(SPEC.tools))
    return tiny_text(words, seed=seed, size=TinySize(context_tokens=8192))


def mixed(dialect="tinytools"):
    return Recipe(
        name="mixed",
        settings=micro_settings(),
        dialect=dialect,
        window=Window(),
        tasks=lambda: TaskSets(train=TASKS, validation=(), test=()),
        policy=policy,
        open_environments=lambda blobs: PhoneEnvironments(blobs, want=("tree",)),
        want=("tree",),
        plan=golden_plan,
        modes=("gui_only", "hybrid"),
    )


async def shown():
    recipe, blobs = mixed(), MemoryBlobs()
    opener = recipe.open_environments(blobs)
    manager = DirectManager(opener.open)
    rollouts = Rollouts(
        RunContext(manager=manager, want=recipe.want),
        blobs,
        config=run_config(recipe, recipe.tasks(), TinyTools(), 0),
        dialect=TinyTools(),
        run_id="r",
    )
    try:
        return await demonstrations(rollouts, recipe, recipe.tasks(), seed=0)
    finally:
        await manager.close()


@pytest.fixture(scope="module")
def played():
    return asyncio.run(shown())


def test_the_same_tasks_are_shown_by_touch_and_with_tools(played):
    assert len(played) == len(TASKS)
    assert all(one.success for one in played)
    by_mode = {"gui_only": set(), "hybrid": set()}
    for one in played:
        assert one.episode.start.mode == one.planned.mode
        by_mode[one.planned.mode] |= {
            type(action) for step in one.episode.steps for action in step.actions
        }
    assert Tool in by_mode["hybrid"]
    assert Tap not in by_mode["hybrid"]
    assert Tap in by_mode["gui_only"]
    assert Tool not in by_mode["gui_only"]


def test_both_kinds_become_samples_of_the_very_words_in_one_token_a_tool(played):
    made = policy(mixed().tasks(), 0)
    tokeniser = Tokeniser(made)
    samples = [sample for one in played for sample in tokeniser.samples(one.episode)]
    assert len({sample.name.partition("/")[0] for sample in samples}) == len(TASKS)
    trained = sum(sample.sampled for sample in samples)
    replies = [call.reply for one in played for call in one.episode.calls]
    ids = [made.tokenizer.encode(reply, add_special_tokens=False) for reply in replies]
    assert trained == sum(len(some) + 1 for some in ids)
    assert not set(made.banned_ids).intersection(token for some in ids for token in some)
    calls = [some for some, reply in zip(ids, replies, strict=True) if reply.startswith("call")]
    assert calls
    tokens = [made.tokenizer.convert_ids_to_tokens(some[:2]) for some in calls]
    assert all(verb == "call" and tool.startswith("<t") for verb, tool in tokens)


def test_what_the_policy_says_token_by_token_is_read_as_the_same_action(played):
    made, dialect = policy(mixed().tasks(), 0), TinyTools()
    for one in played:
        context = msgspec.structs.replace(
            context_of(SPEC, one.planned.mode, (112, 240)),
            quotes=quotes(one.planned.task.goal.text),
        )
        for step in one.episode.steps:
            if isinstance(step.actions[0], Tool):
                ids = made.tokenizer.encode(step.reply, add_special_tokens=False)
                assert dialect.parse(made.text_of(ids), context) == step.actions


async def test_a_dialect_without_words_for_tools_is_refused_before_anything_runs(tmp_path):
    with pytest.raises(ConfigError, match=r"tinytree.*cannot: take modes"):
        await train(mixed("tinytree"), 0, tmp_path / "run")
    assert not (tmp_path / "run").exists()
    with pytest.raises(ConfigError, match="at least one mode"):
        await train(replace(mixed(), modes=()), 0, tmp_path / "run")


def test_the_modes_are_part_of_what_a_run_is():
    both = mixed()
    touch = replace(both, modes=("gui_only",))
    sets = both.tasks()
    assert run_recipe(both, sets, 0).modes == ("gui_only", "hybrid")
    assert run_recipe(both, sets, 0).fingerprint != run_recipe(touch, sets, 0).fingerprint
    assert run_recipe(micro(), few_tasks(), 0).modes == ("gui_only",)
