"""The one way to serve HTTP, on raw sockets: what is answered, and what is refused and ended."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import pytest
from starlette.requests import Request
from starlette.responses import Response

from screenloop.http.errors import ErrorBody
from screenloop.http.server import HEAD_BYTES, Routes, Serving, listen

POST = b"POST /echo?a=1 HTTP/1.1\r\nHost: x\r\nX-Name: one\r\nContent-Length: %d\r\n\r\n%b"


async def echo(request: Request) -> Response:
    body = await request.body()
    said = [request.method, request.url.path, request.url.query, request.headers.get("x-name", "")]
    return Response("|".join(said).encode() + b"|" + body, headers={"X-Back": "yes"})


async def broken(request: Request) -> Response:
    raise RuntimeError("on purpose")


async def slow(request: Request) -> Response:
    await asyncio.sleep(0.05)
    return Response(await request.body())


APP = Routes(
    {
        ("GET", "/echo"): echo,
        ("POST", "/echo"): echo,
        ("POST", "/slow"): slow,
        ("GET", "/broken"): broken,
    }
)


@pytest.fixture
async def port() -> AsyncIterator[int]:
    async with served(half_request_s=8.0) as port:
        yield port


@asynccontextmanager
async def served(*, half_request_s: float) -> AsyncIterator[int]:
    listener = listen()
    async with Serving(APP, listener, half_request_s=half_request_s):
        yield listener.getsockname()[1]


async def answers(port: int, parts: list[bytes], count: int) -> list[tuple[int, bytes]]:
    """Send the parts one by one; return status and body of so many answers."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for part in parts:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(0.001)
        return [await one_answer(reader) for _ in range(count)]
    finally:
        writer.close()
        await writer.wait_closed()


async def one_answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = await reader.readuntil(b"\r\n\r\n")
    status = int(head.split(b" ")[1])
    length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
    body = await reader.readexactly(int(length[1])) if length else await reader.read()
    return status, body


async def test_a_plain_request_is_answered_whole_and_the_connection_kept(port: int) -> None:
    got = await answers(port, [POST % (3, b"abc"), POST % (0, b""), POST % (2, b"yz")], 3)
    assert got == [
        (200, b"POST|/echo|a=1|one|abc"),
        (200, b"POST|/echo|a=1|one|"),
        (200, b"POST|/echo|a=1|one|yz"),
    ]


async def test_requests_sent_at_once_are_answered_in_order(port: int) -> None:
    first = b"POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n1"
    got = await answers(port, [first + POST % (1, b"2") + first, POST % (1, b"3")], 4)
    assert [body[-1:] for _, body in got] == [b"1", b"2", b"1", b"3"]


async def test_plain_and_other_requests_share_a_connection(port: int) -> None:
    chunked = (
        b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
    )
    got = await answers(port, [POST % (1, b"1"), chunked, POST % (1, b"2"), chunked], 4)
    assert [body.rpartition(b"|")[2] for _, body in got] == [b"1", b"abcde", b"2", b"abcde"]


async def test_cuts_anywhere_change_nothing(port: int) -> None:
    whole = POST % (5, b"hello") + POST % (5, b"world")
    for cut in range(1, len(whole), 7):
        got = await answers(port, [whole[:cut], whole[cut:]], 2)
        assert [body[-5:] for _, body in got] == [b"hello", b"world"], cut


async def test_an_endpoint_that_fails_is_answered_typed_and_others_go_on(port: int) -> None:
    got = await answers(port, [b"GET /broken HTTP/1.1\r\nHost: x\r\n\r\n"], 1)
    assert got[0][0] == 503
    assert msgspec.json.decode(got[0][1], type=ErrorBody).message == (
        "unexpected RuntimeError: on purpose"
    )
    assert (await answers(port, [POST % (1, b"1")], 1))[0][0] == 200


@pytest.mark.parametrize(
    "wrong",
    [
        b"nonsense\r\n\r\n",
        b"GET /echo HTTP/1.1\r\n\r\n",
        b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"POST /echo HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",
        b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
        b"Content-Length: 3\r\n\r\n0\r\n\r\n",
        b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 0x1\r\n\r\n1",
        b"POST /echo HTTP/1.1\r\nHost: x\r\nX: a\r\n folded\r\n\r\n",
        b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST /echo HTTP/1.1\r\nHost : x\r\n\r\n",
        b"POST /echo HTTP/1.1\r\nHost: x\r\nBad Name: y\r\n\r\n",
        b"POST /echo HTTP/1.1\nHost: x\x00y\n\n",
    ],
)
async def test_what_is_wrong_gets_a_400_and_the_connection_ends(port: int, wrong: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(wrong)
    status, body = await one_answer(reader)
    assert (status, msgspec.json.decode(body, type=ErrorBody).error) == (400, "ConfigError")
    assert await reader.read() == b""
    writer.close()


@pytest.mark.parametrize(
    "sent",
    [
        b"GET /" + b"x" * HEAD_BYTES + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /echo HTTP/1.1\r\nHost: x\r\nX: " + b"y" * HEAD_BYTES + b"\r\n\r\n",
        b"GET /echo HTTP/1.1\r\nHost: x\r\n" + b"X: y\r\n" * (HEAD_BYTES // 6) + b"\r\n",
        b"GET /echo HTTP/1.1\r\nHost: x\r\nX: " + b"y" * HEAD_BYTES,
        b"GET /" + b"x" * HEAD_BYTES,
    ],
)
async def test_a_head_above_the_bound_is_refused_whole_or_not(port: int, sent: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    status, body = await one_answer(reader)
    assert status == 431
    assert str(HEAD_BYTES) in msgspec.json.decode(body, type=ErrorBody).message
    assert await reader.read() == b""
    writer.close()


async def test_nonsense_behind_a_request_ends_the_connection_after_its_answer(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    slow = b"POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n1"
    writer.write(slow + b"nonsense\r\n\r\n")
    assert await one_answer(reader) == (200, b"1")
    assert await reader.read() == b""
    writer.close()


async def test_a_connection_on_which_nothing_but_line_ends_comes_is_closed() -> None:
    async with served(half_request_s=0.5) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"\r\n" + POST % (1, b"1"))
        assert (await one_answer(reader))[0] == 200
        writer.write(b"\r\n")
        assert await reader.read() == b""
        writer.close()


async def test_a_connection_that_stops_in_the_middle_is_closed_also_after_good_requests() -> None:
    async with served(half_request_s=1.0) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(POST % (1, b"1"))
        assert (await one_answer(reader))[0] == 200
        writer.write((POST % (9, b""))[:-3])
        assert await reader.read() == b""
        writer.close()


async def test_a_connection_that_rests_between_requests_is_kept() -> None:
    async with served(half_request_s=1.0) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(POST % (1, b"1"))
        assert (await one_answer(reader))[0] == 200
        await asyncio.sleep(1.2)
        writer.write(POST % (1, b"2"))
        assert (await one_answer(reader))[0] == 200
        writer.close()
