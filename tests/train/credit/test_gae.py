import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from screenloop.train.credit.gae import gae
from screenloop.train.loss.value import value_loss

FLOATS = st.floats(-2, 2, width=32)


@st.composite
def rows(draw):
    width = draw(st.integers(1, 8))
    columns = st.lists(FLOATS, min_size=width, max_size=width)
    mask = draw(st.lists(st.booleans(), min_size=width, max_size=width))
    return draw(columns), draw(columns), mask


def _raw(rewards, values, mask, gamma, lam):
    """Sum the definition term by term over the tokens that count."""
    at = [t for t, counts in enumerate(mask) if counts]
    deltas = [
        rewards[t] + gamma * (values[at[i + 1]] if i + 1 < len(at) else 0.0) - values[t]
        for i, t in enumerate(at)
    ]
    return [sum((gamma * lam) ** k * d for k, d in enumerate(deltas[i:])) for i in range(len(at))]


@settings(max_examples=40, deadline=None)
@given(rows(), st.floats(0, 1), st.floats(0, 1))
def test_returns_are_the_sum_of_the_definition_over_sampled_tokens(row, gamma, lam):
    rewards, values, mask = row
    found = gae(
        torch.tensor([rewards]), torch.tensor([values]), torch.tensor([mask]), gamma=gamma, lam=lam
    )
    expected = _raw(rewards, values, mask, gamma, lam)
    got = [
        float(r) - v
        for r, v, counts in zip(found.returns_B_T[0], values, mask, strict=True)
        if counts
    ]
    assert got == pytest.approx(expected, abs=1e-4)


def test_a_hand_computed_episode():
    found = gae(
        torch.tensor([[0.0, 0.0, 1.0]]),
        torch.tensor([[0.5, 0.2, 0.4]]),
        torch.ones(1, 3),
        gamma=1.0,
        lam=1.0,
    )
    assert found.returns_B_T.tolist() == [pytest.approx([1.0, 1.0, 1.0])]


def test_advantages_are_whitened_and_zero_on_the_environments_tokens():
    draw = torch.Generator().manual_seed(0)
    mask = (torch.rand(5, 9, generator=draw) > 0.4).float()
    found = gae(torch.randn(5, 9, generator=draw), torch.randn(5, 9, generator=draw), mask)
    per_row = found.advantages_B_T.sum(1) / mask.sum(1)
    assert float(per_row.mean()) == pytest.approx(0, abs=1e-6)
    assert found.advantages_B_T[mask == 0].abs().max() == 0


def test_the_value_loss_earns_nothing_beyond_the_clip():
    old = torch.zeros(1, 1)
    returns = torch.full((1, 1), 2.0)
    values = torch.tensor([[1.0]], requires_grad=True)
    found = value_loss(values, old, returns, torch.ones(1, 1), clip=0.5)
    found.loss_B_T.sum().backward()
    assert float(found.loss_B_T.detach()) == pytest.approx((0.5 - 2) ** 2 / 2)
    assert float(values.grad) == 0
    assert found.clip_fraction == 1.0
