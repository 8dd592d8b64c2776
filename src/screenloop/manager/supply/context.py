"""What the pools of one supply share, and the work they have under way."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from screenloop.errors import ScreenloopError
from screenloop.manager.clock import Clock
from screenloop.manager.supply.base import ReadyInstance, SupplyListener
from screenloop.manager.supply.desired import Timing
from screenloop.manager.supply.queue import AcquireQueue
from screenloop.manager.supply.tokens import HostTokens

_log = logging.getLogger(__name__)


@dataclass(kw_only=True)
class PoolContext:
    """What every pool of a supply tasks with."""

    queue: AcquireQueue[ReadyInstance]
    """Those who wait for an Instance."""
    tokens: HostTokens
    blobs: str
    """URL of the store that hosts share with us."""
    clock: Clock
    timing: Timing
    jitter: random.Random
    """Spreads waits after failures."""
    direct: bool
    """Whether clients may go straight to hosts."""
    wake: Callable[[], None]
    """Asks for another look soon."""
    started: Callable[[str, float], None]
    """Told the kind and seconds of each start of an Instance."""
    listener: SupplyListener | None = None


class BackgroundTasks:
    """Tasks in the background whose failures are only logged: the next look sees what is amiss."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(self._carry_out(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def cancel(self) -> None:
        tasks = set(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _carry_out(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except ScreenloopError as error:
            _log.warning("pool %s: %s", self._name, error)
        except Exception:
            _log.exception("pool %s: work failed in an unforeseen way", self._name)
