"""Keeps one pool as it is wanted: decides, and carries the orders out in the background."""

from __future__ import annotations

import logging
import secrets

from msgspec.structs import replace

from screenloop.errors import Busy, ScreenloopError
from screenloop.manager.hosts.base import HostPlan, Launcher
from screenloop.manager.supply.context import BackgroundTasks, PoolContext
from screenloop.manager.supply.failures import PoolFailures
from screenloop.manager.supply.plan import (
    DrainHost,
    InstanceNow,
    OpenInstance,
    Order,
    Quarantine,
    ShutInstance,
    StartHost,
    StopHost,
    decide,
)
from screenloop.manager.supply.pool import HostRecord, Pool, Unit, pool_name
from screenloop.manager.supply.watch import HostTracker, InstanceDesk

_log = logging.getLogger(__name__)


class PoolReconciler:
    """One pool, its launcher and what is under way between them.

    Every change of what is known happens without waiting, in the same turn as the decision that
    led to it; only talking to hosts and launchers waits, in tasks of its own.
    """

    def __init__(self, pool: Pool, launcher: Launcher, around: PoolContext) -> None:
        self.pool = pool
        self.launcher = launcher
        self.desk = InstanceDesk(pool, around)
        self._around = around
        self._tasks = BackgroundTasks(pool_name(pool.env))
        self._failures = PoolFailures(pool, launcher, around, self._tasks)
        self.watch = HostTracker(
            pool, launcher, around, tasks=self._tasks, desk=self.desk, failures=self._failures
        )

    def act(self) -> tuple[Order, ...]:
        """Decide, and begin what was decided."""
        waiting = self._around.queue.fair.waiting(self.pool.env)
        now_s = self._around.clock.now_s()
        orders = decide(self.pool.plan, self.pool.look(waiting, now_s), now_s)
        for order in orders:
            self._apply(order)
        return orders

    def _apply(self, order: Order) -> None:
        now_s = self._around.clock.now_s()
        match order:
            case StartHost(capacity=capacity):
                name = f"{pool_name(self.pool.env)}-{secrets.token_hex(4)}"
                self._tasks.begin(self._start(self.watch.add_host(name, now_s), capacity))
            case DrainHost(host=host, why=why):
                _log.info("host %s is drained: %s", host, why)
                record = self.pool.hosts[host]
                record.now = replace(record.now, state="draining", since_s=now_s)
                self.pool.withdraw(host)
            case StopHost(host=host, why=why):
                self._stop(self.pool.hosts[host], why)
            case OpenInstance(host=host):
                name = f"{host}/{secrets.token_hex(4)}"
                unit = Unit(InstanceNow(instance=name, host=host, state="starting"), now_s)
                self.pool.units[name] = unit
                self._tasks.begin(self._open(self.pool.hosts[host], unit))
            case ShutInstance(instance=name, why=why):
                self._retire(self.pool.units[name], why)
            case Quarantine(instance=name, reason=reason):
                unit = self.pool.units[name]
                _log.warning(
                    "instance %s is quarantined: %s",
                    name,
                    reason,
                    extra={"instance": name, "host": unit.now.host},
                )
                wall_s = self._around.clock.wall_s()
                self.pool.quarantine(unit, reason, now_s=now_s, wall_s=wall_s)
                self._retire(unit, reason)

    # ---- hosts -------------------------------------------------------------------------------

    async def _start(self, record: HostRecord, capacity: int) -> None:
        host = record.now.host
        plan = HostPlan(
            host=host,
            kind=self.pool.env.kind,
            capacity=capacity,
            blobs=self._around.blobs,
            token=self._around.tokens.of(host),
        )
        try:
            await self.launcher.start(plan)
        except ScreenloopError as error:
            if self.pool.hosts.pop(host, None) is not None:
                wait_s = error.retry_after_s if isinstance(error, Busy) else 0.0
                self._failures.start_failed(f"host {host} did not start: {error}", wait_s=wait_s)

    def _stop(self, record: HostRecord, why: str) -> None:
        """Give a host up; one of ours is kept in mind until it is seen no more."""
        _log.info("host %s is ended: %s", record.now.host, why)
        self._failures.lose(record, why)
        if self.pool.owns:
            now_s = self._around.clock.now_s()
            record.now = replace(record.now, state="stopping", since_s=now_s)
            self.pool.hosts[record.now.host] = record
            self._failures.stop(record)

    # ---- Instances ---------------------------------------------------------------------------

    async def _open(self, record: HostRecord, unit: Unit) -> None:
        name = unit.now.instance
        began_s = self._around.clock.now_s()
        assert record.way is not None
        try:
            open_s = self._around.timing.open_s
            spec = await record.way.open(name, self.pool.env, deadline_s=open_s)
        except ScreenloopError as error:
            if self._is_opening(unit):
                self._failures.open_failed(record, unit, error)
            return
        if not self._is_opening(unit):
            return
        now_s = self._around.clock.now_s()
        self._around.started(self.pool.env.kind, now_s - began_s)
        unit.spec = self.pool.spec = spec
        unit.now = replace(unit.now, state="ready", free_since_s=now_s)
        record.open_failures = self.pool.open_failures = 0
        self.pool.trouble = ""
        self.desk.offer(unit)
        self._around.wake()

    def _is_opening(self, unit: Unit) -> bool:
        """Tell whether an Instance is still wanted; its host may have gone meanwhile."""
        return self.pool.units.get(unit.now.instance) is unit and unit.now.state == "starting"

    def _retire(self, unit: Unit, why: str) -> None:
        self.pool.free.pop(unit.now.instance, None)
        unit.now = replace(unit.now, state="closing")
        self._tasks.begin(self._shut(unit, why))

    async def _shut(self, unit: Unit, why: str) -> None:
        name = unit.now.instance
        try:
            way = self.pool.way_of(unit)
            await way.shut(name, deadline_s=self._around.timing.shut_s)
        finally:
            # Where this failed, the next report names it as nobody's and it is closed again.
            self.pool.drop([unit])
            self._around.wake()
        if self._around.listener is not None:
            # Nobody holds it, but there may be a note of it in a journal.
            await self._around.listener.instances_lost([name], f"{name} was closed: {why}")

    # ---- the end -----------------------------------------------------------------------------

    @property
    def is_over(self) -> bool:
        """Whether nothing of ours is left."""
        return not self.pool.units and not (self.pool.owns and self.pool.hosts)

    def end_all(self) -> None:
        """Have every host of ours ended, and our Instances on attached ones closed."""
        self.pool.draining = True
        for record in list(self.pool.hosts.values()):
            if self.pool.owns and record.now.state != "stopping":
                self._stop(record, "the supply is closed")
        for unit in list(self.pool.units.values()):
            self._retire(unit, "the supply is closed")

    async def let_go(self) -> None:
        """Stop what is under way and close the ways; hosts stay as they are."""
        await self._tasks.cancel()
        for record in self.pool.hosts.values():
            if record.way is not None:
                await record.way.close()
                record.way = None
