"""Who plays the Episodes of the chaos bench: half do what is asked, half leave the end out.

Tasks about the counter are judged by code, and every so often a Task has a verifier that cannot
judge it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from msgspec.structs import replace

from screenloop.actions import Action, Answer, Finish
from screenloop.agent.base import Assignment, Decision, Turn
from screenloop.bench.chaos.account import Expected
from screenloop.bench.chaos.devices import KIND
from screenloop.bench.chaos.verifiers import CRASHING, HANGING, SOUND
from screenloop.criteria import Check, Code, Value
from screenloop.suites.catalog import find_suite
from screenloop.types import Mode, Struct, Task

THINK_S = 0.15
"""What a decision takes, so that faults meet Episodes under way on a fast machine too."""
_FAULTY_EVERY = 100
_FAULTY = {7: CRASHING, 33: HANGING, 57: CRASHING}
"""Of so many Tasks, which ones have a broken verifier."""


class Part(Struct, frozen=True, kw_only=True):
    """A Task, what is played in it, and how that must be judged."""

    task: Task
    actions: tuple[Action, ...]
    expected: Expected


def parts_of(episodes: int) -> tuple[Part, ...]:
    """Return what is played; each Episode has a Task instance of its own."""
    return tuple(_part(number) for number in range(episodes))


def _part(number: int) -> Part:
    suite = find_suite("fake")
    names = suite.names()
    made = suite.task(names[number // 2 % len(names)], number)
    task = replace(made, env=replace(made.env, kind=KIND), checks=tuple(map(_as_code, made.checks)))
    end = Finish(status="success")
    if number % _FAULTY_EVERY in _FAULTY:
        faulty = Code(says="never said", path=_FAULTY[number % _FAULTY_EVERY])
        task = replace(task, checks=(*task.checks, faulty))
        return Part(task=task, actions=(*task.golden, end), expected="task_fault")
    if number % 2:
        return Part(task=task, actions=(*task.golden, end), expected="success")
    last = task.golden[-1]
    # One action less than is needed; where that is the answer, a wrong one.
    wrong = (*task.golden[:-1], *([Answer(text="0")] if isinstance(last, Answer) else []), end)
    return Part(task=task, actions=wrong, expected="failure")


def _as_code(check: Check) -> Check:
    """Return a check of the counter as code that judges the same."""
    if isinstance(check, Value) and (check.app, check.path) == ("counter", "value"):
        return Code(says=check.says, path=SOUND, params={"to": check.to})
    return check


class Players:
    """Hands each Episode what is to be played in it."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = {part.task.key: part for part in parts}
        self._plans: dict[str, tuple[Action, ...]] = {}

    async def prepare(self, episode_id: str, task: Task, mode: Mode) -> None:
        """Learn which Task an Episode attempts."""
        self._plans[episode_id] = self._parts[task.key].actions

    def new(self) -> Player:
        return Player(self._plans)


class Player:
    """An agent that plays what was planned, whatever it sees."""

    def __init__(self, plans: dict[str, tuple[Action, ...]]) -> None:
        self._plans = plans
        self._plan: tuple[Action, ...] = ()

    def begin(self, assignment: Assignment) -> None:
        self._plan = self._plans[assignment.episode_id]

    async def decide(self, turn: Turn, *, deadline_s: float) -> Decision:
        await asyncio.sleep(THINK_S)
        return Decision(actions=(self._plan[turn.step_index],))
