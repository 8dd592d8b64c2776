"""Suites: named, versioned packs of Tasks, found by name."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Protocol

from screenloop.errors import ConfigError
from screenloop.registry import clashes, entries, find
from screenloop.types import Struct, Task

SUITES: dict[str, str] = {
    "phone-core": "screenloop.suites.phone_core.suite:PhoneCore",
    "miniwob": "screenloop.suites.miniwob:MiniWob",
    "fake": "screenloop.suites.fake:FakeSuite",
}
"""Name to class, made without arguments; packages add to it by entry points of the group
`screenloop.suites`, and a dotted path works as a name as well.
"""


class Suite(Protocol):
    """A pack of task templates; each seed of a template is one Task."""

    name: str
    """The first part of each Task's id."""
    version: str
    env_kind: str

    def names(self) -> tuple[str, ...]:
        """Return the template names, sorted."""
        ...

    def task(self, name: str, seed: int) -> Task:
        """Return the Task that the template makes from the seed; pure.

        Raises:
            ConfigError: no such template; names the nearest.
            TaskError: the template is broken; names file, line and reason.
        """
        ...


class SuiteRow(Struct, frozen=True, kw_only=True):
    """A suite as a list shows it."""

    suite: str
    version: str
    env: str
    tasks: int
    package: str = "screenloop"
    """The distribution that brings it."""


_PARTS = ("name", "version", "env_kind", "names", "task")


def find_suite(name: str) -> Suite:
    """Return a suite by name or dotted path.

    Raises:
        ConfigError: there is no such suite, or the path leads to something else.
    """
    made = find("suite", name, SUITES)
    if not isinstance(made, type) or not all(hasattr(made, part) for part in _PARTS):
        raise ConfigError(f"{name!r} is no suite: a suite is a class with {', '.join(_PARTS)}.")
    suite: Suite = made()
    return suite


def list_suites() -> tuple[tuple[SuiteRow, ...], tuple[str, ...]]:
    """Return all suites that can be used, and a sentence for each that cannot."""
    rows: list[SuiteRow] = []
    left_out = list(clashes("suite", SUITES))
    for entry in entries("suite", SUITES):
        try:
            suite = find_suite(entry.name)
            rows.append(
                SuiteRow(
                    suite=suite.name,
                    version=suite.version,
                    env=suite.env_kind,
                    tasks=len(suite.names()),
                    package=entry.package,
                )
            )
        except Exception as error:
            # What one package raises must not hide the others.
            left_out.append(f"suite {entry.name!r} is left out: {error}")
    return tuple(rows), tuple(left_out)


def select(
    suite: Suite, *, glob: str = "*", limit: int | None = None, seed: int = 0
) -> tuple[Task, ...]:
    """Return one Task for each template that fits the glob, in the order of names.

    Raises:
        ConfigError: no template fits, the glob is a template's earlier name, or a Task carries
            another suite's name.
    """
    if glob in getattr(suite, "renamed", ()):
        suite.task(glob, seed)  # refused; the error names the new name
    names = [name for name in suite.names() if fnmatchcase(name, glob)]
    if not names:
        raise ConfigError(
            f"no task of suite {suite.name!r} fits {glob!r}; `screenloop tasks {suite.name}` "
            "lists them"
        )
    tasks = tuple(suite.task(name, seed) for name in names[:limit])
    for name, task in zip(names, tasks, strict=False):
        if not task.id.startswith(f"{suite.name}/{name}@"):
            raise ConfigError(
                f"suite {suite.name!r} made a task of id {task.id!r}; ids of its tasks have the "
                f"form {suite.name}/{name}@VERSION"
            )
    return tasks
