"""`bench web`: how fast MiniWoB++ pages reset and step in a real browser, and what they cost.

The target is reset at most 60 ms and step at most 50 ms at p50 on an unloaded 2-core machine. The
peer's figures come from BrowserGym-miniwob on the same pages, where it is installed.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from screenloop.actions import Action, Tap, Type
from screenloop.envs.web.environment import WebEnvironment, WebEnvironments
from screenloop.errors import EnvironmentFault
from screenloop.store.blobs import MemoryBlobs
from screenloop.suites.miniwob import MiniWob
from screenloop.types import Start, Struct

TASKS = ("click-test", "click-button", "click-dialog", "enter-text", "email-inbox")
"""The five pages that the peer's published figures are of."""
ACTIONS: tuple[Action, ...] = (
    Tap(at=(0.5, 0.4)),
    Tap(at=(0.2, 0.9)),
    Type(text="a"),
    Tap(at=(0.9, 0.9)),
    Tap(at=(0.1, 0.7)),
)
DEADLINE_S = 60.0
PEER_DEADLINE_S = 300.0


class PeerTimes(Struct, frozen=True, kw_only=True):
    """What the peer's process prints: each reset and step in milliseconds."""

    reset_ms: tuple[float, ...]
    step_ms: tuple[float, ...]


class WebBench(Struct, frozen=True, kw_only=True):
    """The figures; the peer's are null where it is not installed."""

    reset_ms_p50: float
    step_ms_p50: float
    cpu_ms_per_step: float
    """Of the browser's processes and our own, frames included."""
    rss_mb: float
    """Of the browser's processes, shared pages counted once each."""
    peer_reset_ms_p50: float | None
    peer_step_ms_p50: float | None


async def run(*, tasks: Sequence[str] = TASKS, rounds: int = 10, peer: bool = True) -> WebBench:
    """Reset and step each page `rounds` times, one after the other.

    Args:
        tasks: MiniWoB++ page names.
        rounds: episodes a page.
        peer: also run BrowserGym, where it is installed.

    Raises:
        ConfigError: there is no browser.
        EnvironmentFault: the peer fails.
    """
    environments = WebEnvironments(MemoryBlobs())
    suite = MiniWob()
    reset_ms: list[float] = []
    step_ms: list[float] = []
    cpu_ms: list[float] = []
    try:
        first = suite.task(tasks[0], 0)
        env = await environments.open(first.env)
        await env.reset(Start(task=first), deadline_s=DEADLINE_S)
        for seed in range(rounds):
            for name in tasks:
                task = suite.task(name, seed)
                begun = time.perf_counter()
                await env.reset(Start(task=task), deadline_s=DEADLINE_S)
                reset_ms.append(1000 * (time.perf_counter() - begun))
                await environments.host.idle()
                cpu_ms.append(await _steps(env, environments.host.pids, step_ms))
        rss_mb = memory_mb(tree_pids(environments.host.pids))
    finally:
        await environments.close()
    times = await _peer(tasks) if peer else None
    return WebBench(
        reset_ms_p50=round(statistics.median(reset_ms), 2),
        step_ms_p50=round(statistics.median(step_ms), 2),
        cpu_ms_per_step=round(sum(cpu_ms) / len(step_ms), 2),
        rss_mb=round(rss_mb, 1),
        peer_reset_ms_p50=round(statistics.median(times.reset_ms), 2) if times else None,
        peer_step_ms_p50=round(statistics.median(times.step_ms), 2) if times else None,
    )


async def _steps(env: WebEnvironment, pids: Sequence[int], step_ms: list[float]) -> float:
    """Take the steps, add their times, and return the processor time of all of them."""
    cpu_before = _cpu_ms(pids)
    for number, action in enumerate(ACTIONS):
        begun = time.perf_counter()
        await env.step(action, action_id=str(number), deadline_s=DEADLINE_S)
        step_ms.append(1000 * (time.perf_counter() - begun))
    return _cpu_ms(pids) - cpu_before


def tree_pids(pids: Sequence[int]) -> tuple[int, ...]:
    """Return processes and all that descend from them."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and (fields := _stat(int(folder.name))):
            children.setdefault(int(fields[1]), []).append(int(folder.name))
    found = list(pids)
    for parent in found:
        found += children.get(parent, [])
    return tuple(found)


def memory_mb(pids: Sequence[int]) -> float:
    """Return the resident memory of processes, a page shared by n of them counted 1/n each."""
    kilobytes = 0
    for pid in pids:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:  # It ended meanwhile, and holds nothing.
            continue
        kilobytes += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return kilobytes / 1024


def _cpu_ms(pids: Sequence[int]) -> float:
    """Return the processor time of the browser's processes so far, and of this one."""
    ticks = sum(int(fields[11]) + int(fields[12]) for p in tree_pids(pids) if (fields := _stat(p)))
    own = time.process_time()
    return 1000 * (ticks / os.sysconf("SC_CLK_TCK") + own)


def _stat(pid: int) -> list[str]:
    """Return the fields of `/proc/PID/stat` from the state on; empty once it has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


async def _peer(tasks: Sequence[str]) -> PeerTimes | None:
    """Return the peer's times on the same pages, or `None` where it is not installed."""
    if importlib.util.find_spec("browsergym") is None:
        return None
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "screenloop.bench.web.peer",
        *tasks,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(PEER_DEADLINE_S):
            out, err = await process.communicate()
    except TimeoutError as error:
        process.kill()
        await process.wait()
        raise EnvironmentFault(f"BrowserGym did not end in {PEER_DEADLINE_S:g} s") from error
    if process.returncode != 0:
        raise EnvironmentFault(f"BrowserGym failed: {err.decode(errors='replace')[-2000:]}")
    return msgspec.json.decode(out.splitlines()[-1], type=PeerTimes)
