import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from screenloop.errors import ConfigError
from screenloop.train.credit.groups import select_groups
from screenloop.train.types import AttemptReward, TrainAttempt


def _attempt(name, group, total):
    reward = None
    if total is not None:
        reward = AttemptReward(
            success=total > 0, total=total, components={}, step_rewards=(), step_costs=()
        )
    return TrainAttempt(attempt_id=name, group_id=group, reward=reward, samples=())


def _attempts(**groups):
    return [
        _attempt(f"{name}{i}", name, reward)
        for name, rewards in groups.items()
        for i, reward in enumerate(rewards)
    ]


def test_unscored_attempts_leave_before_any_mean_and_useless_groups_are_counted():
    found = select_groups(
        _attempts(good=[1.0, None, 0.0], few=[1.0, None], flat=[0.5, 0.5, None], gone=[None, None])
    )
    assert [a.attempt_id for a in found.attempts] == ["good0", "good2"]
    assert found.rewards_A == (1.0, 0.0)
    assert found.groups_A == (0, 0)
    counts = found.counts
    assert (counts.groups, counts.kept, counts.too_few, counts.no_spread) == (4, 1, 2, 1)
    assert (counts.attempts, counts.unscored, counts.trained) == (10, 5, 2)


def test_estimators_that_compare_nothing_keep_every_scored_attempt():
    found = select_groups(_attempts(few=[1.0], flat=[0.5, 0.5], gone=[None]), relative=False)
    assert found.rewards_A == (1.0, 0.5, 0.5)
    assert (found.counts.kept, found.counts.too_few, found.counts.no_spread) == (2, 1, 0)


REWARDS = st.one_of(st.none(), st.integers(0, 3).map(float))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(REWARDS, min_size=1, max_size=6), max_size=6))
def test_every_group_and_attempt_is_accounted_for(groups):
    found = select_groups(_attempts(**{f"g{i}": group for i, group in enumerate(groups)}))
    counts = found.counts
    assert counts.groups == counts.kept + counts.too_few + counts.no_spread
    assert counts.attempts == sum(map(len, groups))
    assert counts.trained == len(found.attempts) == len(found.groups_A)
    for index in set(found.groups_A):
        rewards = [
            a.reward.total
            for a, g in zip(found.attempts, found.groups_A, strict=True)
            if g == index
        ]
        assert len(rewards) >= 2
        assert max(rewards) > min(rewards)


def test_an_attempt_given_twice_or_a_reward_that_is_no_number_is_refused():
    one = _attempt("a", "g", 1.0)
    with pytest.raises(ConfigError, match="is there twice"):
        select_groups([one, one])
    with pytest.raises(ConfigError, match="has the reward None"):
        select_groups([_attempt("a", "g", float("nan"))])
