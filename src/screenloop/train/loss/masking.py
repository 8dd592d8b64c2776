"""Means and whitening over the tokens that count; all pure."""

from __future__ import annotations

import torch
from torch import Tensor

from screenloop.train.settings import Statistics

_TINY = 1e-8


def masked(values_B_T: Tensor, mask_B_T: Tensor) -> Tensor:
    """Return the values with 0 where the mask is 0, even over NaN and infinities."""
    return torch.where(mask_B_T.bool(), values_B_T, torch.zeros_like(values_B_T))


def masked_mean(values_B_T: Tensor, mask_B_T: Tensor) -> Tensor:
    """Return the mean over all tokens that count, 0 when none does."""
    return masked(values_B_T, mask_B_T).sum() / mask_B_T.sum().clamp(min=1)


def row_mean(values_B_T: Tensor, mask_B_T: Tensor) -> Tensor:
    """Return the mean over the tokens that count of each row, 0 for rows without any."""
    return masked(values_B_T, mask_B_T).sum(dim=-1) / mask_B_T.sum(dim=-1).clamp(min=1)


def whiten(values_B_T: Tensor, mask_B_T: Tensor, statistics: Statistics = "attempt") -> Tensor:
    """Return (x - mean) / sqrt(var + 1e-8) over the batch, 0 where the mask is 0.

    The variance is unbiased. With `attempt` statistics each row weighs alike however many tokens
    it has, and the sample size is the number of rows; with `token` each token weighs alike, as in
    the reference implementations. A batch without two of what is counted has no spread: all 0.
    """
    mask = mask_B_T.to(values_B_T.dtype)
    if statistics == "attempt":
        weights = mask / mask.sum(dim=-1, keepdim=True).clamp(min=1)
    else:
        weights = mask
    size = weights.sum()
    if size < 2 - _TINY:
        return torch.zeros_like(values_B_T)
    mean = (weights * masked(values_B_T, mask_B_T)).sum() / size
    centred = masked(values_B_T - mean, mask_B_T)
    variance = (weights * centred.square()).sum() / (size - 1)
    return centred * torch.rsqrt(variance + _TINY)
