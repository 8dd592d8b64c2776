"""The Supply contract (`screenloop.manager.supply.base`): where ready Instances come from.

A Supply knows Instances, hosts and launchers, and nothing of Leases. `ManagerService` takes an
Instance before each grant and gives it back after each Lease. `on_demand.OnDemandSupply` opens one
when none is free; pooled supplies keep some warm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from screenloop.manager.hosts.base import Host
from screenloop.types import EnvRef, EnvSpec, Struct


class ReadyInstance(Struct, frozen=True, kw_only=True):
    """A ready Instance that nobody else gets until it is given back."""

    instance: str
    """Its name, unique over time and over all hosts: never used again for another Instance."""
    env: EnvRef
    spec: EnvSpec
    host: str
    """Id of the host that it runs on."""
    boot: str
    """Of the host's process; see `HostReport.boot`."""
    fence: int = 0
    """The newest that the host says was bound; 0 where it is not known to be any."""
    host_url: str = ""
    """Where clients may reach the host by themselves; empty where they may not."""


class KnownInstance(Struct, frozen=True, kw_only=True):
    """An Instance that an earlier manager left in its journal."""

    instance: str
    env: EnvRef
    host: str
    boot: str
    held: bool
    """Whether a Lease is on it: it must not be given out by `take`."""


class AdoptedInstances(Struct, frozen=True, kw_only=True):
    """What became of the Instances that an earlier manager left."""

    found: Mapping[str, ReadyInstance]
    """By name, those still there in the same boot of their host."""
    gone: Mapping[str, str]
    """By name, why the others are not: "host phone-3 is gone: killed"."""


class SupplyListener(Protocol):
    """Whom a Supply tells what happens to Instances that are taken."""

    async def instances_lost(self, instances: Sequence[str], reason: str) -> None:
        """Learn that Instances are gone for good (their host died, or is another boot).

        The Supply has already struck them off; they are not given back. Names that are not
        leased are left alone.
        """
        ...

    def instance_used(self, instance: str, fence: int, idle_s: float) -> None:
        """Learn from a host's report that the holder of this fence was active `idle_s` ago.

        Renews Leases whose client goes straight to the host.
        """
        ...


class Supply(Protocol):
    """Gives out ready Instances.

    A Supply never touches an Instance that is taken. It may do as it likes with one that was
    given back: keep it warm, recycle it, `shut` it.
    """

    def listen(self, listener: SupplyListener) -> None:
        """Name the one to tell of losses; called once, before anything else."""
        ...

    async def spec(self, env: EnvRef) -> EnvSpec:
        """Tell what Instances of this kind can do; may start one to find out.

        Raises:
            ConfigError: the kind is unknown.
            Busy: nothing that could tell is up yet.
        """
        ...

    async def take(self, env: EnvRef, run_id: str, *, deadline_s: float) -> ReadyInstance:
        """Wait for a ready Instance, in the Run's fair turn.

        A caller that is cancelled has taken nothing: what was already set aside for it goes back.

        Raises:
            ConfigError: the kind is unknown.
            Busy: none will be free within the deadline, or the queue is full.
            EnvironmentFault: none could be started.
            InfraFault: it gives out nothing more, since it drains or is closed.
        """
        ...

    async def give_back(self, instance: str, *, healthy: bool, reason: str = "") -> None:
        """Take an Instance back; a name that is not taken is left alone.

        Args:
            instance: its name.
            healthy: whether it may be used again; the host has been told the next fence then. One
                that is not is closed and never given out again.
            reason: what is wrong with it.
        """
        ...

    def host_of(self, instance: str) -> Host:
        """Return the way to a taken Instance's host.

        Raises:
            InfraFault: the host is gone, or the Instance was never here.
        """
        ...

    async def adopt(self, known: Sequence[KnownInstance]) -> AdoptedInstances:
        """Find the hosts and Instances of an earlier manager again; called once, at the start.

        Those found and `held` count as taken, the others found as free. Each name in `known` is in
        exactly one of the answer's two parts.
        """
        ...

    async def detach(self) -> None:
        """Let go of hosts and leave them running, for the next manager to adopt."""
        ...

    async def close(self) -> None:
        """End every host and Instance that this Supply started."""
        ...
