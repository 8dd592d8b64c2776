"""The Manager contract, held by the one in-process and by the one over HTTP alike."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from http_place import FilmedGarage, serving
from odometer import REF, START, TAP, Garage

from screenloop.actions import Hover
from screenloop.bench.lease.faults import HandClock
from screenloop.errors import (
    ConfigError,
    DeadlinePassed,
    EnvironmentFault,
    InfraFault,
    LeaseLost,
    ScreenloopError,
    StaleFrame,
    TaskError,
    UnsupportedAction,
)
from screenloop.manager.base import Manager
from screenloop.manager.direct import DirectManager
from screenloop.store.blobs import MemoryBlobs
from screenloop.types import Claim, EnvRef, Lease


@dataclass
class Place:
    """A manager over odometers, with a clock that is set by hand."""

    manager: Manager
    garage: Garage
    pass_s: Callable[[float], None]


@pytest.fixture(params=["direct", "http"])
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    blobs = MemoryBlobs()
    garage = FilmedGarage(blobs)
    clock = HandClock()

    def pass_s(seconds: float) -> None:
        clock.at_s += seconds

    if request.param == "direct":
        manager = DirectManager(garage.open, clock=clock.now_s)
        yield Place(manager, garage, pass_s)
        await manager.close()
        return
    async with serving(tmp_path, open_instance=garage.open, clock=clock, shared=blobs) as served:
        yield Place(served.client(), garage, pass_s)


async def leased(manager: Manager, ttl_s: float = 60.0) -> Lease:
    lease = await manager.acquire(REF, "run", ttl_s=ttl_s)
    await manager.reset(lease, START, deadline_s=60)
    return lease


def operations(manager: Manager, lease: Lease) -> list[Callable[[], Awaitable[object]]]:
    return [
        lambda: manager.reset(lease, START, deadline_s=60),
        lambda: manager.observe(lease, deadline_s=60),
        lambda: manager.step(lease, "e/0/0", TAP, deadline_s=60),
        lambda: manager.evaluate(lease, Claim(), deadline_s=60),
    ]


async def test_an_episode_goes_from_lease_to_verdict(place: Place) -> None:
    spec = await place.manager.spec(REF)
    lease = await leased(place.manager)
    assert lease.spec == spec
    result = await place.manager.step(lease, "e/0/0", TAP, deadline_s=60)
    assert result.effect.ok
    assert result.observation == await place.manager.observe(lease, deadline_s=60)
    wrong = await place.manager.evaluate(lease, Claim(answer="41"), deadline_s=60)
    right = await place.manager.evaluate(lease, Claim(answer="42"), deadline_s=60)
    assert (wrong.success, right.success) == (False, True)
    await place.manager.release(lease)


async def test_holders_share_no_instance_and_released_ones_are_used_again(place: Place) -> None:
    leases = await asyncio.gather(*(leased(place.manager) for _ in range(5)))
    assert len({lease.instance for lease in leases}) == 5
    await place.manager.release(leases[0])
    again = await leased(place.manager)
    assert again.instance == leases[0].instance
    assert again.fence > leases[0].fence


async def test_released_expired_and_replaced_leases_are_refused(place: Place) -> None:
    released = await leased(place.manager)
    await place.manager.release(released)
    for operation in operations(place.manager, released):
        with pytest.raises(LeaseLost, match="released"):
            await operation()
    expired = await leased(place.manager, ttl_s=10)
    place.pass_s(10)
    for operation in operations(place.manager, expired):
        with pytest.raises(LeaseLost, match="expired"):
            await operation()
    holder = await leased(place.manager)
    assert holder.instance == expired.instance
    for operation in operations(place.manager, expired):
        with pytest.raises(LeaseLost, match="fence"):
            await operation()


async def test_use_puts_the_end_of_the_lease_ahead(place: Place) -> None:
    lease = await leased(place.manager, ttl_s=10)
    for _ in range(4):
        place.pass_s(9)
        await place.manager.observe(lease, deadline_s=60)


async def test_releasing_twice_or_late_takes_nothing_from_the_next_holder(place: Place) -> None:
    first = await leased(place.manager)
    await place.manager.release(first)
    second = await leased(place.manager)
    await place.manager.release(first)
    await place.manager.observe(second, deadline_s=60)


async def test_an_action_id_applies_once_also_when_it_comes_many_times_at_once(
    place: Place,
) -> None:
    lease = await leased(place.manager)
    results = await asyncio.gather(
        *(place.manager.step(lease, "e/0/0", TAP, deadline_s=60) for _ in range(4))
    )
    await place.manager.step(lease, "e/1/0", TAP, deadline_s=60)
    results.append(await place.manager.step(lease, "e/0/0", TAP, deadline_s=60))
    assert all(result == results[0] for result in results)
    assert place.garage.made[0].steps == 2


@pytest.mark.parametrize(
    ("failure", "seen"),
    [
        (StaleFrame("the frame is gone"), StaleFrame),
        (UnsupportedAction("no such action here"), UnsupportedAction),
        (TaskError("the task is broken"), TaskError),
    ],
)
async def test_a_refusal_comes_as_what_it_is_and_the_lease_stays(
    place: Place, failure: ScreenloopError, seen: type[ScreenloopError]
) -> None:
    lease = await leased(place.manager)
    place.garage.made[0].next_failure = failure
    with pytest.raises(seen, match=str(failure)):
        await place.manager.step(lease, "e/0/0", TAP, deadline_s=5)
    await place.manager.step(lease, "e/0/0", TAP, deadline_s=60)
    assert place.garage.made[0].steps == 1


async def test_a_failed_instance_costs_the_lease_and_is_replaced(place: Place) -> None:
    lease = await leased(place.manager)
    place.garage.made[0].next_failure = EnvironmentFault("the screen is black")
    with pytest.raises(EnvironmentFault, match="the screen is black"):
        await place.manager.step(lease, "e/0/0", TAP, deadline_s=5)
    with pytest.raises(LeaseLost, match="the screen is black"):
        await place.manager.step(lease, "e/0/0", TAP, deadline_s=5)
    assert (await leased(place.manager)).instance != lease.instance


async def test_what_hangs_past_its_deadline_is_given_up_on(place: Place) -> None:
    lease = await leased(place.manager)
    place.garage.made[0].hang = True
    with pytest.raises(DeadlinePassed, match="did not answer within"):
        await place.manager.step(lease, "e/0/0", TAP, deadline_s=0.05)
    with pytest.raises(LeaseLost):
        await place.manager.observe(lease, deadline_s=5)


async def test_an_unforeseen_failure_is_an_environment_fault(place: Place) -> None:
    lease = await leased(place.manager)
    place.garage.made[0].next_failure = RuntimeError("a bug")
    with pytest.raises(EnvironmentFault, match="RuntimeError: a bug"):
        await place.manager.step(lease, "e/0/0", Hover(at=(0.5, 0.5)), deadline_s=5)


async def test_wrong_arguments_are_refused_before_anything_happens(place: Place) -> None:
    with pytest.raises(ConfigError):
        await place.manager.acquire(REF, "run", ttl_s=-1.0)
    assert not any(odometer.steps for odometer in place.garage.made)


async def test_an_instance_that_cannot_be_started_is_no_lease(place: Place) -> None:
    await place.manager.spec(REF)
    held = [await leased(place.manager)]
    place.garage.next_open_failure = OSError("no such program")
    with pytest.raises((EnvironmentFault, InfraFault), match="no such program"):
        await place.manager.acquire(EnvRef(kind="odometer", size_px=(1, 1)), "run", ttl_s=5)
    await place.manager.observe(held[0], deadline_s=60)


async def test_a_cancelled_acquire_leaves_no_lease(place: Place) -> None:
    await place.manager.spec(REF)
    first = await place.manager.acquire(REF, "run", ttl_s=60)
    place.garage.gate.clear()
    waiting = asyncio.create_task(place.manager.acquire(REF, "run", ttl_s=60))
    await asyncio.sleep(0.05)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    place.garage.gate.set()
    await place.manager.release(first)
    again = await leased(place.manager)
    assert again.instance == first.instance
