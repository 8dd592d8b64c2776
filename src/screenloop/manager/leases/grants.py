"""Granting Leases and ending them: the order in which table, journal, host and supply learn.

A grant: table, journal, host, then the answer. An end: table, journal, host (the next fence, which
shuts the late worker out), then the supply. Whatever fails on the way costs the Instance, never the
order.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any

from screenloop.errors import InfraFault, LeaseLost, ScreenloopError
from screenloop.manager.base import LeaseToken
from screenloop.manager.clock import Clock
from screenloop.manager.failures import message_of
from screenloop.manager.journal.base import FreeRecord, Journal, LeaseRecord
from screenloop.manager.leases.asking import ask
from screenloop.manager.leases.table import HeldLease, LeaseTable
from screenloop.manager.supply.base import ReadyInstance, Supply
from screenloop.types import EnvRef, Lease

BIND_S = 10.0
"""How long a host may take to put a fence in force."""
BIND_ATTEMPTS = 3
"""Instances tried for one grant when their hosts refuse the fence."""

_log = logging.getLogger(__name__)


class Grants:
    """Moves Instances between the supply and their holders."""

    def __init__(
        self,
        table: LeaseTable,
        journal: Journal,
        supply: Supply,
        *,
        clock: Clock,
        new_id: Callable[[], str],
    ) -> None:
        self._table = table
        self._journal = journal
        self._supply = supply
        self._clock = clock
        self._new_id = new_id
        self._taken: dict[str, ReadyInstance] = {}
        """What the supply said of each Instance that is held."""
        self._owed: dict[str, FreeRecord | None] = {}
        """Ends that could not be journalled, by Instance; `None` where it is gone for good."""
        self._ending: dict[str, asyncio.Task[None]] = {}
        """By lease id, the ends under way."""

    # ---- grants ------------------------------------------------------------------------------

    async def grant(
        self, env: EnvRef, run_id: str, *, request_id: str, ttl_s: float, wait_s: float
    ) -> Lease:
        """Take an Instance and put a Lease on it; cancelled, it leaves none behind.

        Raises:
            Busy: nothing is free.
            EnvironmentFault: no Instance could be started, or none took the fence.
            InfraFault: the journal cannot be written; nothing was granted.
        """
        end_s = self._clock.now_s() + wait_s
        for left in reversed(range(BIND_ATTEMPTS)):
            left_s = max(end_s - self._clock.now_s(), 0.001)
            taken = await self._supply.take(env, run_id, deadline_s=left_s)
            fence = self._table.next_fence(taken.instance, taken.fence)
            record = LeaseRecord(
                instance=taken.instance,
                fence=fence,
                lease_id=f"{run_id}/{self._new_id()}",
                run_id=run_id,
                request_id=request_id,
                ttl_s=ttl_s,
                env=env,
                host=taken.host,
                boot=taken.boot,
            )
            try:
                await self._journal.grant(record)
            except LeaseLost as error:
                await self.throw_away(record, message_of(error))
                raise
            except BaseException:
                # Perhaps it was written: the next fence makes sure that it means nothing.
                await self._finish(record, self._park(record))
                raise
            try:
                await self.bind(record)
            except asyncio.CancelledError:
                # Nobody wants it any more, which is no fault of the Instance.
                self._begin(record, self._park(record))
                raise
            except BaseException as error:
                await self.throw_away(record, message_of(error))
                if left and isinstance(error, ScreenloopError):
                    _log.warning("%s was not granted: %s", taken.instance, error)
                    continue
                raise
            # Only now: until the host has the fence nobody may be admitted, and nothing expires.
            return self.enter(record, taken)
        raise AssertionError("unreachable")

    def enter(self, record: LeaseRecord, taken: ReadyInstance) -> Lease:
        """Put a Lease in force whose host knows of it, with its whole time to live."""
        held = self._table.grant(record, self._clock.now_s())
        self._taken[record.instance] = taken
        return self.lease(held)

    def lease(self, held: HeldLease) -> Lease:
        """Return the Lease as its holder sees it."""
        record = held.record
        taken = self._taken[record.instance]
        return Lease(
            id=record.lease_id,
            fence=record.fence,
            instance=record.instance,
            expires_s=held.expires_s,
            spec=taken.spec,
            host_url=taken.host_url,
        )

    async def bind(self, record: LeaseRecord) -> None:
        """Have the host put the Lease's fence in force."""
        await self._bind(record.token, record.ttl_s)

    async def _bind(self, token: LeaseToken, ttl_s: float) -> None:
        host = self._supply.host_of(token.instance)
        await ask(
            lambda left_s: host.bind(token, ttl_s=ttl_s, deadline_s=left_s),
            where=f"bind of {token.instance}",
            deadline_s=BIND_S,
            clock=self._clock,
        )

    # ---- ends --------------------------------------------------------------------------------

    def park(self, held: HeldLease) -> Awaitable[None]:
        """Give the Instance of a Lease that ended in order back, once its host knows.

        Begins at once, and is carried through whether or not the answer is waited for.
        """
        self._taken.pop(held.record.instance, None)
        return asyncio.shield(self._begin(held.record, self._park(held.record)))

    async def discard(self, held: HeldLease, reason: str) -> None:
        """Give the Instance of a Lease that ended badly back, never to be used again."""
        self._taken.pop(held.record.instance, None)
        await self.throw_away(held.record, reason)

    async def throw_away(self, record: LeaseRecord, reason: str) -> None:
        """Do the same for a Lease that never came into force here.

        Returns when that is written down; the closing goes on by itself, however long it takes.
        """
        self._table.forget(record.instance)
        await self._finish(record, self._journal_forget(record.instance))
        self._begin(record, self._give_back(record.instance, healthy=False, reason=reason))

    async def ended(self, lease_id: str) -> None:
        """Wait until the end of a Lease, if it is under way, is written down and done."""
        task = self._ending.get(lease_id)
        if task is not None:
            await asyncio.shield(task)

    async def strike(self, instances: Iterable[str]) -> None:
        """Forget Instances that the supply has struck off itself."""
        for instance in instances:
            self._taken.pop(instance, None)
            await self._journal_forget(instance)

    async def pay(self) -> None:
        """Journal the ends that could not be journalled when they happened."""
        owed, self._owed = self._owed, {}
        for instance, record in owed.items():
            if record is None:
                await self._journal_forget(instance)
            else:
                await self._journal_end(record)

    async def settle(self) -> None:
        while self._ending:
            await asyncio.wait(set(self._ending.values()))

    async def _park(self, record: LeaseRecord) -> None:
        instance = record.instance
        fence = self._table.next_fence(instance)
        await self._journal_end(
            FreeRecord(
                instance=instance, fence=fence, env=record.env, host=record.host, boot=record.boot
            )
        )
        try:
            await self._bind(LeaseToken(instance=instance, lease_id="", fence=fence), 0.0)
        except ScreenloopError as error:
            self._table.forget(instance)
            await self._journal_forget(instance)
            reason = f"it could not be taken from its holder: {error}"
            await self._give_back(instance, healthy=False, reason=reason)
        else:
            await self._give_back(instance, healthy=True, reason="")

    async def _give_back(self, instance: str, *, healthy: bool, reason: str) -> None:
        try:
            await self._supply.give_back(instance, healthy=healthy, reason=reason)
        except ScreenloopError as error:
            _log.warning("instance %s was not taken back: %s", instance, error)

    async def _journal_end(self, record: FreeRecord) -> None:
        try:
            await self._journal.end(record)
        except InfraFault as error:
            self._owed[record.instance] = record
            _log.warning("the end of the lease on %s is not journalled: %s", record.instance, error)

    async def _journal_forget(self, instance: str) -> None:
        try:
            await self._journal.forget(instance)
        except InfraFault as error:
            self._owed[instance] = None
            _log.warning("the end of %s is not journalled: %s", instance, error)

    async def _finish(self, record: LeaseRecord, work: Coroutine[Any, Any, None]) -> None:
        """Carry an end through, also when the one who waits for it is cancelled."""
        await asyncio.shield(self._begin(record, work))

    def _begin(self, record: LeaseRecord, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._ending[record.lease_id] = task
        task.add_done_callback(lambda done: self._note_end(record, done))
        return task

    def _note_end(self, record: LeaseRecord, task: asyncio.Task[None]) -> None:
        self._ending.pop(record.lease_id, None)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            _log.warning("the end of lease %s failed: %s", record.lease_id, message_of(error))
