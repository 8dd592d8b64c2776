"""HTTP connections with a timer on half requests, which uvicorn would keep open for ever."""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

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
