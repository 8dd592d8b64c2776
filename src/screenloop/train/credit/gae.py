"""Generalised advantage estimation; pure."""

from __future__ import annotations

import torch
from torch import Tensor

from screenloop.train.loss.masking import whiten
from screenloop.train.settings import Statistics
from screenloop.types import Struct


class ValueTargets(Struct, frozen=True, kw_only=True):
    """What the policy and the value head learn towards."""

    advantages_B_T: Tensor
    """Whitened over the batch; 0 where the mask is 0."""
    returns_B_T: Tensor
    """Targets of the value head: advantage before whitening plus value."""


def gae(
    token_rewards_B_T: Tensor,
    values_B_T: Tensor,
    mask_B_T: Tensor,
    *,
    gamma: float = 1.0,
    lam: float = 1.0,
    statistics: Statistics = "attempt",
) -> ValueTargets:
    """Return A_t = sum_l (gamma lam)^l delta_{t+l}, delta_t = r_t + gamma V_{t+1} - V_t.

    Schulman et al., arXiv:1506.02438, eq. 16. One row is one attempt: its sampled tokens in order,
    windows joined, so that credit crosses window boundaries. Tokens with mask 0 (what the
    environment said) are skipped: the next value and the running sum pass over them. After the
    last token the value is 0. Advantages are whitened over the batch; `token` statistics are
    those of verl's `compute_gae_advantage_return`.
    """
    with torch.no_grad():
        mask = mask_B_T.to(values_B_T.dtype)
        next_value_B = torch.zeros_like(values_B_T[:, 0])
        running_B = torch.zeros_like(next_value_B)
        columns: list[Tensor] = []
        for t in reversed(range(values_B_T.shape[1])):
            delta_B = token_rewards_B_T[:, t] + gamma * next_value_B - values_B_T[:, t]
            counts_B = mask[:, t]
            running_B = torch.lerp(running_B, delta_B + gamma * lam * running_B, counts_B)
            next_value_B = torch.lerp(next_value_B, values_B_T[:, t], counts_B)
            columns.append(running_B)
        raw_B_T = torch.stack(columns[::-1], dim=1)
        return ValueTargets(
            advantages_B_T=whiten(raw_B_T, mask_B_T, statistics), returns_B_T=raw_B_T + values_B_T
        )
