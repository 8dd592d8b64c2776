"""The simplest Supply: one host, and an Instance is opened when none is free."""

from __future__ import annotations

from collections.abc import Sequence

from screenloop.errors import InfraFault
from screenloop.manager.hosts.base import Host
from screenloop.manager.supply.base import (
    AdoptedInstances,
    KnownInstance,
    ReadyInstance,
    SupplyListener,
)
from screenloop.types import EnvRef, EnvSpec

SHUT_S = 10.0
"""How long closing an Instance may take."""
SPEC_S = 300.0
"""How long opening an Instance to ask for its spec may take."""


class OnDemandSupply:
    """Opens Instances on one host as they are needed and reuses them by kind and size.

    What an earlier Supply left open on the host is adopted.
    """

    def __init__(self, host: Host, *, boot: str, prefix: str = "") -> None:
        """Take a host, which this Supply will close.

        Args:
            host: where Instances are opened.
            boot: of that host.
            prefix: put before Instances' names; another for each Supply that uses the same host
                after this one, so that no name comes twice.
        """
        self._host = host
        self._boot = boot
        self._prefix = prefix
        self._listener: SupplyListener | None = None
        self._taken: dict[str, ReadyInstance] = {}
        self._free: dict[EnvRef, list[ReadyInstance]] = {}
        self._specs: dict[EnvRef, EnvSpec] = {}
        self._opened = 0

    def listen(self, listener: SupplyListener) -> None:
        self._listener = listener

    async def replace_host(self, host: Host, *, boot: str, reason: str) -> None:
        """Go on with another host; every Instance of the last is lost."""
        lost = [*self._taken, *(one.instance for free in self._free.values() for one in free)]
        self._taken.clear()
        self._free.clear()
        self._host, self._boot = host, boot
        if self._listener is not None:
            await self._listener.instances_lost(lost, reason)

    async def spec(self, env: EnvRef) -> EnvSpec:
        """Tell what Instances of this kind can do; opens the first one to find out."""
        if env not in self._specs:
            opened = await self._open(env, SPEC_S)
            self._free.setdefault(env, []).append(opened)
        return self._specs[env]

    async def take(self, env: EnvRef, run_id: str, *, deadline_s: float) -> ReadyInstance:
        free = self._free.get(env)
        taken = free.pop() if free else await self._open(env, deadline_s)
        if taken.host != self._host.id or taken.boot != self._boot:
            raise InfraFault(f"host {taken.host} was replaced while {taken.instance} was opening")
        self._taken[taken.instance] = taken
        return taken

    async def give_back(self, instance: str, *, healthy: bool, reason: str = "") -> None:
        taken = self._taken.pop(instance, None)
        if taken is None:
            return
        if healthy:
            self._free.setdefault(taken.env, []).append(taken)
        else:
            await self._host.shut(instance, deadline_s=SHUT_S)

    def host_of(self, instance: str) -> Host:
        if instance not in self._taken:
            raise InfraFault(f"instance {instance} is not in use here")
        return self._host

    async def adopt(self, known: Sequence[KnownInstance]) -> AdoptedInstances:
        report = await self._host.report(deadline_s=SHUT_S)
        alive = {one.instance: one for one in report.instances if one.state == "ready"}
        found: dict[str, ReadyInstance] = {}
        gone: dict[str, str] = {}
        for one in known:
            seen = alive.pop(one.instance, None) if one.boot == report.boot else None
            if seen is None:
                gone[one.instance] = f"it is no longer open on host {self._host.id}"
                continue
            taken = await self._again(one.instance, one.env, seen.fence)
            found[one.instance] = taken
            if one.held:
                self._taken[one.instance] = taken
            else:
                self._free.setdefault(one.env, []).append(taken)
        for name, seen in alive.items():
            # Opened by an earlier manager that died before its first grant.
            again = await self._again(name, seen.env, seen.fence)
            self._free.setdefault(seen.env, []).append(again)
        return AdoptedInstances(found=found, gone=gone)

    async def detach(self) -> None:
        """Let go of the way to the host."""

    async def close(self) -> None:
        self._taken.clear()
        self._free.clear()
        await self._host.close()

    async def _open(self, env: EnvRef, deadline_s: float) -> ReadyInstance:
        self._opened += 1
        name = f"{self._prefix}{env.kind}-{self._opened}"
        host, boot = self._host, self._boot
        spec = await host.open(name, env, deadline_s=deadline_s)
        self._specs[env] = spec
        return ReadyInstance(instance=name, env=env, spec=spec, host=host.id, boot=boot)

    async def _again(self, name: str, env: EnvRef, fence: int) -> ReadyInstance:
        spec = await self._host.open(name, env, deadline_s=SHUT_S)
        self._specs[env] = spec
        return ReadyInstance(
            instance=name, env=env, spec=spec, host=self._host.id, boot=self._boot, fence=fence
        )
