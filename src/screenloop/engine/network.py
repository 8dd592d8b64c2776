"""Forward passes over rows of different lengths: the only place that calls the network.

Two layouts. `extend` reads new tokens behind each row's own past, `[past, left-padded | new,
right-padded]`, so that a row's tokens are always neighbours. `advance` adds one token to every row
of a running batch, whose pasts are left-padded so that all end in the same column. Positions are
always passed explicitly, three-dimensional where the network sees pictures.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad
from transformers import DynamicCache

from screenloop.engine.cache import Layers, length_of
from screenloop.engine.policy import Policy
from screenloop.engine.vision import positions
from screenloop.messages import ImageSpan
from screenloop.types import BlobKey


@dataclass(frozen=True)
class Chunk:
    """Tokens of one row that the network has not read yet, behind what it has."""

    token_ids: tuple[int, ...]
    """The whole sequence."""
    start: int
    """How many of its tokens are in `past`."""
    past: Layers | None
    images: tuple[ImageSpan, ...] = ()
    """All pictures of the sequence, read ones included."""
    patches: Mapping[BlobKey, Tensor] = field(default_factory=dict)
    """Of its pictures; see `VisionRule.pixels`."""


@dataclass(frozen=True)
class Extended:
    """What `extend` returns for one row."""

    logits_V: Tensor
    """After its last token."""
    layers: Layers
    """Keys and values of the new tokens alone."""
    next_position: int
    """Where the token behind the sequence stands."""


@dataclass
class RunningBatch:
    """Rows that are being decoded: their pasts side by side, all ending in the last column."""

    layers: list[tuple[Tensor, Tensor]]
    """Keys and values a layer, each `[rows, heads, columns, dim]`."""
    lengths: list[int]
    """How many of the last columns belong to each row."""

    @property
    def columns(self) -> int:
        return int(self.layers[0][0].shape[2]) if self.layers else 0

    def row(self, index: int, start: int) -> Layers:
        """Return a row's keys and values from its token `start` on."""
        first = self.columns - self.lengths[index] + start
        return tuple((k[index, :, first:], v[index, :, first:]) for k, v in self.layers)

    def keep(self, indices: Sequence[int]) -> None:
        """Let go of all other rows, and of columns that nobody needs any more."""
        if not indices:
            self.layers, self.lengths = [], []
            return
        self.lengths = [self.lengths[i] for i in indices]
        spare = self.columns - max(self.lengths)
        chosen = torch.tensor(indices)
        self.layers = [(k[chosen, :, spare:], v[chosen, :, spare:]) for k, v in self.layers]

    def add(self, rows: Sequence[Layers]) -> None:
        """Put further rows below."""
        lengths = [length_of(row) for row in rows]
        width = max([self.columns, *lengths])
        joined: list[tuple[Tensor, Tensor]] = []
        for number in range(len(rows[0])):
            keys = torch.stack([_left_padded(row[number][0], width) for row in rows])
            values = torch.stack([_left_padded(row[number][1], width) for row in rows])
            if self.layers:
                old_keys, old_values = self.layers[number]
                keys = torch.cat([_left_padded(old_keys, width), keys])
                values = torch.cat([_left_padded(old_values, width), values])
            joined.append((keys, values))
        self.layers = joined
        self.lengths += lengths


class Network:
    """A policy's forward pass, with pasts as plain tensors."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        # Renamed in transformers 5.2x; both names are in use.
        named = inspect.signature(policy.model.forward).parameters
        self._cache_name = "cache" if "cache" in named else "past_key_values"

    @torch.inference_mode()
    def extend(self, chunks: Sequence[Chunk]) -> list[Extended]:
        """Read each row's new tokens, all rows in one pass."""
        device = self._policy.device
        new = [len(c.token_ids) - c.start for c in chunks]
        old = [c.start for c in chunks]
        width, past = max(new), max(old)
        ids = torch.zeros(len(chunks), width, dtype=torch.long)
        mask = torch.zeros(len(chunks), past + width, dtype=torch.long)
        places = torch.zeros(3, len(chunks), width, dtype=torch.long)
        ends: list[int] = []
        for row, chunk in enumerate(chunks):
            ids[row, : new[row]] = torch.tensor(chunk.token_ids[chunk.start :])
            mask[row, past - old[row] : past + new[row]] = 1
            whole = self._positions(chunk)
            places[:, row, : new[row]] = whole[:, chunk.start :]
            ends.append(int(whole[:, -1].max()) + 1)
        last = sorted(set(new))
        cache = self._past(chunks, past)
        logits = self._forward(
            cache,
            ids.to(device),
            mask.to(device),
            places.to(device),
            keep=torch.tensor([n - 1 for n in last], device=device),
            **self._pictures(chunks),
        )
        return [
            Extended(
                logits_V=logits[row, last.index(new[row])],
                layers=tuple(
                    (k[row, :, past : past + new[row]], v[row, :, past : past + new[row]])
                    for k, v in _layers_of(cache)
                ),
                next_position=ends[row],
            )
            for row in range(len(chunks))
        ]

    @torch.inference_mode()
    def advance(self, batch: RunningBatch, token_ids: Sequence[int], at: Sequence[int]) -> Tensor:
        """Read one more token a row; the batch grows by it. Returns logits `[rows, vocab]`.

        Args:
            batch: The running rows.
            token_ids: One a row.
            at: Their positions.
        """
        device = self._policy.device
        ids = torch.tensor(token_ids, device=device)[:, None]
        width = batch.columns + 1
        columns = torch.arange(width, device=device)
        first = torch.tensor([width - 1 - n for n in batch.lengths], device=device)
        mask = (columns[None, :] >= first[:, None]).long()
        places = torch.tensor(at, device=device)[None, :, None].expand(3, -1, 1)
        cache = DynamicCache()
        for number, (keys, values) in enumerate(batch.layers):
            cache.update(keys, values, number)
        logits = self._forward(cache, ids, mask, places, keep=1)
        batch.layers = _layers_of(cache)
        batch.lengths = [n + 1 for n in batch.lengths]
        return logits[:, -1]

    # ---- parts -----------------------------------------------------------------------------

    def _forward(
        self,
        cache: DynamicCache,
        ids: Tensor,
        mask: Tensor,
        places: Tensor,
        *,
        keep: int | Tensor,
        **pictures: Tensor,
    ) -> Tensor:
        arguments: dict[str, Any] = {
            "input_ids": ids,
            "attention_mask": mask,
            "position_ids": places[0] if self._policy.vision is None else places,
            self._cache_name: cache,
            "use_cache": True,
            "logits_to_keep": keep,
            **pictures,
        }
        logits: Tensor = self._policy.model(**arguments).logits
        return logits

    def _positions(self, chunk: Chunk) -> Tensor:
        merge = 1 if self._policy.vision is None else self._policy.vision.merge
        return positions(len(chunk.token_ids), chunk.images, merge)

    def _past(self, chunks: Sequence[Chunk], width: int) -> DynamicCache:
        cache = DynamicCache()
        if width == 0:
            return cache
        some = next(c.past for c in chunks if c.past is not None)
        for number, (like, _) in enumerate(some):
            keys = like.new_zeros(len(chunks), like.shape[0], width, like.shape[2])
            values = torch.zeros_like(keys)
            for row, chunk in enumerate(chunks):
                if chunk.past is not None:
                    keys[row, :, width - chunk.start :] = chunk.past[number][0]
                    values[row, :, width - chunk.start :] = chunk.past[number][1]
            cache.update(keys, values, number)
        return cache

    def _pictures(self, chunks: Sequence[Chunk]) -> dict[str, Tensor]:
        """Return the arguments for pictures among the new tokens."""
        new = [(i, c.patches[i.key]) for c in chunks for i in c.images if i.start >= c.start]
        return picture_arguments(self._policy, new)


def _left_padded(tokens: Tensor, width: int) -> Tensor:
    return pad(tokens, (0, 0, width - tokens.shape[-2], 0))


def picture_arguments(
    policy: Policy, pictures: Sequence[tuple[ImageSpan, Tensor]]
) -> dict[str, Tensor]:
    """Return the network's arguments for pictures, in the order of their placeholders."""
    if not pictures:
        return {}
    patches = torch.cat([patches for _, patches in pictures])
    grids = torch.tensor([image.grid_thw for image, _ in pictures])
    return {
        "pixel_values": patches.to(policy.device, policy.model.dtype),
        "image_grid_thw": grids.to(policy.device),
    }


def _layers_of(cache: DynamicCache) -> list[tuple[Tensor, Tensor]]:
    pairs: list[tuple[Tensor, Tensor]] = []
    layers: list[Any] = cache.layers
    for layer in layers:
        pairs.append((layer.keys, layer.values))
    return pairs
