import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from train_parts import token_scores

from screenloop.errors import ConfigError
from screenloop.train.loss.scoring import drawn_log_probs


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 200), st.sets(st.integers(0, 6), max_size=6), st.floats(0.3, 3))
def test_banned_ids_have_no_probability_and_the_rest_sum_to_one(seed, banned, temperature):
    draw = torch.Generator().manual_seed(seed)
    logits = torch.randn(2, 3, 7, generator=draw)
    found = drawn_log_probs(logits, banned_ids=tuple(banned), temperature=temperature)
    assert torch.allclose(found.exp().sum(-1), torch.ones(2, 3))
    free = [i for i in range(7) if i not in banned]
    assert found[..., list(banned)].isneginf().all()
    expected = torch.log_softmax(logits[..., free] / temperature, dim=-1)
    assert torch.allclose(found[..., free], expected, atol=1e-5)


def test_scores_stand_at_the_token_that_they_are_about():
    logits = torch.randn(1, 4, 6, generator=torch.Generator().manual_seed(0))
    tokens = torch.tensor([[3, 1, 5, 2]])
    found, _ = token_scores(logits, tokens)
    every = torch.log_softmax(logits, dim=-1)
    assert found[0].tolist() == pytest.approx(
        [0.0, *[float(every[0, t - 1, tokens[0, t]]) for t in (1, 2, 3)]]
    )


def test_entropy_of_a_banned_distribution_and_its_gradient_are_finite():
    logits = torch.zeros(1, 2, 4, requires_grad=True)
    _, found = token_scores(logits, torch.tensor([[0, 1]]), banned_ids=(3,))
    assert float(found[0, 1].detach()) == pytest.approx(torch.log(torch.tensor(3.0)))
    found.sum().backward()
    assert logits.grad.isfinite().all()
    assert logits.grad[..., 3].abs().max() == 0


def test_no_gradient_reaches_a_banned_logit():
    logits = torch.randn(1, 3, 5, requires_grad=True)
    token_scores(logits, torch.tensor([[0, 1, 2]]), banned_ids=(4,))[0].sum().backward()
    assert logits.grad[..., 4].abs().max() == 0
    assert logits.grad.isfinite().all()


def test_impossible_distributions_are_refused():
    with pytest.raises(ConfigError, match="temperature 0"):
        drawn_log_probs(torch.zeros(1, 1, 3), temperature=0.0)
    with pytest.raises(ConfigError, match="banned id 3 is outside the vocabulary of 3"):
        drawn_log_probs(torch.zeros(1, 1, 3), banned_ids=(3,))
