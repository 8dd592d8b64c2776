"""The Suite contract: a named, versioned pack of Tasks."""

from __future__ import annotations

from typing import Protocol

from screenloop.types import Task


class Suite(Protocol):
    """A pack of task templates; each seed of a template is one Task."""

    name: str
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
