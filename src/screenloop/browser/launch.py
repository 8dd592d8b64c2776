"""Starting a real Chromium in its own process group, and leaving nothing behind.

Debugging goes over a pair of pipes, so there is no port to find or guard, and a browser whose
owner dies sees its pipe close and ends by itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import shutil
import signal
import tempfile
from pathlib import Path
from types import TracebackType

from screenloop.browser.binary import find_chromium
from screenloop.browser.cdp import CdpConnection, Session
from screenloop.errors import DeadlinePassed, EnvironmentFault

START_DEADLINE_S = 20.0
CLOSE_DEADLINE_S = 3.0
_KEPT_BYTES = 4096

FLAGS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--disable-gpu",
    # Pages come from installed packages or loopback and the network is shut below; a sandbox
    # would need root's or the distribution's leave, which containers and CI do not have.
    "--no-sandbox",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-startup-window",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-component-extensions-with-background-pages",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-hang-monitor",
    "--disable-popup-blocking",
    "--disable-prompt-on-repost",
    "--disable-search-engine-choice-screen",
    "--disable-sync",
    "--metrics-recording-only",
    "--mute-audio",
    "--password-store=basic",
    "--use-mock-keychain",
    # The same pixels for the same page.
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    "--font-render-hinting=none",
    "--disable-font-subpixel-positioning",
    "--disable-lcd-text",
    "--disable-smooth-scrolling",
    "--disable-partial-raster",
    "--disable-checker-imaging",
    "--disable-image-animation-resync",
    "--disable-skia-runtime-opts",
    "--lang=en-US",
    # No page waits because another is in front of it, nor for a screen's refresh.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-ipc-flooding-protection",
    "--disable-features=Translate,OptimizationHints,MediaRouter,PaintHolding,"
    "DialMediaRouteProvider,AcceptCHFrame,CalculateNativeWinOcclusion",
)
"""Pinned; part of what makes two Runs comparable."""


DRAW_ON_DEMAND_FLAGS = ("--enable-begin-frame-control", "--run-all-compositor-stages-before-draw")
"""For the browsers that can: chromium-headless-shell, not a Chromium with windows."""


class Browser:
    """One running browser; use it as `async with await launch() as browser`."""

    def __init__(
        self, process: _Process, connection: CdpConnection, version: str, *, draws_on_demand: bool
    ) -> None:
        self.pid = process.pid
        self.version = version
        """Product and version, e.g. `HeadlessChrome/140.0`."""
        self.draws_on_demand = draws_on_demand
        """Whether frames are drawn only on `HeadlessExperimental.beginFrame`."""
        self._process = process
        self._connection = connection
        self.display = asyncio.Lock()
        """Held while a page draws on demand: all pages share one display, which fails for good
        when a frame is begun before the last has ended."""
        self._closing: asyncio.Task[None] | None = None

    @property
    def session(self) -> Session:
        """The browser's own Session (targets, contexts)."""
        return self._connection.browser

    @property
    def is_alive(self) -> bool:
        return self.session.fault is None and self._closing is None

    def attached(self, session_id: str) -> Session:
        """Return the Session of a target attached to with `flatten`."""
        return self._connection.session(session_id)

    def forget(self, session: Session) -> None:
        """Drop the Session of a target that is no longer used."""
        self._connection.forget(session)

    async def close(self) -> None:
        """End the browser, its whole process group and its folder; may be called twice."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        try:
            with contextlib.suppress(EnvironmentFault, DeadlinePassed):
                await self.session.send("Browser.close", deadline_s=CLOSE_DEADLINE_S)
        finally:
            self._connection.close()
            await self._process.end(CLOSE_DEADLINE_S)

    async def __aenter__(self) -> Browser:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


async def launch(
    binary: Path | None = None,
    *,
    scale: float = 1.0,
    flags: tuple[str, ...] = (),
    draw_on_demand: bool | None = None,
    deadline_s: float = START_DEADLINE_S,
) -> Browser:
    """Start a browser with a fresh profile.

    Args:
        binary: the browser; `None` looks for one with `find_chromium`.
        scale: frame pixels per CSS pixel, for all pages of this browser.
        flags: more command line flags, after the pinned ones.
        draw_on_demand: whether frames are drawn only when asked for; `None` does so where the
            browser can (it is a headless shell).
        deadline_s: how long the start may take.

    Raises:
        ConfigError: no browser is installed.
        EnvironmentFault: it does not start; holds the last lines it wrote.
    """
    binary = binary or find_chromium()
    if draw_on_demand is None:
        draw_on_demand = "headless" in binary.name
    if draw_on_demand:
        flags = (*DRAW_ON_DEMAND_FLAGS, *flags)
    flags = (f"--force-device-scale-factor={scale:g}", *flags)
    process = await _Process.start(binary, flags)
    connection = await CdpConnection.over_pipes(process.answers_fd, process.commands_fd)
    try:
        answer = await connection.browser.send("Browser.getVersion", deadline_s=deadline_s)
    except BaseException as error:
        connection.close()
        await process.end(0.0)
        if isinstance(error, EnvironmentFault | DeadlinePassed):
            raise EnvironmentFault(
                f"{binary} did not start ({error}). It wrote: {process.last_words()}"
            ) from error
        raise
    return Browser(process, connection, str(answer["product"]), draws_on_demand=draw_on_demand)


class _Process(asyncio.Protocol):
    """The browser's process group, its folder, and the pipe that all of it writes errors to.

    Every process of the browser holds the writing end, so the pipe's end says that all are gone.
    """

    def __init__(self, folder: Path) -> None:
        self.pid = 0
        self.answers_fd = -1
        self.commands_fd = -1
        self._folder = folder
        self._said = b""
        self._all_gone = asyncio.Event()
        self._transport: asyncio.ReadTransport | None = None

    @classmethod
    async def start(cls, binary: Path, flags: tuple[str, ...]) -> _Process:
        """Start the browser.

        Raises:
            EnvironmentFault: the system refuses.
        """
        process = cls(Path(tempfile.mkdtemp(prefix="screenloop-chromium-")))
        try:
            errors_fd = process._spawn(binary, flags)
        except OSError as error:
            shutil.rmtree(process._folder, ignore_errors=True)
            raise EnvironmentFault(f"{binary} cannot be started: {error}") from error
        loop = asyncio.get_running_loop()
        process._transport, _ = await loop.connect_read_pipe(
            lambda: process, os.fdopen(errors_fd, "rb", 0)
        )
        return process

    def _spawn(self, binary: Path, flags: tuple[str, ...]) -> int:
        """Start the process and return the end to read its errors from."""
        with contextlib.ExitStack() as theirs, contextlib.ExitStack() as ours:
            commands_out, commands_in = _pipe()
            answers_out, answers_in = _pipe()
            errors_out, errors_in = _pipe()
            for fd in (commands_out, answers_in, errors_in):
                theirs.callback(os.close, fd)
            for fd in (commands_in, answers_out, errors_out):
                ours.callback(os.close, fd)
            self.pid = os.posix_spawn(
                binary,
                [str(binary), *FLAGS, f"--user-data-dir={self._folder}", *flags],
                {**os.environ, "TZ": "UTC", "LANG": "en_US.UTF-8", "HOME": str(self._folder)},
                file_actions=[
                    (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                    (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                    (os.POSIX_SPAWN_DUP2, errors_in, 2),
                    (os.POSIX_SPAWN_DUP2, commands_out, 3),
                    (os.POSIX_SPAWN_DUP2, answers_in, 4),
                ],
                setpgroup=0,
            )
            ours.pop_all()
        self.commands_fd, self.answers_fd = commands_in, answers_out
        return errors_out

    def data_received(self, data: bytes) -> None:
        """Keep the tail of what the browser writes."""
        self._said = (self._said + data)[-_KEPT_BYTES:]

    def connection_lost(self, exc: Exception | None) -> None:
        """Learn that no process of the browser is left."""
        self._all_gone.set()

    def last_words(self) -> str:
        """Return the last lines that the browser wrote."""
        return " | ".join(self._said.decode("utf-8", "replace").splitlines()[-5:]) or "nothing"

    async def end(self, deadline_s: float) -> None:
        """Wait for all processes to end, kill those that do not, remove the folder."""
        if not await self._gone_within(deadline_s):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
            await self._gone_within(CLOSE_DEADLINE_S)
        if self._transport is not None:
            self._transport.close()
        await asyncio.to_thread(os.waitpid, self.pid, 0)
        await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)

    async def _gone_within(self, deadline_s: float) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(deadline_s):
                await self._all_gone.wait()
        return self._all_gone.is_set()


def _pipe() -> tuple[int, int]:
    """Return a pipe whose ends lie above the numbers that the browser expects."""
    low = os.pipe()
    try:
        return (
            fcntl.fcntl(low[0], fcntl.F_DUPFD_CLOEXEC, 10),
            fcntl.fcntl(low[1], fcntl.F_DUPFD_CLOEXEC, 10),
        )
    finally:
        os.close(low[0])
        os.close(low[1])
