import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from train_parts import episode, verdict

from screenloop.actions import Wait
from screenloop.errors import Blame, ConfigError
from screenloop.train.credit.reward import ProgressRewards, attempt_reward, invalid_steps, progress
from screenloop.train.settings import RewardSettings
from screenloop.types import CheckResult, Effect, Unscored

FINE = {"actions": (Wait(seconds=1.0),), "effects": (Effect(ok=True),)}
UNREADABLE = {"parse_error": "no action"}
REFUSED = {"actions": (Wait(seconds=1.0),), "effects": (Effect(ok=False, code="unsupported"),)}
MISSED = {"actions": (Wait(seconds=1.0),), "effects": (Effect(ok=False, code="nothing_here"),)}


def _checks(*passed, weights=(1.0, 2.0, 1.0)):
    return tuple(
        CheckResult(says=str(i), passed=p, weight=w, critical=True)
        for i, (p, w) in enumerate(zip(passed, weights, strict=True))
    )


class _Fixed:
    def __init__(self, name, values):
        self.name = name
        self._values = values

    def values(self, episode):
        return self._values


def test_the_outcome_alone_is_the_default():
    found = attempt_reward(episode([FINE, UNREADABLE], verdict(reward=0.5)), RewardSettings())
    assert found.total == 1.0
    assert found.components == {"outcome": 1.0}
    assert found.step_rewards == (0.0, 1.0)
    partial = RewardSettings(outcome="reward")
    assert attempt_reward(episode([FINE], verdict(False, 0.25)), partial).total == 0.25


def test_components_are_named_weighted_and_add_up():
    rules = RewardSettings(
        outcome_weight=2.0, step_weights={"judge": 0.5}, invalid_cost=0.1, efficiency_weight=1.0
    )
    played = episode([FINE, UNREADABLE, REFUSED, MISSED], verdict(), optimal=2)
    found = attempt_reward(played, rules, [_Fixed("judge", (1.0, 0.0, None, 0.5))])
    assert found.components == pytest.approx(
        {"outcome": 2.0, "step/judge": 0.75, "efficiency": 0.5, "invalid": -0.2}
    )
    assert found.total == pytest.approx(3.05)
    assert found.step_rewards == pytest.approx((0.5, 0.0, 0.0, 0.25 + 2.0 + 0.5))
    assert found.step_costs == pytest.approx((0.0, 0.1, 0.1, 0.0))
    assert found.unknown_steps == 1


def test_a_tap_beside_a_button_is_not_invalid():
    assert invalid_steps(episode([FINE, UNREADABLE, REFUSED, MISSED], verdict())) == (
        False,
        True,
        True,
        False,
    )


@settings(max_examples=30, deadline=None)
@given(
    st.booleans(),
    st.lists(st.sampled_from([FINE, UNREADABLE, REFUSED]), min_size=1, max_size=6),
    st.floats(0, 3),
    st.floats(0, 3),
    st.floats(0, 3),
    st.data(),
)
def test_success_never_mixes_with_shaped_reward(success, steps, step_w, cost, efficiency, data):
    values = data.draw(
        st.lists(st.one_of(st.none(), st.floats(0, 1)), min_size=len(steps), max_size=len(steps))
    )
    rules = RewardSettings(
        step_weights={"s": step_w}, invalid_cost=cost, efficiency_weight=efficiency
    )
    played = episode(steps, verdict(success))
    found = attempt_reward(played, rules, [_Fixed("s", tuple(values))])
    assert found.success == success
    assert found.components["outcome"] == float(success)
    assert found.total == pytest.approx(sum(found.step_rewards) - sum(found.step_costs))


def test_failures_earn_no_efficiency():
    rules = RewardSettings(efficiency_weight=1.0)
    assert attempt_reward(episode([FINE], verdict(False)), rules).total == 0
    short = attempt_reward(episode([FINE], verdict()), rules)
    assert short.components["efficiency"] == 1.0


def test_unscored_attempts_have_no_reward_at_all():
    unscored = Unscored(blame=Blame.INFRASTRUCTURE, stage="model", reason="gone")
    assert (
        attempt_reward(episode([FINE], verdict(False, unscored=unscored)), RewardSettings()) is None
    )
    assert attempt_reward(episode([FINE], None), RewardSettings()) is None


def test_progress_pays_each_check_once():
    moments = [
        verdict(False, 0.0, _checks(False, False, False)),
        verdict(False, 0.5, _checks(False, True, False)),
        verdict(False, 0.25, _checks(True, False, False)),
        verdict(False, 0.75, _checks(True, True, False)),
        verdict(True, 1.0, _checks(True, True, True)),
    ]
    assert progress(moments) == (0.5, 0.25, 0.0, 0.25)


def test_what_held_from_the_start_pays_nothing():
    held = [verdict(False, 0.25, _checks(True, False, False))] * 2
    assert progress(held) == (0.0,)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(*[st.booleans()] * 3), min_size=1, max_size=9))
def test_progress_of_an_episode_is_at_most_one(passes):
    values = progress([verdict(False, 0.0, _checks(*p)) for p in passes])
    assert all(value is not None and value >= 0 for value in values)
    assert sum(values) <= 1 + 1e-9


def test_a_moment_that_cannot_be_judged_is_unknown_not_zero():
    lost = verdict(False, unscored=Unscored(blame=Blame.TASK, stage="evaluate", reason="crashed"))
    known = verdict(False, 0.0, _checks(False, False, False))
    half = verdict(False, 0.5, _checks(False, True, False))
    assert progress([known, lost, half, half]) == (None, None, 0.0)


def test_progress_needs_a_verdict_after_the_reset_and_after_each_step():
    played = episode([FINE, FINE], verdict())
    moments = [verdict(False, 0.0, _checks(False, False, False))] * 3
    assert ProgressRewards({"e": moments}).values(played) == (0.0, 0.0)
    with pytest.raises(ConfigError, match=r"needs 3 verdicts.*not 2"):
        ProgressRewards({"e": moments[:2]}).values(played)
    with pytest.raises(ConfigError, match="not 0"):
        ProgressRewards({}).values(played)


def test_wrong_sources_and_unknown_shortest_paths_are_refused():
    played = episode([FINE, FINE], verdict(), optimal=None)
    with pytest.raises(ConfigError, match="'progress', but there is no such source"):
        attempt_reward(played, RewardSettings(step_weights={"progress": 1.0}))
    with pytest.raises(ConfigError, match="gave 1 values for the 2 steps"):
        attempt_reward(played, RewardSettings(step_weights={"s": 1.0}), [_Fixed("s", (0.0,))])
    with pytest.raises(ConfigError, match="optimal_steps"):
        attempt_reward(played, RewardSettings(efficiency_weight=1.0))
