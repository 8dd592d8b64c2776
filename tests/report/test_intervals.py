"""Intervals and tests behind the numbers."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screenloop.report.intervals import bootstrap_difference, mcnemar_exact, pass_at_k, wilson


def test_wilson_agrees_with_published_values() -> None:
    # Newcombe 1998, Statistics in Medicine 17: 857-872, table I, method 3.
    for successes, trials, low, high in [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ]:
        ci = wilson(successes, trials)
        assert ci is not None
        assert (round(ci.low, 4), round(ci.high, 4)) == (low, high)


def test_no_trials_have_no_interval() -> None:
    assert wilson(0, 0) is None


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_rate_and_stays_within_0_and_1(counts: tuple[int, int]) -> None:
    successes, trials = counts
    ci = wilson(successes, trials)
    assert ci is not None
    assert 0.0 <= ci.low <= successes / trials <= ci.high <= 1.0


@given(st.lists(st.booleans(), min_size=1, max_size=7), st.data())
def test_pass_at_k_is_the_share_of_subsets_with_a_success(
    outcomes: list[bool], data: st.DataObject
) -> None:
    k = data.draw(st.integers(1, len(outcomes)))
    subsets = list(combinations(outcomes, k))
    share = sum(any(subset) for subset in subsets) / len(subsets)
    assert pass_at_k(sum(outcomes), len(outcomes), k) == pytest.approx(share)


def test_pass_at_k_refuses_more_attempts_than_trials() -> None:
    with pytest.raises(ValueError, match="pass@4 needs at least 4 trials"):
        pass_at_k(1, 3, 4)


def test_mcnemar_agrees_with_the_binomial_by_hand() -> None:
    assert mcnemar_exact(0, 0) == 1.0
    assert mcnemar_exact(5, 5) == 1.0
    assert mcnemar_exact(0, 5) == pytest.approx(2 / 32)
    assert mcnemar_exact(1, 7) == pytest.approx(2 * (1 + 8) / 256)
    assert mcnemar_exact(1, 7) == mcnemar_exact(7, 1)


def test_the_bootstrap_is_the_same_for_the_same_seed_and_holds_the_mean() -> None:
    groups = [[0.0, 1.0], [1.0], [0.0, 0.0, -1.0], [1.0, 1.0], [0.0]]
    first = bootstrap_difference(groups, random.Random(7))
    again = bootstrap_difference(groups, random.Random(7))
    assert first == again
    assert first is not None
    assert first.low <= 2 / 9 + 1e-9 <= first.high + 1e-9
    assert bootstrap_difference([], random.Random(7)) is None


def test_the_bootstrap_draws_whole_tasks() -> None:
    # One task with many repeats: each resample is that task, so there is no spread to see.
    ci = bootstrap_difference([[1.0, 0.0, 0.0, 0.0]], random.Random(0))
    assert ci is not None
    assert (ci.low, ci.high) == (0.25, 0.25)
