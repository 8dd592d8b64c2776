"""MiniWoB++: the pages that the PyPI package `miniwob` registers, judged by their raw reward.

Nothing is copied: names and pages are read from the installed package. A page makes up its goal
from the seed when it starts, so the Task only says to do what the page asks; the Observation of
the reset announces the goal itself.
"""

from __future__ import annotations

from screenloop.criteria import Number, Value
from screenloop.envs.web.miniwob import AREA_CSS_PX, registered_tasks
from screenloop.registry import unknown
from screenloop.suites.miniwob_rules import family_of, success_min
from screenloop.types import Budget, EnvRef, Goal, SizePx, Task, World

SCALE = 2
"""Frame pixels per CSS pixel: the pages' 10 px type is hard to read at 1."""
SIZE_PX: SizePx = (SCALE * AREA_CSS_PX[0], SCALE * AREA_CSS_PX[1])


class MiniWob:
    """The suite `miniwob`."""

    name = "miniwob"
    version = "1"
    env_kind = "web"

    def names(self) -> tuple[str, ...]:
        """Return the names of the registered pages, sorted.

        Raises:
            ConfigError: the package `miniwob` is not installed.
        """
        return registered_tasks()

    def task(self, name: str, seed: int) -> Task:
        """Return the Task of a page and seed.

        Raises:
            ConfigError: no such page; names the nearest.
        """
        if name not in self.names():
            raise unknown("miniwob task", name, self.names())
        family = family_of(name)
        least = success_min(name)
        return Task(
            id=f"{self.name}/{name}@{self.version}",
            seed=seed,
            env=EnvRef(kind=self.env_kind, size_px=SIZE_PX),
            world=World(name=f"miniwob/{name}", seed=seed),
            goal=Goal(text="Do what the page asks."),
            checks=(
                Value(
                    says=f"the page pays a raw reward of at least {least:g}",
                    app="miniwob",
                    path="raw_reward",
                    to=Number(min=least),
                ),
            ),
            allowed=("miniwob",),
            tags={
                "domain": "web",
                "apps": "miniwob",
                "difficulty": family.difficulty,
                "family": family.name,
            },
            budget=Budget(steps=family.steps),
        )
