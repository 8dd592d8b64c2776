"""HTTP connections with a timer on half requests, which uvicorn would keep open for ever."""

from __future__ import annotations

import asyncio

import h11
import msgspec
from uvicorn.protocols.http.h11_impl import H11Protocol

from screenloop.errors import ConfigError
from screenloop.http.errors import error_body

HALF_REQUEST_S = 8.0
"""How long a request may take to come in whole."""


class TimedHttp(H11Protocol):
    """A connection that is closed when a request stops in the middle."""

    half_request_s = HALF_REQUEST_S
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start waiting for the first request."""
        super().connection_made(transport)
        self.arm()

    def data_received(self, data: bytes) -> None:
        """Take more of a request; its end stops the timer."""
        if self._timer is None and self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            self.arm()
        super().data_received(data)
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self.disarm()

    def on_response_complete(self) -> None:
        """Go on with what came behind the request; half a request there has its time as well."""
        super().on_response_complete()
        begun, _ = self.conn.trailing_data
        if begun and self._timer is None and self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            self.arm()

    def send_400_response(self, msg: str) -> None:
        """Refuse bytes that are no request, in the form of every other refusal."""
        body = msgspec.json.encode(error_body(ConfigError(msg)))
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        ]
        for event in (
            h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
            h11.Data(data=body),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self.disarm()
        super().connection_lost(exc)

    def arm(self) -> None:
        """Give the request that begins its time."""
        self._timer = self.loop.call_later(self.half_request_s, self._give_up)

    def disarm(self) -> None:
        """Stop the timer: the request is in."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        self._timer = None
        self.transport.abort()
