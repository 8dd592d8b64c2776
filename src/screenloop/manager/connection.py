"""Asking a manager over HTTP, again and again within a deadline while it does not answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

import aiohttp
import msgspec

from screenloop.errors import ConfigError, DeadlinePassed, InfraFault, ScreenloopError
from screenloop.http.errors import error_from
from screenloop.manager.clock import Clock
from screenloop.manager.wire.bodies import read_reply

ANSWER_S = 2.0
"""What an answer's way may take besides the operation's own deadline."""
_FIRST_PAUSE_S = 0.05
_MOST_PAUSE_S = 2.0
_CONNECTIONS = 1024
_PLAIN = {"Content-Type": "application/json"}

R = TypeVar("R")


class Unanswered(InfraFault):
    """Raised when no answer came; the request may yet have been carried out."""


class Connection:
    """The way to one manager, with a pool of connections."""

    def __init__(
        self,
        url: str,
        *,
        token: str,
        clock: Clock,
        exchanged: Callable[[str, int, int], None] = lambda path, sent, received: None,
    ) -> None:
        """Prepare; connects on first use.

        Args:
            url: of the manager.
            token: that it demands.
            clock: measures deadlines and pauses.
            exchanged: told path, bytes sent and bytes received of each body that was answered.

        Raises:
            ConfigError: the token cannot be sent.
        """
        if not token.isascii() or not token.isprintable():
            raise ConfigError("the manager's token holds letters that no header can carry")
        self.url = url.rstrip("/")
        self._headers = {**_PLAIN, "Authorization": f"Bearer {token}"}
        self._clock = clock
        self._exchanged = exchanged
        self._session: aiohttp.ClientSession | None = None

    async def ask(
        self,
        method: str,
        path: str,
        body: Any,
        kind: type[R],
        deadline_s: float,
        *,
        query: dict[str, str] | None = None,
        host_url: str = "",
        patient: bool = True,
    ) -> R:
        """Send until there is an answer that can be read.

        Args:
            method: of HTTP.
            path: of the route.
            body: struct to send, if any; sending it twice must be harmless.
            kind: struct to read.
            deadline_s: from now.
            query: of the URL.
            host_url: where to go first; the manager is the other way.
            patient: whether a failure of the infrastructure behind the manager, too, is met by
                asking again in the time that is left.

        Raises:
            DeadlinePassed: there was none in time.
            ScreenloopError: what the other side answered.
        """
        end_s = self._clock.now_s() + deadline_s
        data = None if body is None else msgspec.json.encode(body)
        bases = [host_url, self.url] if host_url else [self.url]
        pause_s, number = _FIRST_PAUSE_S, 0
        while True:
            base = bases[number % len(bases)]
            # The manager's token is not for hosts: there, the Lease's id counts.
            headers = self._headers if base == self.url else _PLAIN
            left_s = max(end_s - self._clock.now_s(), 0.001)
            try:
                status, told = await self._send(
                    method, base + path, data, query, headers, left_s + ANSWER_S
                )
                self._exchanged(path, len(data or b""), len(told))
                if status == 200:
                    return read_reply(told, kind, base)
                raise error_from(status, told, base)
            except ScreenloopError as error:
                if not (isinstance(error, Unanswered) or (patient and type(error) is InfraFault)):
                    raise
                if end_s - self._clock.now_s() <= pause_s:
                    raise DeadlinePassed(
                        f"{path} had no answer within {deadline_s:g} s: {error}"
                    ) from error
            await self._clock.sleep(pause_s)
            pause_s = min(2 * pause_s, _MOST_PAUSE_S)
            number += 1

    async def close(self) -> None:
        """Close the connections; the manager lives on."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _send(
        self,
        method: str,
        url: str,
        data: bytes | None,
        query: dict[str, str] | None,
        headers: dict[str, str],
        wait_s: float,
    ) -> tuple[int, bytes]:
        try:
            async with (
                asyncio.timeout(wait_s),
                self._open_session().request(
                    method, url, data=data, params=query, headers=headers
                ) as reply,
            ):
                return reply.status, await reply.read()
        except TimeoutError as error:
            raise Unanswered(f"{url} did not answer within {wait_s:.3g} s") from error
        except (aiohttp.ClientError, OSError) as error:
            raise Unanswered(f"{url} cannot be reached: {type(error).__name__}: {error}") from error

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=_CONNECTIONS, keepalive_timeout=30.0),
                timeout=aiohttp.ClientTimeout(total=None),
                trust_env=False,
            )
        return self._session
