"""A host over HTTP: the same contract, typed refusals, and what a broken connection means."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import msgspec
import pytest
from msgspec.structs import replace

from screenloop.actions import Hover, Tap, Type, Wait
from screenloop.envs.kinds import Environments
from screenloop.errors import (
    Busy,
    ConfigError,
    DeadlinePassed,
    EnvironmentFault,
    InfraFault,
    LeaseLost,
    ScreenloopError,
    StaleFrame,
    TaskError,
    UnsupportedAction,
)
from screenloop.http.errors import CLASSES, error_body, error_from, error_status
from screenloop.http.server import HALF_REQUEST_S, Serving, listen, url_of
from screenloop.manager.base import LeaseToken, TakeStep
from screenloop.manager.hosts.app import HostApp
from screenloop.manager.hosts.base import HostUnreachable
from screenloop.manager.hosts.instances import InstanceHost
from screenloop.manager.hosts.remote import RemoteHost
from screenloop.manager.wire.bodies import INLINE_BYTES, OperateBody
from screenloop.manager.wire.endpoints import operate_body
from screenloop.store.blobs import FolderBlobs, MemoryBlobs
from screenloop.suites.catalog import find_suite
from screenloop.types import Claim, EnvRef, Start, Task

TOKEN = "a-token-of-the-test"
FAKE = EnvRef(kind="fake", size_px=(160, 120))
GRIP = LeaseToken(instance="one", lease_id="run/abc", fence=1)
A_STEP = TakeStep(action_id="e/0/0", action=Wait())


@dataclass
class Place:
    """A host that serves in this process, and the way to it."""

    host: RemoteHost
    blobs: FolderBlobs
    heard: list[int]


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    async with served(tmp_path) as made:
        yield made


@asynccontextmanager
async def served(tmp_path: Path, *, half_request_s: float = HALF_REQUEST_S) -> AsyncIterator[Place]:
    blobs = FolderBlobs(tmp_path)
    environments = Environments(blobs)
    inner = InstanceHost("fake-1", environments.open)
    heard: list[int] = []
    app = HostApp(inner, token=TOKEN, blobs=blobs, heard=lambda: heard.append(1)).asgi()
    listener = listen()
    async with Serving(app, listener, half_request_s=half_request_s):
        host = RemoteHost("fake-1", url_of(listener), token=TOKEN, blobs=blobs)
        yield Place(host, blobs, heard)
        await host.close()
    await inner.close()
    await environments.close()


def task() -> Task:
    return find_suite("fake").task("add_to_counter", 0)


async def test_an_action_id_applies_once_over_http(place: Place) -> None:
    host = place.host
    await host.open("one", FAKE, deadline_s=60)
    await host.bind(GRIP, ttl_s=60, deadline_s=60)
    await host.reset(GRIP, Start(task=task()), deadline_s=60)
    first = await host.step(GRIP, "e/0/0", Wait(seconds=3), deadline_s=60)
    again = await host.step(GRIP, "e/0/0", Wait(seconds=3), deadline_s=60)
    assert again == first
    other = await host.step(GRIP, "e/1/0", Wait(seconds=3), deadline_s=60)
    assert other.observation.clock_s == first.observation.clock_s + 3


async def test_failures_come_back_as_the_classes_they_were(place: Place) -> None:
    host = place.host
    await host.open("one", FAKE, deadline_s=60)
    await host.bind(GRIP, ttl_s=60, deadline_s=60)
    with pytest.raises(TaskError, match="no task was reset"):
        await host.evaluate(GRIP, Claim(), deadline_s=5)
    await host.reset(GRIP, Start(task=task()), deadline_s=60)
    with pytest.raises(UnsupportedAction):
        await host.step(GRIP, "e/0/0", Hover(at=(0.5, 0.5)), deadline_s=5)
    with pytest.raises(StaleFrame):
        await host.step(GRIP, "e/0/1", Tap(at=(0.5, 0.5), frame="sha256-0.png"), deadline_s=5)
    with pytest.raises(LeaseLost, match="fence 0"):
        await host.observe(replace(GRIP, fence=0), deadline_s=5)
    with pytest.raises(LeaseLost):
        await host.observe(replace(GRIP, lease_id="run/guessed"), deadline_s=5)
    with pytest.raises(ConfigError, match="Unknown environment kind"):
        await host.open("two", EnvRef(kind="nothing", size_px=(1, 1)), deadline_s=5)
    await host.bind(replace(GRIP, fence=2, lease_id=""), ttl_s=60, deadline_s=60)
    with pytest.raises(LeaseLost):
        await host.observe(GRIP, deadline_s=5)


async def test_bad_requests_get_typed_answers_and_change_nothing(place: Place) -> None:
    host = place.host
    await host.open("one", FAKE, deadline_s=60)
    await host.bind(GRIP, ttl_s=60, deadline_s=60)
    step: OperateBody[TakeStep] = OperateBody(lease=GRIP, deadline_s=60, operation=A_STEP)
    right = {"Authorization": f"Bearer {TOKEN}"}
    wrong = {"Authorization": "Bearer another"}
    cases: list[tuple[str, str, dict[str, str], bytes, int]] = [
        ("GET", "/v1/host/report", {}, b"", 401),
        ("GET", "/v1/host/report", wrong, b"", 401),
        ("POST", "/v1/host/open", wrong, b"{}", 401),
        ("POST", "/v1/host/bind", wrong, b"{}", 401),
        ("POST", "/v1/host/shut", {}, b"{}", 401),
        ("POST", "/v1/host/open", right, b"{not json", 400),
        ("POST", "/v1/leases/step", {}, b'{"lease": 3}', 400),
        ("POST", "/v1/leases/step", {}, b"\xff\xfe", 400),
        ("POST", "/v1/leases/step", {}, b"[" * 60_000, 400),
        ("POST", "/v1/leases/step", {}, b" " * 70_000, 413),
        ("POST", "/v1/leases/step", {}, msgspec.json.encode(replace(step, operation=None)), 400),
        ("GET", "/v1/leases/step", {}, b"", 405),
        ("POST", "/v1/nowhere", {}, b"", 404),
    ]
    async with aiohttp.ClientSession() as session:
        for method, path, headers, body, status in cases:
            async with session.request(
                method, host.address + path, data=body, headers=headers
            ) as reply:
                answer = await reply.json()
                assert (reply.status, path, body[:20]) == (status, path, body[:20])
                assert answer["error"] == "ConfigError"
    report = await host.report(deadline_s=60)
    assert [one.episodes for one in report.instances] == [0]


async def test_only_a_request_with_the_token_is_a_sign_of_life(place: Place) -> None:
    body = msgspec.json.encode(OperateBody(lease=GRIP, deadline_s=60, operation=A_STEP))
    other = {"Authorization": "Bearer of-another-place"}
    async with (
        aiohttp.ClientSession() as session,
        session.post(place.host.address + "/v1/leases/step", data=body, headers=other) as reply,
    ):
        assert reply.status == 409
    assert place.heard == []
    await place.host.report(deadline_s=60)
    assert place.heard == [1]


async def test_what_is_large_travels_through_the_store(place: Place) -> None:
    await place.host.open("one", FAKE, deadline_s=60)
    await place.host.bind(GRIP, ttl_s=60, deadline_s=60)
    await place.host.reset(GRIP, Start(task=task()), deadline_s=60)
    long = Type(text="x" * 20_000)
    step = TakeStep(action_id="e/0/0", action=long)
    body = operate_body(GRIP, step, 5, place.blobs)
    assert len(msgspec.json.encode(body)) < INLINE_BYTES
    result = await place.host.step(GRIP, "e/0/0", long, deadline_s=60)
    assert not result.effect.ok
    store = MemoryBlobs()
    small = operate_body(GRIP, A_STEP, 5, store)
    assert small.operation == A_STEP


@pytest.mark.parametrize("kind", CLASSES.values())
def test_every_error_class_survives_the_way(kind: Callable[[str], ScreenloopError]) -> None:
    error = Busy("later", retry_after_s=3.5) if kind is Busy else kind("a sentence")
    status = error_status(error)
    assert 400 <= status < 600
    assert status != 500
    back = error_from(status, msgspec.json.encode(error_body(error)), "the host")
    assert (type(back), str(back), back.blame) == (type(error), str(error), error.blame)
    assert getattr(back, "retry_after_s", None) == getattr(error, "retry_after_s", None)


def test_an_error_of_nobodys_tree_travels_as_infrastructure() -> None:
    assert error_body(KeyError("x")).error == "InfraFault"
    assert error_status(KeyError("x")) == 503
    assert error_body(HostUnreachable("x")).error == "InfraFault"
    assert error_status(EnvironmentFault("x")) == error_status(DeadlinePassed("x")) == 503
    assert type(error_from(502, b"<html>", "the host")) is InfraFault


@pytest.mark.parametrize(
    "reply",
    [
        b'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"host":',
        b'HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n{"host":',
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 6\r\n\r\n<html>",
        b"",
        b"\xff\xfe\x00 nonsense\r\n\r\n",
    ],
)
async def test_an_answer_cut_short_leaves_open_what_happened(reply: bytes) -> None:
    async def half(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(reply)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(half, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    host = RemoteHost("fake-1", address, token=TOKEN, blobs=MemoryBlobs())
    with pytest.raises(HostUnreachable):
        await host.report(deadline_s=5)
    await host.close()
    server.close()
    await server.wait_closed()


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"POST /v1/leases/step HT",
        b"POST /v1/leases/step HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{",
    ],
)
async def test_half_a_request_is_closed_and_others_are_not_held_up(
    tmp_path: Path, sent: bytes
) -> None:
    assert HALF_REQUEST_S < 10
    loop = asyncio.get_running_loop()
    async with served(tmp_path, half_request_s=1.0) as place:
        with socket.create_connection(_address(place)) as half:
            half.setblocking(False)
            half.sendall(sent)
            answer = asyncio.ensure_future(loop.sock_recv(half, 100))
            assert (await place.host.report(deadline_s=60)).host == "fake-1"
            with contextlib.suppress(ConnectionResetError):
                assert await answer == b""


def _address(place: Place) -> tuple[str, int]:
    host, _, port = place.host.address.removeprefix("http://").rpartition(":")
    return host, int(port)
