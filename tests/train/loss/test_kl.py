import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from screenloop.errors import ConfigError
from screenloop.train.loss.kl import kl_estimate

PAIRS = st.lists(st.tuples(st.floats(-15, 0), st.floats(-15, 0)), min_size=1, max_size=8)


@settings(max_examples=40, deadline=None)
@given(PAIRS)
def test_k2_and_k3_are_never_negative(pairs):
    new, ref = torch.tensor([pairs], dtype=torch.float64).unbind(-1)
    for kind in ("k2", "k3", "k3+"):
        assert (kl_estimate(new, ref, kind) >= 0).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 200))
def test_k1_and_k3_are_unbiased_for_the_kl(seed):
    draw = torch.Generator().manual_seed(seed)
    policy, reference = torch.log_softmax(
        torch.randn(2, 5, generator=draw, dtype=torch.float64) / 2, dim=-1
    )
    assert kl_estimate(policy, reference, "k3").max() < 10, "the bound would bias it"
    exact = (policy.exp() * (policy - reference)).sum()
    for kind in ("k1", "k3"):
        expected = (policy.exp() * kl_estimate(policy, reference, kind)).sum()
        assert float(expected) == pytest.approx(float(exact), abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 200), st.sampled_from(["k1+", "k2", "k3+"]))
def test_the_expected_gradient_of_the_straight_through_kinds_is_that_of_the_kl(seed, kind):
    draw = torch.Generator().manual_seed(seed)
    logits = torch.randn(5, generator=draw, dtype=torch.float64).requires_grad_()
    reference = torch.log_softmax(torch.randn(5, generator=draw, dtype=torch.float64), dim=-1)
    policy = torch.log_softmax(logits, dim=-1)
    exact = torch.autograd.grad((policy.exp() * (policy - reference)).sum(), logits)[0]
    policy = torch.log_softmax(logits, dim=-1)
    sampled = (policy.exp().detach() * kl_estimate(policy, reference, kind)).sum()
    assert torch.allclose(torch.autograd.grad(sampled, logits)[0], exact, atol=1e-9)


def test_the_plus_kinds_have_the_value_of_theirs():
    new, ref = torch.tensor([[-1.0, -2.0]]), torch.tensor([[-1.5, -0.5]])
    for kind in ("k1", "k3"):
        assert torch.allclose(kl_estimate(new, ref, kind + "+"), kl_estimate(new, ref, kind))


def test_far_apart_policies_stay_finite():
    far = kl_estimate(torch.tensor([[-200.0]]), torch.tensor([[0.0]]), "k3")
    assert float(far) == 10.0


def test_an_unknown_estimator_is_refused():
    with pytest.raises(ConfigError, match=r"Unknown KL estimator 'k4'.*k1, k1\+, k2, k3, k3\+"):
        kl_estimate(torch.zeros(1, 1), torch.zeros(1, 1), "k4")
