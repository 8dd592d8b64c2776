"""A fleet in virtual time: the manager's own decisions and queue over hosts that only take time.

What decides is the product's (`manager.supply.plan.decide`, `manager.supply.queue.FairQueue`); what
acts (starting a host, resetting a device, playing an episode, failing) is a draw from a
distribution. Hours of twenty thousand devices pass in seconds.
"""

from __future__ import annotations

import heapq
import math
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from screenloop.manager.supply import plan as supply
from screenloop.manager.supply.desired import PoolPlan
from screenloop.manager.supply.queue import FairQueue
from screenloop.types import Struct

BEAT_S = 2.0
"""Between two heartbeats."""
_LOOK_S = 0.02
_LOOK_S_PER_INSTANCE = 2.5e-5
_SHUT_S = 1.0
_ACT_S = 10.0
"""Of one step of an episode: the model's turn and the device's."""


class FleetModel(Struct, frozen=True, kw_only=True):
    """What things take and how they fail."""

    kind: str
    reset_s: float
    """Median time to bring a device up or back to a task's state."""
    spread: float = 0.25
    """Standard deviation of its logarithm."""
    host_start_s: float = 10.0
    steps: int = 20
    """Of an episode."""
    instance_faults: float = 0.0
    """Share of episodes that end in a failure of their Instance."""
    host_deaths_per_h: float = 0.0
    """Of each host."""
    attempts: int = 3
    """How often an episode is begun before it counts as unscored."""


class Demand(Struct, frozen=True, kw_only=True):
    """Who wants Instances."""

    runs: int
    workers: int
    """Of each Run: episodes that it plays at a time."""


@dataclass(eq=False)
class _Host:
    name: str
    state: supply.HostState = "starting"
    since_s: float = 0.0
    alive: bool = True
    heard_s: float = 0.0
    missed: int = 0
    faults_s: list[float] = field(default_factory=list)
    """When its Instances were quarantined."""


@dataclass(eq=False)
class _Unit:
    name: str
    host: _Host
    state: supply.UnitState = "starting"
    worker: _Worker | None = None
    episodes: int = 0
    free_since_s: float = 0.0
    leased_s: float = 0.0


@dataclass(eq=False)
class _Worker:
    """One episode after another of a Run."""

    run: str
    attempts: int = 0


@dataclass
class FleetCounts:
    """What came of it."""

    ready_at_s: list[float] = field(default_factory=list)
    """When each Instance first became ready."""
    starts_s: list[float] = field(default_factory=list)
    """How long each start took by itself."""
    scored: int = 0
    unscored: int = 0
    retried: int = 0
    leased_s: float = 0.0
    """Instance-seconds under leases that are over."""
    lost_s: float = 0.0
    """Of those, spent on attempts that came to nothing."""
    quarantined: int = 0
    hosts_lost: int = 0
    by_run: Counter[str] = field(default_factory=Counter)
    """Scored episodes of each Run."""


class VirtualFleet:
    """One pool and those who use it, in virtual time."""

    def __init__(
        self, plan: PoolPlan, model: FleetModel, *, demand: Demand | None = None, seed: int = 0
    ) -> None:
        self.counts = FleetCounts()
        self.now_s = 0.0
        self._plan = plan
        self._model = model
        self._draw = random.Random(f"fleet/{seed}")
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = 0
        self._hosts: dict[str, _Host] = {}
        self._units: dict[str, _Unit] = {}
        self._free: list[_Unit] = []
        self._queue = FairQueue(limit=1_000_000)
        self._waiting: dict[int, _Worker] = {}
        self._look_at_s = math.inf
        if demand is not None:
            for number in range(demand.runs * demand.workers):
                self._want(_Worker(run=f"run-{number % demand.runs}"))
        self._look_soon()
        self._later(BEAT_S, self._beat)

    def run(self, *, until_s: float = math.inf, until_ready: int | None = None) -> FleetCounts:
        """Let time pass until then, or until so many Instances became ready."""
        counts = self.counts
        while self._events and self._events[0][0] <= until_s:
            if until_ready is not None and len(counts.ready_at_s) >= until_ready:
                return counts
            self.now_s, _, act = heapq.heappop(self._events)
            act()
        if until_s < math.inf:
            self.now_s = until_s
        return counts

    def leased_s(self) -> float:
        """Return the Instance-seconds under a lease up to now, running ones included."""
        running = (self.now_s - u.leased_s for u in self._units.values() if u.worker is not None)
        return self.counts.leased_s + sum(running)

    # ---- time --------------------------------------------------------------------------------

    def _later(self, seconds: float, act: Callable[[], None]) -> None:
        self._numbers += 1
        heapq.heappush(self._events, (self.now_s + seconds, self._numbers, act))

    def _about(self, median_s: float) -> float:
        return median_s * math.exp(self._draw.gauss(0.0, self._model.spread))

    # ---- what the product decides --------------------------------------------------------------

    def _look_soon(self) -> None:
        at_s = self.now_s + _LOOK_S + _LOOK_S_PER_INSTANCE * len(self._units)
        if at_s < self._look_at_s:
            self._look_at_s = at_s
            self._later(at_s - self.now_s, self._look)

    def _look(self) -> None:
        if self.now_s < self._look_at_s:
            return
        self._look_at_s = math.inf
        now = supply.PoolNow(
            hosts=tuple(
                supply.HostNow(
                    host=one.name,
                    state=one.state,
                    since_s=one.since_s,
                    heard_s=one.heard_s,
                    missed=one.missed,
                    faults=self._faults(one),
                )
                for one in self._hosts.values()
            ),
            instances=tuple(
                supply.InstanceNow(
                    instance=one.name,
                    host=one.host.name,
                    state=one.state,
                    leased=one.worker is not None,
                    episodes=one.episodes,
                    free_since_s=one.free_since_s,
                )
                for one in self._units.values()
            ),
            waiting=len(self._waiting),
        )
        for order in supply.decide(self._plan, now, self.now_s):
            self._obey(order)

    def _faults(self, host: _Host) -> int:
        since_s = self.now_s - self._plan.fault_window_s
        return sum(at_s >= since_s for at_s in host.faults_s)

    def _beat(self) -> None:
        for host in self._hosts.values():
            if host.alive:
                host.heard_s, host.missed = self.now_s, 0
            else:
                host.missed += 1
        self._look_soon()
        self._later(BEAT_S, self._beat)

    def _obey(self, order: supply.Order) -> None:
        match order:
            case supply.StartHost():
                self._start_host()
            case supply.OpenInstance(host=name):
                self._open(self._hosts[name])
            case supply.ShutInstance(instance=name):
                unit = self._units[name]
                unit.state = "closing"
                self._free.remove(unit)
                self._later(_SHUT_S, lambda: self._gone(unit))
            case supply.Quarantine(instance=name):
                unit = self._units.pop(name)
                unit.host.faults_s.append(self.now_s)
                self.counts.quarantined += 1
                self._look_soon()
            case supply.DrainHost(host=name):
                self._hosts[name].state = "draining"
                self._look_soon()
            case supply.StopHost(host=name):
                self._stop_host(self._hosts[name])

    # ---- what only takes time ------------------------------------------------------------------

    def _start_host(self) -> None:
        self._numbers += 1
        host = _Host(name=f"host-{self._numbers}", since_s=self.now_s, heard_s=self.now_s)
        self._hosts[host.name] = host
        self._later(self._about(self._model.host_start_s), lambda: self._host_is_up(host))

    def _host_is_up(self, host: _Host) -> None:
        if self._hosts.get(host.name) is host:
            host.state, host.since_s, host.heard_s = "ready", self.now_s, self.now_s
            if self._model.host_deaths_per_h:
                mean_s = 3600.0 / self._model.host_deaths_per_h
                self._later(self._draw.expovariate(1 / mean_s), lambda: self._die(host))
            self._look_soon()

    def _die(self, host: _Host) -> None:
        host.alive = False
        self.counts.hosts_lost += 1

    def _stop_host(self, host: _Host) -> None:
        """Take a host out; whoever was on it begins again elsewhere."""
        del self._hosts[host.name]
        for unit in [one for one in self._units.values() if one.host is host]:
            del self._units[unit.name]
            if unit in self._free:
                self._free.remove(unit)
            if unit.worker is not None:
                self._failed(unit)
        self._look_soon()

    def _open(self, host: _Host) -> None:
        self._numbers += 1
        unit = _Unit(name=f"unit-{self._numbers}", host=host)
        self._units[unit.name] = unit
        start_s = self._about(self._model.reset_s)
        self.counts.starts_s.append(start_s)
        self._later(start_s, lambda: self._is_ready(unit))

    def _is_ready(self, unit: _Unit) -> None:
        if self._units.get(unit.name) is not unit or not unit.host.alive:
            return
        unit.state = "ready"
        self.counts.ready_at_s.append(self.now_s)
        self._back(unit)
        self._look_soon()

    def _gone(self, unit: _Unit) -> None:
        self._units.pop(unit.name, None)
        self._look_soon()

    # ---- those who use it ----------------------------------------------------------------------

    def _want(self, worker: _Worker) -> None:
        env = self._plan.env
        waiter, _ = self._queue.push(env, worker.run, now_s=self.now_s, until_s=math.inf)
        self._waiting[waiter.number] = worker
        if self._free:
            self._offer(self._free.pop(0))
        else:
            self._look_soon()

    def _back(self, unit: _Unit) -> None:
        """Have a ready Instance serve who is next, or wait."""
        unit.worker = None
        unit.free_since_s = self.now_s
        self._offer(unit)

    def _offer(self, unit: _Unit) -> None:
        waiter = self._queue.next(self._plan.env)
        if waiter is None or unit.host.state != "ready":
            if waiter is not None:
                self._want(self._waiting.pop(waiter.number))
            self._free.append(unit)
            return
        worker = self._waiting.pop(waiter.number)
        self._queue.hold(self._plan.env, worker.run, self.now_s)
        unit.worker, unit.leased_s = worker, self.now_s
        unit.episodes += 1
        worker.attempts += 1
        # The first reset was the start itself.
        reset_s = self._about(self._model.reset_s) if unit.episodes > 1 else 0.0
        play_s = sum(self._about(_ACT_S) for _ in range(self._model.steps))
        if self._draw.random() < self._model.instance_faults:
            after_s = self._draw.random() * (reset_s + play_s)
            self._later(after_s, lambda: self._fault(unit, worker))
        else:
            self._later(reset_s + play_s, lambda: self._over(unit, worker))

    def _over(self, unit: _Unit, worker: _Worker) -> None:
        if not (self._holds(unit, worker) and unit.host.alive):
            return
        self._let_go(unit, worker)
        self.counts.scored += 1
        self.counts.by_run[worker.run] += 1
        self._back(unit)
        self._want(_Worker(run=worker.run))

    def _fault(self, unit: _Unit, worker: _Worker) -> None:
        if self._holds(unit, worker) and unit.host.alive:
            unit.state = "failed"
            self._failed(unit)
            self._look_soon()

    def _failed(self, unit: _Unit) -> None:
        """End an attempt that came to nothing; begin again, or give up."""
        worker = unit.worker
        assert worker is not None
        self.counts.lost_s += self.now_s - unit.leased_s
        self._let_go(unit, worker)
        unit.worker = None
        if worker.attempts < self._model.attempts:
            self.counts.retried += 1
            self._want(worker)
        else:
            self.counts.unscored += 1
            self._want(_Worker(run=worker.run))

    def _let_go(self, unit: _Unit, worker: _Worker) -> None:
        self._queue.let_go(self._plan.env, worker.run)
        self.counts.leased_s += self.now_s - unit.leased_s

    def _holds(self, unit: _Unit, worker: _Worker) -> bool:
        return self._units.get(unit.name) is unit and unit.worker is worker
