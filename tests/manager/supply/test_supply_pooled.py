"""The pooled supply over hosts in this process: warm, fair, quick to see what broke."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from msgspec.structs import replace
from odometer import Odometer

from screenloop.envs.base import Environment
from screenloop.errors import Busy, ConfigError, EnvironmentFault, InfraFault
from screenloop.manager.base import LeaseToken
from screenloop.manager.clock import SkewedClock, SystemClock
from screenloop.manager.hosts.base import HostPlan
from screenloop.manager.hosts.inside import InsideLauncher
from screenloop.manager.supply.base import KnownInstance, ReadyInstance
from screenloop.manager.supply.desired import BackOff, PoolPlan, Timing
from screenloop.manager.supply.pooled import PooledSupply
from screenloop.manager.supply.tokens import HostTokens
from screenloop.types import EnvRef

SIZE = (100, 200)
ENV = EnvRef(kind="odometer", size_px=SIZE)
QUICK = Timing(
    look_s=0.02,
    beat_s=0.05,
    beat_deadline_s=0.2,
    shut_s=1.0,
    close_s=5.0,
    back_off=BackOff(first_s=0.01, most_s=0.05),
)
SOON_S = 120.0
"""Only bounds a hang: what is awaited comes in milliseconds on a quiet machine."""


@dataclass
class Losses:
    """A listener that remembers what it was told."""

    lost: dict[str, str] = field(default_factory=dict)
    used: dict[str, int] = field(default_factory=dict)

    async def instances_lost(self, instances: Sequence[str], reason: str) -> None:
        self.lost.update(dict.fromkeys(instances, reason))

    def instance_used(self, instance: str, fence: int, idle_s: float) -> None:
        self.used[instance] = fence


class Works:
    """Opens odometers; fails to as often as it is told."""

    def __init__(self) -> None:
        self.made: list[Odometer] = []
        self.failures: list[Exception] = []
        self.always: Exception | None = None

    async def open(self, env: EnvRef) -> Environment:
        if self.always is not None:
            raise self.always
        if self.failures:
            raise self.failures.pop(0)
        self.made.append(Odometer())
        return self.made[-1]

    @property
    def alive(self) -> int:
        return sum(not one.closed for one in self.made)


class Lasting(InsideLauncher):
    """Hosts outlive those who let go of them, as real ones do."""

    async def close(self) -> None:
        pass


class Farm:
    """A supply, its launcher and what it told; made anew for other plans."""

    def __init__(self) -> None:
        self.works = Works()
        self.rss_mb = 100.0
        self.launcher: InsideLauncher = Lasting(self.works.open, rss_mb=lambda: self.rss_mb)
        self.losses = Losses()
        self.supplies: list[PooledSupply] = []

    def supply(self, plan: PoolPlan, **settings: Any) -> PooledSupply:
        made = PooledSupply(
            [plan],
            {plan.env.kind: self.launcher},
            tokens=HostTokens(b"0123456789abcdef"),
            blobs="file:///nowhere",
            timing=settings.pop("timing", QUICK),
            **settings,
        )
        made.listen(self.losses)
        self.supplies.append(made)
        return made


@pytest.fixture
async def farm() -> AsyncIterator[Farm]:
    made = Farm()
    yield made
    for supply in made.supplies:
        await supply.close()
    assert made.works.alive == 0


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(SOON_S):
        while not holds():
            await asyncio.sleep(0.005)


async def test_a_pool_is_filled_to_its_target_before_anyone_asks(farm: Farm) -> None:
    supply = farm.supply(PoolPlan(env=ENV, target=5, per_host=3))
    supply.start()
    await until(lambda: supply.status()[0].ready == 5)
    assert supply.status()[0].hosts == 2
    taken = await supply.take(ENV, "run", deadline_s=SOON_S)
    assert taken.spec.kind == "odometer"
    assert len(farm.works.made) == 5


async def test_what_is_taken_is_nobody_elses_until_it_comes_back(farm: Farm) -> None:
    supply = farm.supply(PoolPlan(env=ENV, most=3))
    taken = [await supply.take(ENV, "run", deadline_s=SOON_S) for _ in range(3)]
    assert len({one.instance for one in taken}) == 3
    with pytest.raises(Busy, match="none came within") as refusal:
        await supply.take(ENV, "run", deadline_s=0.1)
    assert refusal.value.retry_after_s > 0
    await supply.give_back(taken[1].instance, healthy=True)
    again = await supply.take(ENV, "other", deadline_s=SOON_S)
    assert again.instance == taken[1].instance
    assert len(farm.works.made) == 3


async def test_unknown_kinds_are_refused_with_the_valid_ones(farm: Farm) -> None:
    supply = farm.supply(PoolPlan(env=ENV))
    with pytest.raises(ConfigError, match="Valid: odometer"):
        await supply.take(EnvRef(kind="odometre", size_px=SIZE), "run", deadline_s=1)
    other = EnvRef(kind="odometer", size_px=(1, 2))
    assert (await supply.take(other, "run", deadline_s=SOON_S)).env == other


async def test_giving_back_what_nobody_has_is_harmless(farm: Farm) -> None:
    supply = farm.supply(PoolPlan(env=ENV))
    taken = await supply.take(ENV, "run", deadline_s=SOON_S)
    await supply.give_back(taken.instance, healthy=True)
    await supply.give_back(taken.instance, healthy=True)
    await supply.give_back("odometer-100x200-none/xyz", healthy=True)
    await supply.give_back("nonsense", healthy=False)
    assert (await supply.take(ENV, "run", deadline_s=SOON_S)).instance == taken.instance


async def test_an_unhealthy_instance_is_quarantined_and_replaced(farm: Farm) -> None:
    supply = farm.supply(PoolPlan(env=ENV, target=2))
    taken = await supply.take(ENV, "run", deadline_s=SOON_S)
    await supply.give_back(taken.instance, healthy=False, reason="the app crashed")
    await until(lambda: supply.status()[0].ready == 2 and farm.works.alive == 2)
    (one,) = supply.quarantined()
    assert (one.instance, one.reason) == (taken.instance, "the app crashed")
    with pytest.raises(InfraFault):
        supply.host_of(taken.instance)


async def test_an_instance_that_fails_while_free_is_found_by_the_heartbeat(farm: Farm) -> None:
    supply = farm.supply(PoolPlan(env=ENV, target=1, host_faults=None))
    supply.start()
    await until(lambda: supply.status()[0].ready == 1)
    taken = await supply.take(ENV, "run", deadline_s=SOON_S)
    host = supply.host_of(taken.instance)
    await supply.give_back(taken.instance, healthy=True)
    await host.shut(taken.instance, deadline_s=SOON_S)
    await until(lambda: len(supply.quarantined()) == 1)
    await until(lambda: supply.status()[0].ready == 1)


async def test_instances_are_recycled_after_their_episodes(farm: Farm) -> None:
    supply = farm.supply(PoolPlan(env=ENV, target=1, most=1, recycle_after=3))
    seen: list[str] = []
    for _ in range(7):
        taken = await supply.take(ENV, "run", deadline_s=SOON_S)
        seen.append(taken.instance)
        await supply.give_back(taken.instance, healthy=True)
    assert [seen.count(name) for name in dict.fromkeys(seen)] == [3, 3, 1]


async def test_a_killed_host_takes_its_instances_with_it_and_is_replaced(farm: Farm) -> None:
    supply = farm.supply(PoolPlan(env=ENV, target=2))
    taken = await supply.take(ENV, "run", deadline_s=SOON_S)
    await farm.launcher.kill(taken.host)
    await until(lambda: taken.instance in farm.losses.lost)
    assert "killed" in farm.losses.lost[taken.instance]
    with pytest.raises(InfraFault, match="not in use"):
        supply.host_of(taken.instance)
    await until(lambda: supply.status()[0].ready == 2)
    assert supply.status()[0].taken == 0


async def test_a_silent_host_counts_as_gone_after_its_limit(farm: Farm) -> None:
    supply = farm.supply(PoolPlan(env=ENV, target=1, silent_s=0.5))
    taken = await supply.take(ENV, "run", deadline_s=SOON_S)
    farm.launcher.stall(taken.host)
    await until(lambda: taken.instance in farm.losses.lost)
    assert "no sign of life" in farm.losses.lost[taken.instance]
    await until(lambda: supply.status()[0].ready == 1)
    farm.launcher.resume(taken.host)
    await until(lambda: farm.works.alive == 1)


async def test_a_host_that_grew_too_large_is_replaced_without_ending_an_episode(farm: Farm) -> None:
    supply = farm.supply(PoolPlan(env=ENV, target=2, host_memory_mb=500.0))
    taken = await supply.take(ENV, "run", deadline_s=SOON_S)
    farm.rss_mb = 501.0
    await until(lambda: supply.status()[0].hosts == 2)
    farm.rss_mb = 100.0
    supply.host_of(taken.instance)
    other = await supply.take(ENV, "run", deadline_s=SOON_S)
    assert other.host != taken.host
    await supply.give_back(taken.instance, healthy=True)
    await until(lambda: taken.host not in {host.host for host in supply.hosts()})
    assert taken.instance not in {name for name, why in farm.losses.lost.items() if "gone" in why}


async def test_use_that_goes_straight_to_the_host_is_reported(farm: Farm) -> None:
    supply = farm.supply(PoolPlan(env=ENV), direct=True)
    taken = await supply.take(ENV, "run", deadline_s=SOON_S)
    grip = LeaseToken(instance=taken.instance, lease_id="run/abc", fence=7)
    await supply.host_of(taken.instance).bind(grip, ttl_s=60, deadline_s=SOON_S)
    await until(lambda: farm.losses.used.get(taken.instance) == 7)


async def test_a_clock_that_jumps_costs_nobody_an_instance(farm: Farm) -> None:
    clock = SkewedClock(SystemClock())
    supply = farm.supply(PoolPlan(env=ENV, target=1, silent_s=60.0), clock=clock)
    taken = await supply.take(ENV, "run", deadline_s=SOON_S)
    beats = supply.hosts()[0].heard_s
    clock.skew_s += 3600.0
    await until(lambda: supply.hosts()[0].heard_s > beats + 3600.0)
    supply.host_of(taken.instance)
    assert farm.losses.lost == {}


async def test_a_host_of_many_faults_is_replaced_unless_they_are_long_ago(farm: Farm) -> None:
    clock = SkewedClock(SystemClock())
    plan = PoolPlan(env=ENV, target=1, per_host=4, host_faults=2, fault_window_s=600.0)
    supply = farm.supply(plan, clock=clock)
    hosts: list[str] = []
    for pause_s in (0.0, 700.0, 0.0, 0.0):
        clock.skew_s += pause_s
        taken = await supply.take(ENV, "run", deadline_s=SOON_S)
        hosts.append(taken.host)
        await supply.give_back(taken.instance, healthy=False, reason="bad")
        await until(lambda: supply.status()[0].quarantined == len(hosts))
        await until(lambda: supply.status()[0].ready == 1)
    assert hosts[0] == hosts[1] == hosts[2] != hosts[3]


async def test_failing_starts_are_tried_again(farm: Farm) -> None:
    farm.works.failures = [EnvironmentFault("no boot"), EnvironmentFault("no boot")]
    supply = farm.supply(PoolPlan(env=ENV, host_faults=None))
    await supply.take(ENV, "run", deadline_s=SOON_S)
    assert len(supply.quarantined()) == 2


async def test_those_who_wait_are_told_when_nothing_can_be_started(farm: Farm) -> None:
    farm.works.always = EnvironmentFault("no boot at all")
    broken = farm.supply(PoolPlan(env=ENV, host_faults=None))
    with pytest.raises(EnvironmentFault, match="no boot at all"):
        await broken.take(ENV, "run", deadline_s=SOON_S)
    assert broken.status()[0].trouble == "no boot at all"


async def test_what_can_never_open_is_told_at_once(farm: Farm) -> None:
    farm.works.always = ConfigError("no browser is installed")
    supply = farm.supply(PoolPlan(env=ENV))
    with pytest.raises(ConfigError, match="no browser"):
        await supply.take(ENV, "run", deadline_s=SOON_S)


async def test_a_caller_that_is_cancelled_has_taken_nothing(farm: Farm) -> None:
    supply = farm.supply(PoolPlan(env=ENV, most=1))
    taken = await supply.take(ENV, "run", deadline_s=SOON_S)
    waiting = asyncio.create_task(supply.take(ENV, "other", deadline_s=SOON_S))
    await until(lambda: supply.status()[0].waiting == 1)
    # Handed over and cancelled in the same turn.
    await supply.give_back(taken.instance, healthy=True)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    again = await supply.take(ENV, "third", deadline_s=SOON_S)
    assert again.instance == taken.instance


async def test_runs_share_what_there_is_evenly(farm: Farm) -> None:
    supply = farm.supply(PoolPlan(env=ENV, most=4))
    first = [await supply.take(ENV, "greedy", deadline_s=SOON_S) for _ in range(4)]
    more = [asyncio.create_task(supply.take(ENV, "greedy", deadline_s=60)) for _ in range(8)]
    await until(lambda: supply.status()[0].waiting == 8)
    late = [asyncio.create_task(supply.take(ENV, "late", deadline_s=60)) for _ in range(4)]
    await until(lambda: supply.status()[0].waiting == 12)
    for one in first:
        await supply.give_back(one.instance, healthy=True)
    await asyncio.sleep(0)
    done = [task for task in (*more, *late) if task.done()]
    assert len(done) == 4
    assert sum(task.done() for task in late) == 2
    for task in (*more, *late):
        task.cancel()
    await asyncio.gather(*more, *late, return_exceptions=True)


async def test_draining_lets_episodes_end_and_then_ends_the_hosts(farm: Farm) -> None:
    supply = farm.supply(PoolPlan(env=ENV, target=3))
    taken = await supply.take(ENV, "run", deadline_s=SOON_S)
    draining = asyncio.create_task(supply.drain(limit_s=60))
    await until(lambda: supply.status()[0].ready == 1)
    with pytest.raises(InfraFault, match="drained"):
        await supply.take(ENV, "run", deadline_s=1)
    supply.host_of(taken.instance)
    await supply.give_back(taken.instance, healthy=True)
    await draining
    assert supply.status()[0].hosts == 0
    assert taken.instance not in [name for name, why in farm.losses.lost.items() if "limit" in why]


async def test_a_drain_that_takes_too_long_ends_what_still_runs(farm: Farm) -> None:
    supply = farm.supply(PoolPlan(env=ENV, target=1))
    taken = await supply.take(ENV, "run", deadline_s=SOON_S)
    await supply.drain(limit_s=0.2)
    assert "limit" in farm.losses.lost[taken.instance]


async def test_the_next_manager_adopts_hosts_and_instances(farm: Farm) -> None:
    plan = PoolPlan(env=ENV, target=3)
    first = farm.supply(plan)
    held = await first.take(ENV, "run", deadline_s=SOON_S)
    await until(lambda: first.status()[0].ready == 3)
    await first.detach()

    def known(taken: ReadyInstance, *, is_held: bool) -> KnownInstance:
        return KnownInstance(
            instance=taken.instance, env=ENV, host=taken.host, boot=taken.boot, held=is_held
        )

    second = farm.supply(plan)
    adopted = await second.adopt(
        [
            known(held, is_held=True),
            replace(known(held, is_held=False), instance=f"{held.host}/never"),
            replace(known(held, is_held=True), instance="x-1x1-y/z", host="x-1x1-y"),
            replace(
                known(held, is_held=True), instance="a-1x1-b/c", env=EnvRef(kind="a", size_px=SIZE)
            ),
        ]
    )
    assert adopted.found == {held.instance: held}
    assert len(adopted.gone) == 3
    assert len(farm.works.made) == 3
    assert second.status()[0].taken == 1
    others = [await second.take(ENV, "run", deadline_s=SOON_S) for _ in range(2)]
    assert held.instance not in {one.instance for one in others}
    assert second.host_of(held.instance).id == held.host


async def test_a_launcher_that_refuses_is_asked_again_later(farm: Farm) -> None:
    refusals = [Busy("quota", retry_after_s=0.05), InfraFault("api down")]

    class Reluctant(Lasting):
        async def start(self, plan: HostPlan) -> None:
            if refusals:
                raise refusals.pop(0)
            await super().start(plan)

    farm.launcher = Reluctant(farm.works.open)
    supply = farm.supply(PoolPlan(env=ENV))
    await supply.take(ENV, "run", deadline_s=SOON_S)
    assert not refusals


@pytest.mark.parametrize("seed", range(4))
async def test_nobody_shares_an_instance_and_all_finish_while_hosts_die(
    farm: Farm, seed: int
) -> None:
    rng = random.Random(seed)
    supply = farm.supply(PoolPlan(env=ENV, target=2, most=6, per_host=2, host_faults=None))
    held: set[str] = set()
    finished: list[str] = []

    async def worker(run: str) -> None:
        for _ in range(12):
            taken = await supply.take(ENV, run, deadline_s=SOON_S)
            assert taken.instance not in held
            held.add(taken.instance)
            for _ in range(rng.randrange(4)):
                await asyncio.sleep(0)
            held.remove(taken.instance)
            await supply.give_back(taken.instance, healthy=rng.random() > 0.1, reason="bad luck")
            finished.append(run)

    async def trouble() -> None:
        """Kill a host after every third episode: by what was done, not by the time it took."""
        for number in range(3, 96, 3):
            while len(finished) < number:
                await asyncio.sleep(0.001)
            hosts = [host.host for host in supply.hosts() if host.state == "ready"]
            if hosts:
                await farm.launcher.kill(rng.choice(hosts))

    await asyncio.gather(trouble(), *(worker(f"run-{number}") for number in range(8)))
    assert len(finished) == 96
    await until(lambda: supply.status()[0].taken == 0)
    await until(lambda: supply.status()[0].ready == 2)


def test_plans_that_cannot_be_are_refused(farm: Farm) -> None:
    plan = PoolPlan(env=ENV)
    tokens = HostTokens(b"0123456789abcdef")
    with pytest.raises(ConfigError, match="launcher"):
        PooledSupply([plan], {}, tokens=tokens, blobs="")
    with pytest.raises(ConfigError, match="two plans"):
        PooledSupply([plan, plan], {"odometer": farm.launcher}, tokens=tokens, blobs="")
    with pytest.raises(ConfigError, match="16 bytes"):
        HostTokens(b"short")
