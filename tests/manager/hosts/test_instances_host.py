"""The host in this process: fences, the ledger of action ids, readiness, failures."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence

import pytest
from odometer import REF, SIZE, START, TAP, TASK, Garage, Odometer

from screenloop.envs.base import Environment
from screenloop.envs.fake import FakeEnvironments
from screenloop.envs.fake_machine import SIZE_PX as FAKE_SIZE
from screenloop.errors import (
    ConfigError,
    DeadlinePassed,
    EnvironmentFault,
    InfraFault,
    LeaseLost,
    StaleFrame,
    TaskError,
)
from screenloop.manager.base import LeaseToken
from screenloop.manager.hosts.instances import InstanceHost
from screenloop.store.blobs import MemoryBlobs
from screenloop.types import (
    Claim,
    EnvRef,
    Evidence,
    Goal,
    Observation,
    SnapshotKey,
    Start,
    Task,
    Want,
)


def a_host(garage: Garage, *, fencing: bool = True) -> InstanceHost:
    return InstanceHost("h", garage.open, boot="b", fencing=fencing)


def grip(fence: int = 1, lease_id: str = "", instance: str = "one") -> LeaseToken:
    return LeaseToken(instance=instance, lease_id=lease_id or f"run/{fence}", fence=fence)


async def opened(garage: Garage, *, fencing: bool = True) -> InstanceHost:
    host = a_host(garage, fencing=fencing)
    await host.open("one", REF, deadline_s=60)
    await host.bind(grip(), ttl_s=60, deadline_s=60)
    await host.reset(grip(), START, deadline_s=60)
    return host


async def step(host: InstanceHost, action_id: str = "e/0/0", fence: int = 1) -> Observation:
    return (await host.step(grip(fence), action_id, TAP, deadline_s=60)).observation


# ---- opening ---------------------------------------------------------------------------------


async def test_opening_the_same_name_twice_opens_one_instance() -> None:
    garage = Garage()
    host = a_host(garage)
    specs = await asyncio.gather(*(host.open("one", REF, deadline_s=60) for _ in range(3)))
    assert len(garage.made) == 1
    assert {spec.kind for spec in specs} == {"odometer"}
    with pytest.raises(ConfigError, match="cannot be opened as odometer"):
        await host.open("one", EnvRef(kind="odometer", size_px=(1, 1)), deadline_s=5)


async def test_an_instance_is_ready_only_after_it_came_through_its_probe() -> None:
    blobs = MemoryBlobs()
    ref = EnvRef(kind="fake", size_px=FAKE_SIZE)
    probe = Start(task=Task(id="p/p@1", env=ref, goal=Goal(text="be"), checks=TASK.checks))
    host = InstanceHost("h", FakeEnvironments(blobs).open, probe=lambda _: probe)
    await host.open("one", ref, deadline_s=60)
    await host.bind(grip(), ttl_s=60, deadline_s=60)
    assert (await host.observe(grip(), deadline_s=60)).frame is not None


class Blind(Odometer):
    async def observe(self, want: Sequence[Want] = ("frame",), *, deadline_s: float) -> Observation:
        return Observation(size_px=SIZE)

    async def reset(self, start: Start | SnapshotKey, *, deadline_s: float) -> Observation:
        return Observation(size_px=SIZE)


async def test_an_instance_that_shows_no_frame_is_not_ready_and_the_name_stays_free() -> None:
    made: list[Odometer] = []

    async def open_next(ref: EnvRef) -> Environment:
        made.append(Blind() if not made else Odometer())
        return made[-1]

    host = InstanceHost("h", open_next, probe=lambda _: START)
    with pytest.raises(EnvironmentFault, match="shows no frame after its first reset"):
        await host.open("one", REF, deadline_s=5)
    assert made[0].closed == 1
    await host.open("one", REF, deadline_s=60)
    assert [one.state for one in (await host.report(deadline_s=60)).instances] == ["ready"]


async def test_an_instance_that_is_not_ready_in_time_is_closed() -> None:
    garage = Garage()
    started = asyncio.Event()

    async def open_slowly(ref: EnvRef) -> Environment:
        env = await garage.open(ref)
        started.set()
        garage.made[0].hang = True
        return env

    host = InstanceHost("h", open_slowly, probe=lambda _: START)
    with pytest.raises(DeadlinePassed, match="one was not ready within"):
        await host.open("one", REF, deadline_s=0.01)
    assert garage.made[0].closed == 1
    assert (await host.report(deadline_s=60)).instances == ()


async def test_a_host_that_closes_while_an_instance_opens_closes_that_too() -> None:
    garage = Garage()
    go_on = asyncio.Event()

    async def open_late(ref: EnvRef) -> Environment:
        await go_on.wait()
        return await garage.open(ref)

    host = InstanceHost("h", open_late)
    opening = asyncio.create_task(host.open("one", REF, deadline_s=60))
    await asyncio.sleep(0)
    await host.close()
    go_on.set()
    with pytest.raises(InfraFault, match="while it was opening"):
        await opening
    assert garage.made[0].closed == 1
    with pytest.raises(InfraFault, match="is closed"):
        await host.open("two", REF, deadline_s=5)


# ---- fences ----------------------------------------------------------------------------------


async def test_a_stale_fence_is_refused_from_the_moment_a_newer_one_is_bound() -> None:
    garage = Garage()
    host = await opened(garage)
    await host.bind(grip(2), ttl_s=60, deadline_s=60)
    with pytest.raises(LeaseLost, match="run/1 shows fence 1, but one is at fence 2"):
        await step(host)
    with pytest.raises(LeaseLost, match="at fence 2"):
        await host.bind(grip(1), ttl_s=60, deadline_s=5)
    assert garage.made[0].steps == 0


async def test_binding_the_same_fence_again_is_harmless_but_not_for_another_lease() -> None:
    garage = Garage()
    host = await opened(garage)
    first = await step(host)
    await host.bind(grip(), ttl_s=60, deadline_s=60)
    assert await step(host) == first
    with pytest.raises(LeaseLost, match="fence 1 of lease run/thief cannot be put in force"):
        await host.bind(grip(1, "run/thief"), ttl_s=60, deadline_s=5)
    with pytest.raises(LeaseLost):
        await host.step(grip(1, "run/thief"), "e/1/0", TAP, deadline_s=5)
    assert garage.made[0].steps == 1


async def test_a_new_fence_waits_for_the_operation_under_way_and_shuts_out_those_in_line() -> None:
    garage = Garage()
    host = await opened(garage)
    odometer = garage.made[0]
    odometer.hold.clear()
    odometer.entered.clear()
    under_way = asyncio.create_task(step(host, "e/0/0"))
    await odometer.entered.wait()
    in_line = asyncio.create_task(step(host, "e/1/0"))
    await asyncio.sleep(0)
    binding = asyncio.create_task(host.bind(grip(2), ttl_s=60, deadline_s=60))
    await asyncio.sleep(0)
    assert not binding.done()
    odometer.hold.set()
    await under_way
    await binding
    with pytest.raises(LeaseLost, match="at fence 2"):
        await in_line
    assert odometer.steps == 1


async def test_an_operation_that_does_not_end_keeps_the_next_holder_waiting_in_vain() -> None:
    garage = Garage()
    host = await opened(garage)
    garage.made[0].hold.clear()
    garage.made[0].entered.clear()
    under_way = asyncio.create_task(step(host))
    await garage.made[0].entered.wait()
    with pytest.raises(DeadlinePassed, match="an operation on one did not end"):
        await host.bind(grip(2), ttl_s=60, deadline_s=0.01)
    garage.made[0].hold.set()
    await under_way


async def test_taking_a_lease_over_does_not_wait_for_its_own_operation() -> None:
    garage = Garage()
    host = await opened(garage)
    garage.made[0].hold.clear()
    garage.made[0].entered.clear()
    under_way = asyncio.create_task(step(host))
    await garage.made[0].entered.wait()
    await host.bind(grip(1), ttl_s=60, deadline_s=60)
    garage.made[0].hold.set()
    await under_way


async def test_without_fencing_a_late_worker_acts() -> None:
    garage = Garage()
    host = await opened(garage, fencing=False)
    await host.bind(grip(2), ttl_s=60, deadline_s=60)
    await step(host)
    assert garage.made[0].steps == 1


# ---- the ledger ------------------------------------------------------------------------------


async def test_the_second_of_two_equal_steps_waits_for_the_first_and_gets_its_result() -> None:
    garage = Garage()
    host = await opened(garage)
    odometer = garage.made[0]
    odometer.hold.clear()
    odometer.entered.clear()
    first = asyncio.create_task(step(host))
    await odometer.entered.wait()
    second = asyncio.create_task(step(host))
    await asyncio.sleep(0)
    odometer.hold.set()
    assert await first == await second
    assert odometer.steps == 1


async def test_a_step_from_before_the_reset_is_not_carried_out_again() -> None:
    garage = Garage()
    host = await opened(garage)
    await step(host, "e/0/0")
    await host.reset(grip(), START, deadline_s=60)
    with pytest.raises(ConfigError, match="action id 'e/0/0' was used on one before the last"):
        await step(host, "e/0/0")
    assert garage.made[0].steps == 0
    await step(host, "e/1/0")


async def test_the_next_fence_knows_nothing_of_the_last_ones_steps_or_task() -> None:
    garage = Garage()
    host = await opened(garage)
    await step(host, "e/0/0")
    await host.bind(grip(2), ttl_s=60, deadline_s=60)
    with pytest.raises(TaskError, match="nothing to evaluate"):
        await host.evaluate(grip(2), Claim(), deadline_s=5)
    await step(host, "e/0/0", fence=2)
    assert garage.made[0].steps == 2


async def test_a_refused_step_is_not_kept() -> None:
    garage = Garage()
    host = await opened(garage)
    garage.made[0].next_failure = StaleFrame("the frame is gone")
    with pytest.raises(StaleFrame):
        await step(host)
    await step(host)
    assert garage.made[0].steps == 1


# ---- failures --------------------------------------------------------------------------------


@pytest.mark.parametrize("failure", [EnvironmentFault("black"), RuntimeError("bug")])
async def test_a_failed_instance_is_closed_and_says_why_ever_after(failure: Exception) -> None:
    garage = Garage()
    host = await opened(garage)
    garage.made[0].next_failure = failure
    with pytest.raises(EnvironmentFault):
        await step(host)
    assert garage.made[0].closed == 1
    with pytest.raises(LeaseLost, match="instance one failed or was closed: step: "):
        await step(host, "e/1/0")
    with pytest.raises(LeaseLost, match="failed or was closed"):
        await host.bind(grip(2), ttl_s=60, deadline_s=5)
    report = await host.report(deadline_s=60)
    assert [(one.state, one.fence) for one in report.instances] == [("failed", 1)]
    assert str(failure) in report.instances[0].reason
    await host.shut("one", deadline_s=60)
    assert (await host.report(deadline_s=60)).instances == ()


async def test_one_that_waited_longer_than_its_deadline_costs_nobody_the_instance() -> None:
    garage = Garage()
    host = await opened(garage)
    garage.made[0].hold.clear()
    garage.made[0].entered.clear()
    first = asyncio.create_task(step(host, "e/0/0"))
    await garage.made[0].entered.wait()
    with pytest.raises(DeadlinePassed, match="step on one did not answer within"):
        await host.step(grip(), "e/1/0", TAP, deadline_s=0.01)
    garage.made[0].hold.set()
    await first
    await step(host, "e/2/0")
    assert garage.made[0].steps == 2


class Unjudgeable(Odometer):
    async def evidence(self, *, deadline_s: float) -> Evidence:
        return Evidence(before={}, after=7)  # type: ignore[arg-type]


async def test_a_verifier_that_crashes_is_the_tasks_fault_and_costs_no_instance() -> None:
    async def open_it(ref: EnvRef) -> Environment:
        return Unjudgeable()

    host = InstanceHost("h", open_it)
    await host.open("one", REF, deadline_s=60)
    await host.bind(grip(), ttl_s=60, deadline_s=60)
    await host.reset(grip(), START, deadline_s=60)
    with pytest.raises(TaskError, match=r"the verifier of s/t@1#0 crashed: TypeError"):
        await host.evaluate(grip(), Claim(answer="42"), deadline_s=5)
    await step(host)


async def test_shutting_what_is_not_there_is_harmless() -> None:
    host = await opened(Garage())
    await host.shut("none", deadline_s=60)
    await host.shut("one", deadline_s=60)
    await host.shut("one", deadline_s=60)
    with pytest.raises(LeaseLost, match="instance one failed or was closed"):
        await step(host)


async def test_a_report_tells_what_each_instance_has_been_through() -> None:
    garage = Garage()
    host = await opened(garage)
    await host.open("two", REF, deadline_s=60)
    await host.reset(grip(), START, deadline_s=60)
    one, two = (await host.report(deadline_s=60)).instances
    assert (one.instance, one.env, one.state, one.fence, one.episodes) == (
        "one",
        REF,
        "ready",
        1,
        2,
    )
    assert (two.fence, two.episodes) == (0, 0)


async def test_an_instance_costs_the_host_little_memory() -> None:
    host = InstanceHost("h", Garage().open)
    before = sys.getallocatedblocks()
    for number in range(500):
        await host.open(f"phone-{number}", REF, deadline_s=60)
    # Odometers included; a block is at most 512 bytes.
    assert (sys.getallocatedblocks() - before) / 500 < 60
