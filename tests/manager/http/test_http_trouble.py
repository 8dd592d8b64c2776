"""A full disk and a store that is away: infrastructure, leases stay right, it passes by itself."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from http_place import FilmedGarage, serving
from odometer import REF, START, TAP

from screenloop.actions import Type
from screenloop.errors import InfraFault, LeaseLost
from screenloop.manager.journal.sqlite import SqliteJournal
from screenloop.store.blobs import FolderBlobs
from screenloop.suites.catalog import find_suite
from screenloop.testing.failing_blobs import FailingBlobs
from screenloop.types import Claim, Lease, Start


async def test_a_store_that_is_away_for_a_moment_is_waited_for(tmp_path: Path) -> None:
    shared = FailingBlobs(FolderBlobs(tmp_path / "shared"))
    garage = FilmedGarage(FolderBlobs(tmp_path / "frames"))
    async with serving(tmp_path, open_instance=garage.open, shared=shared) as served:
        client = served.client(own=FolderBlobs(tmp_path / "frames"))
        lease = await client.acquire(REF, "run", ttl_s=60)
        await client.reset(lease, START, deadline_s=60)
        big = client.blobs.shared.put(
            b'{"type":"step","action_id":"e/0/0","action":{"type":"type","text":"words"}}', "json"
        )
        shown = {"lease_id": lease.id, "fence": lease.fence, "instance": lease.instance}
        body = {"lease": shown, "deadline_s": 5, "blob": big}
        shared.away = True
        status, answer = await served.post("/v1/leases/step", body)
        assert (status, answer["error"]) == (503, "InfraFault")
        assert garage.made[0].steps == 0
        assert served.service.status().leases == 1
        # What needs no store goes on; what does goes on by itself once the store is back.
        await client.step(lease, "e/1/0", TAP, deadline_s=60)
        shared.away = False
        status, _ = await served.post("/v1/leases/step", body)
        assert (status, garage.made[0].steps) == (200, 2)


async def test_a_client_whose_own_store_is_away_says_so_and_keeps_its_lease(
    tmp_path: Path,
) -> None:
    task = find_suite("fake").task("add_to_counter", 0)
    own = FailingBlobs(FolderBlobs(tmp_path / "own"))
    async with serving(tmp_path) as served:
        client = served.client(own=own)
        lease = await client.acquire(task.env, "run", ttl_s=60)
        own.full = True
        with pytest.raises(InfraFault, match="cannot write a blob"):
            await client.reset(lease, Start(task=task), deadline_s=1)
        own.full = False
        assert (await client.reset(lease, Start(task=task), deadline_s=60)).frame
        await client.release(lease)


async def test_a_host_that_cannot_write_frames_fails_as_infrastructure_and_recovers(
    tmp_path: Path,
) -> None:
    shared = FailingBlobs(FolderBlobs(tmp_path / "shared"))
    task = find_suite("fake").task("add_to_counter", 0)
    async with serving(tmp_path, shared=shared) as served:
        client = served.client()
        lease = await client.acquire(task.env, "run", ttl_s=60)
        await client.reset(lease, Start(task=task), deadline_s=60)
        shared.full = True
        with pytest.raises(InfraFault):
            await client.step(lease, "e/0/0", Type(text="a"), deadline_s=1)
        assert served.metrics.faults == {"infrastructure": 1}
        # The step may have been carried out, so the Instance is not used again.
        with pytest.raises(LeaseLost):
            await client.observe(lease, deadline_s=1)
        assert served.service.status().leases == 0
        shared.full = False
        other = await client.acquire(task.env, "run", ttl_s=60)
        assert other.instance != lease.instance
        assert (await client.reset(other, Start(task=task), deadline_s=60)).frame
        await client.release(other)


async def test_a_full_journal_grants_nothing_and_loses_nothing_and_recovers(
    tmp_path: Path,
) -> None:
    shared = FolderBlobs(tmp_path / "shared")
    garage = FilmedGarage(shared)
    path = tmp_path / "journal.db"
    journal = SqliteJournal(path, max_pages=8)
    async with serving(
        tmp_path, open_instance=garage.open, shared=shared, journal=journal
    ) as served:
        client = served.client()
        leases: list[Lease] = []
        body = {
            "env": {"kind": "odometer", "size_px": [100, 200]},
            "run_id": "r" * 128,
            "ttl_s": 60,
        }
        await client.spec(REF)
        status, answer = 200, dict[str, Any]()
        while status == 200:
            request = f"{len(leases)}".rjust(200, "x")
            status, answer = await served.post("/v1/leases", {**body, "request_id": request})
            if status == 200:
                leases.append(
                    Lease(
                        id=answer["lease"]["lease_id"],
                        fence=answer["lease"]["fence"],
                        instance=answer["lease"]["instance"],
                        expires_s=0.0,
                        spec=garage.made[0].spec,
                    )
                )
            assert len(leases) < 500
        assert (status, answer["error"], answer["blame"]) == (503, "InfraFault", "infrastructure")
        assert "journal" in answer["message"]
        assert served.service.status().leases == len(leases)
        assert len({lease.instance for lease in leases}) == len(leases)
        # A step whose intent does not fit is refused unless there is room; never done unwritten.
        await client.observe(leases[0], deadline_s=60)
        for lease in leases:
            await client.release(lease)
        assert served.service.status().leases == 0
        again = await client.acquire(REF, "run", ttl_s=60)
        await client.reset(again, START, deadline_s=60)
        await client.step(again, "e/0/0", TAP, deadline_s=60)
        assert (await client.evaluate(again, Claim(answer="42"), deadline_s=60)).success
        await served.service.sweep()
        await asyncio.sleep(0)
        assert [one.lease_id for one in (await journal.load()).leases] == [again.id]
