"""Hosts as actors of a real Ray on this machine: leased, stepped directly, killed, restarted."""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from screenloop.errors import ConfigError, InfraFault, LeaseLost
from screenloop.http.server import Serving, listen, url_of
from screenloop.manager.app import ManagerApp
from screenloop.manager.client import HttpManager, connect
from screenloop.manager.clock import SystemClock
from screenloop.manager.hosts.base import HostPlan
from screenloop.manager.hosts.local.process import facts_of
from screenloop.manager.hosts.ray.launcher import RayLauncher, RaySettings
from screenloop.manager.journal.memory import MemoryJournal
from screenloop.manager.service import ManagerService
from screenloop.manager.supply.desired import PoolPlan, Timing
from screenloop.manager.supply.pooled import PooledSupply
from screenloop.manager.supply.tokens import HostTokens
from screenloop.manager.watch.metrics import Metrics
from screenloop.store.blob_urls import folder_url
from screenloop.store.blobs import FolderBlobs
from screenloop.suites.catalog import find_suite
from screenloop.types import Claim, EnvRef, Lease, Start

FAKE = EnvRef(kind="fake", size_px=(160, 120))
TASK = find_suite("fake").task("add_to_counter", 0)
NAMESPACE = "screenloop-test"
TOKEN = "the-token-of-the-manager"
SETTINGS = RaySettings(namespace=NAMESPACE, cpus=0.1, memory_mib=100, ask_s=0.1, grace_s=20.0)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def ray_here() -> Iterator[None]:
    with (
        pytest.MonkeyPatch.context() as environment,
        # The names of Ray's sockets are long, and a socket's path may not be.
        tempfile.TemporaryDirectory(dir="/tmp", prefix="sl-", ignore_cleanup_errors=True) as temp,
    ):
        for name, value in {
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_AUTH_MODE": "disabled",
            "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
            "RAY_memory_monitor_refresh_ms": "0",
            "RAY_TMPDIR": temp,
        }.items():
            environment.setenv(name, value)
        import ray

        ray.init(
            num_cpus=2,
            include_dashboard=False,
            object_store_memory=100 * 2**20,
            namespace=NAMESPACE,
            log_to_driver=False,
            logging_level="ERROR",
            configure_logging=False,
            _temp_dir=temp,
        )
        try:
            yield
        finally:
            ray.shutdown()


def placed(blobs: FolderBlobs, url: str) -> tuple[RayLauncher, PooledSupply]:
    """Return a launcher, and a supply that uses it."""
    launcher = RayLauncher(SETTINGS, blobs=blobs)
    supply = PooledSupply(
        [PoolPlan(env=FAKE, target=1, per_host=2, silent_s=120)],
        {"fake": launcher},
        tokens=HostTokens(b"0123456789abcdef"),
        blobs=url,
        timing=Timing(look_s=0.1, beat_s=0.3),
        direct=True,
    )
    return launcher, supply


async def fresh(client: HttpManager) -> Lease:
    """Return a Lease on an Instance that was reset.

    The first may be on one that went with its host, as a Run may find it as well.
    """
    while True:
        lease = await client.acquire(FAKE, "run", ttl_s=300)
        try:
            await client.reset(lease, Start(task=TASK, mode="hybrid"), deadline_s=60)
        except InfraFault:
            await client.release(lease)
        else:
            return lease


async def lost(client: HttpManager, lease: Lease) -> None:
    """Wait until the holder is told that its Lease is lost."""
    while True:
        try:
            await client.observe(lease, deadline_s=60)
        except LeaseLost:
            return
        except InfraFault:
            await asyncio.sleep(0.1)


async def test_an_address_that_is_none_is_a_mistake_in_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    settings = RaySettings(address="no-address", namespace=NAMESPACE)
    launcher = RayLauncher(settings, blobs=FolderBlobs(tmp_path))
    with pytest.raises(ConfigError, match="no-address"):
        await launcher.seen()
    await launcher.close()


async def test_a_host_in_an_actor_is_stepped_directly_and_a_restart_costs_its_leases(
    ray_here: None, tmp_path: Path
) -> None:
    blobs, url = FolderBlobs(tmp_path / "blobs"), folder_url(tmp_path / "blobs")
    journal = MemoryJournal()
    launcher, supply = placed(blobs, url)
    metrics = Metrics()
    service = ManagerService(supply, journal, observer=metrics)
    app = ManagerApp(
        service, token=TOKEN, blobs=blobs, blobs_url=url, metrics=metrics, clock=SystemClock()
    ).asgi()
    listener = listen()
    async with asyncio.timeout(240), Serving(app, listener):
        await service.start()
        client = await connect(url_of(listener), token=TOKEN, own=FolderBlobs(tmp_path / "own"))
        lease = await fresh(client)
        host = lease.instance.partition("/")[0]
        (seen,) = await launcher.seen()
        assert (seen.host, seen.state, seen.address) == (host, "running", lease.host_url)
        pid = launcher.pid_of(host)
        assert pid is not None
        assert pid != os.getpid()
        boot = (await supply.host_of(lease.instance).report(deadline_s=60)).boot
        for number, action in enumerate(TASK.golden):
            await client.step(lease, f"e/{number}/0", action, deadline_s=60)
        assert (await client.evaluate(lease, Claim(), deadline_s=60)).success
        # None of it passed through the manager.
        assert metrics.evaluated == 0

        os.kill(pid, signal.SIGKILL)
        await lost(client, lease)
        again = await fresh(client)
        assert again.instance.startswith(f"{host}/")
        assert (await supply.host_of(again.instance).report(deadline_s=60)).boot != boot
        assert launcher.pid_of(host) != pid
        await client.close()
        await service.detach()

        launcher, supply = placed(blobs, url)
        service = ManagerService(supply, journal)
        assert (await service.start()).leases == (again.id,)
        last = launcher.pid_of(host)
        assert last is not None
        await service.release(again)
        await service.close()
        while facts_of(last) is not None:
            await asyncio.sleep(0.05)


async def test_hosts_that_nobody_wants_or_that_cannot_run_are_gone_with_the_reason(
    ray_here: None, tmp_path: Path
) -> None:
    launcher = RayLauncher(replace(SETTINGS, orphan_s=0.5), blobs=FolderBlobs(tmp_path))
    plan = HostPlan(
        host="left-alone", kind="fake", capacity=1, blobs=folder_url(tmp_path), token="t"
    )
    await launcher.start(plan)
    await launcher.start(plan)
    await launcher.start(replace(plan, host="has-no-store", blobs="nowhere:"))
    async with asyncio.timeout(120):
        while {one.state for one in await launcher.seen()} != {"gone"}:
            await asyncio.sleep(0.05)
    reasons = {one.host: one.reason for one in await launcher.seen()}
    assert set(reasons) == {"left-alone", "has-no-store"}
    assert "names no blob store" in reasons["has-no-store"]
    await launcher.stop("left-alone")
    await launcher.close()
