"""The manager over a table, a journal and a supply: leases, requests, failures, deadlines."""

from __future__ import annotations

import asyncio

import pytest
from odometer import REF, START, TAP
from served import Served

from screenloop.errors import (
    Busy,
    ConfigError,
    DeadlinePassed,
    EnvironmentFault,
    InfraFault,
    LeaseLost,
    StaleFrame,
    TaskError,
)
from screenloop.types import Claim

ENVIRONMENT = EnvironmentFault("screen black")


# ---- leases ----------------------------------------------------------------------------------


async def test_leases_are_exclusive_and_their_ids_are_not_guessable() -> None:
    served = Served()
    leases = await asyncio.gather(*(served.lease() for _ in range(5)))
    assert len({lease.instance for lease in leases}) == 5
    assert all(len(lease.id.partition("/")[2]) == 24 for lease in leases)
    assert all(lease.id.startswith("run/") for lease in leases)


async def test_the_same_request_is_answered_with_the_same_lease() -> None:
    served = Served()
    together = await asyncio.gather(*(served.lease(request_id="r") for _ in range(4)))
    later = await served.lease(request_id="r")
    assert len({lease.id for lease in (*together, later)}) == 1
    assert len(served.garage.made) == 1
    assert (await served.lease(request_id="other")).id != later.id


async def test_a_request_id_is_not_used_for_another_request() -> None:
    served = Served()
    await served.lease(request_id="r")
    with pytest.raises(ConfigError, match="used for another request"):
        await served.service.acquire(REF, "another run", ttl_s=60, request_id="r")


async def test_a_request_whose_lease_is_over_is_told_so_instead_of_given_another() -> None:
    served = Served()
    await served.service.release(await served.lease(request_id="r"))
    with pytest.raises(LeaseLost, match=r"answered with lease .* it was released"):
        await served.lease(request_id="r")


async def test_a_request_withdrawn_while_the_host_is_told_costs_no_instance() -> None:
    served = Served()
    served.wire.bound.clear()
    asked = asyncio.create_task(served.lease(request_id="r"))
    while not served.wire.binding:
        await asyncio.sleep(0)
    withdrawn = asyncio.create_task(served.service.withdraw("r"))
    await asyncio.sleep(0)
    served.wire.bound.set()
    await withdrawn
    with pytest.raises(InfraFault, match="withdrawn"):
        await asked
    for _ in range(50):
        # Giving the instance back goes on by itself.
        await asyncio.sleep(0)
    again = await served.lease()
    assert len(served.garage.made) == 1
    await served.step(again)
    assert served.garage.made[0].steps == 1


async def test_a_time_to_live_that_is_no_time_is_refused() -> None:
    with pytest.raises(ConfigError, match="above 0 s"):
        await Served().lease(ttl_s=0)


async def test_a_silent_holder_loses_the_lease_and_is_shut_out_at_the_host_as_well() -> None:
    served = Served()
    lease = await served.lease(ttl_s=10)
    served.clock.at_s = 10
    await served.service.sweep()
    for _ in range(2):
        with pytest.raises(LeaseLost, match="expired"):
            await served.step(lease)
    with pytest.raises(LeaseLost, match="is at fence 2"):
        await served.host.step(served.grip(lease), "e/0/0", TAP, deadline_s=5)
    assert served.garage.made[0].steps == 0


async def test_use_renews_and_so_does_use_that_only_the_host_saw() -> None:
    served = Served()
    lease = await served.lease(ttl_s=10)
    for _ in range(3):
        served.clock.at_s += 9
        await served.service.observe(lease, deadline_s=60)
    served.clock.at_s += 9
    served.service.instance_used(lease.instance, lease.fence, idle_s=1)
    served.clock.at_s += 8
    await served.service.sweep()
    await served.step(lease)


async def test_releasing_twice_or_after_expiry_takes_nothing_from_the_next_holder() -> None:
    served = Served()
    first = await served.lease(ttl_s=10)
    served.clock.at_s = 10
    second = await served.lease()
    assert second.instance == first.instance
    await served.service.release(first)
    await served.service.release(first)
    await served.step(second)
    await served.service.release(second)
    await served.service.release(second)
    assert served.service.status().leases == 0


async def test_a_revoked_lease_says_why() -> None:
    served = Served()
    lease = await served.lease()
    await served.service.instances_lost([lease.instance, "unknown"], "host h-3 is gone: evicted")
    with pytest.raises(LeaseLost, match="is over: host h-3 is gone: evicted"):
        await served.step(lease)
    assert (await served.journal.load()).leases == ()


async def test_the_watch_ends_expired_leases_by_itself() -> None:
    served = Served()
    lease = await served.lease(ttl_s=10)
    watching = asyncio.create_task(served.service.watch())
    served.clock.at_s = 11
    while served.service.status().leases:
        await asyncio.sleep(0)
    watching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await watching
    await served.settled()
    assert (await served.lease()).instance == lease.instance


# ---- acquiring -------------------------------------------------------------------------------


async def test_a_caller_that_goes_away_leaves_no_lease_behind() -> None:
    served = Served()
    served.wire.bound.clear()
    acquiring = asyncio.create_task(served.lease())
    while not served.wire.binding:
        await asyncio.sleep(0)
    acquiring.cancel()
    with pytest.raises(asyncio.CancelledError):
        await acquiring
    served.wire.bound.set()
    await served.settled()
    status = served.service.status()
    assert (status.leases, status.acquiring) == (0, 0)
    assert (await served.journal.load()).leases == ()


async def test_one_caller_that_goes_away_does_not_cost_the_other_the_lease() -> None:
    served = Served()
    served.wire.bound.clear()
    one = asyncio.create_task(served.lease(request_id="r"))
    other = asyncio.create_task(served.lease(request_id="r"))
    while not served.wire.binding:
        await asyncio.sleep(0)
    one.cancel()
    served.wire.bound.set()
    await served.step(await other)


async def test_an_instance_whose_host_refuses_the_fence_is_replaced_by_another() -> None:
    served = Served()
    first = await served.lease()
    await served.service.release(first)
    await served.host.shut(first.instance, deadline_s=60)
    second = await served.lease()
    assert second.instance != first.instance
    await served.step(second)


async def test_a_draining_manager_grants_nothing_more_and_waits_for_its_holders() -> None:
    served = Served()
    lease = await served.lease(ttl_s=10)
    assert await served.service.drain(deadline_s=0) == 1
    with pytest.raises(Busy, match="draining") as refused:
        await served.lease()
    assert refused.value.retry_after_s > 0
    await served.step(lease)
    draining = asyncio.create_task(served.service.drain(deadline_s=100))
    await asyncio.sleep(0)
    await served.service.release(lease)
    assert await draining == 0


async def test_closing_while_an_instance_opens_is_an_infrastructure_failure() -> None:
    served = Served()
    served.garage.gate.clear()
    acquiring = asyncio.create_task(served.lease())
    await asyncio.sleep(0.01)
    await served.service.close()
    served.garage.gate.set()
    with pytest.raises(InfraFault, match="closed"):
        await acquiring
    with pytest.raises(InfraFault, match="closed"):
        await served.lease()


# ---- operations ------------------------------------------------------------------------------


async def test_a_step_sent_twice_at_once_is_carried_out_once() -> None:
    served = Served()
    lease = await served.lease()
    results = await asyncio.gather(*(served.step(lease) for _ in range(4)))
    assert len(set(results)) == 1
    assert served.garage.made[0].steps == 1
    assert (await served.journal.load()).intents == ()


@pytest.mark.parametrize("lost", ["lose", "hold"])
async def test_a_lost_message_is_asked_for_again_and_the_step_carried_out_once(lost: str) -> None:
    served = Served()
    lease = await served.lease()
    setattr(served.faults, lost, 2)
    first = await served.step(lease)
    served.faults.deliver()
    assert await served.step(lease) == first
    assert served.garage.made[0].steps == 1


async def test_a_host_out_of_reach_is_infrastructure_and_the_lease_stays() -> None:
    served = Served()
    lease = await served.lease()
    served.faults.hold = 100
    with pytest.raises(InfraFault, match="step on odometer-1: the request is stuck") as failed:
        await served.step(lease)
    assert type(failed.value) is InfraFault
    served.faults.hold = 0
    first = await served.step(lease)
    served.faults.deliver()
    assert await served.step(lease) == first
    assert served.garage.made[0].steps == 1


async def test_a_lease_that_ends_while_its_host_is_out_of_reach_is_not_asked_for_again() -> None:
    served = Served()
    lease = await served.lease()
    served.faults.hold = 3
    stepping = asyncio.create_task(served.step(lease))
    await asyncio.sleep(0)
    await served.service.instances_lost([lease.instance], "host h is gone: killed")
    with pytest.raises(LeaseLost, match="host h is gone: killed"):
        await stepping
    assert served.faults.hold > 0


@pytest.mark.parametrize("failure", [ENVIRONMENT, InfraFault("disk full"), RuntimeError("bug")])
async def test_a_failed_instance_is_never_used_again(failure: Exception) -> None:
    served = Served()
    lease = await served.lease()
    served.garage.made[0].next_failure = failure
    with pytest.raises((EnvironmentFault, InfraFault)):
        await served.step(lease)
    with pytest.raises(LeaseLost, match=r"is over: odometer-1 failed or was closed: step: "):
        await served.step(lease)
    assert served.garage.made[0].closed == 1
    assert (await served.lease()).instance != lease.instance
    assert lease.instance not in {one.instance for one in (await served.journal.load()).free}


@pytest.mark.parametrize("refusal", [StaleFrame("gone"), TaskError("bad"), ConfigError("wrong")])
async def test_a_refusal_leaves_lease_and_instance_as_they_were(refusal: Exception) -> None:
    served = Served()
    lease = await served.lease()
    served.garage.made[0].next_failure = refusal
    with pytest.raises(type(refusal)):
        await served.step(lease)
    await served.step(lease)
    assert served.garage.made[0].steps == 1
    assert (await served.journal.load()).intents == ()


async def test_a_missed_deadline_retires_the_instance() -> None:
    served = Served()
    lease = await served.lease()
    served.garage.made[0].hang = True
    with pytest.raises(DeadlinePassed, match="step on odometer-1 did not answer within"):
        await served.step(lease, deadline_s=0.01)
    assert served.garage.made[0].closed == 1
    with pytest.raises(LeaseLost, match="DeadlinePassed"):
        await served.step(lease)


async def test_a_host_that_says_nothing_past_the_deadline_is_given_up_on() -> None:
    served = Served()
    lease = await served.lease()
    served.wire.answers.clear()
    with pytest.raises(DeadlinePassed, match="observe on odometer-1 did not answer within"):
        await served.service.observe(lease, deadline_s=0.01)
    served.wire.answers.set()
    assert served.service.status().leases == 0


async def test_one_that_waits_for_its_turn_past_its_deadline_costs_nobody_the_lease() -> None:
    served = Served()
    lease = await served.lease()
    odometer = served.garage.made[0]
    odometer.hold.clear()
    first = asyncio.create_task(served.step(lease, "e/0/0"))
    await asyncio.sleep(0)
    with pytest.raises(DeadlinePassed, match="did not get its turn"):
        await served.step(lease, "e/1/0", deadline_s=0.01)
    odometer.hold.set()
    await first
    await served.step(lease, "e/2/0")
    assert odometer.steps == 2


async def test_operations_of_a_lease_are_carried_out_in_the_order_they_came() -> None:
    served = Served()
    lease = await served.lease()
    await asyncio.gather(
        *(served.step(lease, f"e/{n}/0") for n in range(5)),
        served.service.reset(lease, START, deadline_s=60),
    )
    assert served.garage.made[0].steps == 0


async def test_evaluating_judges_at_the_host_and_does_not_end_anything() -> None:
    served = Served()
    lease = await served.lease()
    with pytest.raises(TaskError, match="nothing to evaluate"):
        await served.service.evaluate(lease, Claim(answer="42"), deadline_s=5)
    await served.service.reset(lease, START, deadline_s=60)
    verdict = await served.service.evaluate(lease, Claim(answer="42"), deadline_s=60)
    assert verdict.success
    await served.step(lease)


# ---- the journal fails -----------------------------------------------------------------------


async def test_a_full_disk_refuses_grants_and_steps_and_passes() -> None:
    served = Served()
    lease = await served.lease()
    served.faults.full = 1
    with pytest.raises(InfraFault, match="disk is full"):
        await served.step(lease)
    assert served.garage.made[0].steps == 0
    served.faults.full = 1
    with pytest.raises(InfraFault, match="disk is full"):
        await served.lease()
    await served.step(lease)
    await served.lease()
    assert served.garage.made[0].steps == 1


async def test_an_end_that_could_not_be_written_is_written_later() -> None:
    served = Served()
    lease = await served.lease()
    served.faults.full = 1
    await served.service.release(lease)
    assert len((await served.journal.load()).leases) == 1
    with pytest.raises(LeaseLost):
        await served.step(lease)
    await served.service.sweep()
    assert (await served.journal.load()).leases == ()


async def test_a_settlement_that_could_not_be_written_costs_no_answer() -> None:
    served = Served()
    lease = await served.lease()
    stepping = asyncio.create_task(served.step(lease))
    while not served.garage.made[0].steps:
        await asyncio.sleep(0)
    served.faults.full = 1
    await stepping
    assert len((await served.journal.load()).intents) == 1
    assert await served.step(lease) == await stepping
    assert (await served.journal.load()).intents == ()


async def test_an_instance_that_cannot_be_started_is_an_environment_fault() -> None:
    served = Served()
    served.garage.next_open_failure = OSError("no such program")
    with pytest.raises(EnvironmentFault, match="no odometer Instance could be opened"):
        await served.service.acquire(REF, "run", ttl_s=5)
