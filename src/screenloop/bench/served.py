"""A real `screenloop serve` process for benches, and the CPU time of it and its hosts."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from screenloop.errors import InfraFault
from screenloop.types import Struct

START_S = 120.0
_RUN = "from screenloop.cli import main; main()"


class ServedAt(Struct, frozen=True, kw_only=True):
    """A manager process that answers."""

    url: str
    token: str
    blobs: str
    pid: int

    @property
    def address(self) -> tuple[str, int]:
        """Host and port."""
        host, _, port = self.url.removeprefix("http://").rpartition(":")
        return host, int(port)

    def hosts(self) -> tuple[int, ...]:
        """Return the process ids of its hosts."""
        path = Path(f"/proc/{self.pid}/task/{self.pid}/children")
        return tuple(map(int, path.read_text().split()))


class _Up(msgspec.Struct):
    url: str
    token: str
    blobs: str


@asynccontextmanager
async def serve_process(pools: Sequence[str], state: Path) -> AsyncIterator[ServedAt]:
    """Run a manager in its own process until the block ends.

    Raises:
        InfraFault: it does not come up; its log is in `serve.log` of the state folder.
    """
    await asyncio.to_thread(state.mkdir, parents=True, exist_ok=True)
    words = ("serve", *pools, "--state", str(state), "--port", "0", "--drain-s", "0", "--json")
    with (state / "serve.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", _RUN, *words, stdout=asyncio.subprocess.PIPE, stderr=log
        )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(START_S):
            line = await process.stdout.readline()
        if not line:
            raise InfraFault(f"the manager did not start: see {state / 'serve.log'}")
        up = msgspec.json.decode(line, type=_Up)
        yield ServedAt(url=up.url, token=up.token, blobs=up.blobs, pid=process.pid)
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        await process.wait()


def cpu_s(pid: int) -> float:
    """Return the CPU seconds of a process, all its threads, user and system, as Linux counts."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
