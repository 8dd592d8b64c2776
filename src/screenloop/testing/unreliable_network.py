"""A network that cannot be relied on: a proxy that loses, delays and repeats what goes over it.

Stands between a client and a manager in chaos tests. What happens to each request is decided
elsewhere, so a schedule can be drawn from a seed or written down by hand.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any, Literal

from screenloop.types import Struct

FateKind = Literal["pass", "lose_request", "lose_reply", "slow", "twice", "late"]
"""What becomes of a request: it passes; it is lost; it is carried out and the answer is lost; it
waits; it passes and comes once more after a while; its sender is cut off, and it comes after a
while.
"""
_HEAD_BYTES = 64 * 1024
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d+)[ \t]*\r\n", re.IGNORECASE)


class Fate(Struct, frozen=True, kw_only=True):
    """What becomes of one request."""

    kind: FateKind = "pass"
    delay_s: float = 0.0
    """Of `slow`, `twice` and `late`."""


Decide = Callable[[str], Fate]
"""Called with the path of each request, in the order in which they come."""


class _Message:
    """A whole HTTP message."""

    __slots__ = ("body", "head")

    def __init__(self, head: bytes, body: bytes) -> None:
        self.head = head
        self.body = body

    @property
    def path(self) -> str:
        """Path of a request, without its query."""
        return self.head.split(b" ", 2)[1].partition(b"?")[0].decode("latin-1")


class UnreliableProxy:
    """Passes HTTP/1.1 requests on to one port of this machine, each as it is fated.

    Bodies carry a Content-Length, as those of ours do. Use as `async with`.
    """

    def __init__(self, port: int, decide: Decide) -> None:
        """Prepare.

        Args:
            port: of the server behind.
            decide: says what becomes of each request.
        """
        self.counts: Counter[FateKind] = Counter()
        """How often each fate came."""
        self._port = port
        self._decide = decide
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._late: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def __aenter__(self) -> UnreliableProxy:

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self._begin(self._serve(reader, writer))

        self._server = await asyncio.start_server(accept, "127.0.0.1", limit=_HEAD_BYTES)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close every connection; what is still late never comes."""
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(set(self._tasks))
        await self._server.wait_closed()

    async def settle(self) -> None:
        """Wait until nothing is late any more."""
        while self._late:
            await asyncio.wait(set(self._late))

    # ---- parts -------------------------------------------------------------------------------

    def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _begin_late(self, request: _Message, delay_s: float) -> None:
        task = self._begin(self._pass_on_late(request, delay_s))
        self._late.add(task)
        task.add_done_callback(self._late.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            # The other side may go, or send what is no HTTP; then its connection is over.
            with contextlib.suppress(OSError, EOFError, asyncio.LimitOverrunError):
                while (request := await _read(reader)) is not None:
                    reply = await self._befall(request)
                    if reply is None:
                        return
                    writer.write(reply.head + reply.body)
                    await writer.drain()
        finally:
            writer.close()

    async def _befall(self, request: _Message) -> _Message | None:
        """Let a request meet its fate; `None` cuts its sender off."""
        fate = self._decide(request.path)
        self.counts[fate.kind] += 1
        match fate.kind:
            case "lose_request":
                return None
            case "lose_reply":
                await self._pass_on(request)
                return None
            case "slow":
                await asyncio.sleep(fate.delay_s)
            case "late":
                self._begin_late(request, fate.delay_s)
                return None
            case _:
                pass
        reply = await self._pass_on(request)
        if fate.kind == "twice":
            self._begin_late(request, fate.delay_s)
        return reply

    async def _pass_on_late(self, request: _Message, delay_s: float) -> None:
        await asyncio.sleep(delay_s)
        await self._pass_on(request)

    async def _pass_on(self, request: _Message) -> _Message | None:
        """Return the server's answer; `None` when there is none."""
        try:
            reader, writer = await asyncio.open_connection(
                "127.0.0.1", self._port, limit=_HEAD_BYTES
            )
        except OSError:
            return None
        try:
            writer.write(request.head + request.body)
            await writer.drain()
            return await _read(reader)
        except (OSError, EOFError, asyncio.LimitOverrunError):
            return None
        finally:
            writer.close()


async def _read(reader: asyncio.StreamReader) -> _Message | None:
    """Return the next message; `None` at the end of the stream."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    length = _LENGTH.search(head)
    return _Message(head, await reader.readexactly(int(length[1])) if length else b"")
