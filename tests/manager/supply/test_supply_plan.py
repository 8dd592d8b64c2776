"""The pure decisions of a pool: never too many, never a leased one, always towards the target."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from pool_world import ENV, PoolWorld

from screenloop.manager.supply.desired import BackOff, PoolPlan
from screenloop.manager.supply.plan import (
    DrainHost,
    HostNow,
    OpenInstance,
    Quarantine,
    ShutInstance,
    StartHost,
    StopHost,
    decide,
)


def test_an_empty_pool_starts_the_hosts_that_its_target_needs() -> None:
    world = PoolWorld(PoolPlan(env=ENV, target=25, per_host=10))
    orders = world.act()
    assert orders == (StartHost(capacity=10),) * 3


def test_hosts_under_way_count_so_that_none_is_started_twice() -> None:
    world = PoolWorld(PoolPlan(env=ENV, target=25, per_host=10))
    world.act()
    assert world.act() == ()


def test_no_more_hosts_start_at_once_than_allowed() -> None:
    world = PoolWorld(PoolPlan(env=ENV, target=100, per_host=10, starts_at_once=3))
    assert len(world.act()) == 3
    world.settle()
    world.act()
    assert sum(host.state == "starting" for host in world.hosts.values()) == 3


def test_no_host_is_started_before_the_back_off_is_over() -> None:
    world = PoolWorld(PoolPlan(env=ENV, target=5))
    now = replace(world.look(), hosts_not_before_s=10.0)
    assert decide(world.plan, now, 9.9) == ()
    assert decide(world.plan, now, 10.0) == (StartHost(capacity=1000),)


def test_instances_spread_over_hosts_and_open_in_bounded_numbers() -> None:
    world = PoolWorld(PoolPlan(env=ENV, target=12, per_host=10, opens_at_once=4))
    world.act()
    world.settle()
    opened = [order.host for order in world.act() if isinstance(order, OpenInstance)]
    assert len(opened) == 8
    assert {opened.count(host) for host in world.hosts} == {4}


def test_spares_are_kept_beyond_those_leased_and_asked_for() -> None:
    world = PoolWorld(PoolPlan(env=ENV, target=0, spares=3, per_host=50))
    world.waiting = 7
    world.run(6)
    assert sum(unit.leased for unit in world.ready()) == 7
    assert len(world.free()) == 3


def test_a_worn_instance_is_replaced_once_it_is_free() -> None:
    world = PoolWorld(PoolPlan(env=ENV, target=2, recycle_after=5))
    world.waiting = 1
    world.run(4)
    leased = next(unit.instance for unit in world.ready() if unit.leased)
    world.units[leased] = replace(world.units[leased], episodes=5)
    world.run(2)
    assert leased in world.units
    world.give_back(leased, episodes=0)
    assert ShutInstance(instance=leased, why="recycle") in world.act()
    world.run(3)
    assert len(world.free()) == 2
    assert leased not in world.units


def test_a_failed_instance_is_quarantined_with_its_reason_and_replaced() -> None:
    world = PoolWorld(PoolPlan(env=ENV, target=2))
    world.run(4)
    sick = world.free()[0].instance
    world.units[sick] = replace(world.units[sick], state="failed", reason="the app crashed")
    assert Quarantine(instance=sick, reason="the app crashed") in world.decide()
    world.run(3)
    assert len(world.free()) == 2


def test_a_host_of_many_faults_is_drained_and_replaced() -> None:
    world = PoolWorld(PoolPlan(env=ENV, target=4, per_host=10, host_faults=3))
    world.run(4)
    bad = next(iter(world.hosts))
    for _ in range(3):
        sick = world.free()[0].instance
        world.units[sick] = replace(world.units[sick], state="failed", reason="crash")
        world.run(3)
    world.run(6)
    assert bad not in world.hosts
    assert len(world.free()) == 4


def test_a_large_host_is_allowed_a_share_of_faults() -> None:
    assert PoolPlan(env=ENV, per_host=4).fault_limit == 3
    assert PoolPlan(env=ENV, per_host=1000).fault_limit == 250
    assert PoolPlan(env=ENV, host_faults=None).fault_limit is None


def test_a_host_over_its_memory_is_drained_without_closing_a_leased_instance() -> None:
    world = PoolWorld(PoolPlan(env=ENV, target=3, host_memory_mb=500.0))
    world.waiting = 1
    world.run(4)
    fat = next(iter(world.hosts))
    world.hosts[fat] = replace(world.hosts[fat], rss_mb=501.0)
    leased = next(unit.instance for unit in world.ready() if unit.leased)
    world.run(10)
    assert world.hosts[fat].state == "draining"
    assert leased in world.units
    assert len(world.free()) == 2, "the others were replaced on a new host meanwhile"
    world.give_back(leased)
    world.run(3)
    assert fat not in world.hosts


def test_a_silent_host_is_stopped_and_its_instances_replaced() -> None:
    world = PoolWorld(PoolPlan(env=ENV, target=3, silent_s=10.0))
    world.run(4)
    lost = next(iter(world.hosts))
    world.hosts[lost] = replace(world.hosts[lost], heard_s=world.now_s - 10.1, missed=2)
    orders = world.act()
    assert any(isinstance(order, StopHost) and order.host == lost for order in orders)
    world.run(4)
    assert len(world.free()) == 3


def test_a_clock_that_jumps_ends_no_host() -> None:
    world = PoolWorld(PoolPlan(env=ENV, target=3, silent_s=10.0))
    world.run(4)
    world.now_s += 3600.0
    assert world.decide() == ()


def test_a_host_that_does_not_start_is_given_up() -> None:
    world = PoolWorld(PoolPlan(env=ENV, target=1, start_s=30.0))
    world.act()
    (late,) = world.hosts
    world.now_s = 30.5
    assert any(isinstance(order, StopHost) and order.host == late for order in world.act())


def test_surplus_is_closed_only_after_it_lingered() -> None:
    world = PoolWorld(PoolPlan(env=ENV, target=1, linger_s=20.0))
    world.waiting = 5
    world.run(5)
    for unit in world.ready():
        world.give_back(unit.instance)
    world.run(15)
    assert len(world.ready()) == 5
    world.run(10)
    assert len(world.ready()) == 1


def test_hosts_that_nobody_needs_are_drained_and_stopped() -> None:
    world = PoolWorld(PoolPlan(env=ENV, target=1, per_host=2, linger_s=5.0))
    world.waiting = 8
    world.run(8)
    assert len(world.hosts) == 4
    for unit in world.ready():
        world.give_back(unit.instance)
    world.run(30)
    assert len(world.ready()) == 1
    assert len(world.hosts) == 1


def test_an_attached_host_is_never_drained_for_idleness_nor_replaced() -> None:
    world = PoolWorld(PoolPlan(env=ENV, target=0, per_host=1, linger_s=1.0))
    world.act()
    world.hosts["attached"] = HostNow(host="attached", state="ready", owned=False)
    world.run(10)
    assert world.hosts["attached"].state == "ready"
    assert not any(isinstance(order, DrainHost) for order in world.decide())


def test_a_draining_pool_ends_its_episodes_and_then_its_hosts() -> None:
    world = PoolWorld(PoolPlan(env=ENV, target=4))
    world.waiting = 2
    world.run(5)
    world.draining = True
    world.run(5)
    assert all(unit.leased for unit in world.ready())
    assert len(world.ready()) == 2
    for unit in world.ready():
        world.give_back(unit.instance)
    world.run(3)
    assert not world.hosts
    assert world.stopped_with_leases == 0


def test_a_drain_past_its_limit_stops_what_still_runs() -> None:
    world = PoolWorld(PoolPlan(env=ENV, target=1))
    world.waiting = 1
    world.run(4)
    world.draining, world.drain_by_s = True, world.now_s + 5.0
    world.run(3)
    assert world.hosts
    world.run(6)
    assert not world.hosts
    assert world.stopped_with_leases == 1
    assert world.closed_while_leased == 0


@pytest.mark.parametrize(("failures", "least", "most"), [(0, 0, 0), (1, 0.25, 0.5), (500, 15, 30)])
def test_back_off_doubles_within_its_bound(failures: int, least: float, most: float) -> None:
    back_off = BackOff(first_s=0.5, most_s=30.0)
    assert back_off.wait_s(failures, 0.0) == least
    assert back_off.wait_s(failures, 0.999) <= most


PLANS = st.builds(
    lambda target, spares, most, per_host, opens, starts, recycle: PoolPlan(
        env=ENV,
        target=target,
        spares=spares,
        most=most,
        per_host=per_host,
        opens_at_once=opens,
        starts_at_once=starts,
        recycle_after=recycle,
        linger_s=3.0,
        silent_s=2.5,
        host_memory_mb=100.0,
    ),
    st.integers(0, 12),
    st.integers(0, 4),
    st.integers(1, 15),
    st.integers(1, 6),
    st.integers(1, 4),
    st.integers(1, 3),
    st.one_of(st.none(), st.integers(1, 4)),
)
EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["ask", "give back", "fail", "kill", "silence", "grow", "settle", "act"]),
        st.integers(0, 1000),
    ),
    max_size=60,
)


@settings(max_examples=150, deadline=None)
@given(plan=PLANS, events=EVENTS)
def test_whatever_happens_the_pool_stays_within_bounds_and_then_reaches_what_is_wanted(
    plan: PoolPlan, events: list[tuple[str, int]]
) -> None:
    world = PoolWorld(plan)
    world.run(4)
    for name, pick in events:
        happen(world, name, pick)
        assert world.most_seen <= plan.most
        assert world.closed_while_leased == 0
    for unit in [unit for unit in world.units.values() if unit.leased]:
        world.give_back(unit.instance)
    world.waiting = 0
    world.run(100)
    assert len(world.free()) == min(plan.most, max(plan.target, plan.spares))
    assert world.decide() == (), "nothing is left to do"
    assert world.most_seen <= plan.most


def happen(world: PoolWorld, name: str, pick: int) -> None:
    units = list(world.units.values())
    hosts = list(world.hosts.values())
    leased = [unit for unit in units if unit.leased]
    match name:
        case "ask":
            world.waiting += 1
        case "give back" if leased:
            world.give_back(leased[pick % len(leased)].instance)
        case "fail" if units:
            unit = units[pick % len(units)]
            world.units[unit.instance] = replace(unit, state="failed", leased=False, reason="x")
        case "kill" if hosts:
            world.stop(hosts[pick % len(hosts)].host)
        case "silence" if hosts:
            host = hosts[pick % len(hosts)]
            world.hosts[host.host] = replace(host, heard_s=world.now_s - 10.0, missed=2)
        case "grow" if hosts:
            host = hosts[pick % len(hosts)]
            world.hosts[host.host] = replace(host, rss_mb=101.0)
        case "settle":
            world.settle()
        case "act":
            world.act()
