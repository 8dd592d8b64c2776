"""Intervals and tests behind the numbers; pure, with the formula of each."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

from screenloop.types import Struct

Z_95 = 1.959963984540054
"""The 97.5 % point of the standard normal distribution."""


class Interval(Struct, frozen=True, kw_only=True):
    """A 95 % interval."""

    low: float
    high: float


def wilson(successes: int, trials: int, z: float = Z_95) -> Interval | None:
    """Return Wilson's score interval of a proportion; `None` without trials.

    With p = successes / trials and n = trials:
    (p + z^2/2n +- z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n).
    (Wilson 1927, J. Am. Stat. Assoc. 22: 209-212.)
    """
    if trials == 0:
        return None
    p, n = successes / trials, trials
    middle = p + z * z / (2 * n)
    spread = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # At p = 0 and p = 1 the formula touches the end exactly; rounding may not.
    low = 0.0 if successes == 0 else (middle - spread) / scale
    high = 1.0 if successes == trials else (middle + spread) / scale
    return Interval(low=low, high=high)


def pass_at_k(successes: int, trials: int, k: int) -> float:
    """Return the chance that at least one of k attempts at a task succeeds.

    The unbiased estimate from n trials with c successes: 1 - C(n-c, k) / C(n, k).
    (Chen et al. 2021, arXiv:2107.03374, section 2.1.)
    """
    if not 1 <= k <= trials:
        raise ValueError(f"pass@{k} needs at least {k} trials and k of at least 1, not {trials}")
    return 1.0 - math.comb(trials - successes, k) / math.comb(trials, k)


def mcnemar_exact(only_a: int, only_b: int) -> float:
    """Return the two-sided exact p-value that two paired success rates are equal.

    Of n = only_a + only_b pairs that differ, min(only_a, only_b) or fewer on one side has
    probability sum of C(n, i) / 2^n; both sides double it. (McNemar 1947, exact form.)
    """
    n = only_a + only_b
    tail = sum(math.comb(n, i) for i in range(min(only_a, only_b) + 1))
    return float(min(1.0, 2 * tail / 2**n))


def bootstrap_difference(
    groups: Sequence[Sequence[float]], rng: random.Random, resamples: int = 5000
) -> Interval | None:
    """Return the percentile interval of a mean paired difference; `None` without groups.

    Each group holds the differences of one task's pairs. Whole groups are drawn with
    replacement, because repeats of one task are not independent (cluster bootstrap; Efron and
    Tibshirani 1993, chapter 13).
    """
    if not groups:
        return None
    sums = [(sum(group), len(group)) for group in groups]
    means = []
    for _ in range(resamples):
        drawn = rng.choices(sums, k=len(sums))
        means.append(sum(total for total, _ in drawn) / sum(size for _, size in drawn))
    means.sort()
    return Interval(
        low=means[int(0.025 * (resamples - 1))], high=means[math.ceil(0.975 * (resamples - 1))]
    )
