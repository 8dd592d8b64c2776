"""Taking over from a manager that died: what its journal says against what is really there."""

from __future__ import annotations

import asyncio

from screenloop.errors import ScreenloopError
from screenloop.manager.journal.base import FreeRecord, Intent, Journal, LeaseRecord
from screenloop.manager.leases.grants import Grants
from screenloop.manager.leases.table import LeaseTable
from screenloop.manager.supply.base import KnownInstance, ReadyInstance, Supply
from screenloop.types import Lease, Struct

AT_ONCE = 64
"""Leases that are taken over at the same time."""


class RevokedLease(Struct, frozen=True, kw_only=True):
    """A Lease that could not be taken over."""

    lease_id: str
    instance: str
    reason: str


class Recovery(Struct, frozen=True, kw_only=True):
    """What a manager found in its journal and what became of it."""

    leases: tuple[str, ...] = ()
    """Ids of those taken over, each with its whole time to live."""
    revoked: tuple[RevokedLease, ...] = ()
    asked_again: int = 0
    """Steps that were under way and were asked for once more, by their action ids."""


class Takeover(Struct, frozen=True, kw_only=True):
    """The Leases of an earlier manager, and the steps it died over."""

    leases: tuple[Lease, ...]
    revoked: tuple[RevokedLease, ...]
    intents: tuple[tuple[Lease, Intent], ...]


async def take_over(
    table: LeaseTable, journal: Journal, supply: Supply, grants: Grants
) -> Takeover:
    """Bring the table to what the journal and the hosts say.

    Each Lease is bound again under its own fence, for the earlier manager may have died before it
    was; a host that knows a newer fence refuses, and the Lease is revoked.

    Raises:
        InfraFault: the journal cannot be read.
    """
    state = await journal.load()
    records: list[LeaseRecord | FreeRecord] = [*state.leases, *state.free]
    adopted = await supply.adopt([_known(record) for record in records])
    for known in records:
        table.note_fence(known.instance, known.fence)
    gate = asyncio.Semaphore(AT_ONCE)

    async def resume(record: LeaseRecord) -> Lease | RevokedLease:
        taken = adopted.found.get(record.instance)
        if taken is None:
            reason = adopted.gone.get(record.instance, "nothing is known of its instance")
            return await _revoke(table, grants, record, reason)
        async with gate:
            return await _resume(table, grants, record, taken)

    ends = await asyncio.gather(*(resume(record) for record in state.leases))
    await grants.strike(one.instance for one in state.free if one.instance not in adopted.found)
    leases = tuple(end for end in ends if isinstance(end, Lease))
    by_instance = {lease.instance: lease for lease in leases}
    return Takeover(
        leases=leases,
        revoked=tuple(end for end in ends if isinstance(end, RevokedLease)),
        intents=tuple(
            (by_instance[intent.token.instance], intent)
            for intent in state.intents
            if intent.token.instance in by_instance
        ),
    )


def _known(record: LeaseRecord | FreeRecord) -> KnownInstance:
    return KnownInstance(
        instance=record.instance,
        env=record.env,
        host=record.host,
        boot=record.boot,
        held=isinstance(record, LeaseRecord),
    )


async def _resume(
    table: LeaseTable, grants: Grants, record: LeaseRecord, taken: ReadyInstance
) -> Lease | RevokedLease:
    try:
        await grants.bind(record)
    except ScreenloopError as error:
        reason = f"{record.instance} could not be taken over: {error}"
        table.remember(record, reason)
        await grants.throw_away(record, reason)
        return RevokedLease(lease_id=record.lease_id, instance=record.instance, reason=reason)
    return grants.enter(record, taken)


async def _revoke(
    table: LeaseTable, grants: Grants, record: LeaseRecord, reason: str
) -> RevokedLease:
    table.remember(record, reason)
    table.forget(record.instance)
    await grants.strike([record.instance])
    return RevokedLease(lease_id=record.lease_id, instance=record.instance, reason=reason)
