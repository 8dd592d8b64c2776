"""A manager over one host whose messages and journal can be disturbed: for tests of the service."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

from odometer import REF, TAP, Garage

from screenloop.bench.lease.faults import Faults, HandClock, Life, MortalJournal, Wire
from screenloop.manager.base import LeaseToken
from screenloop.manager.hosts.instances import InstanceHost
from screenloop.manager.journal.base import Journal
from screenloop.manager.journal.memory import MemoryJournal
from screenloop.manager.journal.sqlite import SqliteJournal
from screenloop.manager.service import ManagerService
from screenloop.manager.supply.on_demand import OnDemandSupply
from screenloop.types import Lease, StepResult

T = TypeVar("T")


class HeldWire(Wire):
    """A way to a host whose binds and answers can be held back."""

    def __init__(self, host: InstanceHost, life: Life, faults: Faults) -> None:
        super().__init__(host, life, faults)
        self.binding = False
        self.bound = asyncio.Event()
        self.bound.set()
        self.answers = asyncio.Event()
        self.answers.set()

    async def bind(self, grip: LeaseToken, *, ttl_s: float, deadline_s: float) -> None:
        self.binding = True
        await self.bound.wait()
        await super().bind(grip, ttl_s=ttl_s, deadline_s=deadline_s)

    async def _send(self, request: Callable[[], Coroutine[Any, Any, T]]) -> T:
        result = await super()._send(request)
        await self.answers.wait()
        return result


class Served:
    """One host that lives on, and managers that come and go."""

    def __init__(self, *, journal: Path | None = None) -> None:
        self.garage = Garage()
        self.clock = HandClock()
        self.faults = Faults()
        self.host = InstanceHost("h", self.garage.open, clock=self.clock, boot="b1")
        self._path = journal
        self.journal: Journal = MemoryJournal()
        self._managers = 0
        self.start_manager()

    def start_manager(self) -> None:
        """Put another manager in the place of the last, over the same host and journal."""
        self._managers += 1
        self.life = Life()
        if self._path is not None:
            self.journal = SqliteJournal(self._path)
        prefix = "" if self._managers == 1 else f"m{self._managers}-"
        self.wire = HeldWire(self.host, self.life, self.faults)
        self.supply = OnDemandSupply(self.wire, boot=self.host.boot, prefix=prefix)
        self.service = ManagerService(
            self.supply,
            MortalJournal(self.journal, self.life, self.faults),
            clock=self.clock,
        )

    async def kill_manager(self) -> None:
        """End the manager without a word, and start the next one's process."""
        self.life.dead = True
        if self._path is not None:
            await self.journal.close()
        self.start_manager()

    def replace_host(self) -> None:
        """Put another process in the host's place."""
        self.host = InstanceHost("h", self.garage.open, clock=self.clock, boot="b2")

    async def lease(self, *, ttl_s: float = 60.0, request_id: str = "") -> Lease:
        return await self.service.acquire(REF, "run", ttl_s=ttl_s, request_id=request_id)

    async def step(
        self, lease: Lease, action_id: str = "e/0/0", *, deadline_s: float = 5.0
    ) -> StepResult:
        return await self.service.step(lease, action_id, TAP, deadline_s=deadline_s)

    def grip(self, lease: Lease) -> LeaseToken:
        return LeaseToken(instance=lease.instance, lease_id=lease.id, fence=lease.fence)

    async def settled(self) -> None:
        """Wait until what was under way is over."""
        await self.faults.settle()
        for _ in range(50):
            await asyncio.sleep(0)
