import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from screenloop.train.credit.group_advantage import (
    dr_grpo,
    group_relative,
    grpo,
    reinforce_plus_plus,
    reinforce_plus_plus_baseline,
    rloo,
)

TWO_GROUPS = torch.tensor([1.0, 0, 0, 1, 1, 1, 1, 0])
INDEX = torch.tensor([0, 0, 0, 0, 1, 1, 1, 1])
HALF = 3**0.5 / 2


def _values(tensor):
    return pytest.approx(tensor, abs=1e-4)


@st.composite
def batches(draw):
    sizes = draw(st.lists(st.integers(1, 8), min_size=1, max_size=5))
    rewards = [draw(st.integers(0, 20)) / 20 for size in sizes for _ in range(size)]
    groups = [g for g, size in enumerate(sizes) for _ in range(size)]
    return torch.tensor(rewards, dtype=torch.float64), torch.tensor(groups)


def test_printed_values_of_grpo():
    assert grpo(TWO_GROUPS, INDEX).tolist() == _values(
        [HALF, -HALF, -HALF, HALF, 0.5, 0.5, 0.5, -1.5]
    )


def test_printed_values_of_dr_grpo():
    assert dr_grpo(TWO_GROUPS, INDEX).tolist() == _values(
        [0.5, -0.5, -0.5, 0.5, 0.25, 0.25, 0.25, -0.75]
    )


def test_printed_values_of_rloo():
    third = 1 / 3
    assert rloo(TWO_GROUPS, INDEX).tolist() == _values(
        [2 * third, -2 * third, -2 * third, 2 * third, third, third, third, -1]
    )


def test_printed_values_of_reinforce_plus_plus():
    rewards = torch.zeros(8, 5)
    rewards[:, -1] = TWO_GROUPS
    found = reinforce_plus_plus(rewards, torch.ones(8, 5), statistics="token")
    assert found[0].tolist() == _values([0.7649] * 5)
    assert found[1].tolist() == _values([-1.2748] * 5)


@settings(max_examples=40, deadline=None)
@given(batches())
def test_advantages_of_a_group_sum_to_zero(batch):
    rewards, groups = batch
    for estimator in (grpo, dr_grpo, rloo):
        sums = torch.zeros(int(groups.max()) + 1, dtype=torch.float64)
        sums.index_add_(0, groups, estimator(rewards, groups))
        assert sums.abs().max() < 1e-9


@settings(max_examples=40, deadline=None)
@given(batches(), st.randoms(use_true_random=False))
def test_the_order_of_attempts_does_not_matter(batch, random):
    rewards, groups = batch
    order = list(range(len(rewards)))
    random.shuffle(order)
    for estimator in (grpo, dr_grpo, rloo):
        mixed = estimator(rewards[order], groups[order])
        assert torch.allclose(mixed, estimator(rewards, groups)[order], atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(batches(), st.floats(-3, 3), st.floats(0.5, 4))
def test_grpo_ignores_shift_and_scale_of_rewards(batch, shift, scale):
    rewards, groups = batch
    moved = grpo(rewards * scale + shift, groups)
    # The 1e-6 beside the standard deviation is all that is left of the scale.
    assert torch.allclose(moved, grpo(rewards, groups), atol=1e-3)


@settings(max_examples=40, deadline=None)
@given(batches())
def test_rloo_is_the_others_mean_and_a_multiple_of_dr_grpo(batch):
    rewards, groups = batch[0].tolist(), batch[1].tolist()
    found, scaled = rloo(*batch).tolist(), dr_grpo(*batch).tolist()
    for i, group in enumerate(groups):
        others = [r for j, r in enumerate(rewards) if groups[j] == group and j != i]
        if not others:
            assert found[i] == 0
            continue
        assert found[i] == pytest.approx(rewards[i] - sum(others) / len(others), abs=1e-9)
        assert found[i] == pytest.approx((len(others) + 1) / len(others) * scaled[i], abs=1e-9)


def test_an_attempt_alone_in_its_group_and_a_group_without_spread_get_zero():
    rewards = torch.tensor([0.9, 0.1, 0.1, 0.1])
    groups = torch.tensor([0, 1, 1, 1])
    for estimator in (grpo, dr_grpo, rloo):
        assert estimator(rewards, groups).tolist() == [0, 0, 0, 0]


def test_a_rounded_mean_of_equal_rewards_is_not_blown_up():
    # In single precision the mean of three times 0.45 is not 0.45.
    assert grpo(torch.full((3,), 0.45), torch.zeros(3, dtype=torch.long)).tolist() == [0, 0, 0]


def test_long_attempts_weigh_no_more_unless_steps_are_pooled():
    rewards, groups = torch.tensor([1.0, 0.0, 0.0]), torch.tensor([0, 0, 0])
    steps = torch.tensor([7, 1, 1])
    plain = group_relative(rewards, groups, normalise="none")
    pooled = group_relative(rewards, groups, normalise="none", rows_A=steps)
    assert plain.tolist() == _values([2 / 3, -1 / 3, -1 / 3])
    assert pooled.tolist() == _values([1 - 7 / 9, -7 / 9, -7 / 9])


def test_whitening_by_attempt_does_not_depend_on_reply_lengths():
    rewards = torch.tensor([1.0, 0.0, 0.5, 0.0])
    groups = torch.tensor([0, 0, 1, 1])
    short = torch.zeros(4, 6)
    short[:, 0] = 1
    long = short.clone()
    long[0] = 1
    one = reinforce_plus_plus_baseline(rewards, groups, short)
    other = reinforce_plus_plus_baseline(rewards, groups, long)
    assert torch.allclose(one[:, 0], other[:, 0])
    by_token = reinforce_plus_plus_baseline(rewards, groups, long, statistics="token")
    assert not torch.allclose(other[:, 0], by_token[:, 0], atol=1e-2)


def test_returns_pass_over_tokens_of_the_environment():
    rewards = torch.zeros(2, 5)
    rewards[:, -1] = torch.tensor([1.0, 0.0])
    gaps = torch.tensor([[1.0, 0, 0, 1, 1], [1, 1, 1, 0, 0]])
    dense = torch.tensor([[1.0, 1, 1, 0, 0], [1, 1, 1, 0, 0]])
    moved = torch.zeros(2, 5)
    moved[0, 2] = 1.0
    found = reinforce_plus_plus(rewards, gaps, gamma=0.5)
    same = reinforce_plus_plus(moved, dense, gamma=0.5)
    assert found[0][gaps[0].bool()].tolist() == pytest.approx(same[0, :3].tolist())
    assert found[gaps == 0].abs().max() == 0
