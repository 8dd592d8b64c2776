"""Suites by name."""

from __future__ import annotations

from fnmatch import fnmatchcase

from screenloop.errors import ConfigError
from screenloop.registry import find
from screenloop.suites.base import Suite
from screenloop.types import Task

SUITES: dict[str, str] = {
    "phone-core": "screenloop.suites.phone_core.suite:PhoneCore",
    "miniwob": "screenloop.suites.miniwob:MiniWob",
    "fake": "screenloop.suites.fake:FakeSuite",
}
"""Name to class; a dotted path works as a name as well."""


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


def select(
    suite: Suite, *, glob: str = "*", limit: int | None = None, seed: int = 0
) -> tuple[Task, ...]:
    """Return one Task for each template that fits the glob, in the order of names.

    Raises:
        ConfigError: no template fits, or the glob is the earlier name of one.
    """
    if glob in getattr(suite, "renamed", ()):
        suite.task(glob, seed)  # refused; the error names the new name
    names = [name for name in suite.names() if fnmatchcase(name, glob)]
    if not names:
        raise ConfigError(
            f"no task of suite {suite.name!r} fits {glob!r}; `screenloop tasks {suite.name}` "
            "lists them"
        )
    return tuple(suite.task(name, seed) for name in names[:limit])
