"""The suite object: all templates of the pack, by name."""

from __future__ import annotations

from functools import cached_property
from importlib.resources import files

import msgspec

from screenloop.errors import ConfigError
from screenloop.registry import load, unknown
from screenloop.suites.phone_core.template import Template, build
from screenloop.types import Task

PACKS = (
    "apps.contacts",
    "apps.messages",
    "apps.messages_questions",
    "apps.notes",
    "apps.notes_questions",
    "across.chats",
    "across.people",
    "apps.long_chats",
    "apps.gallery",
    "apps.wallet",
    "apps.shop",
    "apps.shop_orders",
    "across.money",
    "across.shopping",
    "across.media",
    "apps.calendar",
    "apps.calendar_days",
    "apps.clock",
    "apps.settings",
    "apps.settings_connect",
    "across.times",
    "across.devices",
)
"""Files of this folder that hold templates."""


class PhoneCore:
    """Everyday tasks on the mocked phone; implements `suites.catalog.Suite`."""

    name = "phone-core"
    version = "2"
    env_kind = "phone"

    @cached_property
    def templates(self) -> dict[str, Template]:
        """All templates by name."""
        found: dict[str, Template] = {}
        for pack in PACKS:
            found.update(load(f"screenloop.suites.phone_core.{pack}:pack").templates)
        return dict(sorted(found.items()))

    @cached_property
    def optimal(self) -> dict[str, int]:
        """Shortest known GUI paths by task key; made by `scripts/measure_optimal.py`."""
        data = (files("screenloop.suites.phone_core") / "optimal_steps.json").read_bytes()
        return msgspec.json.decode(data, type=dict[str, int])

    @cached_property
    def renamed(self) -> dict[str, str]:
        """Names of version 1 to those of today."""
        return {t.was: t.name for t in self.templates.values() if t.was}

    def names(self) -> tuple[str, ...]:
        """Return the template names, sorted."""
        return tuple(self.templates)

    def task(self, name: str, seed: int) -> Task:
        """Return the Task that a template makes from a seed."""
        if name in self.renamed:
            raise ConfigError(
                f"phone-core task {name!r} is called {self.renamed[name]!r} since version 2."
            )
        if name not in self.templates:
            raise unknown("phone-core task", name, self.templates)
        template = self.templates[name]
        return build(template, seed, self.optimal.get(f"{template.task_id}#{seed}"))
