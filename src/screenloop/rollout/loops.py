"""Whether an Episode goes round in circles; pure."""

from __future__ import annotations

from collections.abc import Sequence

from screenloop.actions import encode_action, pin_frame
from screenloop.types import BlobKey, Step, Struct

LONGEST_CYCLE = 3
"""Steps in the longest circle that is looked for."""


class Turned(Struct, frozen=True, kw_only=True):
    """What makes two Steps the same: the screen and what was done on it."""

    frame: BlobKey | None
    state_hash: str | None
    actions: tuple[bytes, ...]


def turned(step: Step) -> Turned:
    """Return what the Step is recognised by."""
    return Turned(
        frame=step.observation.frame,
        state_hash=step.observation.state_hash,
        actions=tuple(encode_action(pin_frame(action, None)) for action in step.actions),
    )


def is_same(a: Turned, b: Turned) -> bool:
    """Whether the same was done on the same screen: equal pixels or an equal device state."""
    if a.actions != b.actions:
        return False
    same_frame = a.frame is not None and a.frame == b.frame
    return same_frame or (a.state_hash is not None and a.state_hash == b.state_hash)


def is_loop(history: Sequence[Turned], repeats: int) -> bool:
    """Whether the last Steps are one circle of 1 to `LONGEST_CYCLE` Steps, gone `repeats` times."""
    return any(_ends_in_cycle(history, length, repeats) for length in range(1, LONGEST_CYCLE + 1))


def _ends_in_cycle(history: Sequence[Turned], length: int, repeats: int) -> bool:
    tail = history[-length * repeats :]
    if len(tail) < length * repeats:
        return False
    return all(is_same(tail[i], tail[i + length]) for i in range(len(tail) - length))
