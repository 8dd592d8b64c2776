"""Hosts as child processes of this machine, which outlive the manager that started them.

Each host leads its own session and process group and listens on the loopback address. What there
is stands in a folder: a host writes its card there once it answers, so that a manager started
later finds it. A host is ended by process id and group, checked against the start of the process.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import sys
from collections import OrderedDict
from pathlib import Path

import msgspec

from screenloop.errors import ConfigError, InfraFault
from screenloop.manager.clock import Clock, SystemClock
from screenloop.manager.hosts.base import Host, HostCard, HostOrders, HostPlan, HostSeen
from screenloop.manager.hosts.local.process import facts_of, is_running, reap, signal_group
from screenloop.manager.hosts.remote import RemoteHost
from screenloop.store.blobs import BlobStore
from screenloop.types import Struct

HOST_MODULE = "screenloop.manager.hosts.server"
"""What a host process runs; takes `HostOrders` on its stdin."""
GRACE_S = 10.0
"""What a host gets to close its Instances before it is killed."""
_ENDED_KEPT = 256
"""Ended hosts that are remembered, with their logs."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,150}")


class _Child(Struct, frozen=True, kw_only=True):
    """A process that this launcher started."""

    pid: int
    started_ticks: int


class LocalLauncher:
    """Starts hosts on this machine."""

    name = "local"

    def __init__(
        self,
        folder: Path,
        *,
        blobs: BlobStore,
        orphan_s: float = 60.0,
        grace_s: float = GRACE_S,
        clock: Clock | None = None,
        python: str = sys.executable,
        module: str = HOST_MODULE,
    ) -> None:
        """Prepare; starts nothing.

        Args:
            folder: where cards and logs of hosts lie; the next manager must name the same one.
            blobs: the store that is shared with the hosts.
            orphan_s: how long a host lives on without a manager.
            grace_s: how long a host may take to end by itself.
            clock: for the grace.
            python: the interpreter that hosts run in.
            module: what they run.
        """
        self._folder = folder
        self._blobs = blobs
        self._orphan_s = orphan_s
        self._grace_s = grace_s
        self._clock = clock or SystemClock()
        self._python = python
        self._module = module
        self._children: dict[str, _Child] = {}
        self._cards: dict[str, HostCard] = {}
        self._ended: OrderedDict[str, str] = OrderedDict()
        self._endings: dict[str, asyncio.Task[None]] = {}

    async def start(self, plan: HostPlan) -> None:
        """Have a host started; starting the same id twice starts one.

        Raises:
            ConfigError: the id is no file name.
            InfraFault: the system refuses.
        """
        if _NAME.fullmatch(plan.host) is None:
            raise ConfigError(f"a host's id names a file: {plan.host!r} holds other characters")
        if plan.host in self._children or plan.host in self._cards or plan.host in self._ended:
            return
        orders = HostOrders(
            plan=plan, orphan_s=self._orphan_s, ready_file=str(self._path(plan.host, "json"))
        )
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            pid = self._spawn(plan.host, msgspec.json.encode(orders))
        except OSError as error:
            raise InfraFault(f"host {plan.host} cannot be started: {error}") from error
        facts = facts_of(pid)
        assert facts is not None, "a child that was not waited for has an entry"
        self._children[plan.host] = _Child(pid=pid, started_ticks=facts.started_ticks)

    async def stop(self, host: str) -> None:
        """Have a host ended: asked first, killed with its whole group after the grace."""
        process = self._process(host)
        if process is not None and host not in self._endings:
            ending = asyncio.create_task(self._end(host, process))
            self._endings[host] = ending
            ending.add_done_callback(lambda _: self._endings.pop(host, None))

    async def seen(self) -> tuple[HostSeen, ...]:
        """Return every host in the folder, those still starting, and those that ended lately."""
        self._read_cards()
        for host in [*self._cards, *(set(self._children) - set(self._cards))]:
            self._look(host)
        starting = [
            HostSeen(host=host, state="starting")
            for host in self._children
            if host not in self._cards
        ]
        running = [
            HostSeen(host=host, state="running", address=card.address)
            for host, card in self._cards.items()
        ]
        gone = [
            HostSeen(host=host, state="gone", reason=reason) for host, reason in self._ended.items()
        ]
        return (*starting, *running, *gone)

    def connect(self, seen: HostSeen, token: str) -> Host:
        return RemoteHost(seen.host, seen.address, token=token, blobs=self._blobs)

    async def close(self) -> None:
        """Wait for hosts that are ending; the others live on."""
        if self._endings:
            await asyncio.wait(set(self._endings.values()))

    def pid_of(self, host: str) -> int | None:
        """Return the process of a host that is there; for those who kill at random."""
        process = self._process(host)
        return None if process is None else process.pid

    # ---- parts -------------------------------------------------------------------------------

    def _path(self, host: str, suffix: str) -> Path:
        return self._folder / f"{host}.{suffix}"

    def _process(self, host: str) -> _Child | None:
        if host in self._children:
            return self._children[host]
        card = self._cards.get(host)
        if card is None:
            return None
        return _Child(pid=card.pid, started_ticks=card.started_ticks)

    def _spawn(self, host: str, orders: bytes) -> int:
        """Start the process; its orders, with the token in them, go through a pipe."""
        ours, theirs = os.pipe2(os.O_CLOEXEC)
        try:
            log = str(self._path(host, "log"))
            pid = os.posix_spawn(
                self._python,
                [self._python, "-m", self._module],
                os.environ,
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, ours, 0),
                    (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                    (os.POSIX_SPAWN_OPEN, 2, log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
                ],
                setsid=True,
            )
            # Far less than a pipe holds, so this cannot block.
            os.write(theirs, orders)
        finally:
            os.close(ours)
            os.close(theirs)
        return pid

    def _read_cards(self) -> None:
        """Learn of hosts that came to answer since the last look, whoever started them."""
        try:
            paths = sorted(self._folder.glob("*.json"))
        except OSError as error:
            raise InfraFault(f"cannot look for hosts in {self._folder}: {error}") from error
        for path in paths:
            if path.stem in self._cards or path.stem in self._ended:
                continue
            with contextlib.suppress(OSError, msgspec.DecodeError):
                # One that vanished between the two looks, or that another program left here.
                card = msgspec.json.decode(path.read_bytes(), type=HostCard)
                if card.host == path.stem:
                    self._cards[card.host] = card

    def _look(self, host: str) -> None:
        process = self._process(host)
        assert process is not None
        if is_running(process.pid, process.started_ticks):
            return
        # What it left behind in its group goes too; the id stays taken until our child is reaped.
        signal_group(process.pid, process.started_ticks, signal.SIGKILL)
        code = reap(process.pid)
        self._children.pop(host, None)
        self._cards.pop(host, None)
        self._ended[host] = self._reason(host, code)
        self._remove(host, "json")
        if code == 0:
            self._remove(host, "log")
        while len(self._ended) > _ENDED_KEPT:
            self._remove(self._ended.popitem(last=False)[0], "log")

    def _remove(self, host: str, suffix: str) -> None:
        with contextlib.suppress(OSError):
            self._path(host, suffix).unlink(missing_ok=True)

    def _reason(self, host: str, code: int | None) -> str:
        if code is None:
            how = "its process is gone"
        elif code < 0:
            how = f"killed by signal {-code}"
        else:
            how = f"ended with exit status {code}"
        with contextlib.suppress(OSError):
            words = self._path(host, "log").read_bytes()[-500:].decode("utf-8", "replace")
            if words.strip() and code != 0:
                how += f"; its last words: {words.strip().splitlines()[-1]}"
        return how

    async def _end(self, host: str, process: _Child) -> None:
        signal_group(process.pid, process.started_ticks, signal.SIGTERM)
        by_s = self._clock.now_s() + self._grace_s
        while is_running(process.pid, process.started_ticks):
            if self._clock.now_s() >= by_s:
                signal_group(process.pid, process.started_ticks, signal.SIGKILL)
            await self._clock.sleep(0.05)
        if host in self._children or host in self._cards:
            self._look(host)
