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
from screenloop.train.settings import LearningSettings, MismatchSettings, usual_clip


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
    scores: SampledScores,
    weights_B_S: Tensor,
    learning: LearningSettings,
    sums: Sums,
    *,
    old_B_S: Tensor,
    reference_B_S: Tensor | None = None,
    value_rows: Mapping[str, ValueRow] | None = None,
) -> Tensor:
    """Return the loss of a part: its tokens' losses, each with its weight in the whole batch.

    Args:
        rows: The part.
        scores: What the policy says about it, with gradients.
        weights_B_S: What each token weighs.
        learning: Which losses.
        sums: Added up here.
        old_B_S: The log-probabilities that ratios are taken to.
        reference_B_S: The reference's log-probabilities, for the KL in the loss.
        value_rows: What the value head learns, by the name of the Sample.
    """
    mask_B_S, correction_B_S = _corrected(rows, old_B_S, learning.mismatch)
    policy = policy_loss(
        learning.loss.kind,
        scores.log_probs_B_S,
        old_B_S,
        rows.advantages_B_S,
        mask_B_S,
        clip=learning.loss.clip or usual_clip(learning.loss.kind),
        weights_B_T=correction_B_S,
    )
    loss_B_S = policy.loss_B_T - learning.loss.entropy * scores.entropy_B_S
    tokens = float(rows.mask_B_S.sum())
    if reference_B_S is not None:
        kl_B_S = kl_estimate(scores.log_probs_B_S, reference_B_S, learning.kl.estimator)
        loss_B_S = loss_B_S + learning.kl.coefficient * kl_B_S
        sums.kl += float(masked(kl_B_S.detach(), rows.mask_B_S).sum())
    sums.entropy += float(masked(scores.entropy_B_S.detach(), rows.mask_B_S).sum())
    sums.clip_fraction += policy.clip_fraction * tokens
    sums.approx_kl += policy.approx_kl * tokens
    sums.tokens += tokens
    loss = (masked(loss_B_S, mask_B_S) * weights_B_S).sum()
    if value_rows is None:
        return loss
    assert learning.value is not None
    missed = _value_loss(rows, scores, weights_B_S, learning.value.clip, value_rows)
    sums.value_loss += float(missed.detach())
    return loss + learning.value.coefficient * missed


def _corrected(
    rows: SampledRows, old_B_S: Tensor, settings: MismatchSettings
) -> tuple[Tensor, Tensor | None]:
    """Return the mask and the weights that make up for rollout and trainer being two policies."""
    of = (old_B_S, rows.rollout_log_probs_B_S, rows.mask_B_S)
    weights_B_S = None
    if settings.weights is not None:
        weights_B_S = rollout_weights(
            *of, level=settings.weights, high=settings.high, low=settings.low
        )
    return rejection_mask(*of, settings.reject) if settings.reject else rows.mask_B_S, weights_B_S


def _value_loss(
    rows: SampledRows,
    scores: SampledScores,
    weights_B_S: Tensor,
    clip: float,
    value_rows: Mapping[str, ValueRow],
) -> Tensor:
    assert scores.values_B_S is not None
    own = [value_rows[sample.name] for sample in rows.samples]
    loss_B_S = value_loss(
        scores.values_B_S,
        side_by_side([row.old_S for row in own]),
        side_by_side([row.returns_S for row in own]),
        rows.mask_B_S,
        clip=clip,
    ).loss_B_T
    return (masked(loss_B_S, rows.mask_B_S) * weights_B_S).sum()


def side_by_side(rows: list[Tensor]) -> Tensor:
    """Lay rows of different lengths out as one tensor, 0 behind their ends."""
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
