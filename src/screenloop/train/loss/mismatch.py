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
    old_log_probs_B_T: Tensor,
    rollout_log_probs_B_T: Tensor,
    mask_B_T: Tensor,
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
    log_ratio_B_T = masked(old_log_probs_B_T - rollout_log_probs_B_T, mask_B_T).detach()
    if level == "sequence":
        log_ratio_B_T = log_ratio_B_T.sum(dim=-1, keepdim=True).expand_as(log_ratio_B_T)
    raw_B_T = masked(log_ratio_B_T.clamp(-_LOG_BOUND, _LOG_BOUND).exp(), mask_B_T)
    if low is None:
        return raw_B_T.clamp(max=high)
    return torch.where((raw_B_T >= low) & (raw_B_T <= high), raw_B_T, torch.zeros_like(raw_B_T))


def rejection_mask(
    old_log_probs_B_T: Tensor,
    rollout_log_probs_B_T: Tensor,
    mask_B_T: Tensor,
    rules: Sequence[Rejection],
) -> Tensor:
    """Return the mask with 0 on what any rule rejects (verl's `compute_rollout_rejection_mask`)."""
    log_ratio_B_T = masked(old_log_probs_B_T - rollout_log_probs_B_T, mask_B_T)
    log_ratio_B_T = log_ratio_B_T.detach().clamp(-_LOG_BOUND, _LOG_BOUND)
    kept_B_T = mask_B_T.bool()
    for rule in rules:
        statistic_B_T = _statistic(rule.statistic, log_ratio_B_T, mask_B_T)
        low, high = float("-inf"), rule.high
        if rule.statistic.endswith("k1"):
            low, high = log(1 / rule.high if rule.low is None else rule.low), log(rule.high)
        kept_B_T = kept_B_T & (statistic_B_T >= low) & (statistic_B_T <= high)
    return kept_B_T.to(mask_B_T.dtype)


def _statistic(name: RejectionStatistic, log_ratio_B_T: Tensor, mask_B_T: Tensor) -> Tensor:
    """Return the statistic of each token; a sequence's stands on all of its tokens."""
    scope, _, kind = name.rpartition("_")
    match kind:
        case "k1":
            token_B_T = -log_ratio_B_T
        case "k2":
            token_B_T = log_ratio_B_T.square() / 2
        case _:
            token_B_T = log_ratio_B_T.expm1() - log_ratio_B_T
    token_B_T = masked(token_B_T, mask_B_T)
    match scope:
        case "seq_sum":
            row_B = token_B_T.sum(dim=-1)
        case "seq_mean":
            row_B = row_mean(token_B_T, mask_B_T)
        case "seq_max":
            row_B = token_B_T.max(dim=-1).values
        case _:
            return token_B_T
    return row_B.unsqueeze(-1).expand_as(token_B_T)
