"""What stops a run: numbers that are not finite, an engine that is spoilt, nothing to score."""

import math

import msgspec
import pytest
import torch
from learner_parts import bench, recipe_with, rewarded, same, shown, trainer_of
from msgspec.structs import replace
from trainer_parts import micro_settings

from screenloop.engine.weights import weights_of
from screenloop.report.training.metrics import UpdateLine
from screenloop.train.checkpoint import read_checkpoint
from screenloop.train.guard.stops import TrainingStopped
from screenloop.train.settings import AdvantageSettings, RewardSettings

LEARNING = micro_settings().learning


def evidence(folder, update):
    return msgspec.json.decode((folder / f"stopped-{update:06d}.json").read_bytes())


async def test_a_loss_that_is_no_number_stops_keeps_the_last_good_weights_and_tells(tmp_path):
    learning = replace(
        LEARNING,
        advantage=AdvantageSettings(estimator="dr_grpo"),
        reward=RewardSettings(outcome_weight=1e39),
    )
    async with bench(recipe_with(learning, updates=40), tmp_path) as parts:
        trainer = trainer_of(parts, tmp_path)
        await trainer.begin(lambda: shown(parts))
        good = parts.learner.weights()
        with pytest.raises(TrainingStopped, match=r"is refused: the loss .* is no finite number"):
            await trainer.learn()
        stopped = trainer.counters.update + 1
        told = evidence(tmp_path, stopped)
        assert "the weights before this update are kept" in told["reason"]
        assert {s["attempt_id"] for s in told["samples"]}
        assert any(abs(a) > 1e38 for s in told["samples"] for a in s["advantages"])
        assert same(parts.learner.weights(), good)
        kept = read_checkpoint(tmp_path, "f")
        assert kept.counters.update == stopped - 1
        assert same(kept.learner.weights, good)
        assert same(dict(parts.engine.policy.model.state_dict()), good)


@pytest.mark.parametrize("spoilt", [math.inf, math.nan])
async def test_a_spoilt_advantage_changes_nothing_in_the_learner(tmp_path, spoilt):
    async with bench(recipe_with(), tmp_path) as parts:
        samples = rewarded([s for a in await parts.attempts(1) for s in a.samples])
        parts.learner.update(samples, {})
        samples = rewarded([s for a in await parts.attempts(2) for s in a.samples])
        before = parts.learner.state()
        first = replace(samples[0], advantages=(spoilt,) * len(samples[0].advantages))
        with pytest.raises(TrainingStopped, match="update 2 is refused"):
            parts.learner.update((first, *samples[1:]), {})
        after = parts.learner.state()
        assert same(before.weights, after.weights)
        for name, moments in before.optimiser["state"].items():
            assert same(moments, after.optimiser["state"][name])
        assert after.version == 1
        # The same batch without it is learnt as if nothing had been.
        parts.learner.update(samples, {})
        assert parts.learner.version == 2


async def test_a_step_beyond_all_numbers_is_taken_back(tmp_path):
    optimiser = replace(
        micro_settings().optimiser, learning_rate=1e37, weight_decay=100.0, warm_up_updates=0
    )
    async with bench(recipe_with(optimiser=optimiser), tmp_path) as parts:
        samples = rewarded([s for a in await parts.attempts(1) for s in a.samples])
        before = weights_of(parts.learner.policy.model)
        with pytest.raises(TrainingStopped, match="a weight is no finite number after the step"):
            parts.learner.update(samples, {})
        assert same(weights_of(parts.learner.policy.model), before)


async def test_a_warm_up_that_blows_up_stops_with_the_policy_as_it_was(tmp_path):
    warm_up = replace(micro_settings().warm_up, learning_rate=1e30)
    async with bench(recipe_with(warm_up=warm_up), tmp_path) as parts:
        good = parts.learner.weights()
        trainer = trainer_of(parts, tmp_path)
        with pytest.raises(TrainingStopped, match="step 2 of the warm-up is refused: the loss"):
            await trainer.begin(lambda: shown(parts))
        assert same(parts.learner.weights(), good)
        assert same(dict(parts.engine.policy.model.state_dict()), good)
        assert "a lower warm_up.learning_rate" in evidence(tmp_path, 0)["reason"].lower()
        assert evidence(tmp_path, 0)["samples"]


async def test_one_corrupted_weight_of_the_engine_is_caught_in_the_first_batch(tmp_path):
    async with bench(recipe_with(), tmp_path) as parts:
        told = []

        def corrupt(line):
            told.append(line)
            if isinstance(line, UpdateLine) and line.update == 1:
                # The weights have just been handed over: a single number of them goes wrong.
                with torch.no_grad():
                    parts.engine.policy.model.model.norm.weight[3] += 0.1

        trainer = trainer_of(parts, tmp_path, corrupt)
        await trainer.begin(lambda: shown(parts))
        with pytest.raises(TrainingStopped, match="update 2 is refused: engine and trainer disag"):
            await trainer.learn()
        assert [line.update for line in told if isinstance(line, UpdateLine)] == [1]
        worst = evidence(tmp_path, 2)["parity"]["parity"]["worst"][0]
        assert abs(worst["engine_log_prob"] - worst["trainer_log_prob"]) > 1e-4
        # What is served and saved afterwards are the learner's weights.
        assert same(dict(parts.engine.policy.model.state_dict()), parts.learner.weights())
        assert trainer.counters.update == 1


async def test_a_batch_that_nobody_can_score_stops_the_run_and_says_why(tmp_path):
    async with bench(recipe_with(), tmp_path) as parts:

        def spoil(line):
            if isinstance(line, UpdateLine) and line.update == 1:
                with torch.no_grad():
                    parts.engine.policy.model.lm_head.weight.fill_(math.nan)

        trainer = trainer_of(parts, tmp_path, spoil)
        await trainer.begin(lambda: shown(parts))
        with pytest.raises(TrainingStopped, match=r"none of its \d+ attempts could be scored"):
            await trainer.learn()
        assert "not finite" in evidence(tmp_path, 2)["reason"]
