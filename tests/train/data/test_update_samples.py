import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from train_parts import synthetic_calls

from screenloop.config import Window
from screenloop.errors import ConfigError
from screenloop.train.credit.advantage import token_rewards, update_samples
from screenloop.train.data.samples import window_samples
from screenloop.train.settings import AdvantageSettings
from screenloop.train.types import AttemptReward, TrainAttempt

WINDOW = Window(steps=3, overlap=1)


def _attempt(name, group, total, steps=4, anchors=None, costs=None):
    rewards = (0.0,) * (steps - 1) + (total,)
    costs = costs or (0.0,) * steps
    reward = AttemptReward(
        success=total > 0,
        total=total - sum(costs),
        components={"outcome": total},
        step_rewards=rewards,
        step_costs=costs,
    )
    return TrainAttempt(
        attempt_id=name,
        group_id=group,
        reward=None if total is None else reward,
        samples=window_samples(name, synthetic_calls(steps, WINDOW)),
        anchors=tuple(f"s{i}" for i in range(steps)) if anchors is None else anchors,
    )


def _unscored(name, group):
    return TrainAttempt(
        attempt_id=name,
        group_id=group,
        reward=None,
        samples=window_samples(name, synthetic_calls(2, WINDOW)),
    )


def _by_step(found, name):
    return {
        span.step_index: sample.advantages[span.start]
        for sample in found.samples
        if sample.attempt_id == name
        for span in sample.spans
    }


ATTEMPTS = [
    _attempt("a", "g", 1.0),
    _attempt("b", "g", 0.0, steps=6),
    _unscored("x", "g"),
    _attempt("c", "flat", 1.0),
    _attempt("d", "flat", 1.0),
    _attempt("e", "few", 1.0),
    _unscored("y", "few"),
]


@pytest.mark.parametrize(
    ("estimator", "win"), [("grpo", 2**0.5 / 2), ("dr_grpo", 0.5), ("rloo", 1.0)]
)
def test_every_sampled_token_of_an_attempt_gets_its_advantage(estimator, win):
    found = update_samples(ATTEMPTS, AdvantageSettings(estimator=estimator))
    assert {s.attempt_id for s in found.samples} == {"a", "b"}
    assert (found.counts.no_spread, found.counts.too_few, found.counts.unscored) == (1, 1, 2)
    for sample in found.samples:
        expected = win if sample.attempt_id == "a" else -win
        assert sample.advantages == pytest.approx(
            [expected * m for m in sample.loss_mask], abs=1e-5
        )


def test_nothing_to_learn_gives_no_samples_but_the_counts():
    found = update_samples([_attempt("a", "g", 1.0)], AdvantageSettings())
    assert found.samples == ()
    assert found.counts.too_few == 1


def test_gigpo_gives_credit_to_the_step_where_attempts_part():
    attempts = [
        _attempt("a", "g", 1.0, steps=2, anchors=("s", "good")),
        _attempt("b", "g", 0.0, steps=2, anchors=("s", "bad")),
    ]
    found = update_samples(attempts, AdvantageSettings(estimator="gigpo"))
    assert _by_step(found, "a") == pytest.approx({0: 0.5 + 0.475, 1: 0.5})
    assert _by_step(found, "b") == pytest.approx({0: -0.975, 1: -0.5})
    assert found.anchors.sizes == {1: 2, 2: 1}


def test_hgpo_runs_through_the_same_door():
    found = update_samples(ATTEMPTS[:2], AdvantageSettings(estimator="hgpo"))
    assert _by_step(found, "a")[0] > 0 > _by_step(found, "b")[0]
    # Nobody else came to the last steps of the long attempt.
    assert _by_step(found, "b")[5] == 0


def test_step_credit_needs_an_anchor_a_step():
    odd = [_attempt("a", "g", 1.0, anchors=("s",)), _attempt("b", "g", 0.0)]
    with pytest.raises(ConfigError, match="attempt a has 1 for 4 steps"):
        update_samples(odd, AdvantageSettings(estimator="gigpo"))


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.floats(-1, 1), min_size=4, max_size=4),
    st.lists(st.floats(0, 1), min_size=4, max_size=4),
    st.integers(20, 80),
)
def test_token_rewards_add_up_to_the_total_even_where_calls_were_cut(rewards, costs, limit):
    reward = AttemptReward(
        success=False,
        total=sum(rewards) - sum(costs),
        components={},
        step_rewards=tuple(rewards),
        step_costs=tuple(costs),
    )
    whole = window_samples("a", synthetic_calls(4, WINDOW))
    samples = tuple(
        replace(sample, spans=tuple(span for span in sample.spans if span.end <= limit))
        for sample in whole
    )
    attempt = TrainAttempt(attempt_id="a", group_id="g", reward=reward, samples=samples)
    found = token_rewards(attempt)
    assert len(found) == sum(sample.sampled for sample in samples)
    if found:
        assert sum(found) == pytest.approx(reward.total)


def test_reinforce_plus_plus_keeps_groups_without_spread():
    found = update_samples(ATTEMPTS, AdvantageSettings(estimator="reinforce++"))
    assert {s.attempt_id for s in found.samples} == set("abcde")
    assert found.counts.too_few == 0
    by_attempt = {s.attempt_id: max(s.advantages, key=abs) for s in found.samples}
    assert by_attempt["b"] < 0 < by_attempt["a"] == pytest.approx(by_attempt["e"])


def test_the_baseline_form_compares_inside_groups():
    found = update_samples(ATTEMPTS, AdvantageSettings(estimator="reinforce++_baseline"))
    assert {s.attempt_id for s in found.samples} == {"a", "b"}
    assert _by_step(found, "a")[0] == pytest.approx(-_by_step(found, "b")[0])


def _values(attempts, value):
    return {a.attempt_id: [value] * sum(s.sampled for s in a.samples) for a in attempts}


def test_ppo_carries_credit_over_window_boundaries_and_returns_targets():
    attempts = [_attempt("a", "g", 1.0), _attempt("b", "h", 0.0)]
    found = update_samples(
        attempts, AdvantageSettings(estimator="ppo"), values=_values(attempts, 0.25)
    )
    assert found.returns["a"] == pytest.approx([1.0] * 12)
    assert found.returns["b"] == pytest.approx([0.0] * 12)
    assert len({s.row for s in found.samples if s.attempt_id == "a"}) == 2
    assert _by_step(found, "a")[0] == pytest.approx(_by_step(found, "a")[3])
    assert _by_step(found, "a")[0] > 0


def test_ppo_without_a_value_for_each_token_is_refused():
    with pytest.raises(ConfigError, match="attempt a has 12 sampled tokens but 0 values"):
        update_samples([_attempt("a", "g", 1.0)], AdvantageSettings(estimator="ppo"))


@pytest.mark.parametrize("estimator", ["grpo", "gigpo", "reinforce++", "reinforce++_baseline"])
def test_kl_in_the_reward_lowers_the_attempt_that_strayed(estimator):
    attempts = [_attempt("a", "g", 1.0), _attempt("b", "g", 1.0), _attempt("c", "g", 0.0)]
    costs = _values(attempts, 0.0)
    costs["b"] = [0.05] * 12
    found = update_samples(attempts, AdvantageSettings(estimator=estimator), token_costs=costs)
    assert _by_step(found, "a")[0] > _by_step(found, "b")[0] > _by_step(found, "c")[0]
    with pytest.raises(ConfigError, match="12 sampled tokens but 1 costs"):
        token_rewards(attempts[0], [0.1])


def test_invalid_steps_lower_their_own_step_most():
    attempts = [
        _attempt("a", "g", 1.0, costs=(0.0, 0.1, 0.0, 0.0)),
        _attempt("b", "g", 1.0),
        _attempt("c", "g", 0.0),
    ]
    found = update_samples(attempts, AdvantageSettings(estimator="gigpo"))
    gap = {t: _by_step(found, "b")[t] - _by_step(found, "a")[t] for t in range(4)}
    assert gap[1] == max(gap.values())
    assert gap[0] == pytest.approx(gap[2])


def test_the_sum_of_a_groups_advantages_is_zero_over_attempts():
    found = update_samples(ATTEMPTS, AdvantageSettings())
    per_attempt = {s.attempt_id: max(s.advantages, key=abs) for s in found.samples}
    assert torch.tensor(list(per_attempt.values())).sum().abs() < 1e-6
