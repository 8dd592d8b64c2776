"""A short way for plain requests, which is nearly all of them; everything else goes the long way.

A request that came in one piece and in the plainest form (GET or POST, one Host, at most one
Content-Length, no Transfer-Encoding, Upgrade or Expect) is read by one pattern and answered in one
write. This costs a third of the long way through h11, which takes all others as before: in parts,
in odd forms, or wrong.
"""

from __future__ import annotations

import asyncio
import logging
import re
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote

from screenloop.http.timed_http import TimedHttp

_HEAD = re.compile(
    rb"(GET|POST) (/[!-~]*) HTTP/1\.1\r\n"
    rb"((?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t -~]*\r\n)+)\r\n"
)
_HEAD_BYTES = 8192
_LONG_WAY = frozenset({b"transfer-encoding", b"upgrade", b"expect", b"connection", b"te"})
"""Headers that change how a message is read, or what becomes of the connection."""
_STATUS_LINES = {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus
}

_log = logging.getLogger(__name__)

Headers = list[tuple[bytes, bytes]]


class PlainRequest:
    """A whole request in the plain form."""

    __slots__ = ("body", "headers", "length", "method", "target")

    def __init__(self, method: bytes, target: bytes, headers: Headers, body: bytes, length: int):
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
        self.length = length
        """Bytes of the whole request."""


def plain_request(data: bytes) -> PlainRequest | None:
    """Return the request that the bytes begin with, or `None` when it is not plain or not whole."""
    match = _HEAD.match(data, 0, _HEAD_BYTES)
    if match is None:
        return None
    method, target, lines = match.groups()
    headers: Headers = []
    size, hosts = -1, 0
    for line in lines.split(b"\r\n")[:-1]:
        name, _, value = line.partition(b":")
        name, value = name.lower(), value.strip(b" \t")
        if name in _LONG_WAY:
            return None
        if name == b"host":
            hosts += 1
        elif name == b"content-length":
            if size >= 0 or not value.isdigit() or len(value) > 9:
                return None
            size = int(value)
        headers.append((name, value))
    end = match.end() + max(size, 0)
    if hosts != 1 or len(data) < end:
        return None
    return PlainRequest(method, target, headers, data[match.end() : end], end)


class QuickHttp(TimedHttp):
    """A connection on which plain requests go the short way, one at a time."""

    _quick: asyncio.Task[None] | None = None
    """The answer under way on the short way."""
    _long = False
    """Whether a request on the long way may not have ended."""
    _ending = False
    _waiting = b""
    """What came while an answer was under way."""
    _gone: asyncio.Event | None = None
    _used_s = 0.0
    _idle: asyncio.TimerHandle | None = None

    def data_received(self, data: bytes) -> None:
        """Take more of a request, or a whole one."""
        if self._quick is not None:
            self._waiting += data
            self.flow.pause_reading()
            return
        if not self._long or self._long_way_ended():
            request = plain_request(data)
            if request is not None:
                self.disarm()
                self._unset_keepalive_if_required()
                self._waiting = data[request.length :]
                self._quick = self.loop.create_task(self._answer(request))
                self.tasks.add(self._quick)
                self._quick.add_done_callback(self.tasks.discard)
                return
            self._long = True
        super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Let an answer under way know that nobody waits for it."""
        if self._gone is not None:
            self._gone.set()
        if self._idle is not None:
            self._idle.cancel()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """Close, after the answer under way if there is one."""
        if self._quick is not None:
            self._ending = True
        else:
            super().shutdown()

    def _long_way_ended(self) -> bool:
        """Tell whether the long way left nothing behind, and note it."""
        rest, _ = self.conn.trailing_data
        if self.cycle is not None and self.cycle.response_complete and not rest:
            self._long = False
        return not self._long

    async def _answer(self, request: PlainRequest) -> None:
        exchange = _Exchange(self, request)
        try:
            await self.app(self._scope(request), exchange.receive, exchange.send)
        except Exception:
            _log.exception("an answer failed in an unforeseen way")
        if not exchange.sent:
            self.transport.close()
        self._quick = None
        self.server_state.total_requests += 1
        if self._ending:
            self.transport.close()
        if self.transport.is_closing():
            return
        self._used_s = self.loop.time()
        if self._idle is None:
            self._idle = self.loop.call_later(self.timeout_keep_alive, self._look_idle)
        if self._waiting:
            data, self._waiting = self._waiting, b""
            self.flow.resume_reading()
            self.data_received(data)

    def _scope(self, request: PlainRequest) -> dict[str, Any]:
        path, _, query = request.target.partition(b"?")
        words = path.decode("ascii")
        return {
            "type": "http",
            "asgi": {"version": self.asgi_version, "spec_version": "2.3"},
            "http_version": "1.1",
            "server": self.server,
            "client": self.client,
            "scheme": self.scheme,
            "method": request.method.decode("ascii"),
            "root_path": "",
            "path": unquote(words) if "%" in words else words,
            "raw_path": path,
            "query_string": query,
            "headers": request.headers,
            "state": self.app_state.copy(),
        }

    def _look_idle(self) -> None:
        """Close a connection that was not used for a while; one timer serves many requests."""
        self._idle = None
        left_s = self._used_s + self.timeout_keep_alive - self.loop.time()
        if left_s > 0:
            self._idle = self.loop.call_later(left_s, self._look_idle)
        elif self._quick is None and (not self._long or self._long_way_ended()):
            self.transport.close()

    def gone(self) -> asyncio.Event:
        """Return what is set once the connection is lost."""
        if self._gone is None:
            self._gone = asyncio.Event()
        return self._gone


class _Exchange:
    """One request and its answer, as ASGI wants them."""

    __slots__ = ("_connection", "_head", "_parts", "_read", "_request", "sent")

    def __init__(self, connection: QuickHttp, request: PlainRequest) -> None:
        self.sent = False
        self._connection = connection
        self._request = request
        self._read = False
        self._head: dict[str, Any] = {}
        self._parts: list[bytes] = []

    async def receive(self) -> dict[str, Any]:
        """Return the body, which is all there; then wait for the end of the connection."""
        if not self._read:
            self._read = True
            return {"type": "http.request", "body": self._request.body, "more_body": False}
        await self._connection.gone().wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        """Collect the answer; write it once it is whole."""
        if message["type"] == "http.response.start":
            self._head = message
            return
        self._parts.append(message.get("body", b""))
        if message.get("more_body", False) or self.sent:
            return
        self.sent = True
        body = b"".join(self._parts)
        lines = [_STATUS_LINES[self._head["status"]]]
        sized = False
        for name, value in self._head.get("headers", ()):
            lines.append(b"%b: %b\r\n" % (name, value))
            sized = sized or name == b"content-length"
        if not sized:
            lines.append(b"content-length: %d\r\n" % len(body))
        lines.append(b"\r\n")
        lines.append(body)
        if not self._connection.transport.is_closing():
            self._connection.transport.write(b"".join(lines))
