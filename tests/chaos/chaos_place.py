"""The processes of the chaos bench, one fault at a time."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from screenloop.actions import Answer, Finish
from screenloop.bench.chaos.devices import read_deeds
from screenloop.bench.chaos.players import parts_of
from screenloop.bench.chaos.world import ENV, ChaosWorld
from screenloop.manager.client import HttpManager, connect
from screenloop.manager.hosts.base import HostCard
from screenloop.store.blobs import FolderBlobs
from screenloop.types import Claim, Lease, Start, StepResult, Verdict

PART = parts_of(2)[1]
"""A Task and what solves it."""
ACTIONS = [one for one in PART.actions if not isinstance(one, Answer | Finish)]


class World:
    """A manager process with one device, and a client of it."""

    def __init__(self, processes: ChaosWorld, client: HttpManager) -> None:
        self.processes = processes
        self._client = client

    async def begin(self, ttl_s: float = 60) -> Lease:
        lease = await self._client.acquire(ENV, "run", ttl_s=ttl_s)
        await self._client.reset(lease, Start(task=PART.task), deadline_s=60)
        return lease

    async def step(self, lease: Lease, number: int, deadline_s: float = 60) -> StepResult:
        return await self._client.step(
            lease, action_id(number), ACTIONS[number], deadline_s=deadline_s
        )

    async def finish(self, lease: Lease, first: int = 0) -> Verdict:
        """Do what is left and have it judged."""
        for number in range(first, len(ACTIONS)):
            await self.step(lease, number)
        verdict = await self._client.evaluate(lease, Claim(), deadline_s=60)
        await self.release(lease)
        return verdict

    async def release(self, lease: Lease) -> None:
        await self._client.release(lease)

    async def use_until_refused(self, lease: Lease) -> None:
        while True:
            await self.step(lease, 0)
            await asyncio.sleep(0.01)

    def host(self) -> HostCard:
        """Return the one host that runs."""
        (card,) = self.processes.hosts()
        return card

    def steps(self) -> Counter[str]:
        """Return how often each action was carried out."""
        deeds = read_deeds(self.processes.control)
        return Counter(deed.id for deed in deeds if deed.what == "step")


def action_id(number: int) -> str:
    return f"episode/{number}/0"


@asynccontextmanager
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with ChaosWorld(tmp_path / "world", instances=1) as processes:
        url = f"http://127.0.0.1:{processes.port}"
        client = await connect(url, token=processes.token, own=FolderBlobs(tmp_path / "own"))
        try:
            yield World(processes, client)
        finally:
            await client.close()
