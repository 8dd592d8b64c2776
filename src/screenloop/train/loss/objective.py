"""What an update minimises, for one part of a batch, and the sums that its figures come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from screenloop.train.loss.kl import kl_estimate
from screenloop.train.loss.masking import masked
from screenloop.train.loss.mismatch import rejection_mask, rollout_weights
from screenloop.train.loss.policy import policy_loss
from screenloop.train.loss.scoring import SampledRows, SampledScores
from screenloop.train.loss.value import ValueRow, value_loss
from screenloop.train.settings import LearningSettings, usual_clip


@dataclass
class Sums:
    """Running sums of an update."""

    loss: float = 0.0
    value_loss: float = 0.0
    kl: float = 0.0
    entropy: float = 0.0
    clip_fraction: float = 0.0
    approx_kl: float = 0.0
    tokens: float = 0.0


def part_loss(
    rows: SampledRows,
    found: SampledScores,
    weights_bs: Tensor,
    learning: LearningSettings,
    sums: Sums,
    *,
    old_bs: Tensor,
    reference_bs: Tensor | None = None,
    value_rows: Mapping[str, ValueRow] | None = None,
) -> Tensor:
    """Return the loss of a part: its tokens' losses, each with its weight in the whole batch.

    Args:
        rows: The part.
        found: What the policy says about it, with gradients.
        weights_bs: What each token weighs.
        learning: Which losses.
        sums: Added up here.
        old_bs: The log-probabilities that ratios are taken to.
        reference_bs: The reference's log-probabilities, for the KL in the loss.
        value_rows: What the value head learns, by the name of the Sample.
    """
    mask_bs = rows.mask_bs
    correction = None
    if learning.mismatch.weights is not None:
        correction = rollout_weights(
            old_bs,
            rows.rollout_log_probs_bs,
            mask_bs,
            level=learning.mismatch.weights,
            high=learning.mismatch.high,
            low=learning.mismatch.low,
        )
    if learning.mismatch.reject:
        mask_bs = rejection_mask(
            old_bs, rows.rollout_log_probs_bs, mask_bs, learning.mismatch.reject
        )
    told = policy_loss(
        learning.loss.kind,
        found.log_probs_bs,
        old_bs,
        rows.advantages_bs,
        mask_bs,
        clip=learning.loss.clip or usual_clip(learning.loss.kind),
        weights_bt=correction,
    )
    loss_bs = told.loss_bt - learning.loss.entropy * found.entropy_bs
    tokens = float(rows.mask_bs.sum())
    if reference_bs is not None:
        kl_bs = kl_estimate(found.log_probs_bs, reference_bs, learning.kl.estimator)
        loss_bs = loss_bs + learning.kl.coefficient * kl_bs
        sums.kl += float(masked(kl_bs.detach(), rows.mask_bs).sum())
    sums.entropy += float(masked(found.entropy_bs.detach(), rows.mask_bs).sum())
    sums.clip_fraction += told.clip_fraction * tokens
    sums.approx_kl += told.approx_kl * tokens
    sums.tokens += tokens
    loss = (masked(loss_bs, mask_bs) * weights_bs).sum()
    if value_rows is None:
        return loss
    assert learning.value is not None
    missed = _value_loss(rows, found, weights_bs, learning.value.clip, value_rows)
    sums.value_loss += float(missed.detach())
    return loss + learning.value.coefficient * missed


def _value_loss(
    rows: SampledRows,
    found: SampledScores,
    weights_bs: Tensor,
    clip: float,
    value_rows: Mapping[str, ValueRow],
) -> Tensor:
    assert found.values_bs is not None
    own = [value_rows[sample.name] for sample in rows.samples]
    loss_bs = value_loss(
        found.values_bs,
        side_by_side([row.old_s for row in own]),
        side_by_side([row.returns_s for row in own]),
        rows.mask_bs,
        clip=clip,
    ).loss_bt
    return (masked(loss_bs, rows.mask_bs) * weights_bs).sum()


def side_by_side(rows: list[Tensor]) -> Tensor:
    """Lay rows of different lengths out as one tensor, 0 behind their ends."""
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
