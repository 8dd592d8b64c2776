"""A browser that runs already is used by its URL, and runs on when we are done."""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from screenloop.browser.binary import find_chromium
from screenloop.errors import ConfigError, EnvironmentFault
from screenloop.manager.hosts.attached.browsers import AttachedBrowser, AttachedBrowserLauncher
from screenloop.manager.hosts.attached.cdp_bridge import bridge_script
from screenloop.manager.hosts.attached.hosts import attached_plan
from screenloop.manager.journal.memory import MemoryJournal
from screenloop.manager.service import ManagerService
from screenloop.manager.supply.desired import Timing
from screenloop.manager.supply.pooled import PooledSupply
from screenloop.manager.supply.tokens import HostTokens
from screenloop.store.blobs import MemoryBlobs
from screenloop.suites.catalog import find_suite
from screenloop.types import Claim, Start

TASK = find_suite("miniwob").task("click-test", 0)


@pytest.fixture
async def browser_url() -> AsyncIterator[str]:
    """A browser of somebody else's, with a debugging port."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = await asyncio.create_subprocess_exec(
            str(find_chromium()),
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
            "--remote-debugging-port=0",
            f"--user-data-dir={profile}",
            "about:blank",
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            port_file = Path(profile) / "DevToolsActivePort"
            while not (port_file.is_file() and port_file.read_text().strip()):
                assert process.returncode is None, "the browser did not start"
                await asyncio.sleep(0.05)
            yield f"http://127.0.0.1:{port_file.read_text().split()[0]}"
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


async def pages(url: str) -> int:
    async with aiohttp.ClientSession() as session, session.get(url + "/json/list") as reply:
        return len([one for one in await reply.json() if one["type"] == "page"])


def manager_of(launcher: AttachedBrowserLauncher) -> ManagerService:
    supply = PooledSupply(
        [attached_plan(TASK.env, hosts=1, per_host=2)],
        {"web": launcher},
        tokens=HostTokens(b"0123456789abcdef"),
        blobs="",
        timing=Timing(look_s=0.05),
    )
    return ManagerService(supply, MemoryJournal())


@pytest.mark.browser
async def test_an_attached_browser_is_used_and_left_running(browser_url: str) -> None:
    before = await pages(browser_url)
    blobs = MemoryBlobs()
    end = AttachedBrowser(env=TASK.env, url=browser_url)
    manager = manager_of(AttachedBrowserLauncher([end], blobs=blobs))
    await manager.start()
    leases = [await manager.acquire(TASK.env, "run", ttl_s=60) for _ in range(2)]
    for lease in leases:
        seen = await manager.reset(lease, Start(task=TASK), deadline_s=60)
        assert seen.frame is not None
        assert blobs.get(seen.frame).startswith(b"\x89PNG")
        assert seen.goal
        assert not (await manager.evaluate(lease, Claim(), deadline_s=60)).success
    assert await pages(browser_url) > before
    for lease in leases:
        await manager.release(lease)
    await manager.close()
    while await pages(browser_url) != before:
        await asyncio.sleep(0.05)


async def test_a_browser_that_is_not_there_is_a_fault_with_its_address() -> None:
    end = AttachedBrowser(env=TASK.env, url="http://127.0.0.1:9")
    manager = manager_of(AttachedBrowserLauncher([end], blobs=MemoryBlobs()))
    await manager.start()
    with pytest.raises(EnvironmentFault, match="no browser answers at http"):
        await manager.acquire(TASK.env, "run", ttl_s=60)
    await manager.close()


def test_an_address_of_another_form_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no address of a browser"):
        bridge_script(tmp_path / "bridge", "ftp://somewhere")
