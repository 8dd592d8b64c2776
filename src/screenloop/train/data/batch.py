"""Samples as padded tensors, and sampled tokens as one row an attempt; pure."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from screenloop.errors import ConfigError
from screenloop.train.data.samples import Sample
from screenloop.types import Struct


class SampleBatch(Struct, frozen=True, kw_only=True):
    """Samples side by side, padded at the end."""

    samples: tuple[Sample, ...]
    token_ids_bt: Tensor
    attention_bt: Tensor
    """1 on tokens, 0 on padding."""
    mask_bt: Tensor
    """1 on sampled tokens, as float."""
    rollout_log_probs_bt: Tensor
    advantages_bt: Tensor
    attempts_b: Tensor
    """Index of the attempt of each row, from 0 in order of first appearance."""


def collate(samples: Sequence[Sample], *, pad_id: int) -> SampleBatch:
    """Put Samples into one batch.

    Raises:
        ConfigError: there is none, or they differ in banned ids or temperature: one log-softmax
            serves a batch.
    """
    if not samples:
        raise ConfigError("a batch needs at least one Sample; skip updates without any")
    if len({(sample.banned_ids, sample.temperature) for sample in samples}) > 1:
        raise ConfigError(
            "the Samples of a batch were drawn with different banned ids or temperatures; put them "
            "into separate batches"
        )
    width = max(len(sample.token_ids) for sample in samples)
    numbers: dict[str, int] = {}
    return SampleBatch(
        samples=tuple(samples),
        token_ids_bt=_padded([s.token_ids for s in samples], width, pad_id, torch.long),
        attention_bt=_padded([(1,) * len(s.token_ids) for s in samples], width, 0, torch.long),
        mask_bt=_padded([s.loss_mask for s in samples], width, 0, torch.float32),
        rollout_log_probs_bt=_padded(
            [s.rollout_log_probs for s in samples], width, 0, torch.float32
        ),
        advantages_bt=_padded([s.advantages for s in samples], width, 0, torch.float32),
        attempts_b=torch.tensor([numbers.setdefault(s.attempt_id, len(numbers)) for s in samples]),
    )


def attempt_rows(values_bt: Tensor, mask_bt: Tensor, attempts_b: Tensor) -> tuple[Tensor, Tensor]:
    """Return the sampled tokens' values as one row an attempt, and the mask of these rows.

    The rows of an attempt must come in time order. GAE and REINFORCE++ work on such rows;
    `samples.with_token_advantages` lays their result back.
    """
    taken: dict[int, list[Tensor]] = {}
    for values_t, mask_t, attempt in zip(values_bt, mask_bt, attempts_b.tolist(), strict=True):
        taken.setdefault(attempt, []).append(values_t[mask_t.bool()])
    rows = [torch.cat(taken[attempt]) for attempt in sorted(taken)]
    padded = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
    lengths = torch.tensor([len(row) for row in rows], device=values_bt.device)
    counts = torch.arange(padded.shape[1], device=values_bt.device) < lengths.unsqueeze(-1)
    return padded, counts.to(mask_bt.dtype)


def _padded(rows: Sequence[Sequence[float]], width: int, fill: float, dtype: torch.dtype) -> Tensor:
    return torch.tensor([[*row, *[fill] * (width - len(row))] for row in rows], dtype=dtype)
