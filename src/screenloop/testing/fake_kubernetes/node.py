"""A node of the fake cluster that runs Pods for real: each as a child process of this one.

Each Pod has a loopback address of its own, as it would have an address in a cluster. That Linux
answers on all of 127.0.0.0/8 stands in for network namespaces, and a host's orders are told that
address, since a process here cannot have "all addresses" to itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec

from screenloop.manager.hosts.base import HostOrders
from screenloop.manager.hosts.kubernetes.manifests import ORDERS_FILE, ORDERS_FOLDER, Manifest
from screenloop.manager.hosts.local.process import facts_of, reap, signal_group
from screenloop.types import Struct

PROBE_S = 1.0


class _Container(Struct, frozen=True, kw_only=True):
    """A process that stands for a container."""

    pid: int
    started_ticks: int
    address: str


class LocalPods:
    """Runs Pods of hosts on this machine, each in its own process group."""

    def __init__(self, folder: Path) -> None:
        """Prepare.

        Args:
            folder: where files and logs of Pods lie, in a folder each.
        """
        self._folder = folder
        self._containers: dict[str, _Container] = {}
        self._codes: dict[str, int] = {}

    def start(self, pod: Manifest, files: Mapping[str, bytes]) -> str:
        uid = pod["metadata"]["uid"]
        number = int(uid.rpartition("-")[2])
        address = f"127.77.{number // 250}.{number % 250 + 1}"
        orders = msgspec.json.decode(files[f"{ORDERS_FOLDER}/{ORDERS_FILE}"], type=HostOrders)
        orders = msgspec.structs.replace(orders, listen=address)
        own = self._folder / uid
        own.mkdir(parents=True, mode=0o700)
        path = own / ORDERS_FILE
        path.write_bytes(msgspec.json.encode(orders))
        command = [str(path) if one.endswith(ORDERS_FILE) else one for one in _command(pod)]
        pid = os.posix_spawn(
            command[0],
            command,
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, str(own / "log"), os.O_WRONLY | os.O_CREAT, 0o600),
                (os.POSIX_SPAWN_DUP2, 1, 2),
            ],
            setsid=True,
        )
        facts = facts_of(pid)
        assert facts is not None, "a child that was not waited for has an entry"
        self._containers[uid] = _Container(
            pid=pid, started_ticks=facts.started_ticks, address=address
        )
        return address

    async def is_open(self, uid: str, port: int) -> bool:
        try:
            async with asyncio.timeout(PROBE_S):
                _, writer = await asyncio.open_connection(self._containers[uid].address, port)
        except (OSError, TimeoutError):
            return False
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
        return True

    def end(self, uid: str, *, kill: bool) -> None:
        one = self._containers.get(uid)
        if one is not None:
            number = signal.SIGKILL if kill else signal.SIGTERM
            signal_group(one.pid, one.started_ticks, number)

    def exit_code(self, uid: str) -> int | None:
        if uid not in self._codes:
            code = reap(self._containers[uid].pid)
            if code is None:
                return None
            self._codes[uid] = code
            del self._containers[uid]
        return self._codes[uid]

    def pid_of(self, uid: str) -> int:
        """Return the process of a Pod that runs; for those who kill at random."""
        return self._containers[uid].pid

    def close(self) -> None:
        for uid, one in list(self._containers.items()):
            self.end(uid, kill=True)
            os.waitpid(one.pid, 0)
            del self._containers[uid]
        shutil.rmtree(self._folder, ignore_errors=True)


def _command(pod: Manifest) -> list[str]:
    """Return the container's command with the interpreter that we run in."""
    command: list[str] = pod["spec"]["containers"][0]["command"]
    return [sys.executable, *command[1:]]
