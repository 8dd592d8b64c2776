"""The one way to serve HTTP: uvicorn with httptools, bounds on what may come in, typed answers.

What is no request is refused in the form of every other refusal and ends its connection: half a
request whose rest does not come in time, a head above the bound, more than one Host or none, a
Content-Length beside a Transfer-Encoding.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import signal
import socket
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, Literal

import msgspec
import uvicorn
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from screenloop.errors import ConfigError, ScreenloopError
from screenloop.http.errors import error_body, error_headers, error_status

HALF_REQUEST_S = 8.0
"""How long a request may take to come in whole."""
HEAD_BYTES = 32 * 1024
"""Of a request line with its headers."""
BODY_BYTES = 64 * 1024
"""Bodies above this are refused unread."""
KEEP_ALIVE_S = 75
"""How long an idle connection is kept: longer than clients do, so that they close first."""
_JSON = "application/json"

_log = logging.getLogger(__name__)

Endpoint = Callable[[Request], Awaitable[Response]]


class BodyTooLarge(ConfigError):
    """Raised when a body is above the bound; nothing of it was used."""


class WrongToken(ConfigError):
    """Raised when a request shows no bearer token or another one."""


# ---- connections ---------------------------------------------------------------------------


class BoundedHttp(HttpToolsProtocol):
    """A connection that ends when a request stops in the middle or is out of bounds."""

    half_request_s = HALF_REQUEST_S
    _timer: asyncio.TimerHandle | None = None
    _half = True
    """Whether a request has begun, or is awaited for the first time, and is not in whole."""
    _in_head = True
    _head_bytes = 0
    _refused: tuple[HTTPStatus, str] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(_OneWrite(transport, self.loop))  # type: ignore[arg-type]
        self._arm()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._in_head:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES:
                self._refuse(*_LONG_HEAD)
                return
        rests = self.cycle is None or self.cycle.response_complete
        if self._half or (rests and self.timeout_keep_alive_task is None):
            if self._timer is None:
                self._arm()
        elif self._timer is not None:
            self._disarm()

    def connection_lost(self, exc: Exception | None) -> None:
        self._disarm()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._half = self._in_head = True
        self._head_bytes = 0

    def on_headers_complete(self) -> None:
        self._refused = self._wrong_head()
        if self._refused is not None:
            # The parser turns it into its own error, and `send_400_response` is called.
            raise ConfigError(self._refused[1])
        super().on_headers_complete()
        self._in_head = False

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._half = False

    def send_400_response(self, msg: str) -> None:
        self._refuse(*(self._refused or (HTTPStatus.BAD_REQUEST, msg)))

    def _unsupported_upgrade_warning(self) -> None:
        """Answer the request as any other, and take nothing more from this connection."""
        self.cycle.keep_alive = False

    def _wrong_head(self) -> tuple[HTTPStatus, str] | None:
        size, hosts = len(self.url), 0
        for name, value in self.headers:
            size += len(name) + len(value) + 4
            if name == b"host":
                hosts += 1
            elif name == b"transfer-encoding" and value.strip().lower() != b"chunked":
                return HTTPStatus.BAD_REQUEST, "the one Transfer-Encoding that is read is chunked"
        if size > HEAD_BYTES:
            return _LONG_HEAD
        if hosts > 1 or (not hosts and self.parser.get_http_version() != "1.0"):
            return HTTPStatus.BAD_REQUEST, f"a request has exactly one Host header, not {hosts}"
        return None

    def _refuse(self, status: HTTPStatus, message: str) -> None:
        """Refuse what is no request, after the answers under way, and close."""
        cycle = self.cycle
        mine = self._half and not self._in_head
        if cycle is not None and not cycle.response_complete:
            if self.pipeline or cycle.response_started:
                self.transport.close()
                return
            if not mine:
                # The request before it is answered, and the connection then ends.
                cycle.keep_alive = False
                self.flow.pause_reading()
                return
        body = msgspec.json.encode(error_body(ConfigError(message)))
        self.transport.write(
            b"%bcontent-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%b"
            % (STATUS_LINE[status], len(body), body)
        )
        self.transport.close()

    def _arm(self) -> None:
        self._timer = self.loop.call_later(self.half_request_s, self._give_up)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        self._timer = None
        if self.pipeline:
            # It is not read any further until the requests before it are answered.
            self._arm()
        else:
            self.transport.abort()


class _OneWrite:
    """A transport that sends what is written in one turn of the loop at once.

    uvicorn writes head and body apart: that is a system call and a packet more an answer.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._parts: list[bytes] = []
        self._soon = loop.call_soon

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if not self._parts:
            self._soon(self._flush)
        self._parts.append(data)

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        parts, self._parts = self._parts, []
        if parts:
            self._transport.write(b"".join(parts))


_LONG_HEAD = (
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
    f"a request line with its headers holds {HEAD_BYTES} bytes at most",
)


class Serving:
    """An app that answers on a socket until it is ended; leaves the process's signals alone."""

    def __init__(
        self,
        app: ASGIApp,
        listener: socket.socket,
        *,
        half_request_s: float = HALF_REQUEST_S,
        websockets: bool = False,
        grace_s: int = 5,
    ) -> None:
        """Prepare.

        Args:
            app: what answers.
            listener: from `listen`; closed at the end.
            half_request_s: how long a request may take to come in whole.
            websockets: whether they are taken.
            grace_s: how long requests under way may hold up the end.
        """
        ws: Literal["wsproto", "none"] = "wsproto" if websockets else "none"
        config = uvicorn.Config(
            app,
            http=type("Http", (BoundedHttp,), {"half_request_s": half_request_s}),
            ws=ws,
            lifespan="off",
            log_level="warning",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            date_header=False,
            timeout_keep_alive=KEEP_ALIVE_S,
            timeout_graceful_shutdown=grace_s,
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


def end_on_signals() -> asyncio.Event:
    """Return what is set once the process is told to end by SIGTERM or SIGINT."""
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    return ended


# ---- requests and answers ------------------------------------------------------------------


class Routes:
    """An app of fixed paths; what an endpoint raises, and what no route takes, is answered typed.

    A table in the place of a router: looking through routes costs more than most of our answers.
    """

    def __init__(
        self,
        routes: Mapping[tuple[str, str], Endpoint],
        refuse: Callable[[Exception], Response] | None = None,
    ) -> None:
        """Take the routes.

        Args:
            routes: by method and path; HEAD is answered as GET.
            refuse: makes an answer of a failure; `refusal` where none is given.
        """
        self._routes = dict(routes)
        for (method, path), endpoint in routes.items():
            if method == "GET":
                self._routes.setdefault(("HEAD", path), endpoint)
        self._refuse = refuse or refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        endpoint = self._routes.get((scope["method"], scope["path"]))
        try:
            if endpoint is None:
                raise self._no_route(scope["path"])
            response = await endpoint(Request(scope, receive, send))
        except Exception as error:
            # Whatever was raised is answered in a typed form; nothing is a 500.
            response = self._refuse(error)
        await response(scope, receive, send)

    def _no_route(self, path: str) -> HTTPException:
        methods = sorted(method for method, known in self._routes if known == path)
        if not methods:
            return HTTPException(HTTPStatus.NOT_FOUND)
        return HTTPException(HTTPStatus.METHOD_NOT_ALLOWED, headers={"Allow": ", ".join(methods)})


async def body_of(request: Request, most_bytes: int = BODY_BYTES) -> bytes:
    """Return the body.

    Raises:
        BodyTooLarge: it is above the bound.
    """
    length = request.headers.get("content-length", "0")
    if length.isdecimal() and int(length) > most_bytes:
        raise BodyTooLarge(f"a body holds {most_bytes} bytes at most, not {length}")
    data = bytearray()
    more = True
    while more:
        part = await request.receive()
        if part["type"] == "http.disconnect":
            raise ClientDisconnect
        data += part.get("body", b"")
        more = part.get("more_body", False)
        if len(data) > most_bytes:
            raise BodyTooLarge(f"a body holds {most_bytes} bytes at most")
    return bytes(data)


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


def answer(
    value: Any, status: int = HTTPStatus.OK, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a value as a JSON answer."""
    return Response(msgspec.json.encode(value), status, headers, media_type=_JSON)


def refusal(error: Exception) -> Response:
    """Return a failure as a typed answer; one that is not of our tree is logged whole."""
    if isinstance(error, ClientDisconnect):
        return Response(status_code=HTTPStatus.BAD_REQUEST)
    if not isinstance(error, ScreenloopError | HTTPException):
        _log.error("an operation failed in an unforeseen way", exc_info=error)
    match error:
        case HTTPException():
            body = error_body(ConfigError(f"no such route or method: {error.detail}"))
            return answer(body, error.status_code, error.headers)
        case BodyTooLarge():
            status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
        case WrongToken():
            status = HTTPStatus.UNAUTHORIZED
        case _:
            status = error_status(error)
    return answer(error_body(error), status, error_headers(error))
