"""The one way to call HTTP: aiohttp, a deadline for each request, answers read whole."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import aiohttp

from screenloop.errors import ConfigError, InfraFault
from screenloop.types import Struct

IDLE_S = 30.0
"""Connections that were not used for so long are not used again: services close theirs later."""


class NoAnswer(InfraFault):
    """Raised when no whole answer came; the request may yet have been carried out."""


class Answer(Struct, frozen=True, kw_only=True):
    """What came back."""

    status: int
    body: bytes
    headers: Mapping[str, str]


class HttpClient:
    """Connections to any number of servers, opened as they are needed."""

    def __init__(self, *, connections: int = 0, most_bytes: int = 0) -> None:
        """Prepare; connects on first use.

        Args:
            connections: at most; 0 is no limit.
            most_bytes: of an answer's body; 0 is no limit.
        """
        self._connections = connections
        self._most_bytes = most_bytes
        self._session: aiohttp.ClientSession | None = None

    async def send(
        self,
        method: str,
        url: str,
        *,
        body: bytes | None,
        headers: Mapping[str, str],
        deadline_s: float,
        query: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send a request once; redirects are not followed.

        Raises:
            TimeoutError: nothing whole came in time.
            NoAnswer: the other side cannot be reached, or its answer is cut short or too large.
        """
        try:
            async with (
                asyncio.timeout(deadline_s),
                self._open_session().request(
                    method, url, data=body, params=query, headers=headers, allow_redirects=False
                ) as reply,
            ):
                data = await self._read(reply)
                return Answer(status=reply.status, body=data, headers=reply.headers)
        except TimeoutError:
            raise
        except (aiohttp.ClientError, OSError) as error:
            # The library quotes whole header lines of the server, over several lines.
            words = " ".join(str(error).split())
            raise NoAnswer(f"{type(error).__name__}: {words}") from error

    async def close(self) -> None:
        """Close the connections; may be called twice."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _read(self, reply: aiohttp.ClientResponse) -> bytes:
        if not self._most_bytes:
            return await reply.read()
        data = bytearray()
        async for chunk in reply.content.iter_any():
            data += chunk
            if len(data) > self._most_bytes:
                raise NoAnswer(f"the body is larger than {self._most_bytes} bytes")
        return bytes(data)

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                # Callers bound concurrency and time; limits here would hide in their deadlines.
                connector=aiohttp.TCPConnector(limit=self._connections, keepalive_timeout=IDLE_S),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
                trust_env=False,
            )
        return self._session


def header_token(token: str) -> str:
    """Return the value of an Authorization header.

    Raises:
        ConfigError: the token cannot be sent.
    """
    if not token.isascii() or not token.isprintable():
        raise ConfigError("a token is printable ASCII: no header can carry this one")
    return f"Bearer {token}"
