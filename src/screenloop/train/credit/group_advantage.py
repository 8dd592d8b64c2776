"""Advantages from comparing the attempts of a group: GRPO, Dr.GRPO, RLOO, REINFORCE++; pure.

Statistics are per attempt, so a long attempt weighs no more than a short one. The reference
implementations that work on step rows pool them: `rows_n` gives that form for comparison.
Attempts that are alone in their group, and groups without spread, get 0.
"""

from __future__ import annotations

import torch
from torch import Tensor

from screenloop.train.loss.masking import masked, whiten
from screenloop.train.settings import Normalise, Statistics
from screenloop.types import Struct

EPSILON = 1e-6
"""Added to a standard deviation before dividing by it."""


class GroupStatistics(Struct, frozen=True, kw_only=True):
    """Mean, unbiased standard deviation and size of its group, for each attempt."""

    mean_n: Tensor
    std_n: Tensor
    """0 in groups of one."""
    size_n: Tensor
    spread_n: Tensor
    """Whether the group's values differ at all."""


def group_statistics(
    values_n: Tensor, groups_n: Tensor, rows_n: Tensor | None = None
) -> GroupStatistics:
    """Return the statistics of each attempt's group.

    Args:
        values_n: One value an attempt.
        groups_n: Index of the group, from 0.
        rows_n: How many rows an attempt counts for; `None` is one each.
    """
    weights_n = torch.ones_like(values_n) if rows_n is None else rows_n.to(values_n.dtype)
    n_groups = int(groups_n.max()) + 1 if len(groups_n) else 0
    zeros = values_n.new_zeros(n_groups)
    size = zeros.index_add(0, groups_n, weights_n)
    mean = zeros.index_add(0, groups_n, weights_n * values_n) / size.clamp(min=1)
    centred_n = values_n - mean[groups_n]
    squares = zeros.index_add(0, groups_n, weights_n * centred_n.square())
    std = (squares / (size - 1).clamp(min=1)).sqrt()
    # A rounded mean differs from values that are all equal; the quotient would blow that up.
    low = zeros.scatter_reduce(0, groups_n, values_n, "amin", include_self=False)
    high = zeros.scatter_reduce(0, groups_n, values_n, "amax", include_self=False)
    return GroupStatistics(
        mean_n=mean[groups_n],
        std_n=std[groups_n],
        size_n=size[groups_n],
        spread_n=(high > low)[groups_n],
    )


def group_relative(
    rewards_n: Tensor,
    groups_n: Tensor,
    *,
    normalise: Normalise = "std",
    rows_n: Tensor | None = None,
) -> Tensor:
    """Return A_i = (R_i - mean_g) / (std_g + 1e-6), or without the division.

    `std` is GRPO (arXiv:2402.03300, eq. 4; unbiased standard deviation), `none` is Dr.GRPO
    (arXiv:2503.20783). The advantages of a group sum to 0.
    """
    stats = group_statistics(rewards_n, groups_n, rows_n)
    centred_n = rewards_n - stats.mean_n
    if normalise == "std":
        centred_n = centred_n / (stats.std_n + EPSILON)
    return torch.where(stats.spread_n, centred_n, torch.zeros_like(centred_n))


def grpo(rewards_n: Tensor, groups_n: Tensor) -> Tensor:
    """Return GRPO's advantages; see `group_relative`."""
    return group_relative(rewards_n, groups_n, normalise="std")


def dr_grpo(rewards_n: Tensor, groups_n: Tensor) -> Tensor:
    """Return Dr.GRPO's advantages; its loss is summed and divided by one fixed length."""
    return group_relative(rewards_n, groups_n, normalise="none")


def rloo(rewards_n: Tensor, groups_n: Tensor) -> Tensor:
    """Return A_i = R_i - mean of the others = G/(G-1) (R_i - mean_g), G the group's size.

    Ahmadian et al., arXiv:2402.14740.
    """
    stats = group_statistics(rewards_n, groups_n)
    scale_n = stats.size_n / (stats.size_n - 1).clamp(min=1)
    return scale_n * group_relative(rewards_n, groups_n, normalise="none")


def reinforce_plus_plus(
    token_rewards_bt: Tensor,
    mask_bt: Tensor,
    *,
    gamma: float = 1.0,
    statistics: Statistics = "attempt",
) -> Tensor:
    """Return the discounted return of each token, whitened over the batch.

    Hu et al., arXiv:2501.03262: G_t = r_t + gamma G_{t+1}. One row is one attempt: its sampled
    tokens in order. Tokens with mask 0 are passed over. `token` statistics are those of verl's
    `compute_reinforce_plus_plus_outcome_advantage`.
    """
    mask = mask_bt.to(token_rewards_bt.dtype)
    running_b = torch.zeros_like(token_rewards_bt[:, 0])
    columns: list[Tensor] = []
    for t in reversed(range(token_rewards_bt.shape[1])):
        running_b = torch.lerp(running_b, token_rewards_bt[:, t] + gamma * running_b, mask[:, t])
        columns.append(running_b)
    return whiten(torch.stack(columns[::-1], dim=1), mask_bt, statistics)


def reinforce_plus_plus_baseline(
    rewards_n: Tensor,
    groups_n: Tensor,
    mask_nt: Tensor,
    *,
    statistics: Statistics = "attempt",
) -> Tensor:
    """Return R_i - mean_g on each sampled token, whitened over the batch.

    The baseline form of arXiv:2501.03262; `token` statistics are those of verl's
    `compute_reinforce_plus_plus_baseline_outcome_advantage`.

    Args:
        rewards_n: One reward an attempt.
        groups_n: Index of the group, from 0.
        mask_nt: The sampled tokens of each attempt.
        statistics: What weighs alike in the whitening.
    """
    centred_n = group_relative(rewards_n, groups_n, normalise="none")
    centred_nt = centred_n.unsqueeze(-1).expand(-1, mask_nt.shape[1])
    return whiten(masked(centred_nt, mask_nt), mask_nt, statistics)
