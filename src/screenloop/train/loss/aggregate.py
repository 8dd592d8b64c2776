"""From a loss per token to one number: what each token weighs; all pure."""

from __future__ import annotations

from typing import get_args

import torch
from torch import Tensor

from screenloop.errors import ConfigError
from screenloop.registry import unknown
from screenloop.train.settings import Aggregation


def token_weights(
    mask_B_T: Tensor,
    mode: Aggregation,
    *,
    attempts_B: Tensor | None = None,
    length: int | None = None,
) -> Tensor:
    """Return the weight of each token, so that the loss is the weighted sum.

    Compute the weights once over the whole batch of an update: micro-batches then add up to the
    same loss and gradient as one pass, however they are cut.

    token-mean: 1/N over the N sampled tokens of the batch. seq-mean-token-sum: 1/S over the S
    sequences. seq-mean-token-mean: 1/(S L_i), L_i the tokens of sequence i. seq-mean-token-sum-norm
    (Dr.GRPO, arXiv:2503.20783): 1/(S L) with one fixed L. Sequences without a sampled token do not
    count.

    Args:
        mask_B_T: 1 on sampled tokens.
        mode: One of `Aggregation`.
        attempts_B: Which attempt a row belongs to, from 0. When given, a sequence is an attempt
            with all its windows, so that long attempts weigh no more than short ones; else each
            row is a sequence.
        length: L of `seq-mean-token-sum-norm`.

    Raises:
        ConfigError: unknown mode, or no `length` where it is needed.
    """
    mask = mask_B_T.to(torch.get_default_dtype())
    tokens_B = mask.sum(dim=-1)
    if attempts_B is None:
        attempts_B = torch.arange(len(mask), device=mask.device)
    n_attempts = int(attempts_B.max()) + 1 if len(attempts_B) else 0
    tokens_A = tokens_B.new_zeros(n_attempts).index_add(0, attempts_B, tokens_B)
    sequences = (tokens_A > 0).sum().clamp(min=1)
    if mode == "token-mean":
        return mask / tokens_B.sum().clamp(min=1)
    if mode == "seq-mean-token-sum":
        return mask / sequences
    if mode == "seq-mean-token-mean":
        return mask / (sequences * tokens_A[attempts_B].clamp(min=1)).unsqueeze(-1)
    if mode == "seq-mean-token-sum-norm":
        if length is None or length < 1:
            raise ConfigError(
                "seq-mean-token-sum-norm divides by one fixed length: set it to the largest "
                f"number of sampled tokens of an attempt, not {length}."
            )
        return mask / (sequences * length)
    raise unknown("aggregation", mode, get_args(Aggregation))
