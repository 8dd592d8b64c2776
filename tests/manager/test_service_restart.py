"""A manager that dies and the one that follows it, over hosts that live on."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import msgspec
import pytest
from odometer import START
from served import Served

from screenloop.bench.lease.faults import ManagerDied
from screenloop.errors import EnvironmentFault, InfraFault, LeaseLost
from screenloop.manager.leases.recovery import Recovery
from screenloop.types import Claim, Lease

T = TypeVar("T")


async def restarted(served: Served) -> Recovery:
    await served.kill_manager()
    return await served.service.start()


async def sent_until_answered(served: Served, operation: Callable[[], Awaitable[T]]) -> T:
    """Send a message as a client does: the same one again, to the next manager."""
    while True:
        life = served.life
        try:
            answer = await operation()
        except ManagerDied:
            pass
        else:
            if not life.dead:
                return answer
        await restarted(served)


@pytest.mark.parametrize("calls", range(26))
async def test_a_crash_at_any_call_loses_nothing_and_does_nothing_twice(
    calls: int, tmp_path: Path
) -> None:
    served = Served(journal=tmp_path / "j.db")
    served.life.calls_left = calls
    lease = await sent_until_answered(served, lambda: served.lease(request_id="r"))
    first = await sent_until_answered(served, lambda: served.step(lease, "e/0/0"))
    second = await sent_until_answered(served, lambda: served.step(lease, "e/1/0"))
    assert await sent_until_answered(served, lambda: served.step(lease, "e/0/0")) == first
    assert await sent_until_answered(served, lambda: served.step(lease, "e/1/0")) == second
    await sent_until_answered(served, lambda: served.service.release(lease))
    await sent_until_answered(served, lambda: served.service.release(lease))
    instance = int(lease.instance.rpartition("-")[2])
    assert sum(one.steps for one in served.garage.made) == 2
    assert len(served.garage.made) == instance
    with pytest.raises(LeaseLost):
        await served.step(lease, "e/2/0")
    after = await served.lease()
    assert after.instance == lease.instance
    assert after.fence > lease.fence
    await served.journal.close()


async def test_a_restarted_manager_takes_leases_over_with_their_whole_time(tmp_path: Path) -> None:
    served = Served(journal=tmp_path / "j.db")
    lease = await served.lease(ttl_s=10)
    await served.service.reset(lease, START, deadline_s=60)
    first = await served.step(lease)
    served.clock.at_s = 9
    recovery = await restarted(served)
    assert recovery == Recovery(leases=(lease.id,), revoked=(), asked_again=0)
    served.clock.at_s = 18
    await served.service.sweep()
    assert await served.step(lease) == first
    assert (await served.service.evaluate(lease, Claim(answer="42"), deadline_s=60)).success
    assert served.garage.made[0].steps == 1
    await served.journal.close()


async def test_a_step_that_the_manager_died_over_is_asked_for_again_once(tmp_path: Path) -> None:
    served = Served(journal=tmp_path / "j.db")
    lease = await served.lease()
    served.wire.answers.clear()
    stepping = asyncio.create_task(served.step(lease))
    while not served.garage.made[0].steps:
        await asyncio.sleep(0)
    dead = served.wire
    recovery = await restarted(served)
    assert recovery.asked_again == 1
    await served.settled()
    dead.answers.set()
    with pytest.raises(ManagerDied):
        await stepping
    await served.step(lease)
    assert served.garage.made[0].steps == 1
    assert (await served.journal.load()).intents == ()
    await served.journal.close()


async def test_a_step_that_was_only_intended_is_carried_out_by_the_successor() -> None:
    served = Served()
    lease = await served.lease()
    # Through the journal twice and into the wire: dead before the host is asked.
    served.life.calls_left = 3
    with pytest.raises(ManagerDied):
        await served.step(lease)
    assert served.garage.made[0].steps == 0
    assert (await restarted(served)).asked_again == 1
    await served.settled()
    assert served.garage.made[0].steps == 1
    await served.step(lease)
    assert served.garage.made[0].steps == 1


async def test_leases_on_a_host_that_is_gone_are_revoked_with_the_reason(tmp_path: Path) -> None:
    served = Served(journal=tmp_path / "j.db")
    lease = await served.lease()
    await served.step(lease)
    served.replace_host()
    recovery = await restarted(served)
    assert recovery.leases == ()
    assert [(one.lease_id, one.instance) for one in recovery.revoked] == [
        (lease.id, lease.instance)
    ]
    with pytest.raises(InfraFault, match="no longer open on host h") as lost:
        await served.step(lease)
    assert lost.value.retry
    assert sum(one.steps for one in served.garage.made) == 1
    again = await served.lease()
    assert again.instance != lease.instance
    await served.step(again)
    await served.journal.close()


async def test_an_instance_that_failed_while_no_manager_lived_is_not_taken_over() -> None:
    served = Served()
    lease = await served.lease()
    served.garage.made[0].next_failure = RuntimeError("bug")
    served.life.dead = True
    with pytest.raises(EnvironmentFault):
        await served.host.observe(served.grip(lease), deadline_s=5)
    recovery = await restarted(served)
    assert [one.lease_id for one in recovery.revoked] == [lease.id]
    with pytest.raises(LeaseLost, match="is over"):
        await served.step(lease)


async def test_a_lease_whose_host_knows_a_newer_fence_is_revoked() -> None:
    served = Served()
    lease = await served.lease()
    newer = msgspec.structs.replace(served.grip(lease), fence=9, lease_id="run/other")
    await served.host.bind(newer, ttl_s=60, deadline_s=60)
    recovery = await restarted(served)
    assert "at fence 9" in recovery.revoked[0].reason


async def test_fences_go_on_growing_after_a_restart(tmp_path: Path) -> None:
    served = Served(journal=tmp_path / "j.db")
    fences: list[int] = []
    for _ in range(4):
        lease = await served.lease()
        fences.append(lease.fence)
        await served.service.release(lease)
        await restarted(served)
    assert fences == sorted(set(fences))
    assert len(served.garage.made) == 1
    await served.journal.close()


async def test_a_request_is_answered_with_the_same_lease_by_the_next_manager() -> None:
    served = Served()
    lease = await served.lease(request_id="r")
    await restarted(served)
    assert (await served.lease(request_id="r")).id == lease.id


async def test_a_detached_manager_leaves_everything_to_the_next(tmp_path: Path) -> None:
    served = Served(journal=tmp_path / "j.db")
    lease = await served.lease()
    await served.service.detach()
    assert served.garage.made[0].closed == 0
    with pytest.raises(InfraFault, match="closed"):
        await served.lease()
    await served.kill_manager()
    await served.service.start()
    await served.step(lease)
    await served.journal.close()


async def test_a_closed_manager_leaves_nothing_to_the_next(tmp_path: Path) -> None:
    served = Served(journal=tmp_path / "j.db")
    lease = await served.lease()
    await served.service.close()
    assert served.garage.made[0].closed == 1
    with pytest.raises(LeaseLost, match="was closed with the manager"):
        await served.step(lease)
    served.replace_host()
    await served.kill_manager()
    assert await served.service.start() == Recovery()
    await served.journal.close()


async def test_many_leases_are_taken_over_at_once() -> None:
    served = Served()
    leases: list[Lease] = [await served.lease() for _ in range(150)]
    recovery = await restarted(served)
    assert set(recovery.leases) == {lease.id for lease in leases}
    random.Random(0).shuffle(leases)
    await asyncio.gather(*(served.step(lease) for lease in leases))
    assert {one.steps for one in served.garage.made} == {1}
