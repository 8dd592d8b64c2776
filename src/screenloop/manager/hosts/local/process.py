"""Processes by id, told apart from later ones with the same id; reads `/proc`, so Linux only."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

from screenloop.types import Struct

_STATE, _GROUP, _STARTED = 0, 2, 19
"""Fields of `/proc/<pid>/stat` after the name: state, process group, start in ticks."""
_PAGE_MB = os.sysconf("SC_PAGE_SIZE") / 2**20


class ProcessFacts(Struct, frozen=True, kw_only=True):
    """What the kernel says of a process."""

    pid: int
    state: str
    group: int
    started_ticks: int


def facts_of(pid: int) -> ProcessFacts | None:
    """Return what is known of a process; `None` when there is none."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # The name is in brackets and may hold anything.
    fields = text.rpartition(")")[2].split()
    return ProcessFacts(
        pid=pid,
        state=fields[_STATE],
        group=int(fields[_GROUP]),
        started_ticks=int(fields[_STARTED]),
    )


def is_running(pid: int, started_ticks: int) -> bool:
    """Tell whether that very process still runs; one that only waits to be reaped does not."""
    facts = facts_of(pid)
    if facts is None or facts.started_ticks != started_ticks:
        return False
    try:
        # A leader looks like a zombie while its threads still end: only this knows of a child.
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    except ChildProcessError:
        return facts.state not in "ZX"


def rss_mb() -> float:
    """Return the resident memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE_MB


def signal_group(pid: int, started_ticks: int, number: signal.Signals) -> None:
    """Send a signal to the process group that a process leads or led.

    Nothing is sent when the id now belongs to another process: the kernel gives a dead leader's id
    away only when nobody is left in its group.
    """
    facts = facts_of(pid)
    if facts is not None and facts.started_ticks != started_ticks:
        return
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, number)


def reap(pid: int) -> int | None:
    """Return the exit code of our own child that ended (negative: a signal), if it is one."""
    try:
        ended, status = os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return None
    return os.waitstatus_to_exitcode(status) if ended else None
