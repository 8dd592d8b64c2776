"""When the rollout's policy is not quite the trainer's: weights, rejection, figures; all pure.

The sampler and the trainer compute the same policy with other kernels, or the weights moved since.
w_t = pi_old / pi_rollout corrects for it; truncated importance sampling bounds w (Espeholt et al.,
arXiv:1802.01561), rejection leaves out what is too far off.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Annotated, Literal

import torch
from msgspec import Meta
from torch import Tensor

from screenloop.train.loss.masking import masked, masked_mean, row_mean
from screenloop.types import Struct

Level = Literal["token", "sequence"]
RejectionStatistic = Literal[
    "token_k1",
    "token_k2",
    "token_k3",
    "seq_sum_k1",
    "seq_sum_k2",
    "seq_sum_k3",
    "seq_mean_k1",
    "seq_mean_k2",
    "seq_mean_k3",
    "seq_max_k2",
    "seq_max_k3",
]
"""Divergence of a token, or of a sequence by sum, mean or maximum; names as in verl."""
_LOG_BOUND = 20.0


class Rejection(Struct, frozen=True, kw_only=True):
    """What is left out of the loss.

    k1 = log pi_rollout - log pi_old is kept inside [log low, log high]; k2 and k3 are kept up to
    `high`. A sequence statistic keeps or leaves out the whole row.
    """

    statistic: RejectionStatistic = "token_k3"
    high: Annotated[float, Meta(gt=0.0)] = 0.01
    low: Annotated[float, Meta(gt=0.0)] | None = None
    """Of k1 only; `None` is 1 / high."""

    def __post_init__(self) -> None:
        """Refuse bounds that no token can meet."""
        if self.statistic.endswith("k1"):
            low = 1 / self.high if self.low is None else self.low
            if low > self.high:
                raise ValueError(
                    f"rejection by {self.statistic}: low {low:g} is above high {self.high:g}"
                )
        elif self.low is not None:
            raise ValueError(
                f"rejection by {self.statistic} has no lower bound; leave `low` out, or take a k1"
            )


class MismatchFigures(Struct, frozen=True, kw_only=True):
    """How far apart the rollout's and the trainer's policies are on the sampled tokens."""

    kl: float
    """Mean of log pi_rollout - log pi_old."""
    k3: float
    """Mean of w - 1 - log w."""
    mean_abs: float
    """Mean of |log pi_old - log pi_rollout|."""
    max_abs: float
    log_ppl_abs_diff: float
    """Mean over rows of the difference of mean log-probabilities, absolute."""
    ppl_ratio: float
    """Mean over rows of trainer perplexity / rollout perplexity."""
    chi2_token: float
    """E[w^2] - 1 over tokens."""
    chi2_seq: float
    """E[(prod_t w_t)^2] - 1 over rows."""


def rollout_weights(
    old_log_probs_bt: Tensor,
    rollout_log_probs_bt: Tensor,
    mask_bt: Tensor,
    *,
    level: Level = "token",
    high: float = 2.0,
    low: float | None = None,
) -> Tensor:
    """Return the weight w of each sampled token, 0 elsewhere; no gradient.

    w = exp(log pi_old - log pi_rollout), of a token or of its whole sequence (the product), the
    logarithm bound to +-20. Without `low`, w is cut down to `high` (truncated importance
    sampling); with it, w outside of [low, high] becomes 0 (masked importance sampling).
    """
    log_ratio_bt = masked(old_log_probs_bt - rollout_log_probs_bt, mask_bt).detach()
    if level == "sequence":
        log_ratio_bt = log_ratio_bt.sum(dim=-1, keepdim=True).expand_as(log_ratio_bt)
    raw_bt = masked(log_ratio_bt.clamp(-_LOG_BOUND, _LOG_BOUND).exp(), mask_bt)
    if low is None:
        return raw_bt.clamp(max=high)
    return torch.where((raw_bt >= low) & (raw_bt <= high), raw_bt, torch.zeros_like(raw_bt))


def rejection_mask(
    old_log_probs_bt: Tensor,
    rollout_log_probs_bt: Tensor,
    mask_bt: Tensor,
    rules: Sequence[Rejection],
) -> Tensor:
    """Return the mask with 0 on what any rule rejects (verl's `compute_rollout_rejection_mask`)."""
    log_ratio_bt = masked(old_log_probs_bt - rollout_log_probs_bt, mask_bt)
    log_ratio_bt = log_ratio_bt.detach().clamp(-_LOG_BOUND, _LOG_BOUND)
    kept_bt = mask_bt.bool()
    for rule in rules:
        statistic_bt = _statistic(rule.statistic, log_ratio_bt, mask_bt)
        low, high = float("-inf"), rule.high
        if rule.statistic.endswith("k1"):
            low, high = log(1 / rule.high if rule.low is None else rule.low), log(rule.high)
        kept_bt = kept_bt & (statistic_bt >= low) & (statistic_bt <= high)
    return kept_bt.to(mask_bt.dtype)


def mismatch_figures(
    old_log_probs_bt: Tensor, rollout_log_probs_bt: Tensor, mask_bt: Tensor
) -> MismatchFigures:
    """Measure the mismatch; the values of verl's `compute_offpolicy_metrics`.

    Rows without a sampled token do not count.
    """
    some_b = mask_bt.sum(dim=-1) > 0
    mask_bt = mask_bt[some_b]
    log_ratio_bt = masked((old_log_probs_bt - rollout_log_probs_bt)[some_b], mask_bt).detach()
    per_row_b = row_mean(log_ratio_bt, mask_bt)
    sum_b = log_ratio_bt.sum(dim=-1).clamp(-_LOG_BOUND, _LOG_BOUND)
    bound_bt = log_ratio_bt.clamp(-_LOG_BOUND, _LOG_BOUND)
    k3_bt = log_ratio_bt.expm1() - log_ratio_bt
    any_row = bool(some_b.any())
    return MismatchFigures(
        kl=float(masked_mean(-log_ratio_bt, mask_bt)),
        k3=float(masked_mean(k3_bt, mask_bt)),
        mean_abs=float(masked_mean(log_ratio_bt.abs(), mask_bt)),
        max_abs=float(log_ratio_bt.abs().max()) if any_row else 0.0,
        log_ppl_abs_diff=float(per_row_b.abs().mean()) if any_row else 0.0,
        ppl_ratio=float((-per_row_b).exp().mean()) if any_row else 1.0,
        chi2_token=float(masked_mean((2 * bound_bt).exp(), mask_bt)) - 1 if any_row else 0.0,
        chi2_seq=float((2 * sum_b).exp().mean()) - 1 if any_row else 0.0,
    )


def _statistic(name: RejectionStatistic, log_ratio_bt: Tensor, mask_bt: Tensor) -> Tensor:
    """Return the statistic of each token; a sequence's stands on all of its tokens."""
    scope, _, kind = name.rpartition("_")
    match kind:
        case "k1":
            token_bt = -log_ratio_bt
        case "k2":
            token_bt = log_ratio_bt.square() / 2
        case _:
            token_bt = log_ratio_bt.expm1() - log_ratio_bt
    token_bt = masked(token_bt, mask_bt)
    match scope:
        case "seq_sum":
            row_b = token_bt.sum(dim=-1)
        case "seq_mean":
            row_b = row_mean(token_bt, mask_bt)
        case "seq_max":
            row_b = token_bt.max(dim=-1).values
        case _:
            return token_bt
    return row_b.unsqueeze(-1).expand_as(token_bt)
