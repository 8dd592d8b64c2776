"""The asking side of plain HTTP/1.1 between our own processes: one write, one read, no ceremony.

A manager asks its hosts for every operation, and a general client costs three times what the
operation itself does. This one knows only what our services answer: a status, a Content-Length and
that many bytes. Whatever else comes is a broken connection.
"""

from __future__ import annotations

import asyncio
import re
from urllib.parse import urlsplit

from screenloop.errors import ConfigError

IDLE_S = 30.0
"""Connections that were not used for so long are not used again: services close theirs later."""
_HEAD = re.compile(rb"HTTP/1\.1 (\d{3})[^\r\n]*\r\n((?:[^\r\n]+\r\n)*)\r\n")
_LENGTH = re.compile(rb"^content-length:[ \t]*(\d{1,12})[ \t]*\r\n", re.IGNORECASE | re.MULTILINE)
_CLOSE = re.compile(rb"^connection:[ \t]*close", re.IGNORECASE | re.MULTILINE)
_CHUNKED = re.compile(rb"^transfer-encoding:", re.IGNORECASE | re.MULTILINE)
_HEAD_BYTES = 16_384

Answer = tuple[int, bytes]
"""Status and body."""


class QuickClient:
    """Connections to one address, opened as they are needed."""

    def __init__(self, address: str, *, connections: int = 256) -> None:
        """Prepare; connects on first use.

        Args:
            address: URL of the form `http://HOST:PORT`.
            connections: at most.

        Raises:
            ConfigError: the URL has another form.
        """
        parts = urlsplit(address)
        if parts.scheme != "http" or not parts.hostname or parts.path.strip("/"):
            raise ConfigError(f"an address has the form http://HOST:PORT, not {address!r}")
        self._host, self._port = parts.hostname, parts.port or 80
        self._named = parts.netloc.rpartition("@")[2].encode()
        self._gate = asyncio.Semaphore(connections)
        self._idle: list[_Line] = []
        self._lines: set[_Line] = set()

    async def send(
        self, method: bytes, path: bytes, headers: bytes, body: bytes, deadline_s: float
    ) -> Answer:
        """Send a request and return what comes back.

        Args:
            method: of HTTP.
            path: with its query.
            headers: whole lines besides Host and Content-Length.
            body: of the request.
            deadline_s: from now.

        Raises:
            TimeoutError: nothing whole came in time.
            OSError: the other side cannot be reached, or its answer is cut short or not plain.
        """
        async with asyncio.timeout(deadline_s), self._gate:
            line = self._kept() or await self._connect()
            try:
                line.begin(
                    b"%b %b HTTP/1.1\r\nHost: %b\r\n%bContent-Length: %d\r\n\r\n%b"
                    % (method, path, self._named, headers, len(body), body)
                )
                answer = await line.answer
            except BaseException:
                # What is still under way there would be taken for the next answer.
                line.close()
                self._lines.discard(line)
                raise
            if line.usable:
                self._idle.append(line)
            else:
                self._lines.discard(line)
            return answer

    def close(self) -> None:
        """Close the connections; requests under way fail."""
        for line in self._lines:
            line.close()
        self._lines.clear()
        self._idle.clear()

    def _kept(self) -> _Line | None:
        now_s = asyncio.get_running_loop().time()
        while self._idle:
            line = self._idle.pop()
            if line.usable and now_s - line.used_s < IDLE_S:
                return line
            line.close()
            self._lines.discard(line)
        return None

    async def _connect(self) -> _Line:
        loop = asyncio.get_running_loop()
        _, line = await loop.create_connection(lambda: _Line(loop), self._host, self._port)
        self._lines.add(line)
        return line


class _Line(asyncio.Protocol):
    """One connection, with at most one request under way."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.usable = True
        self.used_s = 0.0
        self.answer: asyncio.Future[Answer] = loop.create_future()
        self._loop = loop
        self._transport: asyncio.Transport | None = None
        self._data = b""

    def begin(self, request: bytes) -> None:
        """Send a request; `answer` is what it will come to."""
        self.answer = self._loop.create_future()
        if self._transport is None or not self.usable:
            raise ConnectionResetError("the connection is closed")
        self._transport.write(request)

    def close(self) -> None:
        self.usable = False
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail(str(exc or "the connection was closed before the whole answer came"))

    def data_received(self, data: bytes) -> None:
        self._data = self._data + data if self._data else data
        head = _HEAD.match(self._data)
        if head is None:
            if b"\r\n\r\n" in self._data or len(self._data) > _HEAD_BYTES:
                self._fail("the answer is not HTTP/1.1")
            return
        lines = head[2]
        length = _LENGTH.search(lines)
        if length is None or _CHUNKED.search(lines):
            self._fail("the answer does not tell its length")
            return
        end = head.end() + int(length[1])
        if len(self._data) < end:
            return
        if len(self._data) > end or self.answer.done():
            self._fail("more came than was asked for")
            return
        body, self._data = self._data[head.end() :], b""
        self.used_s = self._loop.time()
        if _CLOSE.search(lines):
            self.close()
        self.answer.set_result((int(head[1]), body))

    def _fail(self, why: str) -> None:
        self.close()
        if not self.answer.done():
            self.answer.set_exception(ConnectionResetError(why))
            # Nobody may be waiting: then it is no failure of anybody's.
            self.answer.exception()
