"""Seams at which a manager dies, a disk is full, and messages are lost or late: for the schedules.

Real implementations of the Journal and Host contracts around others, and an Environment that says
what it carries out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, Literal, TypeVar

from screenloop.actions import Action
from screenloop.errors import EnvironmentFault, InfraFault
from screenloop.manager.base import LeaseToken, OperationFor
from screenloop.manager.hosts.base import Host, HostUnreachable
from screenloop.manager.hosts.instances import InstanceHost
from screenloop.manager.journal.base import FreeRecord, Intent, Journal, Journalled, LeaseRecord
from screenloop.manager.wire.bodies import HostReport
from screenloop.types import (
    Effect,
    EnvRef,
    EnvSpec,
    Evidence,
    Observation,
    SizePx,
    SnapshotKey,
    Start,
    StepResult,
    Want,
)

SIZE_PX: SizePx = (8, 8)
MAX_ASTRAY = 3
"""Messages that go astray one after the other."""
T = TypeVar("T")


class ManagerDied(BaseException):
    """The manager's process is gone; whoever waits for it hears nothing more."""


class HandClock:
    """A clock that is set by hand and never waited for."""

    def __init__(self) -> None:
        self.at_s = 0.0

    def now_s(self) -> float:
        return self.at_s

    def wall_s(self) -> float:
        return self.at_s

    async def sleep(self, seconds: float) -> None:
        """Let others run."""
        await asyncio.sleep(0)


class Life:
    """One life of the manager: ends at a given call through its seams."""

    def __init__(self) -> None:
        self.dead = False
        self.calls_left: int | None = None

    def call(self) -> None:
        """Go through a seam."""
        if self.calls_left is not None:
            self.calls_left -= 1
            if self.calls_left < 0:
                self.dead = True
        if self.dead:
            raise ManagerDied


class Faults:
    """What is to go wrong next, and what is on its way meanwhile."""

    def __init__(self) -> None:
        self.full = 0
        """Journal calls that will fail."""
        self.was_full = False
        """Whether one did."""
        self.lose = 0
        """Replies of the host that will be lost."""
        self.hold = 0
        """Requests to the host that will be held up."""
        self._held_up: list[Callable[[], Coroutine[Any, Any, Any]]] = []
        self._tasks: set[asyncio.Task[Any]] = set()

    def disturb(self, how: Literal["lose", "hold"]) -> None:
        """Let a message go astray; few at a time, so that asking again gets through."""
        if self.lose + self.hold < MAX_ASTRAY:
            if how == "lose":
                self.lose += 1
            else:
                self.hold += 1

    def begin(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Carry something out that nobody can stop."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._forget)
        return task

    def hold_up(self, request: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        """Keep a request until `deliver`."""
        self._held_up.append(request)

    def deliver(self) -> None:
        """Let everything arrive that is held up."""
        held_up, self._held_up = self._held_up, []
        for request in held_up:
            self.begin(request())

    async def settle(self) -> None:
        """End the faults, and wait until all that was sent has arrived and is done."""
        self.full = self.lose = self.hold = 0
        self.deliver()
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            # Nobody may be waiting for it any more.
            task.exception()


class MortalJournal:
    """A Journal whose user may die before or after each call, and whose disk may be full."""

    def __init__(self, journal: Journal, life: Life, faults: Faults) -> None:
        self._journal = journal
        self._life = life
        self._faults = faults

    async def _through(self, work: Callable[[], Awaitable[T]]) -> T:
        self._life.call()
        await asyncio.sleep(0)
        self._life.call()
        if self._faults.full > 0:
            self._faults.full -= 1
            self._faults.was_full = True
            raise InfraFault("the journal's disk is full")
        result = await work()
        self._life.call()
        return result

    async def grant(self, record: LeaseRecord) -> None:
        await self._through(lambda: self._journal.grant(record))

    async def end(self, record: FreeRecord) -> None:
        await self._through(lambda: self._journal.end(record))

    async def forget(self, instance: str) -> None:
        await self._through(lambda: self._journal.forget(instance))

    async def intend(self, intent: Intent) -> None:
        await self._through(lambda: self._journal.intend(intent))

    async def settle(self, instance: str, fence: int, action_id: str) -> None:
        await self._through(lambda: self._journal.settle(instance, fence, action_id))

    async def load(self) -> Journalled:
        return await self._journal.load()

    async def close(self) -> None:
        """The records outlive the manager."""


class Wire(Host):
    """The way to a host: requests and replies get lost, held up and delivered late."""

    def __init__(self, host: InstanceHost, life: Life, faults: Faults) -> None:
        self.id = host.id
        self._host = host
        self._life = life
        self._faults = faults

    async def _send(self, request: Callable[[], Coroutine[Any, Any, T]]) -> T:
        self._life.call()
        await asyncio.sleep(0)
        if self._faults.hold > 0:
            self._faults.hold -= 1
            self._faults.hold_up(request)
            raise HostUnreachable("the request is stuck")
        # Once sent, a request is carried out whatever becomes of its sender.
        task = self._faults.begin(request())
        try:
            result = await asyncio.shield(task)
        finally:
            self._life.call()
        if self._faults.lose > 0:
            self._faults.lose -= 1
            raise HostUnreachable("the reply is lost")
        return result

    async def open(self, instance: str, env: EnvRef, *, deadline_s: float) -> EnvSpec:
        """Pass on: what goes wrong here is no matter of Leases."""
        return await self._host.open(instance, env, deadline_s=deadline_s)

    async def bind(self, token: LeaseToken, *, ttl_s: float, deadline_s: float) -> None:
        await self._send(lambda: self._host.bind(token, ttl_s=ttl_s, deadline_s=deadline_s))

    async def operate(
        self, token: LeaseToken, operation: OperationFor[T], *, deadline_s: float
    ) -> T:
        return await self._send(lambda: self._host.operate(token, operation, deadline_s=deadline_s))

    async def shut(self, instance: str, *, deadline_s: float) -> None:
        await self._send(lambda: self._host.shut(instance, deadline_s=deadline_s))

    async def report(self, *, deadline_s: float) -> HostReport:
        return await self._host.report(deadline_s=deadline_s)

    async def close(self) -> None:
        await self._host.close()


class Meter:
    """An Environment that tells of each step it carries out."""

    def __init__(self, tell: Callable[[str], int]) -> None:
        """Take whom to tell; the answer numbers the frames."""
        self.spec = EnvSpec(
            kind="meter", surface="mobile", size_px=SIZE_PX, actions=frozenset({"tap"})
        )
        self._tell = tell
        self._frame = 0

    def _seen(self) -> Observation:
        return Observation(frame=f"frame-{self._frame}", size_px=SIZE_PX)

    async def reset(self, start: Start | SnapshotKey, *, deadline_s: float) -> Observation:
        """Do nothing, in two turns of the loop."""
        await asyncio.sleep(0)
        return self._seen()

    async def observe(self, want: Sequence[Want] = ("frame",), *, deadline_s: float) -> Observation:
        return self._seen()

    async def step(self, action: Action, *, action_id: str, deadline_s: float) -> StepResult:
        """Tell of the step, half-way through."""
        await asyncio.sleep(0)
        self._frame = self._tell(action_id)
        await asyncio.sleep(0)
        return StepResult(effect=Effect(ok=True), observation=self._seen())

    async def evidence(self, *, deadline_s: float) -> Evidence:
        return Evidence(before={}, after={})

    async def snapshot(self, *, deadline_s: float) -> SnapshotKey:
        raise EnvironmentFault("a meter keeps no snapshots")

    async def close(self) -> None:
        """Nothing is held."""
