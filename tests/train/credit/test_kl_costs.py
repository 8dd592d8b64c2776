"""The KL in the reward: what tokens pay, where estimators feel it, how a run tells it."""

import pytest
import torch
from learner_parts import bench, recipe_with
from msgspec.structs import replace
from train_parts import synthetic_calls
from trainer_parts import micro_settings

from screenloop.config import Window
from screenloop.report.training.metrics import UpdateLine, read_metrics
from screenloop.train.credit.advantage import update_samples
from screenloop.train.data.samples import window_samples
from screenloop.train.loss.kl import kl_costs
from screenloop.train.run import train
from screenloop.train.settings import AdvantageSettings, KlSettings
from screenloop.train.types import AttemptReward, TrainAttempt

WINDOW = Window(steps=3, overlap=1)


def samples_of(name, steps=4):
    return window_samples(name, synthetic_calls(steps, WINDOW))


def reference_of(samples, difference):
    """Return log-probabilities that lie below those that were drawn with."""
    return {
        s.name: torch.tensor(
            [v - difference for v, m in zip(s.rollout_log_probs, s.loss_mask, strict=True) if m]
        )
        for s in samples
    }


def attempt(name, total, group="g", steps=4):
    reward = AttemptReward(
        success=total > 0,
        total=total,
        components={"outcome": total},
        step_rewards=(0.0,) * (steps - 1) + (total,),
        step_costs=(0.0,) * steps,
    )
    return TrainAttempt(
        attempt_id=name,
        group_id=group,
        reward=reward,
        samples=samples_of(name, steps),
        anchors=tuple(f"s{i}" for i in range(steps)),
    )


def advantages(found, name):
    return [
        value
        for s in found.samples
        if s.attempt_id == name
        for value, m in zip(s.advantages, s.loss_mask, strict=True)
        if m
    ]


def test_each_sampled_token_pays_the_coefficient_times_its_estimate_windows_joined():
    samples = (*samples_of("a"), *samples_of("b"))
    paid = kl_costs(
        samples, reference_of(samples, 0.5), KlSettings(place="reward", coefficient=0.1)
    )
    assert paid.by_attempt["a"] == pytest.approx([0.05] * 12)
    assert paid.by_attempt["b"] == pytest.approx([0.05] * 12)
    assert paid.mean_kl == pytest.approx(0.5)


def test_the_estimator_is_k1_in_the_reward_and_k3_in_the_loss_unless_it_is_named():
    assert KlSettings(place="reward").estimator == "k1"
    assert KlSettings(place="loss").estimator == "k3"
    assert KlSettings(place="reward", kind="k2").estimator == "k2"
    samples = samples_of("a")
    paid = kl_costs(samples, reference_of(samples, 0.5), KlSettings(place="reward", kind="k2"))
    assert paid.mean_kl == pytest.approx(0.125)


def test_an_attempt_that_is_closer_to_the_reference_than_the_policy_is_paid():
    samples = samples_of("a")
    paid = kl_costs(samples, reference_of(samples, -0.5), KlSettings(place="reward"))
    assert all(cost < 0 for cost in paid.by_attempt["a"])


@pytest.mark.parametrize("estimator", ["dr_grpo", "rloo"])
def test_estimators_of_outcomes_see_the_total_less_the_sum_over_the_tokens(estimator):
    attempts = [attempt("a", 1.0), attempt("b", 0.0)]
    costs = {"a": [0.02] * 12, "b": [0.0] * 12}
    found = update_samples(attempts, AdvantageSettings(estimator=estimator), token_costs=costs)
    scale = 0.5 if estimator == "dr_grpo" else 1.0
    assert advantages(found, "a") == pytest.approx([scale * (1 - 0.24)] * 12)


def test_a_step_pays_for_its_own_tokens_and_steps_before_it_feel_that():
    attempts = [attempt("a", 1.0), attempt("b", 1.0), attempt("c", 0.0)]
    costs = {name: [0.0] * 12 for name in "abc"}
    costs["b"][6:9] = [0.1] * 3
    found = update_samples(attempts, AdvantageSettings(estimator="gigpo"), token_costs=costs)
    gap = [a - b for a, b in zip(advantages(found, "a"), advantages(found, "b"), strict=True)][::3]
    # The episode part is 0.3 lower throughout; the step part where it is paid, and before.
    assert gap == pytest.approx([0.3 + 0.3 * 0.95**2, 0.3 + 0.3 * 0.95, 0.6, 0.3], abs=1e-6)


def test_tokens_pay_where_they_stand_in_estimators_of_tokens():
    one, other = attempt("a", 1.0), attempt("b", 1.0)
    costs = {"a": [0.0] * 12, "b": [0.0] * 9 + [0.5] + [0.0] * 2}
    found = update_samples(
        [one, other], AdvantageSettings(estimator="reinforce++"), token_costs=costs
    )
    a, b = advantages(found, "a"), advantages(found, "b")
    assert a[0] > b[0]
    assert a[9] > b[9]
    assert a[10:] == pytest.approx(b[10:])


def test_attempts_that_did_equally_well_teach_nothing_whatever_they_pay():
    attempts = [attempt("a", 1.0), attempt("b", 1.0)]
    costs = {"a": [0.0] * 12, "b": [1e-5] * 12}
    found = update_samples(attempts, AdvantageSettings(), token_costs=costs)
    assert found.samples == ()
    assert found.counts.no_spread == 1


async def test_the_reference_stays_while_the_policy_moves(tmp_path):
    async with bench(recipe_with(), tmp_path) as parts:
        attempts = await parts.attempts(1)
        samples = [s for a in attempts for s in a.samples]
        before = parts.learner.reference_log_probs(samples, {})
        settings = KlSettings(place="reward")
        assert abs(kl_costs(samples, before, settings).mean_kl) < 1e-5
        with torch.no_grad():
            next(parts.learner.policy.model.parameters()).mul_(1.2)
        after = parts.learner.reference_log_probs(samples, {})
        assert all(torch.equal(before[name], after[name]) for name in before)


async def test_a_run_tells_it_as_a_component_of_the_reward_and_success_stays_what_it_is(tmp_path):
    learning = replace(micro_settings().learning, kl=KlSettings(place="reward", coefficient=0.05))
    await train(recipe_with(learning, updates=3), 3, tmp_path / "run")
    lines = [line for line in read_metrics(tmp_path / "run") if isinstance(line, UpdateLine)]
    for line in lines:
        told = line.reward_components
        assert line.reward == pytest.approx(told["outcome"] + told["kl"])
        assert line.success == told["outcome"]
    # Nothing has moved before the first update; later the policy is elsewhere.
    assert abs(lines[0].kl) < 1e-5 < abs(lines[-1].kl)
    assert lines[-1].reward_components["kl"] != 0
