"""The manager: Leases from a table, Instances from a Supply, memory from a Journal.

Each operation: admit it in the table, write the intent down, ask the host, strike the intent off,
answer. A crash between any two of these loses nothing: the successor knows the Lease, and the host
knows what the action id came to.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from screenloop.actions import Action
from screenloop.errors import (
    Busy,
    ConfigError,
    DeadlinePassed,
    InfraFault,
    ScreenloopError,
)
from screenloop.manager.asking import ask
from screenloop.manager.clock import Clock, SystemClock
from screenloop.manager.grants import Grants
from screenloop.manager.hosts.base import Grip, Host
from screenloop.manager.hosts.instances import REFUSALS, words_of
from screenloop.manager.hosts.unreachable import HostUnreachable
from screenloop.manager.journal.base import Intent, Journal
from screenloop.manager.leases import Held, LeaseTable
from screenloop.manager.recovery import Recovery, take_over
from screenloop.manager.supply.base import Supply
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

T = TypeVar("T")
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
    ) -> None:
        """Put together; nothing is started.

        Args:
            supply: where Instances come from; closed by `close`.
            journal: closed by `close` and `detach`.
            clock: Leases expire by it.
            new_id: draws the part of a Lease's id that nobody can guess.
            fencing: False admits late holders: only for showing that tests would see it.
        """
        self._supply = supply
        self._journal = journal
        self._clock = clock or SystemClock()
        self._new_id = new_id
        self._table = LeaseTable(fencing=fencing)
        self._grants = Grants(self._table, journal, supply, clock=self._clock, new_id=new_id)
        self._acquiring: dict[str, _Acquiring] = {}
        self._turns: dict[str, asyncio.Lock] = {}
        """By lease id: operations of a Lease are carried out one at a time, as they came."""
        self._draining = False
        self._closed = False
        supply.listen(self)

    # ---- life --------------------------------------------------------------------------------

    async def start(self) -> Recovery:
        """Take over what an earlier manager left, and say what became of it.

        Raises:
            InfraFault: the journal cannot be read.
        """
        taken = await take_over(self._table, self._journal, self._supply, self._grants)
        await asyncio.gather(*(self._ask_again(lease, intent) for lease, intent in taken.intents))
        for one in taken.revoked:
            _log.warning("lease %s on %s is revoked: %s", one.lease_id, one.instance, one.reason)
        return Recovery(
            leases=tuple(lease.id for lease in taken.leases),
            revoked=taken.revoked,
            asked_again=len(taken.intents),
        )

    async def sweep(self) -> None:
        """End Leases whose time is over; their Instances go back."""
        over = self._table.expire(self._clock.now_s())
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
        await self._grants.settle()

    # ---- what the supply tells -----------------------------------------------------------------

    async def instances_lost(self, instances: Sequence[str], reason: str) -> None:
        """Revoke the Leases on Instances that are gone."""
        for instance in instances:
            held = self._table.revoke(instance, reason)
            if held is not None:
                _log.warning("lease %s is revoked: %s", held.record.lease_id, reason)
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
        try:
            return await asyncio.shield(acquiring.task)
        except asyncio.CancelledError:
            if self._closed and acquiring.task.cancelled():
                raise InfraFault("the manager was closed while a lease was waited for") from None
            if acquiring.waiters == 1:
                self._abandon(acquiring)
            raise
        finally:
            acquiring.waiters -= 1
            if not acquiring.waiters:
                self._acquiring.pop(request_id, None)

    async def reset(self, lease: Lease, start: Start, *, deadline_s: float) -> Observation:
        """Bring the Instance to a Task's initial state; `evaluate` will judge that Task."""
        return await self._operate(
            lease, "reset", deadline_s,
            lambda host, grip, left_s: host.reset(grip, start, deadline_s=left_s),
        )  # fmt: skip

    async def observe(
        self, lease: Lease, want: Sequence[Want] = ("frame",), *, deadline_s: float
    ) -> Observation:
        """See what is there now."""
        return await self._operate(
            lease, "observe", deadline_s,
            lambda host, grip, left_s: host.observe(grip, want, deadline_s=left_s),
        )  # fmt: skip

    async def step(
        self, lease: Lease, action_id: str, action: Action, *, deadline_s: float
    ) -> StepResult:
        """Carry out one Action once; the same id again returns the first result."""
        intent = Intent(
            instance=lease.instance, fence=lease.fence, lease_id=lease.id, action_id=action_id,
            action=action, deadline_s=deadline_s,
        )  # fmt: skip
        return await self._operate(
            lease, "step", deadline_s,
            lambda host, grip, left_s: host.step(grip, action_id, action, deadline_s=left_s),
            intent,
        )  # fmt: skip

    async def evaluate(self, lease: Lease, claim: Claim, *, deadline_s: float) -> Verdict:
        """Judge the Task of the last reset; the Episode may go on."""
        return await self._operate(
            lease, "evaluate", deadline_s,
            lambda host, grip, left_s: host.evaluate(grip, claim, deadline_s=left_s),
        )  # fmt: skip

    async def release(self, lease: Lease) -> None:
        """Give the Instance back; a Lease that is already gone is left alone."""
        held = self._table.release(lease.id, lease.fence, lease.instance)
        if held is not None:
            await self._grants.park(held)
        else:
            # It may be ending just now: answered before that is written down, it could come back.
            await self._grants.ended(lease.id)

    # ---- parts -------------------------------------------------------------------------------

    async def _operate(
        self,
        lease: Lease,
        name: str,
        deadline_s: float,
        operation: Callable[[Host, Grip, float], Awaitable[T]],
        intent: Intent | None = None,
    ) -> T:
        began_s = self._clock.now_s()
        held = self._table.admit(lease.id, lease.fence, lease.instance, began_s)
        turn = self._turns.setdefault(lease.id, asyncio.Lock())
        try:
            await _take_turn(turn, f"{name} on {lease.instance}", deadline_s)
            try:
                self._table.require(held)
                left_s = deadline_s - (self._clock.now_s() - began_s)
                if intent is not None:
                    await self._journal.intend(intent)
                result = await self._ask(held, lease, name, left_s, operation)
                if intent is not None:
                    await self._settle(intent)
                return result
            except REFUSALS:
                if intent is not None:
                    await self._settle(intent)
                raise
            finally:
                turn.release()
        finally:
            self._table.finish(held)
            if not held.in_flight:
                self._turns.pop(lease.id, None)

    async def _ask(
        self,
        held: Held,
        lease: Lease,
        name: str,
        deadline_s: float,
        operation: Callable[[Host, Grip, float], Awaitable[T]],
    ) -> T:
        """Ask the host; a failure that is no refusal costs the Instance."""
        grip = Grip(instance=lease.instance, lease_id=lease.id, fence=lease.fence)
        where = f"{name} on {lease.instance}"
        try:
            host = self._supply.host_of(lease.instance)
            return await ask(
                lambda left_s: operation(host, grip, left_s),
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
            await self._retire(
                held, f"{lease.instance} failed or was closed: {name}: {words_of(error)}"
            )
            raise

    async def _retire(self, held: Held, reason: str) -> None:
        if self._table.end(held, reason) is not None:
            await self._grants.discard(held, reason)

    async def _settle(self, intent: Intent) -> None:
        """Strike an intent off; left behind, it is only asked for once more."""
        try:
            await self._journal.settle(intent.instance, intent.fence, intent.action_id)
        except InfraFault as error:
            _log.warning("the intent of %s is not settled: %s", intent.action_id, error)

    async def _ask_again(self, lease: Lease, intent: Intent) -> None:
        try:
            await self.step(lease, intent.action_id, intent.action, deadline_s=intent.deadline_s)
        except ScreenloopError as error:
            _log.warning("step %s, asked again: %s", intent.action_id, error)

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


async def _take_turn(turn: asyncio.Lock, where: str, deadline_s: float) -> None:
    if not turn.locked():
        await turn.acquire()
        return
    try:
        async with asyncio.timeout(deadline_s):
            await turn.acquire()
    except TimeoutError as error:
        raise DeadlinePassed(
            f"{where} did not get its turn within {deadline_s:g} s: an earlier operation is under "
            "way"
        ) from error
