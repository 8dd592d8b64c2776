"""What follows when a host goes, or something does not start."""

from __future__ import annotations

import logging

from msgspec.structs import replace

from screenloop.errors import ConfigError, InfraFault, ScreenloopError
from screenloop.manager.hosts.base import HostUnreachable, Launcher
from screenloop.manager.supply.context import BackgroundTasks, PoolContext
from screenloop.manager.supply.pool import HostRecord, Pool, Unit

TROUBLE_AFTER = 3
"""Failed starts in a row after which those who wait are told."""

_log = logging.getLogger(__name__)


class PoolFailures:
    """Strikes off what is lost, waits longer with each failure, and lets people know."""

    def __init__(
        self, pool: Pool, launcher: Launcher, around: PoolContext, tasks: BackgroundTasks
    ) -> None:
        self._pool = pool
        self._launcher = launcher
        self._around = around
        self._tasks = tasks

    def lose(self, record: HostRecord, reason: str) -> None:
        """Strike a host off with all that ran on it, and tell the holders."""
        host, was = record.now.host, record.now.state
        self._pool.hosts.pop(host, None)
        units = self._pool.on_host(host)
        self._pool.drop(units)
        runs = [unit.run_id for unit in units if unit.run_id is not None]
        for run_id in runs:
            self._around.queue.fair.let_go(self._pool.env, run_id)
        listener = self._around.listener
        if units and listener is not None:
            names = [unit.now.instance for unit in units]
            self._tasks.begin(listener.instances_lost(names, f"host {host} is gone: {reason}"))
        if record.way is not None:
            way, record.way = record.way, None
            self._tasks.begin(way.close())
        if was == "starting" and not self._pool.draining:
            self.start_failed(f"host {host} did not start: {reason}")
        elif was != "stopping":
            level = logging.WARNING if runs else logging.INFO
            _log.log(
                level,
                "host %s is gone (%s), %d instances in use",
                host,
                reason,
                len(runs),
                extra={"host": host},
            )
        self._around.wake()

    def stop(self, record: HostRecord) -> None:
        record.asked_s = self._around.clock.now_s()
        self._tasks.begin(self._launcher.stop(record.now.host))

    def start_failed(self, reason: str, *, wait_s: float = 0.0) -> None:
        """Wait longer with each host in a row that does not come up.

        Args:
            reason: why it did not.
            wait_s: how long its launcher wants us to wait at least.
        """
        _log.warning("%s", reason)
        pool = self._pool
        pool.start_failures += 1
        back_off = self._around.timing.back_off
        back_s = back_off.wait_s(pool.start_failures, self._around.jitter.random())
        pool.hosts_not_before_s = self._around.clock.now_s() + max(back_s, wait_s)
        if pool.start_failures >= TROUBLE_AFTER:
            self._tell(InfraFault(f"{pool.start_failures} hosts in a row did not start: {reason}"))

    def open_failed(self, record: HostRecord, unit: Unit, error: ScreenloopError) -> None:
        """Wait longer with each Instance in a row that does not come up on a host.

        Those that were starting together and fail together count once.
        """
        now_s = self._around.clock.now_s()
        pool = self._pool
        if unit.since_s >= record.open_failed_s:
            record.open_failures += 1
            record.open_failed_s = now_s
            back_off = self._around.timing.back_off
            back_s = back_off.wait_s(record.open_failures, self._around.jitter.random())
            record.now = replace(record.now, not_before_s=now_s + back_s)
        if isinstance(error, HostUnreachable):
            # Nothing is known of the Instance; if it is there after all, a report names it.
            pool.drop([unit])
        elif isinstance(error, ConfigError):
            # Not the host's fault: no other would do better.
            _log.warning("no %s instance can be opened: %s", pool.env.kind, error)
            pool.drop([unit])
            self._tell(error)
        else:
            pool.set_failed(unit, str(error))
            if unit.since_s >= pool.open_failed_s:
                pool.open_failures += 1
                pool.open_failed_s = now_s
            if pool.open_failures >= TROUBLE_AFTER:
                self._tell(error)
        self._around.wake()

    def _tell(self, error: ScreenloopError) -> None:
        """Let those who wait know that nothing can be started, where nothing is up either."""
        self._pool.trouble = str(error)
        if not any(unit.now.state == "ready" for unit in self._pool.units.values()):
            self._around.queue.refuse(self._pool.env, type(error), str(error))
