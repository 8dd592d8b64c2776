"""Trying each thing that a Run needs, and saying what is missing and how to get it."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from rich.table import Table
from rich.text import Text

from screenloop.browser.binary import find_chromium
from screenloop.browser.launch import launch
from screenloop.envs.kinds import Environments
from screenloop.errors import ScreenloopError
from screenloop.manager.watch.checkup import Checkup
from screenloop.rollout.managers import ManagerAt
from screenloop.store.blobs import FolderBlobs, MemoryBlobs
from screenloop.suites.catalog import find_suite
from screenloop.types import Start, Struct

DEADLINE_S = 30.0


class Diagnosis(Struct, frozen=True, kw_only=True):
    """How one thing came out."""

    name: str
    ok: bool
    detail: str
    optional: bool = False
    """Whether something works without it."""


async def examine(at: ManagerAt | None = None) -> tuple[Diagnosis, ...]:
    """Try everything, one thing after another.

    Args:
        at: a manager to try as well, layer by layer until one fails.
    """
    tries: tuple[tuple[str, bool, Callable[[], Awaitable[str]]], ...] = (
        ("python", False, _python),
        ("mocked phone", False, partial(_first_frame, "phone-core")),
        ("run folder", False, _folder),
        ("browser", True, _browser),
        ("web page", True, partial(_first_frame, "miniwob")),
    )
    findings = [await _try(name, optional, work) for name, optional, work in tries]
    if at is not None:
        async for layer in Checkup(at.url, at.token).layers():
            findings.append(
                Diagnosis(name=f"manager {layer.name}", ok=layer.ok, detail=layer.detail)
            )
    return tuple(findings)


async def _try(name: str, optional: bool, work: Callable[[], Awaitable[str]]) -> Diagnosis:
    try:
        return Diagnosis(name=name, ok=True, detail=await work(), optional=optional)
    except ScreenloopError as error:
        return Diagnosis(name=name, ok=False, detail=str(error), optional=optional)


async def _python() -> str:
    return ".".join(map(str, sys.version_info[:3]))


async def _first_frame(suite_name: str) -> str:
    suite = find_suite(suite_name)
    task = suite.task(suite.names()[0], 0)
    blobs = MemoryBlobs()
    environments = Environments(blobs)
    try:
        env = await environments.open(task.env)
        seen = await env.reset(Start(task=task), deadline_s=DEADLINE_S)
        size = len(blobs.get(seen.frame)) if seen.frame else 0
        await env.close()
    finally:
        await environments.close()
    width, height = task.env.size_px
    return f"{len(suite.names())} tasks in {suite_name}; a {width}x{height} frame of {size} bytes"


async def _folder() -> str:
    folder = Path("runs")
    FolderBlobs(folder / ".doctor").put(b"ok", "txt")
    for path in sorted((folder / ".doctor").rglob("*"), reverse=True):
        if path.is_file():
            path.unlink()
        else:
            path.rmdir()
    (folder / ".doctor").rmdir()
    return f"{folder}/ can be written"


async def _browser() -> str:
    async with await launch() as browser:
        return f"{browser.version} ({find_chromium()})"


def is_ready(findings: tuple[Diagnosis, ...]) -> bool:
    """Whether everything works that is not optional."""
    return all(f.ok or f.optional for f in findings)


def findings_table(findings: tuple[Diagnosis, ...]) -> Table:
    """Return the findings for a terminal."""
    table = Table(box=None, show_header=False)
    for f in findings:
        mark = Text("ok", "green") if f.ok else Text("missing", "yellow" if f.optional else "red")
        table.add_row(mark, f.name, Text(f.detail))
    return table
