"""The whole way: desired state, Pods of a fake cluster, host processes, leases, steps."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from screenloop.errors import InfraFault, LeaseLost
from screenloop.manager.hosts.kubernetes.api import KubernetesApi
from screenloop.manager.hosts.kubernetes.launcher import KubernetesLauncher, Pace
from screenloop.manager.hosts.kubernetes.manifests import KubernetesSettings
from screenloop.manager.journal.memory import MemoryJournal
from screenloop.manager.service import ManagerService
from screenloop.manager.supply.desired import PoolPlan, Timing
from screenloop.manager.supply.pooled import PooledSupply
from screenloop.manager.supply.tokens import HostTokens
from screenloop.store.blob_urls import folder_url
from screenloop.store.blobs import FolderBlobs
from screenloop.suites.catalog import find_suite
from screenloop.testing.fake_kubernetes.cluster import FakeCluster
from screenloop.testing.fake_kubernetes.node import LocalPods
from screenloop.testing.fake_kubernetes.server import FakeKubernetes
from screenloop.types import Claim, EnvRef, Lease, Start

FAKE = EnvRef(kind="fake", size_px=(160, 120))
TASK = find_suite("fake").task("add_to_counter", 0)
# The claim stands for a volume that all Pods share; here they share this machine's disk.
SETTINGS = KubernetesSettings(image="host:1", grace_s=10, blob_claim="blobs")


class Farm:
    """A cluster whose Pods are processes, and the managers that come and go."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.blobs = FolderBlobs(folder / "blobs")
        self.pods = LocalPods(folder / "pods")
        self.cluster = FakeCluster(runner=self.pods)
        self.api = FakeKubernetes(self.cluster, tick_s=0.05)
        self.journal = MemoryJournal()

    def manager(self) -> ManagerService:
        launcher = KubernetesLauncher(
            SETTINGS,
            api=KubernetesApi("default", url=self.api.url),
            blobs=self.blobs,
            pace=Pace(tidy_s=0.1),
        )
        supply = PooledSupply(
            [PoolPlan(env=FAKE, target=2, per_host=4)],
            {"fake": launcher},
            tokens=HostTokens(b"0123456789abcdef"),
            blobs=folder_url(self.folder / "blobs"),
            timing=Timing(look_s=0.05, beat_s=0.2),
        )
        return ManagerService(supply, self.journal)

    def pid_of(self, lease: Lease) -> int:
        host = lease.instance.partition("/")[0]
        return self.pods.pid_of(self.cluster.objects.life("default", host).uid)


@pytest.fixture
async def farm(tmp_path: Path) -> AsyncIterator[Farm]:
    made = Farm(tmp_path)
    async with made.api:
        yield made
    made.pods.close()


async def play(manager: ManagerService, lease: Lease, prefix: str) -> None:
    await manager.reset(lease, Start(task=TASK, mode="hybrid"), deadline_s=60)
    for number, action in enumerate(TASK.golden):
        await manager.step(lease, f"{prefix}/{number}/0", action, deadline_s=60)
    assert (await manager.evaluate(lease, Claim(), deadline_s=60)).success


async def lost(manager: ManagerService, lease: Lease) -> None:
    """Wait until the holder is told that its Lease is lost."""
    async with asyncio.timeout(240):
        while True:
            try:
                await manager.observe(lease, deadline_s=60)
            except LeaseLost:
                return
            except InfraFault:
                await asyncio.sleep(0.05)


async def test_episodes_run_in_pods_survive_managers_and_end_with_their_pod(farm: Farm) -> None:
    first = farm.manager()
    await first.start()
    lease = await first.acquire(FAKE, "run", ttl_s=60)
    await play(first, lease, "a")
    await first.detach()

    second = farm.manager()
    assert (await second.start()).leases == (lease.id,)
    await play(second, lease, "b")
    os.kill(farm.pid_of(lease), signal.SIGKILL)
    await lost(second, lease)
    again = await second.acquire(FAKE, "run", ttl_s=60)
    host = again.instance.partition("/")[0]
    assert host != lease.instance.partition("/")[0]
    await play(second, again, "c")

    farm.cluster.evict("default", host, why="The node was low on resource: memory.")
    await lost(second, again)
    third = await second.acquire(FAKE, "run", ttl_s=60)
    await play(second, third, "d")
    await second.release(third)
    await second.close()
    assert farm.cluster.objects.lives == {}
    assert farm.cluster.objects.secrets("default") == ()
