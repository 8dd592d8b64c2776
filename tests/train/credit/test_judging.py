"""Verdicts on the way, on real phones."""

import asyncio
from dataclasses import replace

import msgspec
import pytest
import short_recipe

from screenloop.actions import Answer, Finish, Tap
from screenloop.agent.dialects.plain import Plain
from screenloop.agent.harness import renderer
from screenloop.config import Window
from screenloop.envs.phone import PhoneEnvironments, phone_spec
from screenloop.errors import ConfigError, TaskError
from screenloop.manager.direct import DirectManager
from screenloop.messages import Reply, Sampling
from screenloop.report.training.metrics import UpdateLine, read_metrics
from screenloop.rollout.context import RunContext
from screenloop.rollout.plans import golden_plan
from screenloop.store.blobs import MemoryBlobs
from screenloop.suites.catalog import find_suite, select
from screenloop.train.credit.judging import step_of
from screenloop.train.credit.reward import ProgressRewards, attempt_reward, counts_progress
from screenloop.train.rollouts import Rollouts, one_each, training_config
from screenloop.train.run import train
from screenloop.train.settings import RewardSettings

(TASK,) = select(find_suite("phone-core"), glob="easier_to_read")
"""Three settings, each on its own; five touches."""


class Says:
    """A model with its replies written down."""

    name = "says"

    def __init__(self, replies):
        self._replies = list(replies)

    async def complete(self, request, *, deadline_s):
        return Reply(text=self._replies.pop(0))

    async def preflight(self): ...

    async def close(self): ...


class Forgetful(DirectManager):
    """A manager whose verifier crashes at some judgements, counted from 0."""

    crashes = frozenset()
    judged = -1

    async def evaluate(self, lease, claim, *, deadline_s):
        self.judged += 1
        if self.judged in self.crashes:
            raise TaskError("the verifier crashed")
        return await super().evaluate(lease, claim, deadline_s=deadline_s)


async def attempt(actions, *, judged=True, crashes=()):
    """Play actions, and texts that are none, on a phone."""
    blobs = MemoryBlobs()
    opener = PhoneEnvironments(blobs)
    manager = Forgetful(opener.open)
    manager.crashes = frozenset(crashes)
    render = renderer(Plain(), phone_spec(TASK.env.size_px), "gui_only", Plain.image)
    rollouts = Rollouts(
        RunContext(manager=manager),
        blobs,
        config=training_config(
            [TASK],
            dialect=Plain(),
            model="policy",
            window=Window(),
            sampling=Sampling(max_tokens=200),
        ),
        dialect=Plain(),
        run_id="r",
        judged=judged,
    )
    said = [action if isinstance(action, str) else render(action) for action in actions]
    try:
        (played,) = await rollouts.play(one_each("e", [TASK]), Says(said), temperature=0.0)
    finally:
        await manager.close()
    return played


def progress_of(played):
    return ProgressRewards({"e-0": played.verdicts}).values(played.episode)


@pytest.fixture(scope="module")
def plan():
    return asyncio.run(golden_plan(TASK, "gui_only"))


async def test_each_part_of_a_task_is_earned_in_the_step_that_does_it(plan):
    played = await attempt(plan)
    assert played.success
    assert len(played.verdicts) == len(plan) + 1
    assert all(verdict.unscored is None for verdict in played.verdicts)
    progress = progress_of(played)
    changed = [bool(step.changes) for step in played.episode.steps]
    assert [value > 0 for value in progress] == changed
    assert sum(changed) == 3
    assert sum(progress) == pytest.approx(1.0)
    earned = attempt_reward(
        played.episode,
        RewardSettings(step_weights={"progress": 0.5}),
        [ProgressRewards({"e-0": played.verdicts})],
    )
    assert earned.components == {"outcome": 1.0, "step/progress": pytest.approx(0.5)}


async def test_steps_that_touch_nothing_are_there_and_earn_nothing(plan):
    played = await attempt(["mumble", Answer(text="dark"), *plan])
    assert played.success
    assert len(played.verdicts) == len(played.episode.steps) + 1 == len(plan) + 3
    assert progress_of(played)[:2] == (0.0, 0.0)
    assert sum(progress_of(played)) == pytest.approx(1.0)


async def test_going_nowhere_earns_nothing():
    played = await attempt([Tap(at=(0.5, 0.02)), Finish()])
    assert played.success is False
    assert progress_of(played) == (0.0, 0.0)


async def test_a_moment_that_cannot_be_judged_earns_nothing_and_is_said_to_be_unknown(plan):
    played = await attempt(plan, crashes=[2])
    assert played.success
    assert "verifier crashed" in played.verdicts[2].unscored.reason
    progress = progress_of(played)
    assert [t for t, value in enumerate(progress) if value is None] == [1, 2]


async def test_nothing_is_judged_on_the_way_unless_it_is_asked_for(plan):
    played = await attempt(plan, judged=False)
    assert played.success
    assert played.verdicts == ()
    assert not counts_progress(RewardSettings())
    assert not counts_progress(RewardSettings(step_weights={"progress": 0.0}))
    assert counts_progress(RewardSettings(step_weights={"progress": 0.1}))
    with pytest.raises(ConfigError, match="Valid: progress"):
        counts_progress(RewardSettings(step_weights={"progres": 0.1}))


async def test_progress_is_part_of_what_a_run_learns_from(tmp_path):
    recipe = short_recipe.recipe()
    learning = msgspec.structs.replace(
        recipe.settings.learning, reward=RewardSettings(step_weights={"progress": 0.5})
    )
    settings = msgspec.structs.replace(recipe.settings, learning=learning, updates=1)
    await train(replace(recipe, settings=settings), 0, tmp_path / "run")
    (update,) = [line for line in read_metrics(tmp_path / "run") if isinstance(line, UpdateLine)]
    assert set(update.reward_components) == {"outcome", "step/progress"}
    # One touch: what it earns is half of its outcome, or less where a task has other parts.
    assert 0 <= update.reward_components["step/progress"] <= 0.5
    unknown = msgspec.structs.replace(learning, reward=RewardSettings(step_weights={"judge": 1.0}))
    settings = msgspec.structs.replace(settings, learning=unknown)
    with pytest.raises(ConfigError, match="source of step rewards 'judge'"):
        await train(replace(recipe, settings=settings), 0, tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_an_action_id_names_its_step():
    assert step_of("a/b/u1-g2-a0/12/0") == 12
    with pytest.raises(ConfigError, match="names no step"):
        step_of("free")
