"""The manager: Leases from a table, Instances from a Supply, memory from a Journal.

A crash between any two lines loses nothing: the successor knows the Lease from the Journal, and the
host knows what each action id came to.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable, Sequence
from typing import TypeVar

from screenloop.errors import Busy, ConfigError, InfraFault, ScreenloopError
from screenloop.manager.base import Manager, OperationFor, token_of
from screenloop.manager.clock import Clock, SystemClock
from screenloop.manager.failures import message_of
from screenloop.manager.journal.base import Intent, Journal
from screenloop.manager.leases.grants import Grants
from screenloop.manager.leases.operations import LeasedOperations
from screenloop.manager.leases.recovery import Recovery, take_over
from screenloop.manager.leases.requests import LeaseRequests
from screenloop.manager.leases.table import LeaseTable
from screenloop.manager.supply.base import Supply
from screenloop.manager.watch.observer import NullObserver, Observer
from screenloop.types import EnvRef, EnvSpec, Lease, Struct

R = TypeVar("R")
ACQUIRE_S = 120.0
"""How long `acquire` waits for an Instance where nothing else is said."""
DRAIN_AGAIN_S = 5.0
"""When to ask again a manager that is draining: another one may be up by then."""
_LOOK_S = 0.05

_log = logging.getLogger(__name__)


class ServiceStatus(Struct, frozen=True, kw_only=True):
    """How a manager is doing."""

    leases: int
    acquiring: int
    in_flight: int
    """Operations under way."""
    draining: bool


class ManagerService(Manager):
    """Implements the Manager contract over any Supply and Journal.

    Call `start` before anything else where the Journal or the hosts may outlive this object, and
    `sweep` (or run `watch`) so that silent holders lose their Leases in time.
    """

    def __init__(
        self,
        supply: Supply,
        journal: Journal,
        *,
        clock: Clock | None = None,
        new_id: Callable[[], str] = lambda: secrets.token_hex(12),
        fencing: bool = True,
        observer: Observer | None = None,
    ) -> None:
        """Put together; nothing is started.

        Args:
            supply: where Instances come from; closed by `close`.
            journal: closed by `close` and `detach`.
            clock: Leases expire by it.
            new_id: draws the part of a Lease's id that nobody can guess.
            fencing: False admits late holders: only for showing that tests would see it.
            observer: is told of Leases and operations.
        """
        self._supply = supply
        self._journal = journal
        self._clock = clock or SystemClock()
        self._new_id = new_id
        self._table = LeaseTable(fencing=fencing)
        self._grants = Grants(self._table, journal, supply, clock=self._clock, new_id=new_id)
        self._observer: Observer = observer or NullObserver()
        self.operations = LeasedOperations(
            self._table, journal, supply, self._grants, clock=self._clock, observer=self._observer
        )
        self._requests = LeaseRequests(
            self._table, self._grants, clock=self._clock, observer=self._observer
        )
        self._asking_again: set[asyncio.Task[None]] = set()
        self._draining = False
        self._closed = False
        supply.listen(self)

    # ---- life --------------------------------------------------------------------------------

    async def start(self) -> Recovery:
        """Take over what an earlier manager left, and say what became of it.

        Steps that it died over are asked for again and go on after this returns; later operations
        of the same Leases wait for their turn behind them.

        Raises:
            InfraFault: the journal cannot be read.
        """
        taken = await take_over(self._table, self._journal, self._supply, self._grants)
        for lease, intent in taken.intents:
            task = asyncio.create_task(self._ask_again(lease, intent))
            self._asking_again.add(task)
            task.add_done_callback(self._note_asked)
        # Long enough for each of them to get into its line.
        await asyncio.sleep(0)
        for one in taken.revoked:
            _log.warning(
                "a lease is revoked: %s",
                one.reason,
                extra={"lease": one.lease_id, "instance": one.instance},
            )
        return Recovery(
            leases=tuple(lease.id for lease in taken.leases),
            revoked=taken.revoked,
            asked_again=len(taken.intents),
        )

    async def sweep(self) -> None:
        """End Leases whose time is over; their Instances go back."""
        over = self._table.expire(self._clock.now_s())
        for held in over:
            self._observer.lost(held.record, "it expired")
        if over:
            await asyncio.gather(*(self._grants.park(held) for held in over))
        await self._grants.pay()

    async def watch(self, *, every_s: float = 1.0) -> None:
        while True:
            await self.sweep()
            await self._clock.sleep(every_s)

    async def drain(self, *, deadline_s: float) -> int:
        """Grant nothing more and wait for the holders; returns how many Leases are left."""
        self._draining = True
        end_s = self._clock.now_s() + deadline_s
        while len(self._table) and self._clock.now_s() < end_s:
            await self._clock.sleep(_LOOK_S)
            await self.sweep()
        return len(self._table)

    def status(self) -> ServiceStatus:
        return ServiceStatus(
            leases=len(self._table),
            acquiring=len(self._requests),
            in_flight=sum(held.in_flight for held in self._table),
            draining=self._draining,
        )

    def runs(self) -> tuple[str, ...]:
        """Return the Run of each Lease that is held."""
        return tuple(held.record.run_id for held in self._table)

    async def detach(self) -> None:
        """Stop, and leave hosts, Leases and journal to the next manager."""
        await self._stop()
        await self._supply.detach()
        await self._journal.close()

    async def close(self) -> None:
        """End everything the manager started; every Lease is lost."""
        await self._stop()
        held = [one.record.instance for one in self._table]
        for instance in held:
            self._table.revoke(instance, f"{instance} was closed with the manager")
        await self._grants.strike(held)
        await self._supply.close()
        await self._journal.close()

    async def _stop(self) -> None:
        self._closed = True
        self._requests.close()
        if self._asking_again:
            await asyncio.wait(set(self._asking_again))
        await self._grants.settle()

    # ---- what the supply tells -----------------------------------------------------------------

    async def instances_lost(self, instances: Sequence[str], reason: str) -> None:
        """Revoke the Leases on Instances that are gone."""
        for instance in instances:
            held = self._table.revoke(instance, reason)
            if held is not None:
                self._observer.lost(held.record, reason)
            self._table.forget(instance)
        await self._grants.strike(instances)

    def instance_used(self, instance: str, fence: int, idle_s: float) -> None:
        """Renew a Lease whose holder goes straight to the host."""
        self._table.renew(instance, fence, self._clock.now_s() - idle_s)

    # ---- the operations ------------------------------------------------------------------------

    async def spec(self, env: EnvRef) -> EnvSpec:
        return await self._supply.spec(env)

    async def acquire(
        self,
        env: EnvRef,
        run_id: str,
        *,
        ttl_s: float,
        request_id: str = "",
        wait_s: float = ACQUIRE_S,
    ) -> Lease:
        """Grant the exclusive right to an Instance of this kind.

        Args:
            env: kind and size.
            run_id: whose turn it is counted for.
            ttl_s: seconds of silence after which the Lease is over.
            request_id: the same one again is answered with the same Lease.
            wait_s: how long to wait for an Instance.

        Raises:
            Busy: nothing is free within `wait_s`, or the manager is draining.
            LeaseLost: the request was answered before, and that Lease is over.
        """
        if ttl_s <= 0:
            raise ConfigError(f"a Lease needs a time to live above 0 s, not {ttl_s}")
        if self._closed:
            raise InfraFault("the manager is closed: it grants no leases")
        await self.sweep()
        request_id = request_id or self._new_id()
        lease = self._requests.answered(request_id, env, run_id)
        if lease is not None:
            return lease
        if self._draining and not self._requests.is_pending(request_id):
            raise Busy("the manager is draining: ask again", retry_after_s=DRAIN_AGAIN_S)
        return await self._requests.wait(
            request_id,
            env.kind,
            lambda: self._grants.grant(
                env, run_id, request_id=request_id, ttl_s=ttl_s, wait_s=wait_s
            ),
        )

    async def withdraw(self, request_id: str) -> None:
        """Give up a request for a Lease; its Lease, if it was granted already, is released."""
        await self._requests.withdraw(request_id)
        held = self._table.held_by_request(request_id)
        if held is not None:
            await self.operations.release(held.record.token)

    async def operate(self, lease: Lease, operation: OperationFor[R], *, deadline_s: float) -> R:
        return await self.operations.operate(token_of(lease), operation, deadline_s=deadline_s)

    async def release(self, lease: Lease) -> None:
        await self.operations.release(token_of(lease))

    # ---- parts -------------------------------------------------------------------------------

    async def _ask_again(self, lease: Lease, intent: Intent) -> None:
        try:
            await self.operate(lease, intent.step, deadline_s=intent.deadline_s)
        except ScreenloopError as error:
            _log.warning("step %s, asked again: %s", intent.step.action_id, error)

    def _note_asked(self, task: asyncio.Task[None]) -> None:
        self._asking_again.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            _log.warning("asking again failed: %s", message_of(error))
