"""Tasks of one or two touches on the mocked phone, for policies that are a few megabytes small.

Each begins on a page of an app, since a tiny policy need not find the app. The goal names the
target by the first word of its label, last in the sentence, and the step limit is the shortest
path: there is one way to be right and no need to say that one is done.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from screenloop.actions import Tool
from screenloop.criteria import Changed
from screenloop.phone.apps import contacts, gallery_actions, messages_actions, notes_actions
from screenloop.phone.boot import initial_doc, new_device
from screenloop.suites.phone_core.template import ALLOWED, SIZE_PX, WORLD, call
from screenloop.types import Budget, EnvRef, Goal, Struct, Task, World

Patch = dict[str, Any]


class Target(Struct, frozen=True, kw_only=True):
    """Something on a page that a task can be about."""

    id: str
    label: str
    """What it is called on the screen; the first word names it."""


class Family(Struct, frozen=True, kw_only=True):
    """One kind of task: the same page and touch path, another target each time."""

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
    touches: int
    targets: Callable[[int], tuple[Target, ...]]
    """Of a world seed; those not on the screen are left out."""
    golden: Callable[[str], Tool]
    patches: Callable[[int], tuple[Patch, ...]] = lambda seed: ()


def tasks_of(family: Family, world_seed: int) -> tuple[Task, ...]:
    """Return the tasks of a family in one world: one for each target that is on the screen and
    whose first word no other label on it begins with."""
    show: Patch = {"app": family.app, "op": "show", "path": family.path}
    patches = (*family.patches(world_seed), show)
    screen = new_device(WORLD, world_seed, patches).screen
    labels = [node.label for node in screen.nodes if node.label and node.do is not None]
    first = Counter(word_of(label) for label in set(labels))
    made: list[Task] = []
    for number, target in enumerate(family.targets(world_seed)):
        word = word_of(target.label)
        if first[word] != 1 or not any(label.startswith(target.label) for label in labels):
            continue
        made.append(
            Task(
                id=f"touches/{family.name}@1",
                seed=100 * world_seed + number,
                env=EnvRef(kind="phone", size_px=SIZE_PX),
                world=World(name=WORLD, seed=world_seed, patches=patches),
                goal=Goal(text=f"{family.verb} {word}"),
                params={"target": target.id},
                checks=(
                    Changed(
                        app=family.app,
                        table=family.table,
                        ids=(target.id,),
                        to={family.field: family.value},
                        says=f"{family.field} of {target.label} is {family.value}",
                    ),
                ),
                allowed=ALLOWED if family.app != "messages" else ALLOWED[:-1],
                golden=(family.golden(target.id),),
                tags={"domain": family.name, "apps": family.app, "difficulty": "easy"},
                budget=Budget(steps=family.touches),
                optimal_steps=family.touches,
            )
        )
    return tuple(made)


def word_of(label: str) -> str:
    """Return the first word of a label, as the tiny tokenizer reads it."""
    words = label.replace(",", " ").split()
    return words[0].lower() if words else ""


def _rows(app: str, table: str, seed: int) -> dict[str, dict[str, Any]]:
    data = initial_doc(WORLD, seed).apps[app].data.builtins()
    rows: dict[str, dict[str, Any]] = data[table]
    return rows


def _targets(rows: Iterable[dict[str, Any]], label: str) -> tuple[Target, ...]:
    return tuple(Target(id=row["id"], label=row[label]) for row in rows)


def _lists(note: str) -> Callable[[int], tuple[Target, ...]]:
    def targets(seed: int) -> tuple[Target, ...]:
        rows = _rows("notes", "items", seed).values()
        return _targets((r for r in rows if r["note"] == note and not r["done"]), "text")

    return targets


def _people(seed: int) -> tuple[Target, ...]:
    rows = _rows("contacts", "people", seed).values()
    return _targets((row for row in rows if not row["favourite"]), "name")


def _photos(seed: int) -> tuple[Target, ...]:
    rows = _rows("gallery", "photos", seed).values()
    return _targets((row for row in rows if not row["favourite"]), "title")


def _writers(seed: int) -> tuple[Target, ...]:
    names = {row["phone"]: row["name"] for row in _rows("contacts", "people", seed).values()}
    rows = _rows("messages", "threads", seed).values()
    return tuple(
        Target(id=row["id"], label=names[row["phone"]]) for row in rows if row["phone"] in names
    )


def _all_unread(seed: int) -> tuple[Patch, ...]:
    return tuple(
        {"app": "messages", "table": "threads", "op": "set", "id": thread, "fields": {"unread": 1}}
        for thread in _rows("messages", "threads", seed)
    )


TICK = Family(
    name="tick", app="notes", path="/n/note1", verb="tick", table="items", field="done",
    value=True, touches=1, targets=_lists("note1"),
    golden=lambda item: call(notes_actions.check_item, item=item, done=True),
)  # fmt: skip
STAR = Family(
    name="star", app="contacts", path="/", verb="favourite", table="people", field="favourite",
    value=True, touches=2, targets=_people,
    golden=lambda person: call(contacts.favourite, person=person, on=True),
)  # fmt: skip
READ = Family(
    name="read", app="messages", path="/", verb="read", table="threads", field="unread",
    value=0, touches=1, targets=_writers, patches=_all_unread,
    golden=lambda thread: call(messages_actions.mark_read, thread=thread),
)  # fmt: skip
LIKE = Family(
    name="like", app="gallery", path="/", verb="favourite", table="photos", field="favourite",
    value=True, touches=2, targets=_photos,
    golden=lambda photo: call(gallery_actions.favourite, photo=photo, on=True),
)  # fmt: skip
