"""Tasks of one touch on the mocked phone, for policies that are a megabyte small.

Each begins on a page of an app, since a tiny policy need not find the page. A number draws the
page, the world, which switches are on, and one touch that changes something; the goal says in the
words of the screen what that touch is to change. The goals are found by trying the page out, so
they are true by construction. The step limit is one: there is no need to say that one is done.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from screenloop.actions import Action, Tap
from screenloop.agent.dialects.tiny.touches import LABEL_WORDS, MARKS
from screenloop.agent.elements import SYSTEM, Element, read_elements
from screenloop.criteria import Changed, Check, Value
from screenloop.envs.phone import tree_of
from screenloop.errors import TaskError
from screenloop.phone.device.boot import new_device
from screenloop.phone.device.device import Device
from screenloop.phone.device.gestures import act
from screenloop.suites.phone_core.template import ALLOWED, SIZE_PX, WORLD
from screenloop.types import Budget, DiffRow, EnvRef, Goal, Mode, Struct, Task, World

Patch = dict[str, Any]
WORLDS = 4
"""Worlds that tasks begin in."""
SWITCHES = (
    ("os", "dark"),
    ("os", "auto_rotate"),
    ("os", "do_not_disturb"),
    ("os", "battery_saver"),
    ("os", "location"),
    ("os", "mobile_data"),
    ("settings", "auto_brightness"),
    ("settings", "night_light"),
    ("settings", "vibrate"),
    ("settings", "touch_sounds"),
    ("settings", "battery_percentage"),
    ("settings", "data_saver"),
    ("notes", "grid"),
    ("messages", "previews"),
    ("wallet", "hide_balance"),
    ("shop", "order_updates"),
    ("clock", "bedtime_on"),
)
"""What is on or off at random when a task begins."""
_TRIES = 40


class StartPage(Struct, frozen=True, kw_only=True):
    """A page that tasks begin on."""

    app: str
    path: str


PAGES = tuple(
    StartPage(app=app, path=path)
    for app, path in (
        *[("settings", "/display")] * 6,
        *[("settings", "/sound")] * 2,
        *[("settings", "/bluetooth")] * 2,
        ("settings", "/battery"),
        ("settings", "/data"),
        ("settings", "/privacy"),
        ("messages", "/settings"),
        ("notes", "/"),
        ("shop", "/account"),
    )
)
"""Pages with more to choose from come up more often."""
CLOCK = (StartPage(app="clock", path="/"), StartPage(app="clock", path="/bedtime"))


def task_of(name: str, pages: Sequence[StartPage], number: int) -> Task:
    """Return the task with this number; pure.

    Raises:
        TaskError: no touch on the drawn pages changes anything.
    """
    stream = random.Random(f"touches/{name}/{number}")
    for _ in range(_TRIES):
        page, world = stream.choice(pages), stream.randrange(WORLDS)
        patches: list[Patch] = [
            {"app": app, "field": field, "op": "set", "value": stream.random() < 0.5}
            for app, field in SWITCHES
        ]
        patches.append({"app": page.app, "op": "show", "path": page.path})
        device = new_device(WORLD, world, tuple(patches))
        choices = listed(device)
        stream.shuffle(choices)
        for element in choices:
            checks = checks_of(_lasting(changes(device, element)))
            if checks and _is_only(element, choices):
                return _task(
                    name,
                    number,
                    World(name=WORLD, seed=world, patches=tuple(patches)),
                    page,
                    element,
                    checks,
                )
    raise TaskError(f"no touch on the pages of {name!r} changes anything")


def tasks_of(name: str, pages: Sequence[StartPage], numbers: Iterable[int]) -> tuple[Task, ...]:
    """Return the tasks with these numbers."""
    return tuple(task_of(name, pages, number) for number in numbers)


async def touch(task: Task, mode: Mode) -> tuple[Action, ...]:
    """Return the touch that solves one of these tasks; a `Plan`."""
    return task.golden


def listed(device: Device) -> list[Element]:
    """Return what a tiny policy can name on the screen, in its order."""
    tree = msgspec.json.encode(tree_of(device.screen))
    elements = read_elements(tree, SIZE_PX)
    return [e for e in elements if e.taps and e.role not in ("key", SYSTEM)][:MARKS]


def words_of(element: Element) -> str:
    """Return the words of an element as a goal says them."""
    words = "".join(c if c.isalnum() else " " for c in element.label).lower().split()
    return " ".join(words[:LABEL_WORDS])


def _task(
    name: str,
    number: int,
    world: World,
    page: StartPage,
    element: Element,
    checks: tuple[Check, ...],
) -> Task:
    verb = "choose" if element.checked is None else "turn off" if element.checked else "turn on"
    return Task(
        id=f"touches/{name}@1",
        seed=number,
        env=EnvRef(kind="phone", size_px=SIZE_PX),
        world=world,
        goal=Goal(text=f"{verb} {words_of(element)}"),
        params={"page": f"{page.app}{page.path}"},
        checks=checks,
        allowed=tuple(pattern for pattern in ALLOWED if not pattern.startswith("messages")),
        golden=(Tap(at=element.at),),
        tags={"domain": page.app, "apps": page.app, "difficulty": "easy"},
        budget=Budget(steps=1),
        optimal_steps=1,
    )


def changes(device: Device, element: Element) -> tuple[DiffRow, ...]:
    """Return what a touch would change; the phone stays as it is."""
    before = device.snapshot()
    device.begin("try", "gui")
    act(device, Tap(at=element.at))
    rows = tuple(device.end())
    device.restore(before)
    return rows


def checks_of(rows: Sequence[DiffRow]) -> tuple[Check, ...]:
    """Return what must be true at the end, or nothing where that is not plainly said."""
    if not rows or len({row.app for row in rows}) > 1 or any(row.op != "set" for row in rows):
        return ()
    made: list[Check] = []
    for row in rows:
        says = f"{row.table} {row.id} {row.field} is {row.after}"
        if row.field:
            made.append(
                Changed(
                    app=row.app,
                    table=row.table,
                    ids=(row.id,),
                    to={row.field: row.after},
                    says=says,
                )
            )
        else:
            made.append(Value(app=row.app, path=row.table, to=row.after, says=says))
    return tuple(made)


def _lasting(rows: Sequence[DiffRow]) -> tuple[DiffRow, ...]:
    """Leave out what only says that something will happen later."""
    return tuple(row for row in rows if (row.app, row.table) != ("os", "timers"))


def _is_only(element: Element, choices: Sequence[Element]) -> bool:
    """Whether the goal's words name this element alone among those that are alike."""
    alike = [e for e in choices if words_of(e) == words_of(element)]
    return len([e for e in alike if e.role == element.role]) == 1
