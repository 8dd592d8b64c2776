"""Requests for Leases: the same one twice is one grant, and one that nobody waits for is undone."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from typing import Any

from screenloop.errors import ConfigError, InfraFault, ScreenloopError
from screenloop.manager.base import token_of
from screenloop.manager.clock import Clock
from screenloop.manager.leases.grants import Grants
from screenloop.manager.leases.table import LeaseTable
from screenloop.manager.watch.observer import Observer
from screenloop.types import EnvRef, Lease

MOST = 100_000
"""Unanswered requests whose age is remembered; the oldest are forgotten first."""


class RequestAges:
    """When each request that has no answer yet was first made: a wait goes over many of them."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._since_s: OrderedDict[str, float] = OrderedDict()

    def since_s(self, request_id: str, now_s: float) -> float:
        """Return when the request was first made: now, for one that is new."""
        since_s = self._since_s.setdefault(request_id, now_s)
        if len(self._since_s) > self._most:
            self._since_s.popitem(last=False)
        return since_s

    def forget(self, request_id: str) -> None:
        """Strike off a request that has its answer, or was given up."""
        self._since_s.pop(request_id, None)


class _PendingGrant:
    """A grant under way and how many wait for it."""

    def __init__(self, task: asyncio.Task[Lease]) -> None:
        self.task = task
        self.waiters = 0


class LeaseRequests:
    """The requests that are not answered yet."""

    def __init__(
        self, table: LeaseTable, grants: Grants, *, clock: Clock, observer: Observer
    ) -> None:
        self._table = table
        self._grants = grants
        self._clock = clock
        self._observer = observer
        self._pending: dict[str, _PendingGrant] = {}
        self._ages = RequestAges()
        self._closed = False

    def __len__(self) -> int:
        """Return how many grants are under way."""
        return len(self._pending)

    def answered(self, request_id: str, env: EnvRef, run_id: str) -> Lease | None:
        """Return the Lease that a request was answered with before.

        Raises:
            ConfigError: the id was another request's.
            LeaseLost: that Lease is over.
        """
        held = self._table.of_request(request_id, self._clock.now_s())
        if held is None:
            return None
        if (held.record.env, held.record.run_id) != (env, run_id):
            raise ConfigError(
                f"request id {request_id!r} was used for another request: draw a new one"
            )
        return self._grants.lease(held)

    def is_pending(self, request_id: str) -> bool:
        return request_id in self._pending

    async def wait(
        self, request_id: str, kind: str, grant: Callable[[], Coroutine[Any, Any, Lease]]
    ) -> Lease:
        """Wait for the grant that answers a request, beginning it where it is not under way.

        A caller that is cancelled leaves no Lease behind, unless another waits for the same.
        """
        pending = self._pending.get(request_id)
        if pending is None:
            pending = self._pending[request_id] = _PendingGrant(asyncio.create_task(grant()))
        pending.waiters += 1
        began_s = self._ages.since_s(request_id, self._clock.now_s())
        try:
            lease = await asyncio.shield(pending.task)
            self._ages.forget(request_id)
        except ScreenloopError as error:
            self._observer.leased(kind, self._clock.now_s() - began_s, error)
            raise
        except asyncio.CancelledError:
            if pending.task.cancelled():
                why = "the manager was closed" if self._closed else "its request was withdrawn"
                raise InfraFault(f"no lease was granted: {why}") from None
            if pending.waiters == 1:
                self._abandon(pending)
            raise
        finally:
            pending.waiters -= 1
            if not pending.waiters:
                self._pending.pop(request_id, None)
        self._observer.leased(kind, self._clock.now_s() - began_s, None)
        return lease

    async def withdraw(self, request_id: str) -> None:
        """Give up the grant under way, if there is one."""
        self._ages.forget(request_id)
        pending = self._pending.get(request_id)
        if pending is not None:
            pending.task.cancel()
            await asyncio.wait({pending.task})

    def close(self) -> None:
        self._closed = True
        for pending in list(self._pending.values()):
            pending.task.cancel()

    def _abandon(self, pending: _PendingGrant) -> None:
        """Undo a grant that nobody waits for any more."""
        task = pending.task
        if not task.done():
            task.cancel()
        elif not task.cancelled() and task.exception() is None:
            held = self._table.release(token_of(task.result()))
            if held is not None:
                self._grants.park(held)
