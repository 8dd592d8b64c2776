"""Generalised advantage estimation and the value loss of PPO; pure."""

from __future__ import annotations

import torch
from torch import Tensor

from screenloop.train.loss.masking import Statistics, masked_mean, whiten
from screenloop.types import Struct


class ValueTargets(Struct, frozen=True, kw_only=True):
    """What the policy and the value head learn towards."""

    advantages_bt: Tensor
    """Whitened over the batch; 0 where the mask is 0."""
    returns_bt: Tensor
    """Targets of the value head: advantage before whitening plus value."""


class ValueLoss(Struct, frozen=True, kw_only=True):
    """Loss of the value head per token, and how often the clip decided."""

    loss_bt: Tensor
    clip_fraction: float


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


def value_loss(
    values_bt: Tensor,
    old_values_bt: Tensor,
    returns_bt: Tensor,
    mask_bt: Tensor,
    *,
    clip: float = 0.5,
) -> ValueLoss:
    """Return 1/2 max((V - R)^2, (clip(V, V_old +- clip) - R)^2) of each token.

    The clipped value loss of PPO implementations (verl's `compute_value_loss`): a step of the value
    head earns nothing beyond `clip`.
    """
    clipped_bt = torch.minimum(torch.maximum(values_bt, old_values_bt - clip), old_values_bt + clip)
    plain_bt = (values_bt - returns_bt).square()
    bound_bt = (clipped_bt - returns_bt).square()
    return ValueLoss(
        loss_bt=torch.maximum(plain_bt, bound_bt) / 2,
        clip_fraction=float(masked_mean((bound_bt > plain_bt).float(), mask_bt)),
    )
