"""When the rollout's policy is not quite the trainer's: weights and rejection; pure.

The sampler and the trainer compute the same policy with other kernels, or the weights moved since.
w_t = pi_old / pi_rollout corrects for it; truncated importance sampling bounds w (Espeholt et al.,
arXiv:1802.01561), rejection leaves out what is too far off.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import torch
from torch import Tensor

from screenloop.train.loss.masking import masked, row_mean
from screenloop.train.settings import Level, Rejection, RejectionStatistic

_LOG_BOUND = 20.0


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
