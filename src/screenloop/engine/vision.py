"""Pictures for networks of the Qwen-VL family: patches, placeholders and 3-D positions.

A picture of `grid = (frames, rows, columns)` patches takes `frames * rows * columns / merge**2`
placeholder tokens. It comes already resized: a picture whose sides are no multiple of
`patch_px * merge` is refused, never resized again.
"""

from __future__ import annotations

import io
from collections.abc import Sequence

import torch
from PIL import Image, UnidentifiedImageError
from torch import Tensor

from screenloop.errors import AgentError, ConfigError
from screenloop.messages import ImageSpan
from screenloop.types import BlobKey, SizePx, Struct

Grid = tuple[int, int, int]


class VisionRule(Struct, frozen=True, kw_only=True):
    """How a model family cuts a picture up, and the ids around it."""

    patch_px: int
    merge: int
    """Patches on each axis that share one token."""
    frames: int = 2
    """How often a still picture is repeated in time within one patch."""
    mean: tuple[float, float, float] = (0.5, 0.5, 0.5)
    std: tuple[float, float, float] = (0.5, 0.5, 0.5)
    image_id: int
    """The placeholder token."""

    def grid(self, size_px: SizePx) -> Grid:
        """Return the patches of a picture as (1, rows, columns).

        Raises:
            ConfigError: its sides are no multiple of a merged patch; says which they must be.
        """
        side = self.patch_px * self.merge
        width, height = size_px
        if width % side or height % side or not width or not height:
            raise ConfigError(
                f"a picture of {width}x{height} px cannot be cut into patches: this model needs "
                f"sides that are multiples of {side} px; set factor_px of the image rule to {side}"
            )
        return 1, height // self.patch_px, width // self.patch_px

    def tokens(self, grid: Grid) -> int:
        """Return how many placeholder tokens a picture takes."""
        return grid[0] * grid[1] * grid[2] // self.merge**2

    def pixels(self, data: bytes) -> Tensor:
        """Return the patches of an encoded picture, `[rows * columns, channels * pixels]`.

        Patches that share a token follow one another.

        Raises:
            AgentError: the bytes are no picture.
        """
        try:
            with Image.open(io.BytesIO(data)) as image:
                rgb = image.convert("RGB")
        except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
            raise AgentError(f"a picture of the prompt cannot be read: {error}") from error
        _, rows, columns = self.grid(rgb.size)
        raw = torch.frombuffer(bytearray(rgb.tobytes()), dtype=torch.uint8)
        image_C_H_W = raw.view(rgb.height, rgb.width, 3).permute(2, 0, 1).float() / 255
        mean, std = torch.tensor(self.mean), torch.tensor(self.std)
        image_C_H_W = (image_C_H_W - mean[:, None, None]) / std[:, None, None]
        m, p = self.merge, self.patch_px
        blocks = image_C_H_W.reshape(3, rows // m, m, p, columns // m, m, p)
        blocks = blocks.permute(1, 4, 2, 5, 0, 3, 6).unsqueeze(5)
        blocks = blocks.expand(*blocks.shape[:5], self.frames, p, p)
        return blocks.reshape(rows * columns, -1)


def positions(length: int, images: Sequence[ImageSpan], merge: int) -> Tensor:
    """Return the positions (time, row, column) of every token, `[3, length]`.

    Text counts up on all three axes alike. A picture's tokens lie on the grid that begins at the
    position it stands at; the text behind it goes on after the grid's longer side.
    """
    parts: list[Tensor] = []
    at = index = 0
    for image in images:
        parts.append((torch.arange(image.start - index) + at).expand(3, -1))
        at += image.start - index
        frames, patch_rows, patch_columns = image.grid_thw
        rows, columns = patch_rows // merge, patch_columns // merge
        axes = (torch.arange(frames), torch.arange(rows), torch.arange(columns))
        parts.append(torch.stack(torch.meshgrid(*axes, indexing="ij")).reshape(3, -1) + at)
        at += max(rows, columns)
        index = image.end
    parts.append((torch.arange(length - index) + at).expand(3, -1))
    return torch.cat(parts, dim=1)


def place(
    token_ids: Sequence[int], pictures: Sequence[tuple[BlobKey, SizePx]], rule: VisionRule
) -> tuple[ImageSpan, ...]:
    """Return where each picture's placeholders stand in expanded prompt ids.

    So a training record needs no spans of its own: the ids and the pictures of the messages, in
    order, say it all.

    Raises:
        ConfigError: the placeholders do not belong to these pictures.
    """
    starts = [i for i, t in enumerate(token_ids) if t == rule.image_id]
    placed: list[ImageSpan] = []
    at = 0
    for key, size_px in pictures:
        grid = rule.grid(size_px)
        length = rule.tokens(grid)
        run = starts[at : at + length]
        if len(run) != length or run[-1] - run[0] != length - 1:
            raise ConfigError(
                f"the prompt has {len(starts)} placeholder tokens, which do not fit its "
                f"{len(pictures)} pictures: {key} needs {length} in a row"
            )
        placed.append(ImageSpan(key=key, grid_thw=grid, start=run[0], length=length))
        at += length
    if at != len(starts):
        raise ConfigError(
            f"the prompt has {len(starts)} placeholder tokens, its {len(pictures)} pictures "
            f"take {at}"
        )
    return tuple(placed)
