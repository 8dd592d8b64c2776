"""Real processes, one fault at a time."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from chaos_place import ACTIONS, action_id, world

from screenloop.errors import InfraFault, LeaseLost


async def test_an_episode_goes_on_after_its_manager_was_killed_in_the_middle(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as there:
        lease = await there.begin()
        first = await there.step(lease, 0)
        await there.processes.kill_manager()
        stepping = asyncio.create_task(there.step(lease, 1))
        await there.processes.start_manager()
        await stepping
        assert await there.step(lease, 0) == first
        assert (await there.finish(lease, first=2)).success
        assert there.steps() == {action_id(number): 1 for number in range(len(ACTIONS))}


async def test_an_episode_goes_on_after_its_host_was_stopped_for_a_while(tmp_path: Path) -> None:
    async with world(tmp_path) as there:
        lease = await there.begin(ttl_s=4)
        # An operation under way holds the lease, however long its host takes.
        with there.processes.stalled(there.host()):
            stepping = asyncio.create_task(there.step(lease, 0))
            await asyncio.sleep(5)
        await stepping
        assert there.steps() == {action_id(0): 1}


async def test_a_killed_host_costs_the_lease_and_another_one_takes_its_place(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as there:
        lease = await there.begin()
        host = there.host()
        there.processes.kill_host(host)
        with pytest.raises(InfraFault):
            await there.step(lease, 0)
        again = await there.begin()
        assert again.instance != lease.instance
        assert (await there.finish(again)).success
        assert there.host().host != host.host


async def test_a_full_disk_and_a_clock_that_jumps_cost_leases_and_nothing_else(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as there:
        lease = await there.begin()
        async with there.processes.full_disk():
            with pytest.raises(InfraFault):
                await there.step(lease, 0, deadline_s=1)
        await there.release(lease)
        again = await there.begin()
        there.processes.skew_clock(3600.0)
        with pytest.raises(LeaseLost):
            await there.use_until_refused(again)
        assert (await there.finish(await there.begin())).success
