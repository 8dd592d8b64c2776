"""Tasks of one click on MiniWoB++ pages, for policies that are a few megabytes small.

The pages are the suite's own; each number is another seed of one of them. The frame is half the
size of the page, which saves a small network most of its work, and the step limit is one: the
first click decides. Where to click, for demonstrations, is read from the page's accessibility tree
and its goal: no verifier is asked, and nothing is tried out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

import msgspec

from screenloop.actions import Action, Point, Tap
from screenloop.agent.elements import Element, read_elements
from screenloop.envs.base import Environment
from screenloop.envs.web.environment import WebEnvironments
from screenloop.envs.web.miniwob import AREA_CSS_PX
from screenloop.errors import EnvironmentFault, TaskError
from screenloop.store.blobs import BlobStore
from screenloop.suites.miniwob import MiniWob
from screenloop.types import (
    Budget,
    EnvRef,
    Evidence,
    Mode,
    Observation,
    SizePx,
    SnapshotKey,
    Start,
    StepResult,
    Task,
    Want,
)

SIZE_PX: SizePx = (AREA_CSS_PX[0] // 2, AREA_CSS_PX[1] // 2)
"""Half a frame pixel per CSS pixel: no text can be read, the goal tells what it says."""
ORDINALS = ("1st", "2nd", "3rd")
"""How `focus-text-2` counts its fields, from the top."""
AT_ONCE = 8
"""Pages that load or draw at the same time."""
_DEADLINE_S = 60.0


def click_tasks(pages: Sequence[str], numbers: Iterable[int]) -> tuple[Task, ...]:
    """Return the tasks with these numbers, on the pages in turn; pure.

    Raises:
        ConfigError: there is no such page.
    """
    suite = MiniWob()
    return tuple(_one_click(suite.task(pages[n % len(pages)], n)) for n in numbers)


def target(goal: str, elements: Sequence[Element]) -> Point:
    """Return where a page wants the click, in shares of the frame; pure.

    Args:
        goal: What the page asks.
        elements: Of its tree.

    Raises:
        TaskError: nothing on the page, or more than one thing, fits the goal.
    """
    words = goal.lower().replace(".", " ").split()
    fields = sorted((e for e in elements if e.role == "textbox"), key=lambda e: e.at[1])
    matches: list[Point] = []
    for place, ordinal in enumerate(ORDINALS[: len(fields)]):
        if ordinal in words:
            matches.append(fields[place].at)
    if not matches:
        matches = [e.at for e in elements if e.taps]
    if len(matches) != 1:
        raise TaskError(f"{len(matches)} things on the page fit {goal!r}; expected one")
    return matches[0]


class PatientPage:
    """An Environment that waits for its turn in the browser, before its deadline begins to count.

    All attempts of an update begin at once. A browser that loads and draws a hundred pages at the
    same time draws some of them too late, and those attempts would be lost.
    """

    def __init__(self, page: Environment, turns: asyncio.Semaphore) -> None:
        self.spec = page.spec
        self._page = page
        self._turns = turns

    async def reset(self, start: Start | SnapshotKey, *, deadline_s: float) -> Observation:
        async with self._turns:
            return await self._page.reset(start, deadline_s=deadline_s)

    async def observe(self, want: Sequence[Want] = ("frame",), *, deadline_s: float) -> Observation:
        async with self._turns:
            return await self._page.observe(want, deadline_s=deadline_s)

    async def step(self, action: Action, *, action_id: str, deadline_s: float) -> StepResult:
        async with self._turns:
            return await self._page.step(action, action_id=action_id, deadline_s=deadline_s)

    async def evidence(self, *, deadline_s: float) -> Evidence:
        async with self._turns:
            return await self._page.evidence(deadline_s=deadline_s)

    async def snapshot(self, *, deadline_s: float) -> SnapshotKey:
        return await self._page.snapshot(deadline_s=deadline_s)

    async def close(self) -> None:
        await self._page.close()


class PatientPages:
    """Opens pages of one browser that take turns."""

    def __init__(self, blobs: BlobStore) -> None:
        self._pages = WebEnvironments(blobs)
        self._turns = asyncio.Semaphore(AT_ONCE)

    async def open(self, env: EnvRef) -> PatientPage:
        return PatientPage(await self._pages.open(env), self._turns)

    async def close(self) -> None:
        await self._pages.close()


class ClickPages:
    """Opens the pages for a run, and looks at them to demonstrate the click."""

    def __init__(self) -> None:
        self._blobs: BlobStore | None = None
        self._pages: PatientPages | None = None

    def open(self, blobs: BlobStore) -> PatientPages:
        """Return what opens the pages; closing it is the caller's."""
        self._blobs = blobs
        self._pages = PatientPages(blobs)
        return self._pages

    async def click(self, task: Task, mode: Mode) -> tuple[Action, ...]:
        """Return the click that solves one of these tasks; a `Plan`.

        The page is opened once more for it, in the same browser: the same seed is the same page.

        Raises:
            EnvironmentFault: the pages are not open, or the page tells no goal.
            TaskError: the page asks for something else than one known click.
        """
        if self._pages is None or self._blobs is None:
            raise EnvironmentFault("the pages are not open: call open first")
        env = await self._pages.open(task.env)
        try:
            start = await env.reset(Start(task=task, mode=mode), deadline_s=_DEADLINE_S)
            seen = await env.observe(("tree",), deadline_s=_DEADLINE_S)
        finally:
            await env.close()
        if seen.tree is None or start.goal is None:
            raise EnvironmentFault(f"the page of {task.key} shows no tree or no goal")
        elements = read_elements(self._blobs.get(seen.tree), seen.size_px)
        return (Tap(at=target(start.goal, elements)),)


def _one_click(task: Task) -> Task:
    page = task.world.name.partition("/")[2]
    return msgspec.structs.replace(
        task,
        id=f"page-clicks/{page}@1",
        env=EnvRef(kind=task.env.kind, size_px=SIZE_PX),
        # Curves and shares go by the page.
        tags={**task.tags, "domain": page},
        budget=Budget(steps=1),
        optimal_steps=1,
    )
