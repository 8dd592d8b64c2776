"""What a supply knows of one pool: its hosts, its Instances and who has them; no I/O."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from msgspec.structs import replace

from screenloop.errors import InfraFault
from screenloop.manager.hosts.base import Host
from screenloop.manager.supply.base import ReadyInstance
from screenloop.manager.supply.desired import PoolPlan
from screenloop.manager.supply.plan import HostNow, InstanceNow, PoolNow
from screenloop.manager.wire.bodies import PoolStatus, Quarantined
from screenloop.types import EnvRef, EnvSpec

_KEPT = 200
"""Quarantined Instances that are remembered."""
_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")


@dataclass(eq=False)
class HostRecord:
    """One host of a pool."""

    now: HostNow
    way: Host | None = None
    address: str = ""
    boot: str = ""
    open_failures: int = 0
    """In a row."""
    open_failed_s: float = 0.0
    """When the last of them was counted."""
    asked_s: float = 0.0
    """When it was last told to end."""
    beat_s: float = 0.0
    """When its last heartbeat was asked for."""
    faults_s: deque[float] = field(default_factory=deque)
    """When its Instances were quarantined, within the plan's window."""
    busy: bool = False
    """Whether its first report or a heartbeat is under way."""


@dataclass(slots=True, eq=False)
class Unit:
    """One Instance of a pool; small, since there may be many."""

    now: InstanceNow
    since_s: float
    """When it was ordered or found."""
    spec: EnvSpec | None = None
    fence: int = 0
    """The newest that its host reported."""
    run_id: str | None = None
    """Of the Run that has it; `None` while nobody does."""


class Pool:
    """The known state of one pool, changed by whoever learns something."""

    def __init__(self, plan: PoolPlan) -> None:
        self.plan = plan
        self.hosts: dict[str, HostRecord] = {}
        self.units: dict[str, Unit] = {}
        self.free: dict[str, Unit] = {}
        """Ready to be taken; the one given back last is taken first."""
        self.spec: EnvSpec | None = None
        self.quarantined: deque[Quarantined] = deque(maxlen=_KEPT)
        self.quarantines = 0
        self.start_failures = 0
        """Hosts that failed to start, in a row."""
        self.open_failures = 0
        """Instances that failed to start, in a row over all hosts."""
        self.open_failed_s = 0.0
        """When the last of them was counted."""
        self.hosts_not_before_s = 0.0
        self.trouble = ""
        self.draining = False
        self.drain_by_s: float | None = None

    @property
    def env(self) -> EnvRef:
        return self.plan.env

    @property
    def owns(self) -> bool:
        """Whether its hosts are ours to start and end, or attached."""
        return self.plan.starts_at_once > 0

    def look(self, waiting: int, now_s: float) -> PoolNow:
        """Return what the decisions are made from.

        Args:
            waiting: requests that nothing is free for.
            now_s: the time.
        """
        for record in self.hosts.values():
            self._count_faults(record, now_s)
        return PoolNow(
            hosts=tuple(record.now for record in self.hosts.values()),
            instances=tuple(unit.now for unit in self.units.values()),
            waiting=waiting,
            draining=self.draining,
            drain_by_s=self.drain_by_s,
            hosts_not_before_s=self.hosts_not_before_s,
        )

    def status(self, waiting: int) -> PoolStatus:
        """Return the numbers for people and metrics."""
        states = [unit.now.state for unit in self.units.values()]
        hosts = [record.now.state for record in self.hosts.values()]
        return PoolStatus(
            env=self.env,
            hosts=hosts.count("ready") + hosts.count("draining"),
            hosts_starting=hosts.count("starting"),
            ready=states.count("ready"),
            taken=sum(unit.run_id is not None for unit in self.units.values()),
            starting=states.count("starting"),
            waiting=waiting,
            quarantined=self.quarantines,
            trouble=self.trouble,
        )

    # ---- Instances ---------------------------------------------------------------------------

    def on_host(self, host: str) -> list[Unit]:
        return [unit for unit in self.units.values() if unit.now.host == host]

    def is_usable(self, unit: Unit) -> bool:
        record = self.hosts.get(unit.now.host)
        after = self.plan.recycle_after
        return (
            not self.draining
            and unit.run_id is None
            and unit.now.state == "ready"
            and record is not None
            and record.now.state == "ready"
            and (after is None or unit.now.episodes < after)
        )

    def pop_free(self) -> Unit | None:
        return self.free.popitem()[1] if self.free else None

    def taken(self, unit: Unit, *, direct: bool) -> ReadyInstance:
        """Return an Instance as whoever took it sees it."""
        record = self.hosts[unit.now.host]
        assert unit.spec is not None
        return ReadyInstance(
            instance=unit.now.instance,
            env=self.env,
            spec=unit.spec,
            host=unit.now.host,
            boot=record.boot,
            fence=unit.fence,
            host_url=record.address if direct else "",
        )

    def withdraw(self, host: str) -> None:
        """Give out none of a host's Instances any more."""
        for unit in self.on_host(host):
            self.free.pop(unit.now.instance, None)

    def set_taken(self, unit: Unit, run_id: str) -> None:
        unit.run_id = run_id
        unit.now = replace(unit.now, leased=True)

    def set_free(self, unit: Unit, now_s: float, *, used: bool) -> None:
        """Note that nobody has an Instance any more.

        Args:
            unit: the Instance.
            now_s: the time.
            used: whether an Episode may have run, which counts towards recycling.
        """
        unit.run_id = None
        unit.now = replace(
            unit.now, leased=False, free_since_s=now_s, episodes=unit.now.episodes + used
        )

    def set_failed(self, unit: Unit, reason: str) -> None:
        """Note that an Instance is unwell; the next decision takes it out."""
        self.free.pop(unit.now.instance, None)
        unit.now = replace(unit.now, state="failed", reason=reason)

    def drop(self, units: Iterable[Unit]) -> None:
        for unit in units:
            self.free.pop(unit.now.instance, None)
            self.units.pop(unit.now.instance, None)

    def _count_faults(self, record: HostRecord, now_s: float) -> None:
        """Let go of faults that are too long ago to count."""
        times_s = record.faults_s
        while times_s and now_s - times_s[0] > self.plan.fault_window_s:
            times_s.popleft()
        if len(times_s) != record.now.faults:
            record.now = replace(record.now, faults=len(times_s))

    def quarantine(self, unit: Unit, reason: str, *, now_s: float, wall_s: float) -> None:
        """Keep the reason of an Instance that is taken out, and count it against its host."""
        self.quarantines += 1
        self.quarantined.append(
            Quarantined(
                instance=unit.now.instance, host=unit.now.host, reason=reason, wall_s=wall_s
            )
        )
        record = self.hosts.get(unit.now.host)
        if record is not None:
            record.faults_s.append(now_s)

    def way_of(self, unit: Unit) -> Host:
        """Return the way to an Instance's host.

        Raises:
            InfraFault: the host is gone.
        """
        record = self.hosts.get(unit.now.host)
        if record is None or record.way is None:
            raise InfraFault(f"host {unit.now.host} of {unit.now.instance} is gone")
        return record.way


def pool_name(env: EnvRef) -> str:
    """Return the part of host names that says which pool a host belongs to."""
    return f"{kind_name(env.kind)}-{env.size_px[0]}x{env.size_px[1]}"


def kind_name(kind: str) -> str:
    """Return a kind in lower case letters, digits and dashes, as every backend takes them."""
    return _NOT_IN_NAMES.sub("-", kind.lower()).strip("-")
