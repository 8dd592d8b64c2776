"""The Manager in the caller's own process: nothing outlasts it, nothing goes over a wire."""

from __future__ import annotations

import itertools
import time
from collections.abc import Awaitable, Callable

from screenloop.envs.base import Environment
from screenloop.manager.clock import SystemClock
from screenloop.manager.hosts.instances import InstanceHost
from screenloop.manager.journal.memory import MemoryJournal
from screenloop.manager.service import ManagerService
from screenloop.manager.supply.on_demand import OnDemandSupply
from screenloop.types import EnvRef


class DirectManager(ManagerService):
    """Grants Leases on Instances that live in this process.

    Instances are opened on demand and reused by kind and size. Each operation that the Manager
    admits puts the Lease's end `ttl_s` ahead, so only a silent holder loses it. An Instance that
    fails, or that missed a deadline (its state is then unknown), is closed and never reused; its
    Lease is lost.
    """

    def __init__(
        self,
        open_instance: Callable[[EnvRef], Awaitable[Environment]],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare; Instances are opened when they are needed.

        Args:
            open_instance: opens one.
            clock: seconds by which Leases expire.
        """
        seconds = _Seconds(clock)
        host = InstanceHost("direct", open_instance, clock=seconds, boot="direct")
        numbers = itertools.count(1)
        super().__init__(
            OnDemandSupply(host, boot=host.boot),
            MemoryJournal(),
            clock=seconds,
            new_id=lambda: f"lease-{next(numbers)}",
        )


class _Seconds(SystemClock):
    """The machine's clock, but for the seconds by which Leases expire."""

    def __init__(self, now_s: Callable[[], float]) -> None:
        self._now_s = now_s

    def now_s(self) -> float:
        return self._now_s()
