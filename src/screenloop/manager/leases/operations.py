"""Operations under a Lease: admitted by the table, one at a time, asked of the host in time.

A step is written down as an intent before the host is asked, and struck off before the answer goes
out. A host that cannot be reached is asked again.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TypeVar

from screenloop.errors import DeadlinePassed, InfraFault
from screenloop.manager.base import LeaseToken, OperationFor, TakeStep, Verbs
from screenloop.manager.clock import Clock
from screenloop.manager.failures import REFUSALS, message_of
from screenloop.manager.hosts.base import HostUnreachable
from screenloop.manager.journal.base import Intent, Journal
from screenloop.manager.leases.asking import ask
from screenloop.manager.leases.grants import Grants
from screenloop.manager.leases.table import HeldLease, LeaseTable
from screenloop.manager.supply.base import Supply
from screenloop.manager.watch.observer import Observer

R = TypeVar("R")
_log = logging.getLogger(__name__)


class LeaseLocks:
    """Operations of one Lease run one at a time, in the order they came.

    A line for each Lease that has operations under way; none for those at rest.
    """

    def __init__(self) -> None:
        self._lines: dict[str, asyncio.Lock] = {}
        self._waiting: dict[str, int] = {}

    async def take(self, lease_id: str, where: str, deadline_s: float) -> None:
        """Wait for the turn; `leave` follows. The first in line goes on without a pause.

        Raises:
            DeadlinePassed: those before took too long; names `where`.
        """
        line = self._lines.get(lease_id)
        if line is None:
            line = self._lines[lease_id] = asyncio.Lock()
        if not line.locked() and lease_id not in self._waiting:
            await line.acquire()
            return
        self._waiting[lease_id] = self._waiting.get(lease_id, 0) + 1
        try:
            async with asyncio.timeout(deadline_s):
                await line.acquire()
        except TimeoutError as error:
            raise DeadlinePassed(
                f"{where} did not get its turn within {deadline_s:g} s: an earlier operation is "
                "under way"
            ) from error
        finally:
            self._waiting[lease_id] -= 1
            if not self._waiting[lease_id]:
                del self._waiting[lease_id]
                if not line.locked():
                    # Given up at the very moment of its turn, and nobody behind it.
                    del self._lines[lease_id]

    def __len__(self) -> int:
        """Return how many Leases have operations under way."""
        return len(self._lines)

    def leave(self, lease_id: str) -> None:
        """Let the next one go on."""
        self._lines[lease_id].release()
        if lease_id not in self._waiting:
            del self._lines[lease_id]


class LeasedOperations(Verbs[LeaseToken]):
    """What holders of Leases may ask for.

    A failure that is no refusal costs the Instance, and with it the Lease.
    """

    def __init__(
        self,
        table: LeaseTable,
        journal: Journal,
        supply: Supply,
        grants: Grants,
        *,
        clock: Clock,
        observer: Observer,
    ) -> None:
        self._table = table
        self._journal = journal
        self._supply = supply
        self._grants = grants
        self._clock = clock
        self._observer = observer
        self._locks = LeaseLocks()

    async def operate(
        self, token: LeaseToken, operation: OperationFor[R], *, deadline_s: float
    ) -> R:
        began_s = self._clock.now_s()
        verb = operation.verb
        held = self._table.admit(token, began_s)
        step = operation if isinstance(operation, TakeStep) else None
        failure: BaseException | None = None
        try:
            await self._locks.take(token.lease_id, f"{verb} on {token.instance}", deadline_s)
            try:
                self._table.require(held)
                left_s = deadline_s - (self._clock.now_s() - began_s)
                if step is None:
                    return await self._ask(held, token, operation, left_s)
                intent = Intent(token=token, step=step, deadline_s=deadline_s)
                try:
                    await self._journal.intend(intent)
                    result = await self._ask(held, token, operation, left_s)
                except REFUSALS:
                    await self._settle(intent)
                    raise
                await self._settle(intent)
                return result
            finally:
                self._locks.leave(token.lease_id)
        except BaseException as error:
            failure = error
            raise
        finally:
            self._table.finish(held)
            seconds = self._clock.now_s() - began_s
            action_id = step.action_id if step is not None else ""
            self._observer.operated(held.record, verb, seconds, failure, action_id)

    async def release(self, token: LeaseToken) -> None:
        """Give the Instance back; a Lease that is already gone is left alone."""
        held = self._table.release(token)
        if held is not None:
            await self._grants.park(held)
        else:
            # It may be ending just now: answered before that is written down, it could come back.
            await self._grants.ended(token.lease_id)

    async def _ask(
        self, held: HeldLease, token: LeaseToken, operation: OperationFor[R], deadline_s: float
    ) -> R:
        where = f"{operation.verb} on {token.instance}"
        try:
            host = self._supply.host_of(token.instance)
            return await ask(
                lambda left_s: host.operate(token, operation, deadline_s=left_s),
                where=where,
                deadline_s=deadline_s,
                clock=self._clock,
                go_on=lambda: self._table.require(held),
            )
        except REFUSALS:
            raise
        except HostUnreachable as error:
            # The Lease stays: its holder may ask again with the same action id.
            raise InfraFault(f"{where}: {error}") from error
        except BaseException as error:
            words = f"{operation.verb}: {message_of(error)}"
            reason = f"{token.instance} failed or was closed: {words}"
            if self._table.end(held, reason) is not None:
                self._observer.lost(held.record, reason)
                await self._grants.discard(held, reason)
            raise

    async def _settle(self, intent: Intent) -> None:
        """Strike an intent off; left behind, it is only asked for once more."""
        token, action_id = intent.token, intent.step.action_id
        try:
            await self._journal.settle(token.instance, token.fence, action_id)
        except InfraFault as error:
            _log.warning("the intent of %s is not settled: %s", action_id, error)
