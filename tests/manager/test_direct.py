"""The Manager in the caller's own process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from odometer import REF, START, TAP, Garage

from screenloop.actions import Wait
from screenloop.envs.base import Environment
from screenloop.errors import (
    DeadlinePassed,
    EnvironmentFault,
    InfraFault,
    LeaseLost,
    StaleFrame,
    TaskError,
    UnsupportedAction,
)
from screenloop.manager.direct import DirectManager
from screenloop.types import (
    Claim,
    EnvRef,
    Lease,
)


async def leased(manager: DirectManager, ttl_s: float = 60.0) -> Lease:
    lease = await manager.acquire(REF, "run", ttl_s=ttl_s)
    await manager.reset(lease, START, deadline_s=60)
    return lease


async def test_an_instance_is_reused_after_release_and_its_fence_grows() -> None:
    garage = Garage()
    manager = garage.manager()
    first = await leased(manager)
    await manager.release(first)
    second = await leased(manager)
    assert second.instance == first.instance
    assert second.fence > first.fence
    assert len(garage.made) == 1


async def test_two_holders_get_two_instances() -> None:
    garage = Garage()
    manager = garage.manager()
    leases = await asyncio.gather(*(leased(manager) for _ in range(5)))
    assert len({lease.instance for lease in leases}) == 5


async def test_sizes_are_not_mixed() -> None:
    garage = Garage()
    manager = garage.manager()
    await manager.release(await leased(manager))
    other = await manager.acquire(EnvRef(kind="odometer", size_px=(9, 9)), "run", ttl_s=60)
    assert other.instance != "odometer-1"


async def test_the_spec_is_known_before_any_lease_and_opens_no_second_instance() -> None:
    garage = Garage()
    manager = garage.manager()
    assert (await manager.spec(REF)).kind == "odometer"
    await manager.spec(REF)
    await leased(manager)
    assert len(garage.made) == 1


async def operations(manager: DirectManager, lease: Lease) -> list[Callable[[], Awaitable[object]]]:
    return [
        lambda: manager.reset(lease, START, deadline_s=60),
        lambda: manager.observe(lease, deadline_s=60),
        lambda: manager.step(lease, "e/0/0", TAP, deadline_s=60),
        lambda: manager.evaluate(lease, Claim(), deadline_s=60),
    ]


async def test_a_released_an_expired_and_a_replaced_lease_are_refused() -> None:
    garage = Garage()
    manager = garage.manager()
    released = await leased(manager)
    await manager.release(released)
    for operation in await operations(manager, released):
        with pytest.raises(LeaseLost, match="released"):
            await operation()
    expired = await leased(manager, ttl_s=10)
    garage.now_s += 10
    for operation in await operations(manager, expired):
        with pytest.raises(LeaseLost, match="expired"):
            await operation()
    await leased(manager)
    for operation in await operations(manager, expired):
        with pytest.raises(LeaseLost, match="fence"):
            await operation()
    assert len(garage.made) == 1


async def test_each_operation_puts_the_end_of_the_lease_ahead() -> None:
    garage = Garage()
    manager = garage.manager()
    lease = await leased(manager, ttl_s=10)
    for _ in range(5):
        garage.now_s += 9
        await manager.observe(lease, deadline_s=60)


async def test_releasing_twice_or_late_takes_nothing_from_the_next_holder() -> None:
    garage = Garage()
    manager = garage.manager()
    first = await leased(manager)
    await manager.release(first)
    second = await leased(manager)
    await manager.release(first)
    await manager.observe(second, deadline_s=60)


async def test_a_repeated_action_id_applies_once_and_returns_the_first_result() -> None:
    garage = Garage()
    manager = garage.manager()
    lease = await leased(manager)
    first = await manager.step(lease, "e/0/0", TAP, deadline_s=60)
    await manager.step(lease, "e/1/0", TAP, deadline_s=60)
    again = await manager.step(lease, "e/0/0", TAP, deadline_s=60)
    assert again == first
    assert garage.made[0].steps == 2


async def test_the_same_action_id_sent_twice_at_once_applies_once() -> None:
    garage = Garage()
    manager = garage.manager()
    lease = await leased(manager)
    results = await asyncio.gather(
        *(manager.step(lease, "e/0/0", TAP, deadline_s=60) for _ in range(4))
    )
    assert len(set(results)) == 1
    assert garage.made[0].steps == 1


async def test_the_next_lease_remembers_no_action_ids() -> None:
    garage = Garage()
    manager = garage.manager()
    lease = await leased(manager)
    await manager.step(lease, "e/0/0", TAP, deadline_s=60)
    await manager.release(lease)
    lease = await leased(manager)
    await manager.step(lease, "e/0/0", TAP, deadline_s=60)
    assert garage.made[0].steps == 1


@pytest.mark.parametrize(
    "failure",
    [
        EnvironmentFault("screen black"),
        InfraFault("disk full"),
        RuntimeError("bug"),
        TimeoutError(),
    ],
)
async def test_a_failed_instance_is_closed_and_never_reused(failure: Exception) -> None:
    garage = Garage()
    manager = garage.manager()
    lease = await leased(manager)
    garage.made[0].next_failure = failure
    expected = type(failure) if isinstance(failure, InfraFault) else EnvironmentFault
    with pytest.raises(expected):
        await manager.step(lease, "e/0/0", TAP, deadline_s=5)
    assert garage.made[0].closed == 1
    with pytest.raises(LeaseLost, match="failed or was closed"):
        await manager.observe(lease, deadline_s=5)
    await manager.release(lease)
    assert (await leased(manager)).instance != lease.instance


@pytest.mark.parametrize("refusal", [UnsupportedAction("no pinch"), StaleFrame("frame is gone")])
async def test_a_refused_action_leaves_the_instance_in_use(refusal: Exception) -> None:
    garage = Garage()
    manager = garage.manager()
    lease = await leased(manager)
    garage.made[0].next_failure = refusal
    with pytest.raises(type(refusal)):
        await manager.step(lease, "e/0/0", TAP, deadline_s=5)
    await manager.step(lease, "e/0/1", TAP, deadline_s=60)
    assert garage.made[0].closed == 0


async def test_a_missed_deadline_retires_the_instance() -> None:
    garage = Garage()
    manager = garage.manager()
    lease = await leased(manager)
    garage.made[0].hang = True
    with pytest.raises(DeadlinePassed, match="step on odometer-1 did not answer within"):
        await manager.step(lease, "e/0/0", Wait(), deadline_s=0.01)
    assert garage.made[0].closed == 1


async def test_a_cancelled_operation_retires_the_instance() -> None:
    garage = Garage()
    manager = garage.manager()
    lease = await leased(manager)
    garage.made[0].hang = True
    garage.made[0].entered.clear()
    task = asyncio.create_task(manager.step(lease, "e/0/0", TAP, deadline_s=60))
    await garage.made[0].entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert garage.made[0].closed == 1


async def test_an_expired_lease_with_work_in_hand_does_not_free_its_instance() -> None:
    garage = Garage()
    manager = garage.manager()
    lease = await leased(manager, ttl_s=10)
    garage.made[0].hang = True
    garage.made[0].entered.clear()
    task = asyncio.create_task(manager.step(lease, "e/0/0", TAP, deadline_s=60))
    await garage.made[0].entered.wait()
    garage.now_s += 11
    assert (await leased(manager)).instance != lease.instance
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_evaluating_judges_the_task_of_the_last_reset_and_does_not_end_anything() -> None:
    manager = Garage().manager()
    lease = await leased(manager)
    wrong = await manager.evaluate(lease, Claim(answer="41"), deadline_s=60)
    right = await manager.evaluate(lease, Claim(answer="42"), deadline_s=60)
    assert (wrong.success, right.success) == (False, True)
    await manager.step(lease, "e/0/0", TAP, deadline_s=60)


async def test_evaluating_before_a_reset_is_a_task_error() -> None:
    manager = Garage().manager()
    await manager.release(await leased(manager))
    lease = await manager.acquire(REF, "run", ttl_s=60)
    with pytest.raises(TaskError, match="nothing to evaluate"):
        await manager.evaluate(lease, Claim(), deadline_s=5)


async def test_an_instance_that_cannot_be_opened_is_an_environment_fault() -> None:
    async def broken(ref: EnvRef) -> Environment:
        raise OSError("no such program")

    with pytest.raises(EnvironmentFault, match=r"no odometer Instance could be opened.*no such"):
        await DirectManager(broken).acquire(REF, "run", ttl_s=60)


async def test_closing_the_manager_closes_every_instance() -> None:
    garage = Garage()
    manager = garage.manager()
    lease = await leased(manager)
    await leased(manager)
    await manager.close()
    assert [env.closed for env in garage.made] == [1, 1]
    with pytest.raises(LeaseLost):
        await manager.observe(lease, deadline_s=5)
