"""Advantages from comparing the attempts of a group: GRPO, Dr.GRPO, RLOO, REINFORCE++; pure.

Statistics are per attempt, so a long attempt weighs no more than a short one. The reference
implementations that work on step rows pool them: `rows_A` gives that form for comparison.
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

    mean_A: Tensor
    std_A: Tensor
    """0 in groups of one."""
    size_A: Tensor
    spread_A: Tensor
    """Whether the group's values differ at all."""


def group_statistics(
    values_A: Tensor, groups_A: Tensor, rows_A: Tensor | None = None
) -> GroupStatistics:
    """Return the statistics of each attempt's group.

    Args:
        values_A: One value an attempt.
        groups_A: Index of the group, from 0.
        rows_A: How many rows an attempt counts for; `None` is one each.
    """
    weights_A = torch.ones_like(values_A) if rows_A is None else rows_A.to(values_A.dtype)
    n_groups = int(groups_A.max()) + 1 if len(groups_A) else 0
    zeros = values_A.new_zeros(n_groups)
    size = zeros.index_add(0, groups_A, weights_A)
    mean = zeros.index_add(0, groups_A, weights_A * values_A) / size.clamp(min=1)
    centred_A = values_A - mean[groups_A]
    squares = zeros.index_add(0, groups_A, weights_A * centred_A.square())
    std = (squares / (size - 1).clamp(min=1)).sqrt()
    # A rounded mean differs from values that are all equal; the quotient would blow that up.
    low = zeros.scatter_reduce(0, groups_A, values_A, "amin", include_self=False)
    high = zeros.scatter_reduce(0, groups_A, values_A, "amax", include_self=False)
    return GroupStatistics(
        mean_A=mean[groups_A],
        std_A=std[groups_A],
        size_A=size[groups_A],
        spread_A=(high > low)[groups_A],
    )


def group_relative(
    rewards_A: Tensor,
    groups_A: Tensor,
    *,
    normalise: Normalise = "std",
    rows_A: Tensor | None = None,
) -> Tensor:
    """Return A_i = (R_i - mean_g) / (std_g + 1e-6), or without the division.

    `std` is GRPO (arXiv:2402.03300, eq. 4; unbiased standard deviation), `none` is Dr.GRPO
    (arXiv:2503.20783). The advantages of a group sum to 0.
    """
    stats = group_statistics(rewards_A, groups_A, rows_A)
    centred_A = rewards_A - stats.mean_A
    if normalise == "std":
        centred_A = centred_A / (stats.std_A + EPSILON)
    return torch.where(stats.spread_A, centred_A, torch.zeros_like(centred_A))


def grpo(rewards_A: Tensor, groups_A: Tensor) -> Tensor:
    """Return GRPO's advantages; see `group_relative`."""
    return group_relative(rewards_A, groups_A, normalise="std")


def dr_grpo(rewards_A: Tensor, groups_A: Tensor) -> Tensor:
    """Return Dr.GRPO's advantages; its loss is summed and divided by one fixed length."""
    return group_relative(rewards_A, groups_A, normalise="none")


def rloo(rewards_A: Tensor, groups_A: Tensor) -> Tensor:
    """Return A_i = R_i - mean of the others = G/(G-1) (R_i - mean_g), G the group's size.

    Ahmadian et al., arXiv:2402.14740.
    """
    stats = group_statistics(rewards_A, groups_A)
    scale_A = stats.size_A / (stats.size_A - 1).clamp(min=1)
    return scale_A * group_relative(rewards_A, groups_A, normalise="none")


def reinforce_plus_plus(
    token_rewards_B_T: Tensor,
    mask_B_T: Tensor,
    *,
    gamma: float = 1.0,
    statistics: Statistics = "attempt",
) -> Tensor:
    """Return the discounted return of each token, whitened over the batch.

    Hu et al., arXiv:2501.03262: G_t = r_t + gamma G_{t+1}. One row is one attempt: its sampled
    tokens in order. Tokens with mask 0 are passed over. `token` statistics are those of verl's
    `compute_reinforce_plus_plus_outcome_advantage`.
    """
    mask = mask_B_T.to(token_rewards_B_T.dtype)
    running_B = torch.zeros_like(token_rewards_B_T[:, 0])
    columns: list[Tensor] = []
    for t in reversed(range(token_rewards_B_T.shape[1])):
        running_B = torch.lerp(running_B, token_rewards_B_T[:, t] + gamma * running_B, mask[:, t])
        columns.append(running_B)
    return whiten(torch.stack(columns[::-1], dim=1), mask_B_T, statistics)


def reinforce_plus_plus_baseline(
    rewards_A: Tensor, groups_A: Tensor, mask_A_S: Tensor, *, statistics: Statistics = "attempt"
) -> Tensor:
    """Return R_i - mean_g on each sampled token, whitened over the batch.

    The baseline form of arXiv:2501.03262; `token` statistics are those of verl's
    `compute_reinforce_plus_plus_baseline_outcome_advantage`.

    Args:
        rewards_A: One reward an attempt.
        groups_A: Index of the group, from 0.
        mask_A_S: The sampled tokens of each attempt.
        statistics: What weighs alike in the whitening.
    """
    centred_A = group_relative(rewards_A, groups_A, normalise="none")
    centred_A_S = centred_A.unsqueeze(-1).expand(-1, mask_A_S.shape[1])
    return whiten(masked(centred_A_S, mask_A_S), mask_A_S, statistics)
