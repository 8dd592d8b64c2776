"""A real `screenloop serve` process: killed, started again, told to end; and a checkup of it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import msgspec
import pytest

from screenloop.actions import Wait
from screenloop.errors import ConfigError, DeadlinePassed
from screenloop.manager.client import ManagerConnection, connect
from screenloop.manager.clock import SystemClock
from screenloop.manager.watch.checkup import Checkup, Layer
from screenloop.manager.wire.bodies import Health
from screenloop.store.blobs import FolderBlobs
from screenloop.suites.catalog import find_suite
from screenloop.types import Claim, Start, Struct

TASK = find_suite("fake").task("add_to_counter", 0)
TOKEN = "the-token-of-the-serve-test"


class Up(Struct, frozen=True, kw_only=True):
    """What the process prints."""

    url: str
    token: str
    blobs: str
    recovery: dict[str, object] = {}


class Process:
    """One run of the command."""

    def __init__(self, process: asyncio.subprocess.Process, up: Up) -> None:
        self.process = process
        self.up = up

    @classmethod
    async def start(cls, state: Path, *words: str, port: int = 0) -> Process:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            "from screenloop.cli import main; main()",
            "serve",
            "fake=2",
            "--state",
            str(state),
            "--port",
            str(port),
            "--json",
            "--log",
            "json",
            *words,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={**os.environ, "SCREENLOOP_TOKEN": TOKEN},
        )
        assert process.stdout is not None
        async with asyncio.timeout(240):
            line = await process.stdout.readline()
        return cls(process, msgspec.json.decode(line, type=Up))

    @property
    def port(self) -> int:
        return int(self.up.url.rpartition(":")[2])

    async def end(self, how: signal.Signals) -> int:
        self.process.send_signal(how)
        async with asyncio.timeout(240):
            return await self.process.wait()


async def layers(url: str, token: str) -> list[Layer]:
    return [layer async for layer in Checkup(url, token).layers()]


async def test_a_client_rides_over_kill_minus_nine_and_the_end_is_orderly(tmp_path: Path) -> None:
    first = await Process.start(tmp_path / "state")
    client = await connect(first.up.url, token=TOKEN, own=FolderBlobs(tmp_path / "own"))
    lease = await client.acquire(TASK.env, "run", ttl_s=60)
    await client.reset(lease, Start(task=TASK), deadline_s=60)
    before = await client.step(lease, "e/0/0", Wait(seconds=3), deadline_s=60)
    await first.end(signal.SIGKILL)
    stepping = asyncio.create_task(client.step(lease, "e/1/0", Wait(seconds=3), deadline_s=60))
    again = await Process.start(tmp_path / "state", port=first.port)
    try:
        assert again.up.recovery["leases"] == [lease.id]
        result = await stepping
        assert result.observation.clock_s == before.observation.clock_s + 3
        assert await client.step(lease, "e/0/0", Wait(seconds=3), deadline_s=60) == before
        assert (await client.evaluate(lease, Claim(), deadline_s=60)).unscored is None
        await client.release(lease)
        found = await layers(again.up.url, TOKEN)
        assert [layer.name for layer in found if not layer.ok] == []
        assert "read a frame" in found[-1].detail
        wrong = await layers(again.up.url, "another-token-of-someone")
        assert [(layer.name, layer.ok) for layer in wrong[-1:]] == [("token", False)]
        assert "SCREENLOOP_TOKEN" in wrong[-1].detail
        with pytest.raises(ConfigError, match="right token"):
            await connect(again.up.url, token="another", own=client.blobs.own)
    finally:
        await client.close()
        status = await again.end(signal.SIGTERM)
    assert status == 0
    assert not list((tmp_path / "state" / "hosts").glob("*.card*"))


async def test_the_failing_layer_is_named_with_its_fix(tmp_path: Path) -> None:
    closed = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    url = f"http://127.0.0.1:{closed.sockets[0].getsockname()[1]}"
    found = await layers(url, TOKEN)
    assert [(layer.name, layer.ok) for layer in found] == [("connection", True), ("health", False)]
    closed.close()
    await closed.wait_closed()
    (layer,) = await layers(url, TOKEN)
    assert (layer.name, layer.ok) == ("connection", False)
    assert "screenloop serve" in layer.detail
    (layer,) = await layers("not-a-url", TOKEN)
    assert (layer.name, layer.ok) == ("connection", False)


async def test_no_manager_at_all_is_said_within_the_deadline() -> None:
    connection = ManagerConnection("http://127.0.0.1:1", token=TOKEN, clock=SystemClock())
    with pytest.raises(DeadlinePassed, match="cannot be reached"):
        await connection.ask("GET", "/v1/health", None, Health, 0.2)
    await connection.close()


async def test_clients_may_go_straight_to_the_hosts(tmp_path: Path) -> None:
    served = await Process.start(tmp_path / "state", "--direct")
    client = await connect(served.up.url, token=TOKEN, own=FolderBlobs(tmp_path / "own"))
    try:
        lease = await client.acquire(TASK.env, "run", ttl_s=60)
        assert lease.host_url not in ("", served.up.url)
        await client.reset(lease, Start(task=TASK), deadline_s=60)
        first = await client.step(lease, "e/0/0", Wait(seconds=3), deadline_s=60)
        assert await client.step(lease, "e/0/0", Wait(seconds=3), deadline_s=60) == first
        await client.release(lease)
    finally:
        await client.close()
        await served.end(signal.SIGTERM)
