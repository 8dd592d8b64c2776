"""The virtual fleet: the manager's decisions in virtual time."""

from __future__ import annotations

from screenloop.bench.fleet.virtual import Demand, FleetModel, VirtualFleet
from screenloop.manager.supply.desired import PoolPlan
from screenloop.types import EnvRef

ENV = EnvRef(kind="simulated", size_px=(1, 1))


def plan(count: int, at_once: int = 10) -> PoolPlan:
    return PoolPlan(
        env=ENV, target=count, most=count, per_host=10, opens_at_once=at_once, starts_at_once=100
    )


def model(**changes: float) -> FleetModel:
    return FleetModel(kind="simulated", reset_s=100.0, spread=0.2, **changes)  # type: ignore[arg-type]


def test_all_at_once_takes_a_host_and_the_slowest_start() -> None:
    fleet = VirtualFleet(plan(50), model())
    counts = fleet.run(until_ready=50)
    slowest_s = max(counts.starts_s)
    assert len(counts.ready_at_s) == 50
    assert slowest_s <= counts.ready_at_s[-1] <= slowest_s + 40


def test_one_at_a_time_on_each_host_takes_the_sum_of_its_starts() -> None:
    fleet = VirtualFleet(plan(50, at_once=1), model())
    counts = fleet.run(until_ready=50)
    assert counts.ready_at_s[-1] >= sum(counts.starts_s) / 5


def test_the_same_seed_gives_the_same_fleet_and_another_seed_another() -> None:
    times = [
        VirtualFleet(plan(30), model(), seed=s).run(until_ready=30).ready_at_s for s in (1, 1, 2)
    ]
    assert times[0] == times[1] != times[2]


def test_runs_that_want_all_share_alike_and_nothing_is_idle() -> None:
    fleet = VirtualFleet(plan(40), model(), demand=Demand(runs=4, workers=10), seed=3)
    fleet.run(until_ready=40)
    began_s, before_s = fleet.now_s, fleet.leased_s()
    counts = fleet.run(until_s=began_s + 3600)
    assert (fleet.leased_s() - before_s) / (40 * 3600) > 0.99
    assert min(counts.by_run.values()) / max(counts.by_run.values()) > 0.85
    assert counts.unscored == 0


def test_faults_cost_attempts_and_not_episodes() -> None:
    faulty = model(instance_faults=0.1, host_deaths_per_h=0.5)
    fleet = VirtualFleet(plan(40), faulty, demand=Demand(runs=2, workers=20), seed=4)
    counts = fleet.run(until_s=2 * 3600)
    assert counts.retried > 10
    assert counts.quarantined > 10
    assert counts.hosts_lost >= 1
    assert counts.scored > 100
    assert counts.unscored < 0.02 * counts.scored
    assert 0 < counts.lost_s < counts.leased_s
