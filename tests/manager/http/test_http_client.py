"""The asking side of HTTP: connections are kept, and never used for another's answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from screenloop.errors import ConfigError
from screenloop.http.client import HttpClient, NoAnswer, header_token

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Caller(HttpClient):
    """A client of one server."""

    def __init__(self, url: str) -> None:
        super().__init__(most_bytes=50_000)
        self.url = url


def answer(body: bytes, *, head: bytes = b"") -> bytes:
    return b"HTTP/1.1 200 OK\r\n%bContent-Length: %d\r\n\r\n%b" % (head, len(body), body)


async def request(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """Read one request; return its first line and body."""
    head = await reader.readuntil(b"\r\n\r\n")
    size = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    return head.partition(b"\r\n")[0], await reader.readexactly(size)


@asynccontextmanager
async def talking(talk: Talk) -> AsyncIterator[tuple[Caller, list[int]]]:
    """Serve by a script; give a client and a list with one entry a connection."""
    opened: list[int] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        opened.append(len(opened))
        try:
            await talk(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    client = Caller(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    try:
        yield client, opened
    finally:
        await client.close()
        server.close()
        await server.wait_closed()


async def send(client: Caller, body: bytes, deadline_s: float = 5.0) -> tuple[int, bytes]:
    got = await client.send(
        "POST", client.url + "/x?y=1", body=body, headers={"A": "b"}, deadline_s=deadline_s
    )
    return got.status, got.body


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while True:
        line, body = await request(reader)
        assert line == b"POST /x?y=1 HTTP/1.1"
        writer.write(answer(b"you said " + body))


async def test_requests_one_after_the_other_share_a_connection() -> None:
    async with talking(echo) as (client, opened):
        for number in range(5):
            body = b"%d" % number
            assert await send(client, body) == (200, b"you said " + body)
        assert opened == [0]
        answers = await asyncio.gather(*(send(client, b"%d" % number) for number in range(5)))
        assert [body for _, body in answers] == [b"you said %d" % n for n in range(5)]
        assert len(opened) == 5


async def test_an_answer_in_pieces_is_put_together() -> None:
    async def in_pieces(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            _, body = await request(reader)
            for byte in answer(body):
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(0)

    async with talking(in_pieces) as (client, opened):
        assert await send(client, b"a" * 30) == (200, b"a" * 30)
        assert await send(client, b"") == (200, b"")
        assert opened == [0]


async def test_an_answer_that_comes_too_late_is_nobodys() -> None:
    go_on = asyncio.Event()

    async def late(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, body = await request(reader)
        if body == b"slow":
            await go_on.wait()
        writer.write(answer(body))
        await echo(reader, writer)

    async with talking(late) as (client, opened):
        with pytest.raises(TimeoutError):
            await send(client, b"slow", deadline_s=0.05)
        waiting = asyncio.create_task(send(client, b"slow"))
        await asyncio.sleep(0.05)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        go_on.set()
        assert await send(client, b"quick") == (200, b"quick")
        assert len(opened) == 3


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n" + b"x" * 60_000,
        b"nonsense\r\n\r\n",
        b"x" * 20_000,
    ],
)
async def test_anything_but_a_whole_answer_in_bounds_is_no_answer(said: bytes) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request(reader)
        writer.write(said)
        await writer.drain()

    async with talking(talk) as (client, _):
        with pytest.raises(NoAnswer):
            await send(client, b"a")


async def test_a_connection_that_the_other_side_closes_is_not_used_again() -> None:
    async def once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, body = await request(reader)
        writer.write(answer(body, head=b"Connection: close\r\n"))
        await writer.drain()

    async with talking(once) as (client, opened):
        for _ in range(3):
            assert await send(client, b"a") == (200, b"a")
        assert len(opened) == 3


async def test_nobody_there_is_no_answer() -> None:
    client = Caller("http://127.0.0.1:1")
    with pytest.raises(NoAnswer, match="Connect"):
        await send(client, b"")
    await client.close()


async def test_a_token_that_no_header_can_carry_is_refused() -> None:
    assert header_token("abc") == "Bearer abc"
    for token in ("ä", "a\r\nX: y", "\0"):
        with pytest.raises(ConfigError, match="ASCII"):
            header_token(token)
