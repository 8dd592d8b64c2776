"""Hosts that somebody else runs, registered by address: never started and never ended by us."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from screenloop.errors import InfraFault
from screenloop.manager.hosts.base import Host, HostPlan, HostSeen
from screenloop.manager.hosts.remote import RemoteHost
from screenloop.manager.supply.desired import PoolPlan
from screenloop.manager.supply.pool import pool_name
from screenloop.store.blobs import BlobStore
from screenloop.types import EnvRef, Struct


class Attached(Struct, frozen=True, kw_only=True):
    """An endpoint that answers the routes of a host: a phone, a desktop, a machine of its own."""

    env: EnvRef
    address: str
    """URL under which it answers."""
    token: str
    """Bearer token that it demands."""

    @property
    def host(self) -> str:
        """Its id as a host: its pool, and a digest of its address."""
        return attached_name(self.env, self.address)


class AttachedLauncher:
    """Knows the endpoints it was told; whether they answer, the supply finds out."""

    name = "attached"

    def __init__(self, ends: Sequence[Attached], *, blobs: BlobStore) -> None:
        """Take the endpoints and the store that we share with them."""
        self._ends = {one.host: one for one in ends}
        self._blobs = blobs

    async def start(self, plan: HostPlan) -> None:
        """Refuse: what is attached is not ours to start.

        Raises:
            InfraFault: always.
        """
        raise InfraFault(
            f"host {plan.host} cannot be started: hosts of kind {plan.kind} are attached; set "
            "starts_at_once to 0 in their pool's plan"
        )

    async def stop(self, host: str) -> None:
        """Leave it alone: what is attached is not ours to end."""

    async def seen(self) -> tuple[HostSeen, ...]:
        return tuple(
            HostSeen(host=host, state="running", address=one.address)
            for host, one in self._ends.items()
        )

    def connect(self, seen: HostSeen, token: str) -> Host:
        """Return the way to an endpoint; it has a token of its own."""
        one = self._ends[seen.host]
        return RemoteHost(seen.host, one.address, token=one.token, blobs=self._blobs)

    async def close(self) -> None:
        """There is nothing to let go of."""


def attached_name(env: EnvRef, address: str) -> str:
    """Return the id that an attached host at this address has."""
    return f"{pool_name(env)}-{hashlib.sha256(address.encode()).hexdigest()[:12]}"


def attached_plan(env: EnvRef, *, hosts: int, per_host: int = 1) -> PoolPlan:
    """Return the plan of a pool of attached hosts: all they hold is opened, none is replaced."""
    return PoolPlan(
        env=env,
        target=hosts * per_host,
        most=hosts * per_host,
        per_host=per_host,
        starts_at_once=0,
        host_faults=None,
    )
