"""When an Episode ends although nobody says so: a limit is reached, or it goes in circles; pure."""

from __future__ import annotations

from collections.abc import Sequence

from screenloop.actions import encode_action, pin_frame
from screenloop.types import BlobKey, Budget, EndReason, Step, Struct, Usage

LONGEST_CYCLE = 3
"""Steps in the longest circle that is looked for."""


class Spent(Struct, frozen=True, kw_only=True):
    """What an Episode has used so far."""

    steps: int = 0
    usage: Usage = Usage()
    seconds: float = 0.0


def limit_reached(budget: Budget, spent: Spent) -> EndReason | None:
    """Return the first limit that is used up: steps, tokens, money, seconds.

    Tokens are prompt plus completion as the server counts them; where it does not, neither the
    token limit nor the cost limit can bind.
    """
    if spent.steps >= budget.steps:
        return EndReason.STEP_LIMIT
    known = [n for n in (spent.usage.prompt, spent.usage.completion) if n is not None]
    if budget.tokens is not None and known and sum(known) >= budget.tokens:
        return EndReason.TOKEN_LIMIT
    cost = spent.usage.cost_usd
    if budget.cost_usd is not None and cost is not None and cost >= budget.cost_usd:
        return EndReason.COST_LIMIT
    if budget.seconds is not None and spent.seconds >= budget.seconds:
        return EndReason.TIME_LIMIT
    return None


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
