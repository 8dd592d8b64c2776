"""The pooled supply over real host processes, under the manager service."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from screenloop.actions import Wait
from screenloop.errors import InfraFault, LeaseLost
from screenloop.manager.hosts.attached.hosts import Attached, AttachedLauncher, attached_plan
from screenloop.manager.hosts.base import HostPlan
from screenloop.manager.hosts.local.launcher import LocalLauncher
from screenloop.manager.hosts.local.process import facts_of, is_running
from screenloop.manager.journal.memory import MemoryJournal
from screenloop.manager.service import ManagerService
from screenloop.manager.supply.desired import PoolPlan, Timing
from screenloop.manager.supply.pooled import PooledSupply
from screenloop.manager.supply.tokens import HostTokens, kept_secret
from screenloop.store.blob_urls import folder_url
from screenloop.store.blobs import FolderBlobs
from screenloop.suites.catalog import find_suite
from screenloop.types import Claim, EnvRef, Lease, Start

FAKE = EnvRef(kind="fake", size_px=(160, 120))
TASK = find_suite("fake").task("add_to_counter", 0)
TIMING = Timing(look_s=0.05, beat_s=0.2)


class Site:
    """One folder with hosts in it, and the managers that come and go."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.blobs = FolderBlobs(folder / "blobs")
        self.launcher = self.new_launcher()
        self.supply = self.new_supply()
        self.manager = ManagerService(self.supply, MemoryJournal())

    def new_launcher(self) -> LocalLauncher:
        return LocalLauncher(self.folder / "hosts", blobs=self.blobs, grace_s=5.0)

    def new_supply(self) -> PooledSupply:
        return PooledSupply(
            [PoolPlan(env=FAKE, target=2, per_host=4)],
            {"fake": self.launcher},
            tokens=HostTokens(kept_secret(self.folder / "secret")),
            blobs=folder_url(self.folder / "blobs"),
            timing=TIMING,
        )


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    made = Site(tmp_path)
    await made.manager.start()
    yield made
    pids = [made.launcher.pid_of(seen.host) for seen in await made.launcher.seen()]
    await made.manager.close()
    assert not [pid for pid in pids if pid is not None and is_running(pid, _ticks(pid))]


async def failure_once_noticed(site: Site, lease: Lease) -> Exception:
    """Return what the holder gets once the supply saw what became of the host."""
    while True:
        try:
            await site.manager.observe(lease, deadline_s=60)
        except LeaseLost as error:
            return error
        except InfraFault:
            await asyncio.sleep(0.02)


def _ticks(pid: int) -> int:
    facts = facts_of(pid)
    return -1 if facts is None else facts.started_ticks


async def test_an_episode_runs_on_a_real_host_and_a_killed_one_costs_only_its_leases(
    site: Site,
) -> None:
    lease = await site.manager.acquire(FAKE, "run", ttl_s=60)
    await site.manager.reset(lease, Start(task=TASK, mode="hybrid"), deadline_s=60)
    for number, action in enumerate(TASK.golden):
        await site.manager.step(lease, f"e/{number}/0", action, deadline_s=60)
    assert (await site.manager.evaluate(lease, Claim(), deadline_s=60)).success
    pid = site.launcher.pid_of(lease.instance.partition("/")[0])
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(InfraFault):
        await site.manager.step(lease, "e/9/0", Wait(), deadline_s=5)
    assert isinstance(await failure_once_noticed(site, lease), LeaseLost)
    again = await site.manager.acquire(FAKE, "run", ttl_s=60)
    assert again.instance.partition("/")[0] != lease.instance.partition("/")[0]
    await site.manager.reset(again, Start(task=TASK), deadline_s=60)
    await site.manager.release(again)


async def test_a_restarted_manager_adopts_hosts_and_leases_and_steps_apply_once(
    site: Site,
) -> None:
    journal = MemoryJournal()
    await site.manager.close()
    site.launcher = site.new_launcher()
    first = ManagerService(site.new_supply(), journal)
    await first.start()
    lease = await first.acquire(FAKE, "run", ttl_s=60)
    await first.reset(lease, Start(task=TASK), deadline_s=60)
    before = await first.step(lease, "e/0/0", Wait(seconds=5), deadline_s=60)
    pids = {site.launcher.pid_of(seen.host) for seen in await site.launcher.seen()}
    await first.detach()

    site.launcher = site.new_launcher()
    second = site.manager = ManagerService(site.new_supply(), journal)
    recovery = await second.start()
    assert recovery.leases == (lease.id,)
    assert {site.launcher.pid_of(seen.host) for seen in await site.launcher.seen()} == pids
    assert await second.step(lease, "e/0/0", Wait(seconds=5), deadline_s=60) == before
    await second.release(lease)


async def test_attached_hosts_are_used_and_left_alone(tmp_path: Path) -> None:
    blobs = FolderBlobs(tmp_path / "blobs")
    theirs = LocalLauncher(tmp_path / "theirs", blobs=blobs, grace_s=5.0)
    await theirs.start(
        HostPlan(
            host="theirs",
            kind="fake",
            capacity=2,
            blobs=folder_url(tmp_path / "blobs"),
            token="their-own-token",
        )
    )
    while not any(seen.state == "running" for seen in await theirs.seen()):
        await asyncio.sleep(0.02)
    (seen,) = await theirs.seen()
    end = Attached(env=FAKE, address=seen.address, token="their-own-token")
    launcher = AttachedLauncher([end], blobs=blobs)
    supply = PooledSupply(
        [attached_plan(FAKE, hosts=1, per_host=2)],
        {"fake": launcher},
        tokens=HostTokens(b"0123456789abcdef"),
        blobs=folder_url(tmp_path / "blobs"),
        timing=TIMING,
    )
    manager = ManagerService(supply, MemoryJournal())
    await manager.start()
    leases = [await manager.acquire(FAKE, "run", ttl_s=60) for _ in range(2)]
    for lease in leases:
        await manager.reset(lease, Start(task=TASK), deadline_s=60)
        assert lease.instance.startswith(end.host)
        await manager.release(lease)
    await manager.close()
    assert [one.state for one in await theirs.seen()] == ["running"]
    with pytest.raises(InfraFault, match="attached"):
        await launcher.start(
            HostPlan(host="x", kind="fake", capacity=1, blobs="file:///x", token="")
        )
    await theirs.stop("theirs")
    await theirs.close()


def test_a_secret_is_drawn_once_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    secret = kept_secret(tmp_path / "state" / "secret")
    assert kept_secret(tmp_path / "state" / "secret") == secret
    assert (tmp_path / "state" / "secret").stat().st_mode & 0o077 == 0
    tokens = HostTokens(secret)
    assert tokens.of("a") == HostTokens(secret).of("a") != tokens.of("b")
    assert len(list((tmp_path / "state").iterdir())) == 1
