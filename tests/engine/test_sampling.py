import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from screenloop.engine.sampling import banned_mask, draw, processed_logprobs, uniform
from screenloop.messages import Sampling

ROWS = st.lists(st.floats(-8, 8), min_size=4, max_size=12)
QUICK = settings(deadline=None, max_examples=200)


@QUICK
@given(
    ROWS,
    st.sampled_from([0.0, 0.3, 1.0, 2.0]),
    st.sampled_from([0.05, 0.5, 0.9, 1.0]),
    st.none() | st.integers(1, 12),
    st.sets(st.integers(0, 3), max_size=2),
    st.floats(0, 1, exclude_max=True),
)
def test_a_drawn_token_is_never_banned_and_has_a_finite_log_prob(
    row, temperature, top_p, top_k, banned, at
):
    logits = torch.tensor([row])
    sampling = Sampling(temperature=temperature, top_p=top_p, top_k=top_k)
    logprobs = processed_logprobs(logits, sampling, banned_mask(sorted(banned), len(row)))
    assert logprobs.exp().sum().item() == pytest.approx(1, abs=1e-5)
    assert all(logprobs[0, i] == float("-inf") for i in banned)
    drawn = int(draw(logprobs, [at if temperature else None])[0])
    assert drawn not in banned
    assert torch.isfinite(logprobs[0, drawn])


@QUICK
@given(ROWS, st.integers(1, 4))
def test_top_k_keeps_the_k_most_likely(row, k):
    row = [value + i * 1e-3 for i, value in enumerate(row)]
    logprobs = processed_logprobs(
        torch.tensor(row), Sampling(temperature=1, top_k=k), banned_mask([], len(row))
    )
    kept = {i for i, value in enumerate(logprobs.tolist()) if value > float("-inf")}
    best = torch.tensor(row).topk(k).values[-1]
    assert kept == {i for i, value in enumerate(torch.tensor(row)) if value >= best}


def test_top_p_keeps_the_smallest_set_that_reaches_it_and_renormalises():
    logits = torch.tensor([0.5, 0.3, 0.15, 0.05]).log()
    mask = banned_mask([], 4)
    kept = processed_logprobs(logits, Sampling(temperature=1, top_p=0.7), mask).exp()
    torch.testing.assert_close(kept, torch.tensor([0.625, 0.375, 0.0, 0.0]))
    one = processed_logprobs(logits, Sampling(temperature=1, top_p=0.01), mask).exp()
    torch.testing.assert_close(one, torch.tensor([1.0, 0.0, 0.0, 0.0]))


def test_temperature_zero_takes_the_best_token_and_tells_its_plain_log_prob():
    logits = torch.tensor([[0.5, 0.3, 0.2]]).log()
    mask = banned_mask([0], 3)
    logprobs = processed_logprobs(logits, Sampling(temperature=0, top_k=1), mask)
    assert int(draw(logprobs, [None])[0]) == 1
    assert logprobs[0, 1].exp().item() == pytest.approx(0.6)


def test_draws_follow_the_distribution_and_depend_on_seed_call_and_place_alone():
    shares = torch.tensor([[0.1, 0.0, 0.6, 0.3]]).log()
    drawn = [int(draw(shares, [uniform(7, f"e/c{i}", 2)])[0]) for i in range(4000)]
    counts = [drawn.count(i) / 4000 for i in range(4)]
    assert counts == pytest.approx([0.1, 0.0, 0.6, 0.3], abs=0.03)
    assert uniform(7, "e/c1", 2) == uniform(7, "e/c1", 2)
    assert (
        len(
            {
                uniform(7, "e/c1", 2),
                uniform(8, "e/c1", 2),
                uniform(7, "e/c2", 2),
                uniform(7, "e/c1", 3),
            }
        )
        == 4
    )


@given(st.lists(st.floats(-30, 30), min_size=2, max_size=6))
@QUICK
def test_the_ends_of_the_unit_interval_draw_tokens_that_can_happen(row):
    logprobs = processed_logprobs(
        torch.tensor([row]), Sampling(temperature=1, top_k=1), banned_mask([], len(row))
    )
    for at in (0.0, 1 - 2**-53):
        assert torch.isfinite(logprobs[0, int(draw(logprobs, [at])[0])])
