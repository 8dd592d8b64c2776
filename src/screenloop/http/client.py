"""The one way to call HTTP: a deadline for each request, answers read whole.

A manager asks its hosts for every operation, and a general client costs more CPU than most
operations do. This one has the parser of the serving side (httptools) and nothing but what our
services need: no redirects, no cookies, no compression, one request at a time a connection.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from functools import lru_cache
from typing import cast
from urllib.parse import urlencode, urlsplit

import httptools

from screenloop.errors import ConfigError, InfraFault
from screenloop.types import Struct

IDLE_S = 30.0
"""Connections that were not used for so long are not used again: services close theirs later."""

Origin = tuple[str, str, int]
"""Scheme, host and port."""


class NoAnswer(InfraFault):
    """Raised when no whole answer came; the request may yet have been carried out."""


class HttpAnswer(Struct, frozen=True, kw_only=True):
    """What came back."""

    status: int
    body: bytes
    headers: Mapping[str, str]
    """By names in lower case."""


class HttpClient:
    """Connections to any number of servers, opened as they are needed."""

    def __init__(self, *, connections: int = 0, most_bytes: int = 0) -> None:
        """Prepare; connects on first use.

        Args:
            connections: at most to one server; 0 is no limit.
            most_bytes: of an answer's body; 0 is no limit.
        """
        self._connections = connections
        self._most_bytes = most_bytes
        self._pools: dict[Origin, _Pool] = {}

    async def send(
        self,
        method: str,
        url: str,
        *,
        body: bytes | None,
        headers: Mapping[str, str],
        deadline_s: float,
        query: Mapping[str, str] | None = None,
    ) -> HttpAnswer:
        """Send a request once; redirects are not followed.

        Raises:
            ConfigError: the URL is none of HTTP.
            TimeoutError: nothing whole came in time.
            NoAnswer: the other side cannot be reached, or its answer is cut short or too large.
        """
        origin, place, target = _read_url(url)
        if query:
            target += ("&" if "?" in target else "?") + urlencode(query)
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        length = "" if body is None else f"Content-Length: {len(body)}\r\n"
        head = f"{method} {target} HTTP/1.1\r\nHost: {place}\r\n{lines}{length}\r\n"
        pool = self._pools.get(origin)
        if pool is None:
            pool = self._pools[origin] = _Pool(origin, self._connections, self._most_bytes)
        try:
            async with asyncio.timeout(deadline_s):
                return await pool.send(head.encode() + (body or b""))
        except TimeoutError:
            raise
        except OSError as error:
            words = " ".join(str(error).split())
            raise NoAnswer(f"{type(error).__name__}: {words}") from error

    async def close(self) -> None:
        """Close the connections, requests under way fail; may be called twice."""
        pools, self._pools = self._pools, {}
        for pool in pools.values():
            pool.close()


def header_token(token: str) -> str:
    """Return the value of an Authorization header.

    Raises:
        ConfigError: the token cannot be sent.
    """
    if not token.isascii() or not token.isprintable():
        raise ConfigError("a token is printable ASCII: no header can carry this one")
    return f"Bearer {token}"


@lru_cache(maxsize=4096)
def _read_url(url: str) -> tuple[Origin, str, str]:
    """Return the origin, the value of the Host header, and the path with its query."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(f"a URL has the form http://HOST:PORT/PATH, not {url!r}")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    target = parts.path or "/"
    if parts.query:
        target += f"?{parts.query}"
    return (parts.scheme, parts.hostname, port), parts.netloc.rpartition("@")[2], target


class _Pool:
    """The connections to one server."""

    def __init__(self, origin: Origin, connections: int, most_bytes: int) -> None:
        self._origin = origin
        self._most_bytes = most_bytes
        self._gate = asyncio.Semaphore(connections) if connections else None
        self._idle: list[_Line] = []
        self._lines: set[_Line] = set()

    async def send(self, request: bytes) -> HttpAnswer:
        if self._gate is None:
            return await self._exchange(request)
        async with self._gate:
            return await self._exchange(request)

    def close(self) -> None:
        for line in self._lines:
            line.close()
        self._lines.clear()
        self._idle.clear()

    async def _exchange(self, request: bytes) -> HttpAnswer:
        line = self._kept() or await self._connect()
        try:
            answer = await line.exchange(request)
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
        scheme, host, port = self._origin
        secure = ssl.create_default_context() if scheme == "https" else None
        _, line = await asyncio.get_running_loop().create_connection(
            lambda: _Line(self._most_bytes), host, port, ssl=secure
        )
        self._lines.add(line)
        return line


class _Line(asyncio.Protocol):
    """One connection, with at most one request under way; the parser calls its `on_` methods."""

    def __init__(self, most_bytes: int) -> None:
        self.usable = True
        self.used_s = 0.0
        self._most_bytes = most_bytes
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._answer: asyncio.Future[HttpAnswer] | None = None
        self._headers: dict[str, str] = {}
        self._body = bytearray()

    async def exchange(self, request: bytes) -> HttpAnswer:
        """Send a request and return its answer.

        Raises:
            OSError: the connection ended, or something else than one answer came.
        """
        if self._transport is None or not self.usable:
            raise ConnectionResetError("the connection is closed")
        self._answer = self._loop.create_future()
        self._headers, self._body = {}, bytearray()
        self._transport.write(request)
        return await self._answer

    def close(self) -> None:
        self.usable = False
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail(str(exc or "the connection was closed before the whole answer came"))

    def data_received(self, data: bytes) -> None:
        if self._answer is None or self._answer.done():
            self._fail("more came than was asked for")
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._fail("the answer changes the protocol")
        except httptools.HttpParserError as error:
            self._fail(f"the answer is not HTTP/1.1: {error}")

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_body(self, part: bytes) -> None:
        self._body += part
        if self._most_bytes and len(self._body) > self._most_bytes:
            self._fail(f"the body is larger than {self._most_bytes} bytes")

    def on_message_complete(self) -> None:
        status = self._parser.get_status_code()
        if status < 200:  # an interim answer: the real one follows
            self._headers = {}
            return
        if self._answer is None or self._answer.done():
            self._fail("more came than was asked for")
            return
        self.used_s = self._loop.time()
        if not self._parser.should_keep_alive():
            self.close()
        body = bytes(self._body)
        self._answer.set_result(HttpAnswer(status=status, body=body, headers=self._headers))

    def _fail(self, why: str) -> None:
        self.close()
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(ConnectionResetError(why))
            # Nobody may be waiting: then it is no failure of anybody's.
            self._answer.exception()
