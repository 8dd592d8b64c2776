"""Whatever is sent to a manager: a typed refusal, nothing changed, nobody else held up."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest
from http_place import RIGHT, TOKEN, FilmedGarage, Served, serving
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from odometer import REF, START, TAP

from screenloop.http.errors import ErrorBody
from screenloop.http.server import BODY_BYTES, HALF_REQUEST_S
from screenloop.store.blobs import MemoryBlobs, blob_key
from screenloop.types import Lease

POSTS = (
    "/v1/leases",
    "/v1/leases/withdraw",
    "/v1/leases/reset",
    "/v1/leases/observe",
    "/v1/leases/step",
    "/v1/leases/evaluate",
    "/v1/leases/release",
)
STEP: dict[str, Any] = {"type": "step", "action_id": "e/1/0", "action": msgspec.to_builtins(TAP)}
UNKNOWN = blob_key(b"nobody put this", "json")


@dataclass
class Held:
    """A manager with one lease, one step into an episode."""

    served: Served
    garage: FilmedGarage
    lease: Lease

    @property
    def shown(self) -> dict[str, Any]:
        lease = self.lease
        return {"lease_id": lease.id, "fence": lease.fence, "instance": lease.instance}

    async def refused(
        self, path: str, body: Any, *, headers: dict[str, str] | None = None
    ) -> tuple[int, ErrorBody]:
        """Send; return status and typed body, and make sure that nothing happened."""
        status, answer = await self.served.post(path, body, headers)
        typed = msgspec.convert(answer, ErrorBody)
        await self.require_unchanged()
        return status, typed

    async def require_unchanged(self) -> None:
        (odometer,) = self.garage.made
        assert (odometer.steps, odometer.closed) == (1, 0)
        status = self.served.service.status()
        assert (status.leases, status.acquiring, status.in_flight) == (1, 0, 0)
        seen = await self.served.clients[0].observe(self.lease, deadline_s=60)
        assert self.served.shared.get(seen.frame or "") == b"frame 1"


@pytest.fixture
async def held(tmp_path: Path) -> AsyncIterator[Held]:
    blobs = MemoryBlobs()
    garage = FilmedGarage(blobs)
    async with serving(
        tmp_path, open_instance=garage.open, shared=blobs, half_request_s=1.0
    ) as served:
        client = served.client()
        lease = await client.acquire(REF, "run", ttl_s=60)
        await client.reset(lease, START, deadline_s=60)
        await client.step(lease, "e/0/0", TAP, deadline_s=60)
        yield Held(served, garage, lease)


@pytest.mark.parametrize("path", POSTS)
async def test_what_is_no_body_of_the_route_is_refused(held: Held, path: str) -> None:
    for body in (
        b"",
        b"{not json",
        b"\xff\xfe",
        b"null",
        b"3",
        b"[]",
        b'"text"',
        b"[" * 60_000,
        b'{"lease": 3}',
        b'{"lease": {"lease_id": [], "fence": "x", "instance": null}}',
        b'{"unknown": 1}',
        b'{"\\ud800": 1}',
        b"{" + b'"a":' * 5000,
    ):
        status, typed = await held.refused(path, body)
        assert (status, typed.error, typed.blame) == (400, "ConfigError", "task")
        assert typed.message


@pytest.mark.parametrize("path", POSTS)
async def test_a_missing_or_wrong_token_is_refused_before_anything_is_read(
    held: Held, path: str
) -> None:
    for headers in (
        {},
        {"Authorization": ""},
        {"Authorization": "Bearer"},
        {"Authorization": TOKEN},
        {"Authorization": f"Bearer {TOKEN}x"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": "Bearer \udce4".encode("utf-8", "surrogateescape").decode("latin-1")},
    ):
        status, typed = await held.refused(path, b"{not json", headers=headers)
        assert (status, typed.error) == (401, "ConfigError")
        assert TOKEN not in typed.message


async def test_reading_routes_want_the_token_as_well(held: Held) -> None:
    for path in (
        "/v1/spec?kind=odometer&width=1&height=1",
        "/v1/info",
        "/v1/status",
        "/v1/metrics",
    ):
        status, body = await held.served.get(path, headers={})
        assert (status, msgspec.json.decode(body, type=ErrorBody).error) == (401, "ConfigError")
    for path in ("/v1/health", "/openapi.json"):
        assert (await held.served.get(path, headers={}))[0] == 200


async def test_leases_that_are_not_in_force_are_refused(held: Held) -> None:
    operations: dict[str, dict[str, Any]] = {
        "/v1/leases/reset": {"type": "reset", "start": msgspec.to_builtins(START)},
        "/v1/leases/observe": {"type": "observe"},
        "/v1/leases/step": STEP,
        "/v1/leases/evaluate": {"type": "evaluate", "claim": {}},
    }
    for path, operation in operations.items():
        body = {"deadline_s": 5, "operation": operation}
        for wrong in (
            {"lease_id": "run/guessed"},
            {"fence": held.lease.fence + 1},
            {"fence": 0},
            {"instance": "odometer-99"},
            {"fence": 2**62},
        ):
            status, typed = await held.refused(path, {"lease": {**held.shown, **wrong}, **body})
            assert (status, typed.error) == (409, "LeaseLost")


async def test_releasing_an_unknown_lease_is_harmless(held: Held) -> None:
    for wrong in ({"lease_id": "run/guessed"}, {"fence": 0}, {"instance": "odometer-99"}):
        status, _ = await held.served.post("/v1/leases/release", {"lease": {**held.shown, **wrong}})
        assert status == 200
        await held.require_unchanged()


@pytest.mark.parametrize(
    "field",
    [
        {"action_id": ""},
        {"action_id": "no-shape"},
        {"action_id": "e/0"},
        {"action_id": "e/x/0"},
        {"action_id": "/0/0"},
        {"action_id": "e" * 300 + "/0/0"},
        {"action_id": 7},
        {"action": None},
        {"type": "observe"},
        {"type": None},
        {"action": {"type": "nothing"}},
        {"action": {"type": "tap", "at": "x"}},
        {"more": 1},
    ],
)
async def test_a_step_of_another_shape_is_refused(held: Held, field: dict[str, Any]) -> None:
    body = {"lease": held.shown, "deadline_s": 5, "operation": {**STEP, **field}}
    status, typed = await held.refused("/v1/leases/step", body)
    assert (status, typed.error) == (400, "ConfigError")


@pytest.mark.parametrize(
    "field",
    [
        {"operation": None},
        {"blob": UNKNOWN},
        {"blob": "../../etc/passwd", "operation": None},
        {"deadline_s": 0},
        {"deadline_s": -1},
        {"deadline_s": 1e9},
        {"deadline_s": "5"},
        {"more": 1},
    ],
)
async def test_a_body_of_another_shape_is_refused(held: Held, field: dict[str, Any]) -> None:
    body = {"lease": held.shown, "deadline_s": 5, "operation": STEP, **field}
    status, typed = await held.refused("/v1/leases/step", body)
    assert (status, typed.error) == (400, "ConfigError")


async def test_a_blob_that_is_something_else_is_refused_and_a_missing_one_is_infrastructure(
    held: Held,
) -> None:
    body = {"lease": held.shown, "deadline_s": 5}
    other = held.served.shared.put(b'{"type": "nothing"}', "json")
    status, typed = await held.refused("/v1/leases/step", {**body, "blob": other})
    assert (status, typed.error) == (400, "ConfigError")
    status, typed = await held.refused("/v1/leases/step", {**body, "blob": UNKNOWN})
    assert (status, typed.error, typed.blame) == (503, "InfraFault", "infrastructure")


@pytest.mark.parametrize(
    "field",
    [
        {"ttl_s": 0},
        {"ttl_s": 1e12},
        {"wait_s": -1},
        {"wait_s": 1e6},
        {"run_id": ""},
        {"run_id": "r" * 129},
        {"run_id": "r\0"},
        {"request_id": ""},
        {"request_id": "a\nb"},
        {"env": None},
        {"env": {"kind": "odometer"}},
        {"env": {"kind": "odometer", "size_px": [1, 2, 3]}},
        {"env": {"kind": "odometer", "size_px": ["1", 2]}},
    ],
)
async def test_a_request_for_a_lease_of_another_shape_is_refused(
    held: Held, field: dict[str, Any]
) -> None:
    body = {
        "env": {"kind": "odometer", "size_px": [100, 200]},
        "run_id": "run",
        "request_id": "x",
        "ttl_s": 60,
        **field,
    }
    status, typed = await held.refused("/v1/leases", body)
    assert (status, typed.error) == (400, "ConfigError")


async def test_the_longest_name_of_a_run_makes_a_lease_that_can_be_used(held: Held) -> None:
    client = held.served.clients[0]
    lease = await client.acquire(REF, "r" * 128, ttl_s=60)
    await client.observe(lease, deadline_s=60)


async def test_an_unknown_kind_is_refused(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        body = {
            "env": {"kind": "nothing", "size_px": [1, 1]},
            "run_id": "run",
            "request_id": "x",
            "ttl_s": 60,
        }
        status, answer = await served.post("/v1/leases", body)
        assert (status, answer["error"]) == (400, "ConfigError")
        assert "Unknown environment kind" in answer["message"]
        status, _ = await served.get("/v1/spec?kind=nothing&width=1&height=1")
        assert status == 400


@pytest.mark.parametrize(
    "query",
    [
        "",
        "?kind=odometer",
        "?kind=odometer&width=1",
        "?kind=odometer&width=x&height=1",
        "?kind=odometer&width=0&height=1",
        "?kind=odometer&width=9999999999&height=1",
        "?kind=odometer&width=%D9%A1&height=1",
    ],
)
async def test_a_query_of_another_shape_is_refused(held: Held, query: str) -> None:
    status, body = await held.served.get("/v1/spec" + query)
    assert (status, msgspec.json.decode(body, type=ErrorBody).error) == (400, "ConfigError")


@pytest.mark.parametrize("path", POSTS)
async def test_a_body_above_the_bound_is_refused(held: Held, path: str) -> None:
    big = b" " * (BODY_BYTES + 1)
    status, typed = await held.refused(path, big)
    assert (status, typed.error) == (413, "ConfigError")

    async def in_parts() -> AsyncIterator[bytes]:
        for _ in range(9):
            yield b" " * 8192

    async with (
        aiohttp.ClientSession() as session,
        session.post(held.served.url + path, data=in_parts(), headers=RIGHT) as reply,
    ):
        assert reply.status == 413
    await held.require_unchanged()


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/leases/step", 405),
        ("PUT", "/v1/leases", 405),
        ("DELETE", "/v1/info", 405),
        ("POST", "/v1/health", 405),
        ("GET", "/v1/nowhere", 404),
        ("POST", "/", 404),
        ("GET", "/v1/leases/", 404),
        ("GET", "//v1/info", 404),
        # The parser knows the methods there are: another is no request.
        ("BREW", "/v1/info", 400),
    ],
)
async def test_routes_and_methods_that_are_not_there_are_refused(
    held: Held, method: str, path: str, status: int
) -> None:
    async with (
        aiohttp.ClientSession() as session,
        session.request(
            method, held.served.url + path, headers=RIGHT, allow_redirects=False
        ) as reply,
    ):
        assert reply.status == status
        assert msgspec.json.decode(await reply.read(), type=ErrorBody).error == "ConfigError"
        assert (status != 405) or reply.headers["Allow"]
    await held.require_unchanged()


async def raw(held: Held, sent: bytes) -> bytes:
    """Send bytes and return all that comes until the connection ends."""
    reader, writer = await asyncio.open_connection("127.0.0.1", held.served.port)
    try:
        writer.write(sent)
        await writer.drain()
        async with asyncio.timeout(120):
            return await reader.read()
    except ConnectionResetError:
        return b""
    finally:
        writer.close()
        with contextlib.suppress(ConnectionResetError):
            await writer.wait_closed()


@pytest.mark.parametrize(
    "sent",
    [
        b"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"GET\r\n\r\n",
        b"POST /v1/leases/step HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
        b"POST /v1/leases HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"GET /v1/info HTTP/1.1\r\nno colon here\r\n\r\n",
        b"GET /v1/info HTTP/1.1\r\n\r\n",
        b"GET /v1/info HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: what\r\n\r\n",
    ],
)
async def test_bytes_that_are_no_request_get_a_typed_refusal(held: Held, sent: bytes) -> None:
    answer = await raw(held, sent)
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400")
    assert msgspec.json.decode(body, type=ErrorBody).error == "ConfigError"
    await held.require_unchanged()


async def test_a_handshake_of_a_websocket_is_no_way_in(held: Held) -> None:
    handshake = (
        b"GET /v1/leases/step HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    )
    answer = await raw(held, handshake + b"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58")
    assert answer.startswith(b"HTTP/1.1 405")
    assert b"101" not in answer.split(b"\r\n")[0]
    await held.require_unchanged()


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"POST /v1/leases HT",
        b"POST /v1/leases/step HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{",
        b"POST /v1/leases/step HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        b"GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\nPOST /v1/le",
        b"GET /v1/health HTTP/1.1\r\nHost: x\r\nTE: x\r\n\r\nPOST /v1/le",
    ],
)
async def test_half_a_request_is_closed_and_others_are_not_held_up(held: Held, sent: bytes) -> None:
    assert HALF_REQUEST_S < 10
    hanging = asyncio.create_task(raw(held, sent))
    await held.require_unchanged()
    await hanging
    await held.require_unchanged()


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_no_bytes_and_no_json_make_the_service_fail(tmp_path_factory: Any, data: Any) -> None:
    json_values = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
        lambda inner: (
            st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4)
        ),
        max_leaves=12,
    )
    bodies = st.binary(max_size=200) | json_values.map(lambda value: json.dumps(value).encode())
    sent = data.draw(st.lists(st.tuples(st.sampled_from(POSTS), bodies), min_size=8, max_size=12))

    async def play() -> None:
        async with serving(tmp_path_factory.getbasetemp()) as served:
            for path, body in sent:
                status, answer = await served.post(path, body)
                assert 400 <= status < 500
                msgspec.convert(answer, ErrorBody)

    asyncio.run(play())
