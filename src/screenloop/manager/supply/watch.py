"""Sees what there is of a pool, hosts and their Instances, and gives the Instances out."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from msgspec.structs import replace

from screenloop.errors import ScreenloopError
from screenloop.manager.hosts.base import Host, HostSeen, Launcher
from screenloop.manager.supply.base import ReadyInstance
from screenloop.manager.supply.context import BackgroundTasks, PoolContext
from screenloop.manager.supply.failures import PoolFailures
from screenloop.manager.supply.plan import HostNow, InstanceNow
from screenloop.manager.supply.pool import HostRecord, Pool, Unit
from screenloop.manager.wire.bodies import HostReport, InstanceReport
from screenloop.types import EnvSpec

ADOPTED_RUN = ""
"""Run that Leases of an earlier manager count for in the fair queue."""


class InstanceDesk:
    """Between a pool and those who want its Instances; nothing here waits."""

    def __init__(self, pool: Pool, around: PoolContext) -> None:
        self._pool = pool
        self._around = around

    def take_free(self, run_id: str) -> ReadyInstance | None:
        """Return a free Instance at once, if there is one."""
        unit = self._pool.pop_free()
        if unit is None:
            return None
        self.hold(unit, run_id)
        return self._pool.taken(unit, direct=self._around.direct)

    def hold(self, unit: Unit, run_id: str) -> None:
        """Note that a Run has an Instance, here and in the fair queue."""
        self._around.queue.fair.hold(self._pool.env, run_id, self._around.clock.now_s())
        self._pool.set_taken(unit, run_id)

    def give_back(self, unit: Unit, *, healthy: bool, reason: str, used: bool) -> None:
        """Take an Instance back that a Run had.

        Args:
            unit: the Instance.
            healthy: whether it may be used again.
            reason: what is wrong with it.
            used: whether an Episode may have run on it.
        """
        assert unit.run_id is not None
        self._around.queue.fair.let_go(self._pool.env, unit.run_id)
        self._pool.set_free(unit, self._around.clock.now_s(), used=used)
        if healthy:
            self.offer(unit)
        else:
            self._pool.set_failed(unit, reason or "it was given back as unhealthy")
            self._around.wake()

    def offer(self, unit: Unit) -> None:
        """Hand an Instance to whoever is next, or keep it for whoever comes."""
        if not self._pool.is_usable(unit):
            self._around.wake()
            return
        taken = self._pool.taken(unit, direct=self._around.direct)
        run_id = self._around.queue.offer(self._pool.env, taken)
        if run_id is None:
            self._pool.free[unit.now.instance] = unit
        else:
            # The queue has counted it already.
            self._pool.set_taken(unit, run_id)


class HostTracker:
    """Observes hosts, takes their heartbeats, and compares what they say with what is known."""

    def __init__(
        self,
        pool: Pool,
        launcher: Launcher,
        around: PoolContext,
        *,
        tasks: BackgroundTasks,
        desk: InstanceDesk,
        failures: PoolFailures,
    ) -> None:
        self.held: frozenset[str] = frozenset()
        """Instances of an earlier manager that have a Lease on them."""
        self._pool = pool
        self._launcher = launcher
        self._around = around
        self._tasks = tasks
        self._desk = desk
        self._failures = failures
        self._connecting: set[asyncio.Task[None]] = set()

    # ---- hosts -----------------------------------------------------------------------------

    def observe(self, seen: Sequence[HostSeen]) -> None:
        """Learn which hosts of this pool really are there."""
        now_s = self._around.clock.now_s()
        for one in seen:
            self._observe(one, now_s)
        names = {one.host for one in seen}
        for name, record in list(self._pool.hosts.items()):
            if record.now.state == "stopping" and name not in names:
                del self._pool.hosts[name]

    def _observe(self, seen: HostSeen, now_s: float) -> None:
        record = self._pool.hosts.get(seen.host)
        if seen.state == "gone":
            if record is not None:
                self._failures.lose(record, seen.reason or "its launcher says so")
            return
        if record is None:
            if self._pool.draining and not self._pool.owns:
                return
            record = self.add_host(seen.host, now_s)
        if record.now.state == "stopping":
            if now_s - record.asked_s >= self._around.timing.stop_again_s:
                self._failures.stop(record)
        elif seen.state == "running" and record.now.state == "starting" and not record.busy:
            record.busy = True
            connecting = self._tasks.begin(self._connect(record, seen))
            self._connecting.add(connecting)
            connecting.add_done_callback(self._connecting.discard)

    def add_host(self, host: str, now_s: float) -> HostRecord:
        record = HostRecord(
            HostNow(
                host=host, state="starting", since_s=now_s, heard_s=now_s, owned=self._pool.owns
            )
        )
        self._pool.hosts[host] = record
        return record

    async def connected(self, deadline_s: float) -> None:
        """Wait until the hosts seen so far have answered, or did not in time."""
        if self._connecting:
            await asyncio.wait(set(self._connecting), timeout=deadline_s)

    async def _connect(self, record: HostRecord, seen: HostSeen) -> None:
        """Have a host say who it is and what it holds."""
        timing = self._around.timing
        way = self._launcher.connect(seen, self._around.tokens.of(seen.host))
        try:
            report = await way.report(deadline_s=timing.beat_deadline_s)
            if self._pool.spec is None:
                self._pool.spec = await self._spec_of(way, report)
        except ScreenloopError as error:
            # Asked again at the next look, until the host had its time to start.
            record.now = replace(record.now, reason=str(error))
            await way.close()
            return
        finally:
            record.busy = False
        if self._pool.hosts.get(seen.host) is not record or record.now.state != "starting":
            await way.close()
            return
        now_s = self._around.clock.now_s()
        record.way, record.boot, record.address = way, report.boot, seen.address
        record.beat_s = now_s
        record.now = replace(
            record.now, state="ready", since_s=now_s, heard_s=now_s, rss_mb=report.rss_mb, reason=""
        )
        self._pool.start_failures = 0
        for one in report.instances:
            self._find(record, one, now_s)
        self._around.wake()

    async def _spec_of(self, way: Host, report: HostReport) -> EnvSpec | None:
        """Ask a host for the spec of an Instance that it holds already, if any."""
        for one in report.instances:
            if one.env == self._pool.env and one.state == "ready":
                open_s = self._around.timing.open_s
                return await way.open(one.instance, one.env, deadline_s=open_s)
        return None

    def _find(self, record: HostRecord, report: InstanceReport, now_s: float) -> None:
        """Take over an Instance that an earlier manager opened."""
        now = InstanceNow(
            instance=report.instance,
            host=record.now.host,
            state="ready",
            episodes=report.episodes,
            free_since_s=now_s,
        )
        unit = Unit(now, now_s)
        if report.env != self._pool.env or report.state != "ready" or self._pool.spec is None:
            self._tasks.begin(self._shut_stray(record, report.instance))
            return
        unit.spec, unit.fence = self._pool.spec, report.fence
        self._pool.units[report.instance] = unit
        if report.instance in self.held:
            self._desk.hold(unit, ADOPTED_RUN)
        else:
            self._desk.offer(unit)

    # ---- heartbeats --------------------------------------------------------------------------

    def beat(self) -> None:
        """Ask for the heartbeats that are due."""
        now_s = self._around.clock.now_s()
        for record in self._pool.hosts.values():
            due = now_s - record.beat_s >= self._around.timing.beat_s
            if due and not record.busy and record.now.state in ("ready", "draining"):
                record.busy, record.beat_s = True, now_s
                self._tasks.begin(self._beat(record, now_s))

    async def _beat(self, record: HostRecord, asked_s: float) -> None:
        if record.way is None:
            # It was struck off before its turn came.
            record.busy = False
            return
        try:
            report = await record.way.report(deadline_s=self._around.timing.beat_deadline_s)
        except ScreenloopError as error:
            # One lost beat is nothing; the decision counts the silence.
            record.now = replace(record.now, reason=str(error), missed=record.now.missed + 1)
            return
        finally:
            record.busy = False
        if self._pool.hosts.get(record.now.host) is not record or record.now.state == "stopping":
            return
        if report.boot != record.boot:
            self._failures.lose(record, "another process answers under its name")
            return
        state = "draining" if report.draining else record.now.state
        now_s = self._around.clock.now_s()
        record.now = replace(
            record.now, state=state, heard_s=now_s, missed=0, rss_mb=report.rss_mb, reason=""
        )
        if state == "draining":
            self._pool.withdraw(record.now.host)
        self._compare(record, report, asked_s)

    def _compare(self, record: HostRecord, report: HostReport, asked_s: float) -> None:
        """Note what a report says of the Instances that are known, and of those that are not."""
        told: set[str] = set()
        for one in report.instances:
            told.add(one.instance)
            unit = self._pool.units.get(one.instance)
            if unit is None:
                self._tasks.begin(self._shut_stray(record, one.instance))
            else:
                self._note(unit, one)
        for unit in self._pool.on_host(record.now.host):
            was_there = unit.now.state == "ready" and unit.since_s < asked_s
            if was_there and unit.run_id is None and unit.now.instance not in told:
                self._pool.set_failed(unit, "its host no longer knows it")
                self._around.wake()

    def _note(self, unit: Unit, report: InstanceReport) -> None:
        """Note what a host says of a known Instance; one that is taken is its holder's concern."""
        if unit.run_id is not None:
            if self._around.direct and self._around.listener is not None:
                self._around.listener.instance_used(report.instance, report.fence, report.idle_s)
        elif unit.now.state == "ready" and report.state == "failed":
            self._pool.set_failed(unit, report.reason)
            self._around.wake()
        if report.episodes > unit.now.episodes:
            unit.now = replace(unit.now, episodes=report.episodes)

    async def _shut_stray(self, record: HostRecord, instance: str) -> None:
        """Close an Instance that nobody here asked for: its opening was given up, or is lost."""
        if record.way is not None:
            await record.way.shut(instance, deadline_s=self._around.timing.shut_s)
