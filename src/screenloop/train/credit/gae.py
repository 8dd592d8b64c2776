"""Generalised advantage estimation; pure."""

from __future__ import annotations

import torch
from torch import Tensor

from screenloop.train.loss.masking import whiten
from screenloop.train.settings import Statistics
from screenloop.types import Struct


class ValueTargets(Struct, frozen=True, kw_only=True):
    """What the policy and the value head learn towards."""

    advantages_bt: Tensor
    """Whitened over the batch; 0 where the mask is 0."""
    returns_bt: Tensor
    """Targets of the value head: advantage before whitening plus value."""


def gae(
    token_rewards_bt: Tensor,
    values_bt: Tensor,
    mask_bt: Tensor,
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
        mask = mask_bt.to(values_bt.dtype)
        next_value_b = torch.zeros_like(values_bt[:, 0])
        running_b = torch.zeros_like(next_value_b)
        columns: list[Tensor] = []
        for t in reversed(range(values_bt.shape[1])):
            delta_b = token_rewards_bt[:, t] + gamma * next_value_b - values_bt[:, t]
            counts_b = mask[:, t]
            running_b = torch.lerp(running_b, delta_b + gamma * lam * running_b, counts_b)
            next_value_b = torch.lerp(next_value_b, values_bt[:, t], counts_b)
            columns.append(running_b)
        raw_bt = torch.stack(columns[::-1], dim=1)
        return ValueTargets(
            advantages_bt=whiten(raw_bt, mask_bt, statistics), returns_bt=raw_bt + values_bt
        )
