"""Time as a parameter: what a manager, a host and a simulation read their seconds from."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from typing import Any, Protocol


class Clock(Protocol):
    """Seconds for those who count time-outs, and a way to wait for them."""

    def now_s(self) -> float:
        """Return seconds that only grow; their zero means nothing."""
        ...

    def wall_s(self) -> float:
        """Return seconds since 1970; may jump."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class SystemClock:
    """The machine's own time."""

    def now_s(self) -> float:
        return time.monotonic()

    def wall_s(self) -> float:
        return time.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class SkewedClock:
    """Another clock, wrong by an amount that can be changed: for chaos tests."""

    def __init__(self, clock: Clock) -> None:
        self.skew_s = 0.0
        self.wall_skew_s = 0.0
        self._clock = clock

    def now_s(self) -> float:
        return self._clock.now_s() + self.skew_s

    def wall_s(self) -> float:
        return self._clock.wall_s() + self.wall_skew_s

    async def sleep(self, seconds: float) -> None:
        await self._clock.sleep(seconds)


async def first_of(*waits: Coroutine[Any, Any, object], limit_s: float | None = None) -> None:
    """Return when the first of the coroutines does, or at the limit; the others are ended."""
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    try:
        await asyncio.wait(tasks, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
