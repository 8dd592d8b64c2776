"""The manager: Leases from a table, Instances from a Supply, memory from a Journal.

A crash between any two lines loses nothing: the successor knows the Lease from the Journal, and the
host knows what each action id came to.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable, Sequence

from screenloop.actions import Action
from screenloop.errors import (
    Busy,
    ConfigError,
    InfraFault,
    ScreenloopError,
)
from screenloop.manager.clock import Clock, SystemClock
from screenloop.manager.failures import message_of
from screenloop.manager.hosts.base import LeaseToken
from screenloop.manager.journal.base import Intent, Journal
from screenloop.manager.leases.first_asked import FirstAsked
from screenloop.manager.leases.grants import Grants
from screenloop.manager.leases.operations import LeasedOperations
from screenloop.manager.leases.recovery import Recovery, take_over
from screenloop.manager.leases.table import LeaseTable
from screenloop.manager.supply.base import Supply
from screenloop.manager.watch.observer import NullObserver, Observer
from screenloop.types import (
    Claim,
    EnvRef,
    EnvSpec,
    Lease,
    Observation,
    Start,
    StepResult,
    Struct,
    Verdict,
    Want,
)

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


class _Acquiring:
    """A grant under way and how many wait for it."""

    def __init__(self, task: asyncio.Task[Lease]) -> None:
        self.task = task
        self.waiters = 0


class ManagerService:
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
        self._acquiring: dict[str, _Acquiring] = {}
        self._first_asked = FirstAsked()
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
        """Sweep until cancelled."""
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
        """Say how it is going."""
        return ServiceStatus(
            leases=len(self._table),
            acquiring=len(self._acquiring),
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
        for acquiring in list(self._acquiring.values()):
            acquiring.task.cancel()
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
        """Tell what Instances of this kind can do, before any is leased."""
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
        held = self._table.of_request(request_id, self._clock.now_s())
        if held is not None:
            if (held.record.env, held.record.run_id) != (env, run_id):
                raise ConfigError(
                    f"request id {request_id!r} was used for another request: draw a new one"
                )
            return self._grants.lease(held)
        acquiring = self._acquiring.get(request_id)
        if acquiring is None:
            if self._draining:
                raise Busy("the manager is draining: ask again", retry_after_s=DRAIN_AGAIN_S)
            work = self._grants.grant(
                env, run_id, request_id=request_id, ttl_s=ttl_s, wait_s=wait_s
            )
            acquiring = self._acquiring[request_id] = _Acquiring(asyncio.create_task(work))
        acquiring.waiters += 1
        began_s = self._first_asked.since_s(request_id, self._clock.now_s())
        try:
            lease = await asyncio.shield(acquiring.task)
            self._first_asked.forget(request_id)
            self._observer.leased(env.kind, self._clock.now_s() - began_s, None)
            return lease
        except ScreenloopError as error:
            self._observer.leased(env.kind, self._clock.now_s() - began_s, error)
            raise
        except asyncio.CancelledError:
            if acquiring.task.cancelled():
                why = "the manager was closed" if self._closed else "its request was withdrawn"
                raise InfraFault(f"no lease was granted: {why}") from None
            if acquiring.waiters == 1:
                self._abandon(acquiring)
            raise
        finally:
            acquiring.waiters -= 1
            if not acquiring.waiters:
                self._acquiring.pop(request_id, None)

    async def withdraw(self, request_id: str) -> None:
        """Give up a request for a Lease; its Lease, if it was granted already, is released."""
        self._first_asked.forget(request_id)
        acquiring = self._acquiring.get(request_id)
        if acquiring is not None:
            acquiring.task.cancel()
            await asyncio.wait({acquiring.task})
        held = self._table.held_by_request(request_id)
        if held is not None:
            record = held.record
            await self.operations.release(
                LeaseToken(instance=record.instance, lease_id=record.lease_id, fence=record.fence)
            )

    async def reset(self, lease: Lease, start: Start, *, deadline_s: float) -> Observation:
        """Bring the Instance to a Task's initial state; `evaluate` will judge that Task."""
        return await self.operations.reset(_grip(lease), start, deadline_s=deadline_s)

    async def observe(
        self, lease: Lease, want: Sequence[Want] = ("frame",), *, deadline_s: float
    ) -> Observation:
        """See what is there now."""
        return await self.operations.observe(_grip(lease), want, deadline_s=deadline_s)

    async def step(
        self, lease: Lease, action_id: str, action: Action, *, deadline_s: float
    ) -> StepResult:
        """Carry out one Action once; the same id again returns the first result."""
        return await self.operations.step(_grip(lease), action_id, action, deadline_s=deadline_s)

    async def evaluate(self, lease: Lease, claim: Claim, *, deadline_s: float) -> Verdict:
        """Judge the Task of the last reset; the Episode may go on."""
        return await self.operations.evaluate(_grip(lease), claim, deadline_s=deadline_s)

    async def release(self, lease: Lease) -> None:
        """Give the Instance back; a Lease that is already gone is left alone."""
        await self.operations.release(_grip(lease))

    # ---- parts -------------------------------------------------------------------------------

    async def _ask_again(self, lease: Lease, intent: Intent) -> None:
        try:
            await self.step(lease, intent.action_id, intent.action, deadline_s=intent.deadline_s)
        except ScreenloopError as error:
            _log.warning("step %s, asked again: %s", intent.action_id, error)

    def _note_asked(self, task: asyncio.Task[None]) -> None:
        self._asking_again.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            _log.warning("asking again failed: %s", message_of(error))

    def _abandon(self, acquiring: _Acquiring) -> None:
        """Undo a grant that nobody waits for any more."""
        task = acquiring.task
        if not task.done():
            task.cancel()
        elif not task.cancelled() and task.exception() is None:
            lease = task.result()
            held = self._table.release(lease.id, lease.fence, lease.instance)
            if held is not None:
                self._grants.park(held)


def _grip(lease: Lease) -> LeaseToken:
    return LeaseToken(instance=lease.instance, lease_id=lease.id, fence=lease.fence)
