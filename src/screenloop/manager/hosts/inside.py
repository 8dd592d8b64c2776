"""Hosts inside the manager's own process: for small machines, notebooks, tests and chaos."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from screenloop.envs.base import Environment
from screenloop.manager.base import LeaseToken, OperationFor
from screenloop.manager.clock import Clock, SystemClock
from screenloop.manager.hosts.base import Host, HostPlan, HostSeen, HostUnreachable
from screenloop.manager.hosts.instances import InstanceHost
from screenloop.manager.wire.bodies import HostReport
from screenloop.types import EnvRef, EnvSpec, Start

T = TypeVar("T")


class InsideLauncher:
    """Makes hosts in this process; they end with it, so no later manager finds them.

    `kill` and `stall` do to a host what happens to real ones.
    """

    name = "inside"

    def __init__(
        self,
        open_instance: Callable[[EnvRef], Awaitable[Environment]],
        *,
        probe: Callable[[EnvRef], Start | None] | None = None,
        rss_mb: Callable[[], float] | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Prepare.

        Args:
            open_instance: starts one Instance.
            probe: what a new Instance is reset to before it counts as ready.
            rss_mb: measures this process; 0 in reports without it.
            clock: of the hosts.
        """
        self._open_instance = open_instance
        self._probe = probe
        self._rss_mb = rss_mb
        self._clock = clock or SystemClock()
        self._hosts: dict[str, InstanceHost] = {}
        self._stalled: dict[str, asyncio.Event] = {}
        self._gone: dict[str, str] = {}

    async def start(self, plan: HostPlan) -> None:
        if plan.host not in self._hosts and plan.host not in self._gone:
            self._hosts[plan.host] = InstanceHost(
                plan.host,
                self._open_instance,
                probe=self._probe,
                rss_mb=self._rss_mb,
                clock=self._clock,
            )

    async def stop(self, host: str) -> None:
        await self._end(host, "it was stopped")

    async def kill(self, host: str) -> None:
        """End a host without a word to anyone."""
        await self._end(host, "it was killed")

    def stall(self, host: str) -> None:
        """Let a host answer nothing until `resume`."""
        self._stalled[host] = asyncio.Event()

    def resume(self, host: str) -> None:
        """Let a stalled host answer again, also what it was asked meanwhile."""
        self._stalled.pop(host).set()

    async def seen(self) -> tuple[HostSeen, ...]:
        return (
            *(HostSeen(host=host, state="running") for host in self._hosts),
            *(HostSeen(host=host, state="gone", reason=why) for host, why in self._gone.items()),
        )

    def connect(self, seen: HostSeen, token: str) -> Host:
        return _Way(seen.host, self)

    async def close(self) -> None:
        """Close the hosts that are left: there is nobody else to do so."""
        for host in list(self._hosts):
            await self.stop(host)

    async def _end(self, host: str, why: str) -> None:
        inner = self._hosts.pop(host, None)
        if inner is not None:
            self._gone[host] = why
            await inner.close()

    async def reach(self, host: str, work: Callable[[InstanceHost], Awaitable[T]]) -> T:
        """Do something on a host, if it is there and answers.

        Raises:
            HostUnreachable: it is gone, or went meanwhile.
        """
        if host in self._stalled:
            await self._stalled[host].wait()
        inner = self._hosts.get(host)
        if inner is None:
            raise HostUnreachable(f"host {host} is gone: {self._gone.get(host, 'never started')}")
        answer = await work(inner)
        if self._hosts.get(host) is not inner:
            raise HostUnreachable(f"host {host} went before it answered")
        return answer


class _Way(Host):
    """One way to a host inside; letting go of it leaves the host alone."""

    def __init__(self, host: str, launcher: InsideLauncher) -> None:
        self.id = host
        self._launcher = launcher

    async def _ask(self, work: Callable[[InstanceHost], Awaitable[T]], deadline_s: float) -> T:
        try:
            async with asyncio.timeout(deadline_s + 1.0):
                return await self._launcher.reach(self.id, work)
        except TimeoutError as error:
            raise HostUnreachable(f"host {self.id} did not answer") from error

    async def open(self, instance: str, env: EnvRef, *, deadline_s: float) -> EnvSpec:
        return await self._ask(
            lambda host: host.open(instance, env, deadline_s=deadline_s), deadline_s
        )

    async def bind(self, token: LeaseToken, *, ttl_s: float, deadline_s: float) -> None:
        await self._ask(
            lambda host: host.bind(token, ttl_s=ttl_s, deadline_s=deadline_s), deadline_s
        )

    async def operate(
        self, token: LeaseToken, operation: OperationFor[T], *, deadline_s: float
    ) -> T:
        return await self._ask(
            lambda host: host.operate(token, operation, deadline_s=deadline_s), deadline_s
        )

    async def shut(self, instance: str, *, deadline_s: float) -> None:
        await self._ask(lambda host: host.shut(instance, deadline_s=deadline_s), deadline_s)

    async def report(self, *, deadline_s: float) -> HostReport:
        return await self._ask(lambda host: host.report(deadline_s=deadline_s), deadline_s)

    async def close(self) -> None:
        """Leave the host alone."""
