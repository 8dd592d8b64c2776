"""The processes of the chaos bench, and the ways to harm them; ends only what it started."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Literal

import msgspec

from screenloop.bench.chaos.devices import CONTROL_VARIABLE, FULL_FILE, KIND
from screenloop.bench.chaos.manager import ChaosOrders, write_skew
from screenloop.bench.chaos.schedule import SILENT_S
from screenloop.envs.fake_machine import SIZE_PX
from screenloop.errors import InfraFault
from screenloop.manager.hosts.base import HostCard
from screenloop.manager.hosts.local.process import is_running
from screenloop.manager.serve import ServeOptions
from screenloop.manager.supply.desired import BackOff, PoolPlan, Timing
from screenloop.types import EnvRef

Disk = Literal["tmpfs", "switch"]
"""How the disk is filled: a tmpfs of bounded size for all state, or a switch in the frames' store.
"""
ENV = EnvRef(kind=KIND, size_px=SIZE_PX)
DISK_MB = 64
UP_S = 120.0
"""How long a manager may take to come up."""
_END_S = 40.0


class ChaosWorld:
    """One manager at a time, with the hosts that it starts, in a folder of its own."""

    def __init__(self, folder: Path, *, fencing: bool = True, instances: int = 8) -> None:
        """Prepare; starts nothing.

        Args:
            folder: empty; for state, control files and logs.
            fencing: False takes the fences of manager and hosts away.
            instances: there are; no more than players, so that none is free for long.
        """
        self.control = folder / "control"
        self.state = folder / "state"
        self.log = folder / "manager.log"
        self.disk: Disk = "switch"
        self.token = secrets.token_urlsafe(24)
        self.port = _free_port()
        self._fencing = fencing
        self._instances = instances
        self._manager: asyncio.subprocess.Process | None = None
        self._stopped: set[int] = set()

    async def __aenter__(self) -> ChaosWorld:
        """Make the disk and start the manager."""
        self.control.mkdir(parents=True)
        self.state.mkdir()
        if os.geteuid() == 0 and shutil.which("mount"):
            made = _call("mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "chaos", str(self.state))
            self.disk = "tmpfs" if made == 0 else "switch"
        try:
            await self.start_manager()
        except BaseException:
            await self._end()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        """End everything that was started here."""
        await self._end()

    # ---- the manager -------------------------------------------------------------------------

    async def start_manager(self) -> None:
        """Start managers on the same state and port until one is up.

        Raises:
            InfraFault: none came up in time.
        """
        by_s = time.monotonic() + UP_S
        while time.monotonic() < by_s:
            with self.log.open("ab") as log:
                self._manager = await asyncio.create_subprocess_exec(
                    sys.executable,
                    "-m",
                    "screenloop.bench.chaos.manager",
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=log,
                    env={**os.environ, CONTROL_VARIABLE: str(self.control)},
                    start_new_session=True,
                )
            assert self._manager.stdin is not None
            assert self._manager.stdout is not None
            self._manager.stdin.write(msgspec.json.encode(self._orders()))
            self._manager.stdin.write_eof()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(by_s - time.monotonic()):
                    if await self._manager.stdout.readline():
                        return
            # It ended instead: the disk may be full.
            await self.kill_manager()
            await asyncio.sleep(0.2)
        raise InfraFault(f"no manager came up within {UP_S:g} s; see {self.log}")

    async def kill_manager(self) -> None:
        """End the manager without a word."""
        if self._manager is not None:
            with contextlib.suppress(ProcessLookupError):
                self._manager.kill()
            await self._manager.wait()
            self._manager = None

    def _orders(self) -> ChaosOrders:
        plan = PoolPlan(
            env=ENV,
            target=self._instances,
            most=self._instances,
            per_host=max(1, self._instances // 3),
            silent_s=SILENT_S,
            host_faults=None,
            start_s=120.0,
            linger_s=20.0,
        )
        options = ServeOptions(
            state=str(self.state),
            pools=(plan,),
            token=self.token,
            port=self.port,
            orphan_s=2 * UP_S,
            drain_s=1.0,
        )
        timing = Timing(
            look_s=0.2,
            beat_s=1.0,
            beat_deadline_s=3.0,
            open_s=60.0,
            adopt_s=5.0,
            close_s=15.0,
            back_off=BackOff(first_s=0.2, most_s=1.0),
        )
        return ChaosOrders(
            options=options, control=str(self.control), fencing=self._fencing, timing=timing
        )

    # ---- faults ------------------------------------------------------------------------------

    def hosts(self) -> list[HostCard]:
        """Return the host processes that run and answer, by name."""
        cards = []
        for path in sorted((self.state / "hosts").glob("*.json")):
            with contextlib.suppress(OSError, msgspec.DecodeError):
                card = msgspec.json.decode(path.read_bytes(), type=HostCard)
                if is_running(card.pid, card.started_ticks):
                    cards.append(card)
        return cards

    def pick(self, share: float) -> HostCard | None:
        """Return one of the hosts that run and are not stalled."""
        cards = [card for card in self.hosts() if card.pid not in self._stopped]
        return cards[int(share * len(cards))] if cards else None

    def kill_host(self, card: HostCard) -> bool:
        """End a host without a word; tells whether it was there."""
        return _signal(card, signal.SIGKILL)

    @contextlib.contextmanager
    def stalled(self, card: HostCard) -> Iterator[None]:
        """Keep a host stopped."""
        self._stopped.add(card.pid)
        try:
            _signal(card, signal.SIGSTOP)
            yield
        finally:
            _signal(card, signal.SIGCONT)
            self._stopped.discard(card.pid)

    def skew_clock(self, skew_s: float) -> None:
        """Put the manager's clock ahead by so much in all."""
        write_skew(self.control, skew_s)

    @contextlib.asynccontextmanager
    async def full_disk(self) -> AsyncIterator[None]:
        """Keep the disk full."""
        ballast = self.state / "ballast"
        switch = self.control / FULL_FILE
        try:
            if self.disk == "tmpfs":
                await asyncio.to_thread(_fill, ballast)
            else:
                switch.touch()
            yield
        finally:
            ballast.unlink(missing_ok=True)
            switch.unlink(missing_ok=True)

    # ---- the end -----------------------------------------------------------------------------

    async def _end(self) -> None:
        if self._manager is not None:
            with contextlib.suppress(ProcessLookupError):
                self._manager.terminate()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_END_S):
                    await self._manager.wait()
            await self.kill_manager()
        for card in self.hosts():
            self.kill_host(card)
        if self.disk == "tmpfs" and _call("umount", "--lazy", str(self.state)):
            raise InfraFault(f"{self.state} cannot be unmounted")


def _signal(card: HostCard, number: signal.Signals) -> bool:
    if not is_running(card.pid, card.started_ticks):
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(card.pid, number)
        return True
    return False


def _fill(path: Path) -> None:
    """Write until the disk is full."""
    piece = bytes(64 * 1024)
    with path.open("wb", buffering=0) as file:
        while piece:
            try:
                file.write(piece)
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                # The last pages, one by one.
                piece = piece[: len(piece) // 2] if len(piece) > 512 else b""


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


def _call(*words: str) -> int:
    return subprocess.run(words, check=False, capture_output=True).returncode
