"""The operations under a Lease.

Each is admitted by the table; a step is written down as an intent before the host is asked, and
struck off before the answer goes out.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from screenloop.actions import Action
from screenloop.errors import InfraFault
from screenloop.manager.clock import Clock
from screenloop.manager.failures import REFUSALS, message_of
from screenloop.manager.hosts.base import Host, LeaseToken
from screenloop.manager.hosts.unreachable import HostUnreachable
from screenloop.manager.journal.base import Intent, Journal
from screenloop.manager.leases.asking import ask
from screenloop.manager.leases.grants import Grants
from screenloop.manager.leases.locks import LeaseLocks
from screenloop.manager.leases.table import Held, LeaseTable
from screenloop.manager.supply.base import Supply
from screenloop.manager.watch.observer import Observer
from screenloop.types import Claim, Observation, Start, StepResult, Verdict, Want

T = TypeVar("T")
_log = logging.getLogger(__name__)


class LeasedOperations:
    """What holders of Leases may ask for; see `operations.Operations`.

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
        self._turns = LeaseLocks()

    async def reset(self, grip: LeaseToken, start: Start, *, deadline_s: float) -> Observation:
        """Bring the Instance to a Task's initial state; `evaluate` will judge that Task."""
        return await self._operate(
            grip,
            "reset",
            deadline_s,
            lambda host, left_s: host.reset(grip, start, deadline_s=left_s),
        )

    async def observe(
        self, grip: LeaseToken, want: Sequence[Want] = ("frame",), *, deadline_s: float
    ) -> Observation:
        """See what is there now."""
        return await self._operate(
            grip,
            "observe",
            deadline_s,
            lambda host, left_s: host.observe(grip, want, deadline_s=left_s),
        )

    async def step(
        self, grip: LeaseToken, action_id: str, action: Action, *, deadline_s: float
    ) -> StepResult:
        """Carry out one Action once; the same id again returns the first result."""
        intent = Intent(
            instance=grip.instance,
            fence=grip.fence,
            lease_id=grip.lease_id,
            action_id=action_id,
            action=action,
            deadline_s=deadline_s,
        )
        return await self._operate(
            grip,
            "step",
            deadline_s,
            lambda host, left_s: host.step(grip, action_id, action, deadline_s=left_s),
            intent,
        )

    async def evaluate(self, grip: LeaseToken, claim: Claim, *, deadline_s: float) -> Verdict:
        """Judge the Task of the last reset; the Episode may go on."""
        return await self._operate(
            grip,
            "evaluate",
            deadline_s,
            lambda host, left_s: host.evaluate(grip, claim, deadline_s=left_s),
        )

    async def release(self, grip: LeaseToken) -> None:
        """Give the Instance back; a Lease that is already gone is left alone."""
        held = self._table.release(grip.lease_id, grip.fence, grip.instance)
        if held is not None:
            await self._grants.park(held)
        else:
            # It may be ending just now: answered before that is written down, it could come back.
            await self._grants.ended(grip.lease_id)

    async def _operate(
        self,
        grip: LeaseToken,
        name: str,
        deadline_s: float,
        operation: Callable[[Host, float], Awaitable[T]],
        intent: Intent | None = None,
    ) -> T:
        began_s = self._clock.now_s()
        held = self._table.admit(grip.lease_id, grip.fence, grip.instance, began_s)
        failure: BaseException | None = None
        try:
            await self._turns.take(grip.lease_id, f"{name} on {grip.instance}", deadline_s)
            try:
                self._table.require(held)
                left_s = deadline_s - (self._clock.now_s() - began_s)
                if intent is not None:
                    await self._journal.intend(intent)
                result = await self._ask(held, grip, name, left_s, operation)
                if intent is not None:
                    await self._settle(intent)
                return result
            except REFUSALS:
                if intent is not None:
                    await self._settle(intent)
                raise
            finally:
                self._turns.leave(grip.lease_id)
        except BaseException as error:
            failure = error
            raise
        finally:
            self._table.finish(held)
            seconds = self._clock.now_s() - began_s
            action_id = intent.action_id if intent is not None else ""
            self._observer.operated(held.record, name, seconds, failure, action_id)

    async def _ask(
        self,
        held: Held,
        grip: LeaseToken,
        name: str,
        deadline_s: float,
        operation: Callable[[Host, float], Awaitable[T]],
    ) -> T:
        where = f"{name} on {grip.instance}"
        try:
            host = self._supply.host_of(grip.instance)
            return await ask(
                lambda left_s: operation(host, left_s),
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
            reason = f"{grip.instance} failed or was closed: {name}: {message_of(error)}"
            if self._table.end(held, reason) is not None:
                self._observer.lost(held.record, reason)
                await self._grants.discard(held, reason)
            raise

    async def _settle(self, intent: Intent) -> None:
        """Strike an intent off; left behind, it is only asked for once more."""
        try:
            await self._journal.settle(intent.instance, intent.fence, intent.action_id)
        except InfraFault as error:
            _log.warning("the intent of %s is not settled: %s", intent.action_id, error)
