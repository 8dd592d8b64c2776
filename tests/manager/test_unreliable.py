"""A client and a manager with an unreliable network between them; each fault by itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from http_place import FilmedGarage, Served, serving
from odometer import REF, START, TAP

from screenloop.bench.lease.faults import HandClock
from screenloop.errors import LeaseLost
from screenloop.manager.client import HttpManager
from screenloop.store.blobs import FolderBlobs
from screenloop.testing.unreliable_network import Fate, UnreliableProxy
from screenloop.types import Claim

SOON_S = 0.1
"""Long enough for a client to ask again meanwhile."""


class Place:
    """A served manager, and a client that reaches it through a proxy."""

    def __init__(
        self, served: Served, garage: FilmedGarage, proxy: UnreliableProxy, clock: HandClock
    ) -> None:
        self.served = served
        self.garage = garage
        self.proxy = proxy
        self.clock = clock
        self.client: HttpManager = served.client(url=proxy.url)


def first(path: str, fate: Fate) -> Callable[[str], Fate]:
    """Decide that the first request to a path fares badly, and nothing else."""
    waiting = [fate]
    return lambda asked: waiting.pop() if asked == path and waiting else Fate()


@asynccontextmanager
async def place(tmp_path: Path, path: str, fate: Fate) -> AsyncIterator[Place]:
    garage = FilmedGarage(FolderBlobs(tmp_path / "shared"))
    clock = HandClock()
    async with (
        serving(tmp_path, open_instance=garage.open, clock=clock) as served,
        UnreliableProxy(served.port, first(path, fate)) as proxy,
    ):
        yield Place(served, garage, proxy, clock)
        assert proxy.counts[fate.kind] == 1


FATES = (
    Fate(kind="lose_request"),
    Fate(kind="lose_reply"),
    Fate(kind="slow", delay_s=SOON_S),
    Fate(kind="twice", delay_s=SOON_S),
    Fate(kind="late", delay_s=SOON_S),
)


@pytest.mark.parametrize("fate", FATES, ids=lambda fate: fate.kind)
async def test_a_step_is_carried_out_once_whatever_becomes_of_its_request(
    fate: Fate, tmp_path: Path
) -> None:
    async with place(tmp_path, "/v1/leases/step", fate) as there:
        lease = await there.client.acquire(REF, "run", ttl_s=60)
        await there.client.reset(lease, START, deadline_s=60)
        result = await there.client.step(lease, "e/0/0", TAP, deadline_s=60)
        await there.proxy.settle()
        assert await there.client.step(lease, "e/0/0", TAP, deadline_s=60) == result
        assert there.garage.made[0].steps == 1


@pytest.mark.parametrize("fate", FATES, ids=lambda fate: fate.kind)
async def test_a_reset_that_comes_again_undoes_nothing(fate: Fate, tmp_path: Path) -> None:
    async with place(tmp_path, "/v1/leases/reset", fate) as there:
        lease = await there.client.acquire(REF, "run", ttl_s=60)
        await there.client.reset(lease, START, deadline_s=60)
        await there.client.step(lease, "e/0/0", TAP, deadline_s=60)
        await there.proxy.settle()
        # An odometer starts at 0 with each reset.
        assert there.garage.made[0].steps == 1
        verdict = await there.client.evaluate(lease, Claim(answer="42"), deadline_s=60)
        assert verdict.success


@pytest.mark.parametrize("fate", FATES, ids=lambda fate: fate.kind)
async def test_one_request_gets_one_lease(fate: Fate, tmp_path: Path) -> None:
    async with place(tmp_path, "/v1/leases", fate) as there:
        await there.client.acquire(REF, "run", ttl_s=60)
        await there.proxy.settle()
        assert there.served.service.status().leases == 1
        assert len(there.garage.made) == 1


@pytest.mark.parametrize("fate", FATES, ids=lambda fate: fate.kind)
async def test_a_release_that_comes_again_takes_nothing_from_the_next_holder(
    fate: Fate, tmp_path: Path
) -> None:
    async with place(tmp_path, "/v1/leases/release", fate) as there:
        await there.client.release(await there.client.acquire(REF, "run", ttl_s=60))
        lease = await there.client.acquire(REF, "run", ttl_s=60)
        await there.proxy.settle()
        await there.client.reset(lease, START, deadline_s=60)
        assert len(there.garage.made) == 1


async def test_a_step_that_comes_after_its_lease_leaves_the_next_holder_alone(
    tmp_path: Path,
) -> None:
    slow = Fate(kind="slow", delay_s=SOON_S)
    async with place(tmp_path, "/v1/leases/step", slow) as there:
        lease = await there.client.acquire(REF, "run", ttl_s=10)
        await there.client.reset(lease, START, deadline_s=60)
        late = asyncio.create_task(there.client.step(lease, "e/0/0", TAP, deadline_s=60))
        while not there.proxy.counts["slow"]:
            await asyncio.sleep(0)
        there.clock.at_s = 11
        other = await there.client.acquire(REF, "run", ttl_s=10)
        assert other.instance == lease.instance
        await there.client.reset(other, START, deadline_s=60)
        with pytest.raises(LeaseLost, match="it expired"):
            await late
        assert there.garage.made[0].steps == 0
