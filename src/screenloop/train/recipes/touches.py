"""Tasks of one touch on the mocked phone, for policies that are a megabyte small.

Each begins on a page of an app, since a tiny policy need not find the app. The page is a real one
with its own buttons; a seed draws what is on its list: how many entries, which words, in which
order. The goal names an entry by its first word, last in the sentence. The step limit is the
shortest path, so there is one way to be right and no need to say that one is done.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from screenloop.actions import Tool
from screenloop.criteria import Changed
from screenloop.phone.apps import messages_actions, notes_actions, settings_actions
from screenloop.phone.boot import initial_doc
from screenloop.suites.phone_core.template import ALLOWED, SIZE_PX, WORLD, call
from screenloop.types import Budget, EnvRef, Goal, Struct, Task, World

Patch = dict[str, Any]
WORLDS = 4
"""Worlds that tasks begin in; the lists differ in every task, what is around them in each world."""
NOUNS = tuple("apples bread butter coffee eggs honey milk pasta rice soap tea tomatoes".split())
NAMES = tuple("Ada Ben Clara Diego Elena Felix Grace Hugo Iris Jonas Keiko Liam".split())
FAMILY_NAMES = tuple("Park Okafor Novak Silva Rossi Greene".split())
THINGS = tuple("Speaker Keyboard Headset Watch Lamp Camera Printer Scale".split())


class Scene(Struct, frozen=True, kw_only=True):
    """What is on the list of one task."""

    target: str
    """Id of the entry that the goal is about."""
    word: str
    patches: tuple[Patch, ...]


class Family(Struct, frozen=True, kw_only=True):
    """One kind of task: the same page and touch, another list each time."""

    name: str
    app: str
    path: str
    """Page that the task begins on."""
    verb: str
    """The goal without its last word."""
    table: str
    field: str
    value: Any
    """What the target's field must become."""
    allowed: tuple[str, ...] = ()
    make: Callable[[int, random.Random], Scene]
    """From a world's seed and a random stream."""
    golden: Callable[[str], Tool]


def task_of(family: Family, number: int) -> Task:
    """Return the task of a family with this number; pure."""
    stream = random.Random(f"touches/{family.name}/{number}")
    world = stream.randrange(WORLDS)
    scene = family.make(world, stream)
    show: Patch = {"app": family.app, "op": "show", "path": family.path}
    return Task(
        id=f"touches/{family.name}@1",
        seed=number,
        env=EnvRef(kind="phone", size_px=SIZE_PX),
        world=World(name=WORLD, seed=world, patches=(*scene.patches, show)),
        goal=Goal(text=f"{family.verb} {scene.word.lower()}"),
        params={"target": scene.target},
        checks=(
            Changed(
                app=family.app,
                table=family.table,
                ids=(scene.target,),
                to={family.field: family.value},
                says=f"{family.field} of {scene.word} is {family.value}",
            ),
        ),
        allowed=(*(a for a in ALLOWED if not a.startswith("messages")), *family.allowed),
        golden=(family.golden(scene.target),),
        tags={"domain": family.name, "apps": family.app, "difficulty": "easy"},
        budget=Budget(steps=1),
        optimal_steps=1,
    )


def tasks_of(family: Family, numbers: range) -> tuple[Task, ...]:
    """Return the tasks of a family with these numbers."""
    return tuple(task_of(family, number) for number in numbers)


@lru_cache(maxsize=64)
def _rows(app: str, table: str, seed: int) -> dict[str, dict[str, Any]]:
    data = initial_doc(WORLD, seed).apps[app].data.builtins()
    rows: dict[str, dict[str, Any]] = data[table]
    return rows


def _set(app: str, table: str, row: str, **fields: Any) -> Patch:
    return {"app": app, "table": table, "op": "set", "id": row, "fields": fields}


def _remove(app: str, table: str, row: str) -> Patch:
    return {"app": app, "table": table, "op": "remove", "id": row}


def _checklist(world: int, stream: random.Random) -> Scene:
    rows = [r for r, i in _rows("notes", "items", world).items() if i["note"] == "note1"]
    count = stream.randint(2, 6)
    words = stream.sample(NOUNS, count)
    patches = [
        _set("notes", "items", row, text=word.capitalize(), done=False)
        for row, word in zip(rows, words, strict=False)
    ]
    patches += [_remove("notes", "items", row) for row in rows[count:]]
    chosen = stream.randrange(count)
    return Scene(target=rows[chosen], word=words[chosen], patches=tuple(patches))


def _conversations(world: int, stream: random.Random) -> Scene:
    people = {r["phone"]: r["id"] for r in _rows("contacts", "people", world).values()}
    threads = _rows("messages", "threads", world)
    known = [r for r, thread in threads.items() if thread["phone"] in people]
    shown = stream.sample(known, stream.randint(2, min(5, len(known))))
    names = stream.sample(NAMES, len(shown))
    patches: list[Patch] = []
    for row in threads:
        if row not in shown:
            patches.append(_set("messages", "threads", row, archived=True, unread=0))
    for row, name in zip(shown, names, strict=True):
        person = people[threads[row]["phone"]]
        family = stream.choice(FAMILY_NAMES)
        patches.append(_set("contacts", "people", person, name=f"{name} {family}"))
        patches.append(_set("messages", "threads", row, unread=1, archived=False))
    chosen = stream.randrange(len(shown))
    return Scene(target=shown[chosen], word=names[chosen], patches=tuple(patches))


def _gadgets(world: int, stream: random.Random) -> Scene:
    rows = _rows("settings", "gadgets", world)
    free = [r for r, gadget in rows.items() if not gadget["paired"]]
    words = stream.sample(NAMES + NOUNS, len(free))
    patches = [
        _set("settings", "gadgets", row, name=f"{word.capitalize()} {stream.choice(THINGS)}")
        for row, word in zip(free, words, strict=True)
    ]
    chosen = stream.randrange(len(free))
    return Scene(target=free[chosen], word=words[chosen], patches=tuple(patches))


TICK = Family(
    name="tick", app="notes", path="/n/note1", verb="tick", table="items", field="done",
    value=True, make=_checklist,
    golden=lambda item: call(notes_actions.check_item, item=item, done=True),
)  # fmt: skip
READ = Family(
    name="read", app="messages", path="/", verb="read", table="threads", field="unread",
    value=0, make=_conversations,
    golden=lambda thread: call(messages_actions.mark_read, thread=thread),
)  # fmt: skip
PAIR = Family(
    name="pair", app="settings", path="/bluetooth", verb="pair", table="gadgets", field="paired",
    value=True, make=_gadgets, allowed=("settings.gadgets.connected",),
    golden=lambda gadget: call(settings_actions.pair, device=gadget),
)  # fmt: skip
