import msgspec
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from screenloop.train.loss.mismatch import rejection_mask, rollout_weights
from screenloop.train.settings import Rejection

ONES = torch.ones(2, 3)


def test_equal_policies_have_weight_one():
    log_probs = -torch.rand(2, 3)
    assert torch.equal(rollout_weights(log_probs, log_probs, ONES), ONES)
    assert torch.equal(rejection_mask(log_probs, log_probs, ONES, [Rejection()]), ONES)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 300), st.sampled_from(["token", "sequence"]))
def test_weights_stay_below_the_bound_and_carry_no_gradient(seed, level):
    draw = torch.Generator().manual_seed(seed)
    old = -torch.rand(3, 4, generator=draw).mul(5).requires_grad_()
    mask = (torch.rand(3, 4, generator=draw) > 0.5).float()
    found = rollout_weights(old, -torch.rand(3, 4, generator=draw), mask, level=level, high=1.5)
    assert found.max() <= 1.5
    assert found[mask == 0].abs().sum() == 0
    assert not found.requires_grad


def test_a_sequence_weight_is_the_product_of_its_tokens():
    old, rollout = torch.tensor([[0.0, -1.0, -9.0]]), torch.tensor([[-0.1, -1.2, -1.0]])
    mask = torch.tensor([[1.0, 1.0, 0.0]])
    found = rollout_weights(old, rollout, mask, level="sequence")
    assert found.tolist() == [pytest.approx([1.3499, 1.3499, 0.0], abs=1e-4)]


def test_a_sequence_rule_rejects_the_whole_row_and_a_token_rule_one_token():
    old, rollout = torch.zeros(2, 3), torch.zeros(2, 3)
    rollout[0, 1] = -1.0
    token = rejection_mask(old, rollout, ONES, [Rejection(statistic="token_k3", high=0.1)])
    row = rejection_mask(old, rollout, ONES, [Rejection(statistic="seq_max_k3", high=0.1)])
    assert token.tolist() == [[1, 0, 1], [1, 1, 1]]
    assert row.tolist() == [[0, 0, 0], [1, 1, 1]]
    both = [Rejection(statistic="token_k3", high=0.1), Rejection(statistic="token_k1", high=1.1)]
    assert torch.equal(rejection_mask(old, rollout, ONES, both), token)


def test_bounds_that_nothing_can_meet_are_refused():
    with pytest.raises(ValueError, match=r"low 2 is above high 1\.5"):
        Rejection(statistic="token_k1", low=2.0, high=1.5)
    with pytest.raises(ValueError, match="no lower bound"):
        Rejection(statistic="token_k3", low=0.1)
    with pytest.raises(msgspec.ValidationError, match="token_k9"):
        msgspec.convert({"statistic": "token_k9"}, Rejection)
