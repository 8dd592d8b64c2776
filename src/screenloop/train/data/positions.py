"""Three-axis positions (mrope) of the Qwen-VL families, for training and decoding alike; pure.

Text counts up by one on all axes. A picture's tokens share one start and take their time, height
and width inside the merged grid as offsets; the text after it goes on from the largest position.
Decode steps need explicit positions, since the count of tokens is no longer the position.
"""

from __future__ import annotations

from collections.abc import Sequence

from screenloop.messages import ImageSpan
from screenloop.types import Struct

Position = tuple[int, int, int]
"""Time, height, width."""


class Positions(Struct, frozen=True, kw_only=True):
    """Positions of a prompt, and what the tokens sampled after it need."""

    positions_t: tuple[Position, ...]
    delta: int
    """Token number k after a prompt of L tokens is at L + k + delta (`rope_deltas`)."""


def mrope_positions(length: int, images: Sequence[ImageSpan], merge: int = 2) -> Positions:
    """Return the positions of a sequence of `length` tokens with pictures in order."""
    positions: list[Position] = []
    following = 0
    for image in images:
        for _ in range(image.start - len(positions)):
            positions.append((following,) * 3)
            following += 1
        times, rows, columns = image.grid_thw
        rows, columns = rows // merge, columns // merge
        positions.extend(
            (following + t, following + h, following + w)
            for t in range(times)
            for h in range(rows)
            for w in range(columns)
        )
        following += max(times, rows, columns)
    for _ in range(length - len(positions)):
        positions.append((following,) * 3)
        following += 1
    return Positions(positions_t=tuple(positions), delta=following - length)
