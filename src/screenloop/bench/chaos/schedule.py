"""What goes wrong in a chaos run, drawn from a seed: the same seed gives the same faults."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from typing import Literal

from screenloop.testing.unreliable_network import Fate, FateKind
from screenloop.types import Struct

MoveKind = Literal["kill_host", "kill_manager", "stall_host", "skew_clock", "fill_disk"]
LEASE_TTL_S = 4.0
"""How long a lease lasts without use; faults are made to be longer and shorter."""
SILENT_S = 9.0
"""How long a host may be silent before it counts as gone."""
_FIRST, _LAST = 0.03, 0.88
"""Shares of the Episodes between which things go wrong."""
_SOON_S, _LATER_S = (0.02, 0.5), (0.5, 2.0 * LEASE_TTL_S)
"""Bounds of delays, half of them each: within an Episode, and past its end or its lease."""
_FATES: tuple[tuple[FateKind, float], ...] = (
    ("lose_request", 0.01),
    ("lose_reply", 0.015),
    ("slow", 0.01),
    ("twice", 0.02),
    ("late", 0.02),
)
"""Shares of the requests that fare badly."""


class Move(Struct, frozen=True, kw_only=True):
    """One thing that the monkey does."""

    after: int
    """Episodes that are over by then."""
    kind: MoveKind
    pick: float = 0.0
    """Which of the hosts, as a share of them."""
    seconds: float = 0.0
    """How long a stall or a full disk lasts; by how much the clock is put ahead."""


def amounts_for(episodes: int) -> dict[MoveKind, int]:
    """Return what a run of so many Episodes goes through: 18 kills for 300."""
    return {
        "kill_host": max(2, math.ceil(episodes / 25)),
        "kill_manager": max(1, math.ceil(episodes / 50)),
        "stall_host": max(1, episodes // 50),
        "skew_clock": max(1, episodes // 75),
        "fill_disk": max(1, episodes // 75),
    }


def draw_moves(seed: int, episodes: int, amounts: Mapping[MoveKind, int]) -> tuple[Move, ...]:
    """Draw a schedule, in order."""
    rng = random.Random(f"moves/{seed}")
    kinds = [kind for kind, count in amounts.items() for _ in range(count)]
    rng.shuffle(kinds)
    first, last = _FIRST * episodes, _LAST * episodes
    return tuple(
        Move(
            after=int(first + (last - first) * (number + rng.random()) / len(kinds)),
            kind=kind,
            pick=rng.random(),
            seconds=_seconds_of(kind, rng),
        )
        for number, kind in enumerate(kinds)
    )


def draw_fates(seed: int, episodes: int) -> Callable[[str], Fate]:
    """Return what decides the fate of each request on its way to the manager.

    Args:
        seed: of the draws.
        episodes: that are played; in short runs more goes wrong with each.
    """
    rng = random.Random(f"fates/{seed}")
    scale = min(5.0, max(1.0, 100 / episodes))

    def decide(path: str) -> Fate:
        share, delay_s = rng.random(), rng.uniform(*rng.choice((_SOON_S, _LATER_S)))
        if not path.startswith("/v1/leases"):
            return Fate()
        for kind, chance in _FATES:
            share -= chance * scale
            if share < 0:
                return Fate(kind=kind, delay_s=delay_s)
        return Fate()

    return decide


def _seconds_of(kind: MoveKind, rng: random.Random) -> float:
    match kind:
        case "stall_host":
            # Past a lease but not yet given up, or given up.
            return rng.choice((1.3 * LEASE_TTL_S, 1.3 * SILENT_S))
        case "skew_clock":
            return rng.choice((-0.5 * LEASE_TTL_S, 0.5 * LEASE_TTL_S, 1.5 * LEASE_TTL_S, 3600.0))
        case "fill_disk":
            return rng.uniform(1.0, 3.0)
        case _:
            return 0.0
