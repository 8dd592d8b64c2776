"""Real host processes: they answer, refuse, survive their manager, and are gone when ended."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from screenloop.errors import ConfigError
from screenloop.manager.base import LeaseToken
from screenloop.manager.hosts.base import Host, HostPlan, HostSeen, HostUnreachable
from screenloop.manager.hosts.local.launcher import LocalLauncher
from screenloop.manager.hosts.local.process import facts_of
from screenloop.store.blob_urls import folder_url
from screenloop.store.blobs import FolderBlobs
from screenloop.suites.catalog import find_suite
from screenloop.types import Claim, EnvRef, Start, Task

TOKEN = "a-token-of-the-test"
FAKE = EnvRef(kind="fake", size_px=(160, 120))
GRIP = LeaseToken(instance="one", lease_id="run/abc", fence=1)


class Yard:
    """A launcher in a folder of the test, which ends what it started."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.blobs = FolderBlobs(folder / "blobs")
        self.launcher = self.another()
        self.pids: set[int] = set()

    def another(self, *, orphan_s: float = 60.0) -> LocalLauncher:
        return LocalLauncher(
            self.folder / "hosts", blobs=self.blobs, orphan_s=orphan_s, grace_s=5.0
        )

    def plan(self, host: str = "fake-1", kind: str = "fake") -> HostPlan:
        return HostPlan(
            host=host,
            kind=kind,
            capacity=10,
            blobs=folder_url(self.folder / "blobs"),
            token=TOKEN,
        )

    async def state(self, host: str, state: str) -> HostSeen:
        while True:
            for seen in await self.launcher.seen():
                if seen.host == host and seen.state == state:
                    pid = self.launcher.pid_of(host)
                    if pid is not None:
                        self.pids.add(pid)
                    return seen
            await asyncio.sleep(0.02)

    async def running(self, host: str = "fake-1") -> Host:
        await self.launcher.start(self.plan(host))
        return self.launcher.connect(await self.state(host, "running"), TOKEN)


@pytest.fixture
async def yard(tmp_path: Path) -> AsyncIterator[Yard]:
    made = Yard(tmp_path)
    yield made
    for seen in await made.launcher.seen():
        await made.launcher.stop(seen.host)
    await made.launcher.close()
    for pid in made.pids:
        facts = facts_of(pid)
        assert facts is None or facts.group != pid, "a host was left behind"


def task() -> Task:
    suite = find_suite("fake")
    return suite.task("add_to_counter", 0)


async def test_a_host_process_runs_an_episode_as_one_in_process_does(yard: Yard) -> None:
    host = await yard.running()
    spec = await host.open("one", FAKE, deadline_s=60)
    assert spec.kind == "fake"
    assert await host.open("one", FAKE, deadline_s=60) == spec
    await host.bind(GRIP, ttl_s=60, deadline_s=60)
    first = await host.reset(GRIP, Start(task=task(), mode="hybrid"), deadline_s=60)
    assert first.frame is not None
    assert yard.blobs.get(first.frame)
    for number, action in enumerate(task().golden):
        await host.step(GRIP, f"episode/{number}/0", action, deadline_s=60)
    verdict = await host.evaluate(GRIP, Claim(), deadline_s=60)
    assert verdict.success
    report = await host.report(deadline_s=60)
    (one,) = report.instances
    assert (one.instance, one.state, one.fence) == ("one", "ready", 1)
    assert report.rss_mb > 10
    await host.shut("one", deadline_s=60)
    assert (await host.report(deadline_s=60)).instances == ()
    await host.close()


async def test_a_wrong_token_is_refused_and_a_gone_host_is_unreachable(yard: Yard) -> None:
    host = await yard.running()
    (seen,) = await yard.launcher.seen()
    stranger = yard.launcher.connect(seen, "another")
    with pytest.raises(ConfigError, match="token"):
        await stranger.report(deadline_s=5)
    await stranger.close()
    pid = yard.launcher.pid_of("fake-1")
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    gone = await yard.state("fake-1", "gone")
    assert "signal 9" in gone.reason
    with pytest.raises(HostUnreachable):
        await host.report(deadline_s=5)
    await host.close()


async def test_another_launcher_finds_the_hosts_of_the_first_and_can_end_them(yard: Yard) -> None:
    first = await yard.running()
    boot = (await first.report(deadline_s=60)).boot
    await first.close()
    pid = yard.launcher.pid_of("fake-1")
    await yard.launcher.close()
    yard.launcher = yard.another()
    (seen,) = await yard.launcher.seen()
    assert yard.launcher.pid_of("fake-1") == pid
    second = yard.launcher.connect(seen, TOKEN)
    assert (await second.report(deadline_s=60)).boot == boot
    await second.close()
    await yard.launcher.stop("fake-1")
    await yard.state("fake-1", "gone")


async def test_starting_the_same_host_twice_starts_one(yard: Yard) -> None:
    await yard.launcher.start(yard.plan())
    await yard.launcher.start(yard.plan())
    await yard.state("fake-1", "running")
    assert len(await yard.launcher.seen()) == 1
    await yard.launcher.stop("fake-1")
    await yard.launcher.stop("fake-1")
    await yard.launcher.stop("never-there")
    gone = await yard.state("fake-1", "gone")
    assert gone.reason == "ended with exit status 0"


async def test_a_host_that_hears_from_no_manager_ends_itself(yard: Yard) -> None:
    yard.launcher = yard.another(orphan_s=0.5)
    await yard.launcher.start(yard.plan())
    gone = await yard.state("fake-1", "gone")
    assert gone.reason == "ended with exit status 0"


async def test_a_host_that_cannot_start_says_why(yard: Yard) -> None:
    await yard.launcher.start(replace(yard.plan(), blobs="ftp://nowhere"))
    gone = await yard.state("fake-1", "gone")
    assert "exit status 1" in gone.reason
    assert "names no blob store" in gone.reason


async def test_a_phone_runs_in_a_host_process(yard: Yard) -> None:
    suite = find_suite("phone-core")
    phone = suite.task(suite.names()[0], 0)
    host = await yard.running("phone-1")
    await host.open("one", phone.env, deadline_s=60)
    await host.bind(GRIP, ttl_s=60, deadline_s=60)
    seen = await host.reset(GRIP, Start(task=phone), deadline_s=60)
    assert seen.frame is not None
    verdict = await host.evaluate(GRIP, Claim(), deadline_s=60)
    assert not verdict.success
    await host.close()
