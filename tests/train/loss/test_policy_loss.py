import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from train_parts import aggregate

from screenloop.errors import ConfigError
from screenloop.train.loss.aggregate import token_weights
from screenloop.train.loss.policy import (
    cispo_loss,
    gspo_loss,
    policy_loss,
    ppo_loss,
    reinforce_loss,
)
from screenloop.train.settings import Clip

LOSSES = {
    "ppo": lambda *of: ppo_loss(*of),
    "gspo": lambda *of: gspo_loss(*of),
    "cispo": lambda *of: cispo_loss(*of),
}


def _batch(seed, rows=4, tokens=6):
    draw = torch.Generator().manual_seed(seed)
    old = -3 * torch.rand(rows, tokens, generator=draw, dtype=torch.float64)
    advantages = torch.randn(rows, tokens, generator=draw, dtype=torch.float64)
    mask = (torch.rand(rows, tokens, generator=draw) > 0.3).double()
    mask[:, 0] = 1
    noise = 0.3 * torch.randn(rows, tokens, generator=draw, dtype=torch.float64)
    return old, old + noise, advantages, mask


@pytest.mark.parametrize("name", ["ppo", "gspo"])
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 500))
def test_at_ratio_one_the_loss_is_minus_the_mean_advantage(name, seed):
    old, _, advantages, mask = _batch(seed)
    loss = aggregate(LOSSES[name](old, old, advantages, mask).loss_B_T, mask)
    assert float(loss) == pytest.approx(-float((advantages * mask).sum() / mask.sum()), abs=1e-6)


@pytest.mark.parametrize("name", LOSSES)
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 500))
def test_at_ratio_one_the_gradient_is_that_of_reinforce(name, seed):
    old, _, advantages, mask = _batch(seed)
    gradients = []
    for loss in (LOSSES[name], reinforce_loss):
        new = old.clone().requires_grad_()
        aggregate(loss(new, old, advantages, mask).loss_B_T, mask).backward()
        gradients.append(new.grad)
    assert torch.allclose(*gradients, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 300))
def test_gradients_of_the_ppo_loss_agree_with_differences(seed):
    old, new, advantages, mask = _batch(seed, rows=2, tokens=3)

    def loss(log_probs):
        found = ppo_loss(log_probs, old, advantages, mask, clip=Clip(high=0.28, dual=1.5))
        return aggregate(found.loss_B_T, mask).double()

    ratio = (new - old).exp()
    edges = torch.tensor([0.8, 1.28, 1.5], dtype=torch.float64)
    if (ratio.unsqueeze(-1) - edges).abs().min() < 1e-3:
        return
    new.requires_grad_()
    loss(new).backward()
    for index in range(new.numel()):
        step = torch.zeros(new.numel(), dtype=torch.float64)
        step[index] = 1e-5
        step = step.view_as(new)
        with torch.no_grad():
            difference = float(loss(new + step) - loss(new - step)) / 2e-5
        assert float(new.grad.flatten()[index]) == pytest.approx(difference, abs=1e-4)


def test_clip_higher_lets_good_tokens_grow_further():
    old = torch.zeros(1, 1)
    grown = torch.log(torch.tensor([[1.25]])).requires_grad_()
    for high, slope in ((0.2, 0.0), (0.28, -1.25)):
        grown.grad = None
        ppo_loss(
            grown, old, torch.ones(1, 1), torch.ones(1, 1), clip=Clip(high=high)
        ).loss_B_T.sum().backward()
        assert float(grown.grad) == pytest.approx(slope)


def test_the_dual_clip_bounds_the_loss_of_bad_tokens_that_grew():
    old, new = torch.zeros(1, 1), torch.full((1, 1), 3.0)
    bad, mask = torch.full((1, 1), -1.0), torch.ones(1, 1)
    assert float(ppo_loss(new, old, bad, mask).loss_B_T) == pytest.approx(3.0)
    free = ppo_loss(new, old, bad, mask, clip=Clip(dual=None))
    assert float(free.loss_B_T) == pytest.approx(float(torch.tensor(3.0).exp()))
    assert ppo_loss(new, old, bad, mask).clip_fraction_lower == 1.0


def test_cispo_keeps_a_gradient_on_tokens_that_ppo_would_drop():
    old, mask = torch.zeros(1, 1), torch.ones(1, 1)
    gradients = {}
    for name, loss in LOSSES.items():
        new = torch.full((1, 1), 1.0, requires_grad=True)
        loss(new, old, mask, mask).loss_B_T.sum().backward()
        gradients[name] = float(new.grad)
    assert gradients["ppo"] == 0
    assert gradients["cispo"] == pytest.approx(-1.2)


def test_the_ratio_of_gspo_is_one_for_the_whole_row():
    old, mask = torch.zeros(1, 4), torch.tensor([[1.0, 1.0, 0.0, 1.0]])
    new = torch.tensor([[0.3, -0.3, 9.0, 0.0]], requires_grad=True)
    found = gspo_loss(new, old, torch.ones(1, 4), mask)
    assert found.loss_B_T[0, [0, 1, 3]].tolist() == pytest.approx([-1.0] * 3)
    aggregate(found.loss_B_T, mask).backward()
    assert new.grad[0].tolist() == pytest.approx([-1 / 3, -1 / 3, 0, -1 / 3])


def test_losses_without_a_dual_clip_refuse_one():
    of = (torch.zeros(1, 1),) * 3 + (torch.ones(1, 1),)
    for kind in ("gspo", "cispo"):
        with pytest.raises(ConfigError, match="no dual clip"):
            policy_loss(kind, *of, clip=Clip())
    assert policy_loss("reinforce", *of, clip=Clip()).clip_fraction == 0


def test_impossible_clips_are_refused():
    with pytest.raises(ValueError, match=r"low 1 must lie in \[0, 1\)"):
        Clip(low=1.0)
    with pytest.raises(ValueError, match="must be above 1"):
        Clip(dual=1.0)


def test_weights_scale_the_loss_of_their_tokens():
    old, new, advantages, mask = _batch(1)
    weights = torch.rand_like(old).requires_grad_()
    plain = ppo_loss(new, old, advantages, mask).loss_B_T
    of = (new, old, advantages, mask)
    weighted = policy_loss("ppo", *of, clip=Clip(), weights_B_T=weights).loss_B_T
    assert torch.allclose(weighted, plain * weights.detach())
    assert not weighted.requires_grad


MODES = ["token-mean", "seq-mean-token-sum", "seq-mean-token-mean", "seq-mean-token-sum-norm"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("cut", [1, 2, 3])
def test_micro_batches_add_up_to_the_whole_batch(mode, cut):
    loss, _, _, mask = _batch(3)
    attempts = torch.tensor([0, 0, 1, 2])
    weights = token_weights(mask, mode, attempts_B=attempts, length=6)
    parts = (loss[:cut] * weights[:cut]).sum() + (loss[cut:] * weights[cut:]).sum()
    whole = aggregate(loss, mask, mode, attempts_B=attempts, length=6)
    assert float(parts) == pytest.approx(float(whole))


def test_an_attempt_weighs_the_same_however_many_windows_it_has():
    mask = torch.tensor([[1.0, 1, 0], [1, 1, 1], [1, 0, 0]])
    attempts = torch.tensor([0, 0, 1])
    weights = token_weights(mask, "seq-mean-token-mean", attempts_B=attempts)
    assert float(weights[:2].sum()) == pytest.approx(0.5)
    assert float(weights[2].sum()) == pytest.approx(0.5)
    assert float(token_weights(mask, "seq-mean-token-mean")[:2].sum()) == pytest.approx(2 / 3)


def test_what_is_not_sampled_cannot_spoil_the_loss():
    loss = torch.tensor([[1.0, float("nan"), float("inf")]])
    mask = torch.tensor([[1.0, 0, 0]])
    for mode in MODES:
        assert float(aggregate(loss, mask, mode, length=1)) == 1.0


def test_a_batch_without_sampled_tokens_has_no_loss():
    for mode in MODES:
        assert float(aggregate(torch.ones(2, 3), torch.zeros(2, 3), mode, length=1)) == 0


def test_wrong_aggregations_are_refused():
    with pytest.raises(ConfigError, match="Did you mean 'token-mean'"):
        aggregate(torch.ones(1, 1), torch.ones(1, 1), "token_mean")
    with pytest.raises(ConfigError, match="one fixed length"):
        aggregate(torch.ones(1, 1), torch.ones(1, 1), "seq-mean-token-sum-norm")
