"""A small client of the Chrome DevTools Protocol over a pair of pipes.

One `Connection` a browser, one flattened `Session` a page. Commands have deadlines; events come as
streams or callbacks. When the browser goes, every command under way fails at once.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from screenloop.errors import DeadlinePassed, EnvironmentFault

DEADLINE_S = 30.0
"""Of a command whose caller names none."""

Params = Mapping[str, Any]
Result = dict[str, Any]
OnEvent = Callable[[Result], None]


class CommandRefused(EnvironmentFault):
    """Raised when the browser answers a command with an error."""


class BrowserGone(EnvironmentFault):
    """Raised when the browser or the page ended while it was needed."""


class _Refusal(msgspec.Struct, frozen=True):
    message: str = ""
    code: int = 0


class _Message(msgspec.Struct, frozen=True, rename={"session_id": "sessionId"}):
    id: int | None = None
    session_id: str | None = None
    method: str | None = None
    params: Result = {}
    result: Result = {}
    error: _Refusal | None = None


class EventStream:
    """The events of some methods of one Session, in order; a context manager."""

    def __init__(self, session: Session, methods: tuple[str, ...]) -> None:
        self._session = session
        self._methods = methods
        self._queue: asyncio.Queue[Result | EnvironmentFault] = asyncio.Queue()

    def __enter__(self) -> EventStream:
        for method in self._methods:
            self._session.on(method, self._queue.put_nowait)
        self._session.add_stream(self)
        return self

    def __exit__(self, *_: object) -> None:
        for method in self._methods:
            self._session.off(method, self._queue.put_nowait)
        self._session.remove_stream(self)

    def fail(self, fault: EnvironmentFault) -> None:
        self._queue.put_nowait(fault)

    async def next(self, *, deadline_s: float = DEADLINE_S) -> Result:
        """Return the parameters of the next event.

        Raises:
            DeadlinePassed: none came in time.
            BrowserGone: the page or browser ended.
        """
        try:
            async with asyncio.timeout(deadline_s):
                event = await self._queue.get()
        except TimeoutError as error:
            names = ", ".join(self._methods)
            raise DeadlinePassed(f"no event {names} within {deadline_s:g} s") from error
        if isinstance(event, EnvironmentFault):
            raise event
        return event


class Session:
    """Commands and events of one target (the browser itself when `id` is `None`)."""

    def __init__(self, connection: CdpConnection, session_id: str | None) -> None:
        self.id = session_id
        self._connection = connection
        self._callbacks: dict[str, list[OnEvent]] = {}
        self._streams: list[EventStream] = []

    @property
    def fault(self) -> EnvironmentFault | None:
        """Why no command can succeed any more, or `None`."""
        return self._connection.fault_of(self.id)

    def post(self, method: str, params: Params | None = None) -> asyncio.Future[Result]:
        """Send a command now and return the future of its result.

        Commands of one Session are sent in the order of the calls, so that several can be under
        way at once. The future fails with `CommandRefused` or `BrowserGone`; it need not be
        awaited.
        """
        return self._connection.post(method, params, self.id)

    async def send(
        self, method: str, params: Params | None = None, *, deadline_s: float = DEADLINE_S
    ) -> Result:
        """Send a command and return its result.

        Raises:
            CommandRefused: the browser says no.
            BrowserGone: the page or browser ended.
            DeadlinePassed: no answer in time.
        """
        try:
            async with asyncio.timeout(deadline_s):
                return await self.post(method, params)
        except TimeoutError as error:
            raise DeadlinePassed(f"{method} was not answered in {deadline_s:g} s") from error

    def listen(self, *methods: str) -> EventStream:
        """Return a stream of the named events; use it in a `with` block around the trigger."""
        return EventStream(self, methods)

    def on(self, method: str, callback: OnEvent) -> None:
        """Call `callback` with the parameters of each event of this method."""
        self._callbacks.setdefault(method, []).append(callback)

    def off(self, method: str, callback: OnEvent) -> None:
        self._callbacks[method].remove(callback)

    def add_stream(self, stream: EventStream) -> None:
        """Let the stream know of a failure."""
        self._streams.append(stream)
        if self.fault is not None:
            stream.fail(self.fault)

    def remove_stream(self, stream: EventStream) -> None:
        self._streams.remove(stream)

    def lose(self, fault: EnvironmentFault) -> None:
        """Fail all commands under way and later ones: the target is of no use any more."""
        self._connection.lose(self.id, fault)

    def deliver(self, method: str, params: Result) -> None:
        """Hand an event to those who listen."""
        for callback in tuple(self._callbacks.get(method, ())):
            callback(params)

    def fail(self, fault: EnvironmentFault) -> None:
        for stream in tuple(self._streams):
            stream.fail(fault)


class CdpConnection(asyncio.Protocol):
    """The pipes to one browser: NUL-ended JSON both ways."""

    def __init__(self) -> None:
        self.browser = Session(self, None)
        self._sessions: dict[str | None, Session] = {None: self.browser}
        self._faults: dict[str | None, EnvironmentFault] = {}
        self._calls: dict[int, tuple[asyncio.Future[Result], str, str | None]] = {}
        self._next_id = 1
        self._buffer: list[bytes] = []
        self._decoder = msgspec.json.Decoder(_Message)
        self._encoder = msgspec.json.Encoder()
        self._reader: asyncio.ReadTransport | None = None
        self._writer: asyncio.WriteTransport | None = None
        self.browser.on("Target.detachedFromTarget", self._on_detached)

    @classmethod
    async def over_pipes(cls, read_fd: int, write_fd: int) -> CdpConnection:
        """Connect to a browser; the Connection owns both ends from now on."""
        loop = asyncio.get_running_loop()
        connection = cls()
        reader, _ = await loop.connect_read_pipe(lambda: connection, os.fdopen(read_fd, "rb", 0))
        writer, _ = await loop.connect_write_pipe(_Silent, os.fdopen(write_fd, "wb", 0))
        connection._reader, connection._writer = reader, writer
        return connection

    def session(self, session_id: str) -> Session:
        """Return the Session of an attached target."""
        return self._sessions.setdefault(session_id, Session(self, session_id))

    def fault_of(self, session_id: str | None) -> EnvironmentFault | None:
        """Return why commands of this Session must fail, or `None`."""
        return self._faults.get(None) or self._faults.get(session_id)

    def post(
        self, method: str, params: Params | None, session_id: str | None
    ) -> asyncio.Future[Result]:
        """Send a command; see `Session.post`."""
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        fault = self.fault_of(session_id)
        if fault is not None:
            future.set_exception(type(fault)(f"{method}: {fault}"))
            future.exception()
            return future
        call_id, self._next_id = self._next_id, self._next_id + 1
        command: dict[str, Any] = {"id": call_id, "method": method, "params": params or {}}
        if session_id is not None:
            command["sessionId"] = session_id
        self._calls[call_id] = (future, method, session_id)
        assert self._writer is not None
        self._writer.write(self._encoder.encode(command) + b"\0")
        return future

    def lose(self, session_id: str | None, fault: EnvironmentFault) -> None:
        """Fail all commands under way of one Session (of all when `None`), and later ones."""
        if self.fault_of(session_id) is not None:
            return
        self._faults[session_id] = fault
        for call_id, (future, method, owner) in tuple(self._calls.items()):
            if session_id is None or owner == session_id:
                del self._calls[call_id]
                if not future.done():
                    future.set_exception(type(fault)(f"{method}: {fault}"))
                    future.exception()
        for session in tuple(self._sessions.values()):
            if session_id is None or session.id == session_id:
                session.fail(fault)

    def forget(self, session: Session) -> None:
        """Drop what is kept of a Session that is no longer used."""
        self.lose(session.id, BrowserGone("the page was closed"))
        self._sessions.pop(session.id, None)

    def close(self) -> None:
        """Close both pipes; commands under way fail."""
        self.lose(None, BrowserGone("the connection to the browser was closed"))
        for transport in (self._reader, self._writer):
            if transport is not None:
                transport.close()

    def data_received(self, data: bytes) -> None:
        """Take bytes from the browser."""
        *ends, rest = data.split(b"\0")
        for end in ends:
            self._buffer.append(end)
            message = b"".join(self._buffer)
            self._buffer.clear()
            self._take(self._decoder.decode(message))
        if rest:
            self._buffer.append(rest)

    def connection_lost(self, exc: Exception | None) -> None:
        """Learn that the browser closed its end."""
        self.lose(None, BrowserGone("the browser ended" + (f": {exc}" if exc else "")))

    def _take(self, message: _Message) -> None:
        if message.id is None:
            session = self._sessions.get(message.session_id)
            if session is not None and message.method is not None:
                session.deliver(message.method, message.params)
            return
        future, method, _ = self._calls.pop(message.id, (None, "", None))
        if future is None or future.done():
            return
        if message.error is None:
            future.set_result(message.result)
        else:
            future.set_exception(CommandRefused(f"{method}: {message.error.message}"))
            future.exception()

    def _on_detached(self, params: Result) -> None:
        session_id = params["sessionId"]
        self.lose(session_id, BrowserGone("the page ended"))
        self._sessions.pop(session_id, None)


class _Silent(asyncio.BaseProtocol):
    """The writing side says nothing; the reading side notices the end."""
