"""A pool that does what it is ordered to, in steps: for tests of the pure decisions."""

from __future__ import annotations

from dataclasses import dataclass, field

from msgspec.structs import replace

from screenloop.manager.supply.desired import PoolPlan
from screenloop.manager.supply.plan import (
    DrainHost,
    HostNow,
    InstanceNow,
    OpenInstance,
    Order,
    PoolNow,
    Quarantine,
    ShutInstance,
    StartHost,
    StopHost,
    decide,
)
from screenloop.types import EnvRef

ENV = EnvRef(kind="fake", size_px=(180, 320))


@dataclass
class PoolWorld:
    """Orders take effect at once, but what starts or closes has done so one `settle` later."""

    plan: PoolPlan
    hosts: dict[str, HostNow] = field(default_factory=dict)
    units: dict[str, InstanceNow] = field(default_factory=dict)
    waiting: int = 0
    draining: bool = False
    drain_by_s: float | None = None
    now_s: float = 0.0
    made: int = 0
    quarantined: int = 0
    closed_while_leased: int = 0
    stopped_with_leases: int = 0
    most_seen: int = 0

    def look(self) -> PoolNow:
        return PoolNow(
            hosts=tuple(self.hosts.values()),
            instances=tuple(self.units.values()),
            waiting=self.waiting,
            draining=self.draining,
            drain_by_s=self.drain_by_s,
        )

    def decide(self) -> tuple[Order, ...]:
        return decide(self.plan, self.look(), self.now_s)

    def act(self) -> tuple[Order, ...]:
        orders = self.decide()
        for order in orders:
            self.obey(order)
        live = sum(unit.state != "failed" for unit in self.units.values())
        self.most_seen = max(self.most_seen, live)
        return orders

    def obey(self, order: Order) -> None:
        self.made += 1
        match order:
            case StartHost():
                name = f"host-{self.made}"
                self.hosts[name] = HostNow(
                    host=name, state="starting", since_s=self.now_s, heard_s=self.now_s
                )
            case DrainHost(host=host):
                self.hosts[host] = replace(self.hosts[host], state="draining")
            case StopHost(host=host):
                self.stop(host)
            case OpenInstance(host=host):
                name = f"unit-{self.made}"
                self.units[name] = InstanceNow(instance=name, host=host, state="starting")
            case ShutInstance(instance=name):
                self.closed_while_leased += self.units[name].leased
                self.units[name] = replace(self.units[name], state="closing")
            case Quarantine(instance=name):
                host = self.units.pop(name).host
                self.quarantined += 1
                self.hosts[host] = replace(self.hosts[host], faults=self.hosts[host].faults + 1)

    def stop(self, host: str) -> None:
        here = [unit for unit in self.units.values() if unit.host == host]
        self.stopped_with_leases += any(unit.leased for unit in here)
        del self.hosts[host]
        for unit in here:
            del self.units[unit.instance]

    def settle(self) -> None:
        self.now_s += 1.0
        for name, host in self.hosts.items():
            state = "ready" if host.state == "starting" else host.state
            self.hosts[name] = replace(host, state=state, heard_s=self.now_s, missed=0)
        for name, unit in list(self.units.items()):
            if unit.state == "closing":
                del self.units[name]
            elif unit.state == "starting":
                self.units[name] = replace(unit, state="ready", free_since_s=self.now_s)
        for unit in self.free():
            if self.waiting and self.hosts[unit.host].state == "ready":
                self.units[unit.instance] = replace(unit, leased=True)
                self.waiting -= 1

    def run(self, steps: int) -> None:
        for _ in range(steps):
            self.act()
            self.settle()

    def ready(self) -> list[InstanceNow]:
        return [unit for unit in self.units.values() if unit.state == "ready"]

    def free(self) -> list[InstanceNow]:
        return [unit for unit in self.ready() if not unit.leased]

    def give_back(self, name: str, episodes: int = 1) -> None:
        unit = self.units[name]
        self.units[name] = replace(
            unit, leased=False, episodes=unit.episodes + episodes, free_since_s=self.now_s
        )
