"""From played attempts to what an update sees: progress as a source, what is left out."""

import pytest
from learner_parts import recipe_with
from msgspec.structs import replace
from train_parts import call_records, episode, task, verdict
from trainer_parts import micro_settings

from screenloop.errors import ConfigError
from screenloop.report.training.metrics import UpdateLine, read_metrics
from screenloop.store.blobs import MemoryBlobs
from screenloop.train.preparation import train_attempt
from screenloop.train.run import train
from screenloop.train.settings import LearningSettings, RewardSettings
from screenloop.train.types import PlannedAttempt, PlayedAttempt
from screenloop.types import Blame, CheckResult, Unscored

PROGRESS = LearningSettings(reward=RewardSettings(step_weights={"progress": 0.5}))


def seen(*passed):
    """Return a judgement of two checks."""
    return verdict(
        success=all(passed),
        checks=tuple(
            CheckResult(says=f"c{i}", passed=p, weight=1.0, critical=True)
            for i, p in enumerate(passed)
        ),
    )


def played(verdicts=(), final=None, steps=2):
    whole = replace(
        episode([{}] * steps, final or seen(True, True)), calls=tuple(call_records(steps))
    )
    planned = PlannedAttempt(episode_id="e", group_id="g", task=task(), seed=0)
    return PlayedAttempt(planned=planned, episode=whole, records=(), verdicts=verdicts)


def made(one, learning=PROGRESS):
    return train_attempt(one, learning, vision=None, blobs=MemoryBlobs())


def test_each_step_earns_the_progress_that_its_judgements_show():
    one = made(played((seen(False, False), seen(True, False), seen(True, True))))
    assert one.reward.components["step/progress"] == pytest.approx(0.5)
    assert one.reward.step_rewards == pytest.approx((0.25, 0.25 + 1.0))
    assert one.reward.success


def test_progress_without_judgements_is_refused_and_unasked_for_needs_none():
    with pytest.raises(ConfigError, match="needs 3 verdicts"):
        made(played())
    assert made(played(), LearningSettings()).reward.components == {"outcome": 1.0}


def test_an_unscored_attempt_has_no_reward_and_no_samples():
    why = Unscored(blame=Blame.INFRASTRUCTURE, stage="step", reason="gone")
    one = made(played(final=verdict(success=False, unscored=why)))
    assert one.reward is None
    assert one.samples == ()


async def test_a_run_rewards_progress_by_name(tmp_path):
    learning = replace(
        micro_settings().learning, reward=RewardSettings(step_weights={"progress": 0.5})
    )
    await train(recipe_with(learning, updates=2), 3, tmp_path / "run")
    lines = [line for line in read_metrics(tmp_path / "run") if isinstance(line, UpdateLine)]
    for line in lines:
        parts = line.reward_components
        assert set(parts) == {"outcome", "step/progress"}
        assert line.reward == pytest.approx(sum(parts.values()))
        assert line.success == parts["outcome"]
        # A task of one check: it is passed by whoever solves it.
        assert parts["step/progress"] >= 0.5 * parts["outcome"]
