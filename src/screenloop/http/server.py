"""What every HTTP face of ours needs: bodies with a bound, typed answers, a timer on half requests.

Serves on uvicorn; used by hosts and by the manager.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import socket
from collections.abc import Generator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

import msgspec
import uvicorn
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp

from screenloop.errors import ConfigError, ScreenloopError
from screenloop.http.errors import error_body, error_headers, error_status
from screenloop.http.quick_http import QuickHttp
from screenloop.http.timed_http import HALF_REQUEST_S

KEEP_ALIVE_S = 75
"""How long an idle connection is kept: longer than clients do, so that they close first."""
_JSON = "application/json"

_log = logging.getLogger(__name__)

BODY_BYTES = 64 * 1024
"""Bodies above this are refused unread."""


class BodyTooLarge(ConfigError):
    """Raised when a body is above the bound; nothing of it was used."""


class WrongToken(ConfigError):
    """Raised when a request shows no bearer token or another one."""


class Serving:
    """An app that answers on a socket until it is ended; leaves the process's signals alone."""

    def __init__(
        self, app: ASGIApp, listener: socket.socket, *, half_request_s: float = HALF_REQUEST_S
    ) -> None:
        """Prepare.

        Args:
            app: what answers.
            listener: from `listen`; closed at the end.
            half_request_s: how long a request may take to come in whole.
        """
        config = uvicorn.Config(
            app,
            http=type("TimedHttp", (QuickHttp,), {"half_request_s": half_request_s}),
            ws="none",
            lifespan="off",
            log_level="warning",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            timeout_keep_alive=KEEP_ALIVE_S,
            timeout_graceful_shutdown=5,
        )
        self._server = _Server(config)
        self._listener = listener
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Serving:
        """Answer from here on."""
        self._task = asyncio.create_task(self._server.serve(sockets=[self._listener]))
        return self

    async def __aexit__(self, *_: object) -> None:
        """Answer what came, and stop."""
        self._server.should_exit = True
        if self._task is not None:
            await self._task
        self._listener.close()


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


def listen(address: str = "127.0.0.1", port: int = 0) -> socket.socket:
    """Return a listening socket; port 0 takes a free one.

    Raises:
        ConfigError: the address is not ours or the port is taken.
    """
    try:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        listener = socket.create_server((address, port), family=family, backlog=1024)
        # Connections inherit it; asyncio sets it only where a socket names its protocol. Without
        # it an answer's second part waits 40 ms for the first to be acknowledged.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listener
    except (OSError, OverflowError) as error:
        raise ConfigError(f"cannot listen on {address} port {port}: {error}") from error


def url_of(listener: socket.socket) -> str:
    """Return the URL under which a listening socket is reached."""
    address, port = listener.getsockname()[:2]
    return f"http://[{address}]:{port}" if ":" in address else f"http://{address}:{port}"


async def body_of(request: Request) -> bytes:
    """Return the body.

    Raises:
        BodyTooLarge: it is above the bound.
    """
    told = request.headers.get("content-length", "0")
    if told.isdecimal() and int(told) > BODY_BYTES:
        raise BodyTooLarge(f"a body holds {BODY_BYTES} bytes at most, not {told}")
    data, more = b"", True
    while more:
        part = await request.receive()
        if part["type"] == "http.disconnect":
            raise ClientDisconnect
        data += part.get("body", b"")
        more = part.get("more_body", False)
        if len(data) > BODY_BYTES:
            raise BodyTooLarge(f"a body holds {BODY_BYTES} bytes at most")
    return data


def check_token(request: Request, token: str) -> None:
    """Make sure that a request shows the bearer token.

    Raises:
        WrongToken: it does not.
    """
    shown = request.headers.get("authorization", "")
    if not hmac.compare_digest(shown.encode(), f"Bearer {token}".encode()):
        raise WrongToken(
            "this route wants the header 'Authorization: Bearer <token>' with the right token"
        )


def answer(value: Any, status: HTTPStatus = HTTPStatus.OK) -> Response:
    """Return a struct as a JSON answer."""
    return Response(msgspec.json.encode(value), status_code=status, media_type=_JSON)


def refusal(error: Exception) -> Response:
    """Return a failure as a typed answer; one that is not of our tree is logged whole."""
    if isinstance(error, ClientDisconnect):
        return Response(status_code=HTTPStatus.BAD_REQUEST)
    if not isinstance(error, ScreenloopError | HTTPException):
        _log.error("an operation failed in an unforeseen way", exc_info=error)
    status = error_status(error)
    body = error_body(error)
    headers = error_headers(error)
    match error:
        case BodyTooLarge():
            status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
        case WrongToken():
            status = HTTPStatus.UNAUTHORIZED
        case HTTPException():
            status = HTTPStatus(error.status_code)
            body = error_body(ConfigError(f"no such route or method: {error.detail}"))
            headers = dict(error.headers or {})
        case _:
            pass
    return Response(
        msgspec.json.encode(body),
        status_code=status,
        media_type=_JSON,
        headers=headers,
    )


async def on_http_exception(request: Request, error: Exception) -> Response:
    """Answer what no route took."""
    return refusal(error)
