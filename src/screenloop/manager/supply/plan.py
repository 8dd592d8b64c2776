"""What to do next: from the desired state of a pool and what is seen of it to a list of orders.

Pure: no I/O, no clock, no randomness; the same function runs the real pools and the simulation in
virtual time. It is asked again and again, and gives orders only for what is not under way, so that
an order that was lost or failed is simply given again.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Literal

from screenloop.manager.supply.desired import PoolPlan
from screenloop.types import Struct

HostState = Literal["starting", "ready", "draining", "stopping", "gone"]
UnitState = Literal["starting", "ready", "failed", "closing"]
ShutWhy = Literal["recycle", "surplus", "drain"]

MISSED_BEATS = 2
"""Heartbeats in a row without an answer before a host may count as gone."""


class HostNow(Struct, frozen=True, kw_only=True):
    """What is known of one host of the pool."""

    host: str
    state: HostState
    since_s: float = 0.0
    """When it came into this state."""
    heard_s: float = 0.0
    """When it last gave a sign of life."""
    missed: int = 0
    """Heartbeats in a row that it did not answer. Time alone proves nothing: a clock may jump, and
    the manager itself may have been stopped for a while."""
    rss_mb: float = 0.0
    faults: int = 0
    """Its Instances that were quarantined within the plan's window."""
    reason: str = ""
    owned: bool = True
    """Whether we started it; an attached host is drained but never stopped or replaced."""
    not_before_s: float = 0.0
    """When Instances may be opened on it again, after one failed to start."""


class InstanceNow(Struct, frozen=True, kw_only=True):
    """What is known of one Instance of the pool."""

    instance: str
    host: str
    state: UnitState
    leased: bool = False
    episodes: int = 0
    free_since_s: float = 0.0
    """When it was last given back or became ready."""
    reason: str = ""


class PoolNow(Struct, frozen=True, kw_only=True):
    """What is seen of a pool."""

    hosts: tuple[HostNow, ...] = ()
    instances: tuple[InstanceNow, ...] = ()
    waiting: int = 0
    """Requests that no free Instance could serve."""
    draining: bool = False
    """Whether the whole pool is to come to its end: no new leases, running ones end."""
    drain_by_s: float | None = None
    """When hosts of a draining pool stop whatever still runs."""
    hosts_not_before_s: float = 0.0
    """When another host may be started, after starts that failed."""


class StartHost(Struct, frozen=True, kw_only=True, tag="start_host"):
    """Have one more host started, for so many Instances."""

    capacity: int


class DrainHost(Struct, frozen=True, kw_only=True, tag="drain_host"):
    """Open nothing more on a host and lease none of its Instances from now on."""

    host: str
    why: str


class StopHost(Struct, frozen=True, kw_only=True, tag="stop_host"):
    """End a host; whatever still runs on it is lost."""

    host: str
    why: str


class OpenInstance(Struct, frozen=True, kw_only=True, tag="open_instance"):
    """Start an Instance on a host."""

    host: str


class ShutInstance(Struct, frozen=True, kw_only=True, tag="shut_instance"):
    """Close a free Instance; where it is still wanted, another will be opened."""

    instance: str
    why: ShutWhy


class Quarantine(Struct, frozen=True, kw_only=True, tag="quarantine"):
    """Take a failed Instance out for good, keep its reason, close what is left of it."""

    instance: str
    reason: str


Order = StartHost | DrainHost | StopHost | OpenInstance | ShutInstance | Quarantine


def wanted(plan: PoolPlan, *, leased: int, waiting: int, draining: bool) -> int:
    """Return how many live Instances there should be."""
    if draining:
        return 0
    return min(plan.most, max(plan.target, leased + waiting + plan.spares))


def decide(plan: PoolPlan, now: PoolNow, now_s: float) -> tuple[Order, ...]:
    """Return what to do now for one pool.

    Never more than `plan.most` Instances are asked for, a leased Instance is never closed (a drain
    past its limit stops the host instead), and orders repeat until what they ask for is seen.
    """
    return _Decision(plan, now, now_s).orders()


class _Decision:
    """One look at a pool; collects the orders."""

    def __init__(self, plan: PoolPlan, now: PoolNow, now_s: float) -> None:
        self._plan = plan
        self._now = now
        self._now_s = now_s
        self._orders: list[Order] = []
        self._on_host: defaultdict[str, list[InstanceNow]] = defaultdict(list)
        for unit in now.instances:
            self._on_host[unit.host].append(unit)
        self._taking = {host.host for host in now.hosts if host.state in ("starting", "ready")}
        """Hosts that are to stay."""
        self._stopping: set[str] = set()

    def orders(self) -> tuple[Order, ...]:
        for unit in self._now.instances:
            if unit.state == "failed":
                self._orders.append(Quarantine(instance=unit.instance, reason=unit.reason))
        for host in self._now.hosts:
            self._judge_host(host)
        for host in self._now.hosts:
            if host.state == "draining" or self._draining(host):
                self._empty_host(host)
        live = self._live()
        leased = sum(unit.leased for unit in live)
        target = wanted(
            self._plan, leased=leased, waiting=self._now.waiting, draining=self._now.draining
        )
        self._shut_worn(live)
        if len(live) > target:
            self._shut_surplus(live, len(live) - target)
        elif len(live) < target:
            self._open(target - len(live))
        self._stop_idle_hosts(target)
        return tuple(self._orders)

    # ---- hosts -------------------------------------------------------------------------------

    def _draining(self, host: HostNow) -> bool:
        return host.state == "ready" and host.host not in self._taking

    def _judge_host(self, host: HostNow) -> None:
        """Order the end of a host that is lost, and the draining of one that is unwell."""
        silent_s = self._now_s - host.heard_s
        if host.state == "starting":
            if self._now_s - host.since_s > self._plan.start_s:
                self._stop(host, f"it did not start within {self._plan.start_s:g} s")
            elif self._now.draining:
                self._stop(host, "the pool is being drained")
        elif (
            host.state in ("ready", "draining")
            and silent_s > self._plan.silent_s
            and host.missed >= MISSED_BEATS
        ):
            self._stop(host, f"it gave no sign of life for {silent_s:.1f} s")
        elif host.state == "ready":
            why = self._unwell(host)
            if why:
                self._taking.discard(host.host)
                self._orders.append(DrainHost(host=host.host, why=why))

    def _stop(self, host: HostNow, why: str) -> None:
        self._taking.discard(host.host)
        self._stopping.add(host.host)
        self._orders.append(StopHost(host=host.host, why=why))

    def _unwell(self, host: HostNow) -> str:
        plan = self._plan
        if self._now.draining:
            return "the pool is being drained"
        if plan.host_memory_mb is not None and host.rss_mb > plan.host_memory_mb:
            return f"it holds {host.rss_mb:.0f} MB, more than {plan.host_memory_mb:.0f} MB"
        if plan.fault_limit is not None:
            # Those that go into quarantine with this very decision count as well.
            failed = sum(unit.state == "failed" for unit in self._on_host[host.host])
            if host.faults + failed >= plan.fault_limit:
                return f"{host.faults + failed} of its instances were quarantined"
        return ""

    def _empty_host(self, host: HostNow) -> None:
        """Close what is free on a draining host; stop it once nothing is left."""
        if host.host in self._stopping:
            return
        left = self._on_host[host.host]
        late = self._now.drain_by_s is not None and self._now_s >= self._now.drain_by_s
        if late or not any(unit.state in ("starting", "ready", "closing") for unit in left):
            self._stop(host, "it is drained" if not late else "the drain came to its limit")
            return
        for unit in left:
            if unit.state == "ready" and not unit.leased:
                self._orders.append(ShutInstance(instance=unit.instance, why="drain"))

    def _stop_idle_hosts(self, target: int) -> None:
        """Drain hosts that hold nothing and are not needed for what is wanted."""
        ready = [
            host for host in self._now.hosts if host.state == "ready" and host.host in self._taking
        ]
        room = len(ready) * self._plan.per_host
        opened = {order.host for order in self._orders if isinstance(order, OpenInstance)}
        for host in ready:
            spare = room - self._plan.per_host >= target
            rested = self._now_s - host.since_s > self._plan.linger_s
            if spare and rested and host.owned and not self._on_host[host.host]:
                if host.host in opened:
                    continue
                room -= self._plan.per_host
                self._taking.discard(host.host)
                self._orders.append(DrainHost(host=host.host, why="it is not needed"))

    # ---- Instances ---------------------------------------------------------------------------

    def _live(self) -> list[InstanceNow]:
        """Return the Instances that count towards what is wanted."""
        return [
            unit
            for unit in self._now.instances
            if unit.state in ("starting", "ready") and (unit.host in self._taking or unit.leased)
        ]

    def _shut_worn(self, live: Iterable[InstanceNow]) -> None:
        after = self._plan.recycle_after
        if after is None:
            return
        for unit in live:
            worn = unit.state == "ready" and unit.episodes >= after
            if worn and not unit.leased and unit.host in self._taking:
                self._orders.append(ShutInstance(instance=unit.instance, why="recycle"))

    def _shut_surplus(self, live: Iterable[InstanceNow], count: int) -> None:
        """Close free Instances that were not used for a while, the longest unused first."""
        going = {order.instance for order in self._orders if isinstance(order, ShutInstance)}
        linger_s = 0.0 if self._now.draining else self._plan.linger_s
        idle = [
            unit
            for unit in live
            if unit.state == "ready"
            and not unit.leased
            and unit.instance not in going
            and self._now_s - unit.free_since_s >= linger_s
        ]
        idle.sort(key=lambda unit: (unit.free_since_s, unit.instance))
        for unit in idle[: max(0, count - len(going))]:
            self._orders.append(ShutInstance(instance=unit.instance, why="surplus"))

    def _open(self, missing: int) -> None:
        """Fill the hosts there are, the emptiest first; start more where they have no room."""
        count = min(missing, self._plan.most - self._all())
        free = 0
        starting = [host for host in self._now.hosts if host.state == "starting"]
        rooms: list[tuple[int, str, int]] = []
        for host in self._now.hosts:
            if host.state != "ready" or host.host not in self._taking:
                continue
            states = Counter(unit.state for unit in self._on_host[host.host])
            room = self._plan.per_host - states.total()
            free += max(0, room)
            opens = min(room, self._plan.opens_at_once - states["starting"])
            if opens > 0 and self._now_s >= host.not_before_s:
                rooms.append((states.total(), host.host, opens))
        self._start_hosts(missing - free, len(starting))
        self._spread(rooms, count)

    def _all(self) -> int:
        """Return how many Instances use resources, those on their way out included."""
        return sum(unit.state != "failed" for unit in self._now.instances)

    def _spread(self, rooms: list[tuple[int, str, int]], count: int) -> None:
        """Open so many Instances, always on the host that then holds the fewest."""
        heapq.heapify(rooms)
        while count > 0 and rooms:
            load, host, opens = heapq.heappop(rooms)
            self._orders.append(OpenInstance(host=host))
            count -= 1
            if opens > 1:
                heapq.heappush(rooms, (load + 1, host, opens - 1))

    def _start_hosts(self, missing: int, starting: int) -> None:
        """Start hosts for Instances that no host has room for, those starting counted."""
        per_host = self._plan.per_host
        missing -= starting * per_host
        more = min(-(-missing // per_host), self._plan.starts_at_once - starting)
        if self._now_s < self._now.hosts_not_before_s:
            return
        self._orders.extend(StartHost(capacity=per_host) for _ in range(more))
