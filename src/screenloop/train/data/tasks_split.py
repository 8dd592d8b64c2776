"""Training and held-out tasks: how they are parted, and proof that they do not overlap; pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Literal

from screenloop.config import stable_hash
from screenloop.errors import ConfigError
from screenloop.types import Struct, Task

SplitBy = Literal["instance", "template", "app"]
"""What is never on both sides: a task instance, a template with all its seeds, an app."""
_NAMED = 5
"""How many pairs an error names."""


class TaskSplit(Struct, frozen=True, kw_only=True):
    """Tasks to train on and tasks kept for measuring; keys, sorted."""

    train: tuple[str, ...]
    held_out: tuple[str, ...]


class TaskPair(Struct, frozen=True, kw_only=True):
    """A training and a test task that have something in common."""

    train: str
    test: str


class Overlap(Struct, frozen=True, kw_only=True):
    """What training and test tasks share."""

    same_task: tuple[TaskPair, ...]
    """The same key."""
    same_problem: tuple[TaskPair, ...]
    """Other keys, but the same goal in the same world: one task under two names."""
    same_goal: tuple[TaskPair, ...]
    """The same goal in another world; no overlap, but worth knowing."""

    @property
    def is_clean(self) -> bool:
        """Whether results on the test tasks may be called held-out."""
        return not self.same_task and not self.same_problem


def split_tasks(
    tasks: Sequence[Task], *, by: SplitBy, held_out_share: float, seed: int
) -> TaskSplit:
    """Part tasks by what they have in common, the same way every time.

    Each unit (instance, template or app) falls on a side by a hash of the seed and its name, so
    adding tasks moves none of the others. Split by app, a task is held out when it uses any app
    that is; a task with both kinds of app is thus never trained on. Tasks with the same goal in the
    same world are one instance.

    Raises:
        ConfigError: the share is outside of (0, 1), a task names no app, or one side is empty.
    """
    if not 0 < held_out_share < 1:
        raise ConfigError(f"held-out share {held_out_share:g} must lie between 0 and 1")
    held_out = {
        task.key
        for task in tasks
        if any(_draw(seed, unit) < held_out_share for unit in _units(task, by))
    }
    train = {task.key for task in tasks} - held_out
    if not train or not held_out:
        raise ConfigError(
            f"splitting {len(tasks)} tasks by {by} with share {held_out_share:g} and seed {seed} "
            f"leaves {len(train)} to train on and {len(held_out)} held out; take another seed, "
            "share or kind of split"
        )
    return TaskSplit(train=tuple(sorted(train)), held_out=tuple(sorted(held_out)))


def overlap(train: Iterable[Task], test: Iterable[Task]) -> Overlap:
    """Return what training and test tasks share."""
    by_key: dict[str, str] = {}
    by_problem: dict[str, str] = {}
    by_goal: dict[str, str] = {}
    for task in train:
        by_key[task.key] = task.key
        by_problem.setdefault(_problem(task), task.key)
        by_goal.setdefault(_goal(task), task.key)
    same_task: list[TaskPair] = []
    same_problem: list[TaskPair] = []
    same_goal: list[TaskPair] = []
    for task in test:
        for names, name, pairs in (
            (by_key, task.key, same_task),
            (by_problem, _problem(task), same_problem),
            (by_goal, _goal(task), same_goal),
        ):
            if name in names:
                pairs.append(TaskPair(train=names[name], test=task.key))
                break
    return Overlap(
        same_task=tuple(same_task), same_problem=tuple(same_problem), same_goal=tuple(same_goal)
    )


def require_held_out(train: Iterable[Task], test: Iterable[Task]) -> Overlap:
    """Return the overlap, which holds no task twice.

    Raises:
        ConfigError: a test task is trained on, under its own name or another.
    """
    shared = overlap(train, test)
    if not shared.is_clean:
        pairs = [*shared.same_task, *shared.same_problem]
        named = "; ".join(f"{pair.test} is trained on as {pair.train}" for pair in pairs[:_NAMED])
        raise ConfigError(
            f"{len(pairs)} test tasks are training tasks ({named}): a result on them is not "
            "held-out. Remove them from one side, or part the tasks with split_tasks."
        )
    return shared


def apart(known: Sequence[Task], more: Sequence[Task]) -> tuple[Task, ...]:
    """Return the tasks that are not, under another number, among the known ones."""
    shared = overlap(known, more)
    twice = {pair.test for pair in (*shared.same_task, *shared.same_problem)}
    return tuple(task for task in more if task.key not in twice)


def _units(task: Task, by: SplitBy) -> tuple[str, ...]:
    if by == "instance":
        return (_problem(task),)
    if by == "template":
        return (task.id,)
    apps = tuple(app for app in task.tags.get("apps", "").split("+") if app)
    if not apps:
        raise ConfigError(
            f"task {task.key} names no app in its tags, so it cannot be split by app; split by "
            "template or instance"
        )
    return apps


def _draw(seed: int, unit: str) -> float:
    digest = hashlib.sha256(f"{seed}\n{unit}".encode()).digest()
    return int.from_bytes(digest[:6]) / 2**48


def _goal(task: Task) -> str:
    return f"{task.env.kind}\n{' '.join(task.goal.text.casefold().split())}"


def _problem(task: Task) -> str:
    return f"{_goal(task)}\n{stable_hash(task.world)}"
