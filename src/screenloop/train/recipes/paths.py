"""Tasks of two or three touches on the mocked phone, for policies that are a megabyte small.

Each begins on the home screen, on an app's first page or on a page beside the wanted one. A number
draws the path, the world, which switches are on, and the last touch, which changes something; the
goal says in the words of the screen what that is and on which page: "turn on night light in
display". Every touch is found by walking the phone, so tasks are true by construction: the touches
on the way change nothing, the last one changes what the checks say. The step limit is the number
of touches: there is no need to say that one is done, and no room for a detour.

`tasks_of(name, PATHS, numbers)` gives tasks of known apps, `UNSEEN` those of two apps that `PATHS`
never enters. Give other `worlds` to tasks that are held out. The tag `domain` is the app. Solve
them with `screenloop.train.recipes.touches.touch` as the plan.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from screenloop.actions import Tap
from screenloop.agent.elements import Element
from screenloop.criteria import Check
from screenloop.errors import TaskError
from screenloop.phone.device.boot import new_device
from screenloop.phone.device.device import Device
from screenloop.phone.device.gestures import act
from screenloop.suites.phone_core.template import ALLOWED, SIZE_PX, WORLD
from screenloop.train.recipes.touches import SWITCHES, Patch, changes, checks_of, listed
from screenloop.types import Budget, DiffRow, EnvRef, Goal, Struct, Task, World

WORLDS = range(4)
"""Worlds that tasks begin in, unless told otherwise."""
_TRIES = 60
_WORDS = 4


class Path(Struct, frozen=True, kw_only=True):
    """A way through the phone to a page that has something to change."""

    app: str
    """In which something changes."""
    front: str
    """The app in front at the beginning; `os` is the home screen."""
    page: str = "/"
    """Of that app."""
    through: tuple[str, ...]
    """Words of what is touched on the way; the last names the page that the goal speaks of."""
    weight: int = 1
    """How often it is drawn, beside the others."""


def _settings(weight: int, *through: str) -> tuple[Path, ...]:
    """Return paths to a page of the settings app, from its first page and from pages beside."""
    beside = ("/display", "/sound", "/battery", "/privacy") if len(through) == 1 else ()
    ways = [Path(app="settings", front="settings", through=through, weight=4 * weight)]
    for page in beside:
        if not through[0].startswith(page[1:]):
            ways.append(
                Path(
                    app="settings",
                    front="settings",
                    page=page,
                    through=("navigate up", *through),
                    weight=weight,
                )
            )
    return tuple(ways)


def _from_home(app: str, icon: str, *ends: tuple[str, ...]) -> tuple[Path, ...]:
    """Return paths of an app from its first page, and from the home screen."""
    first = [Path(app=app, front=app, through=end, weight=4) for end in ends if end]
    home = [Path(app=app, front="os", through=(icon, *end), weight=4) for end in ends]
    return (*first, *home)


PATHS: tuple[Path, ...] = (
    *_settings(5, "display"),
    *_settings(2, "sound vibration"),
    *_settings(2, "bluetooth"),
    *_settings(1, "notifications"),
    *_settings(1, "privacy"),
    *_settings(1, "battery"),
    *_settings(1, "network internet"),
    *_settings(1, "network internet", "mobile data"),
    *_settings(2, "sound vibration", "ringtone"),
    *_settings(2, "sound vibration", "notification sound"),
    *_from_home("notes", "notes", (), ("sort",)),
    *_from_home("messages", "messages", ("settings",)),
    *_from_home("shop", "nimbus", ("account",)),
)
"""Paths of four known apps."""
UNSEEN: tuple[Path, ...] = (
    *_from_home("wallet", "wallet", (), ("limits",)),
    Path(app="clock", front="clock", through=("bedtime",), weight=4),
)
"""Paths of apps that `PATHS` never enters."""


def task_of(name: str, paths: Sequence[Path], number: int, worlds: Sequence[int] = WORLDS) -> Task:
    """Return the task with this number; pure.

    Args:
        name: Of the family; another name draws other tasks.
        paths: What is drawn from.
        number: The task's.
        worlds: Seeds of the worlds that it may begin in.

    Raises:
        TaskError: none of the drawn paths ends where a touch changes something.
    """
    stream = random.Random(f"paths/{name}/{number}")
    for _ in range(_TRIES):
        path = stream.choices(paths, [one.weight for one in paths])[0]
        patches: list[Patch] = [
            {"app": app, "field": field, "op": "set", "value": stream.random() < 0.5}
            for app, field in SWITCHES
        ]
        patches.append({"app": path.front, "op": "show", "path": path.page})
        world = World(name=WORLD, seed=stream.choice(worlds), patches=tuple(patches))
        device = new_device(WORLD, world.seed, world.patches)
        way = walk(device, path.through[:-1])
        beneath = listed(device)
        end = walk(device, path.through[-1:])
        if way is None or end is None:
            continue
        # What was there before lies beneath a sheet that the last touch opened.
        choices = [element for element in listed(device) if element not in beneath]
        for element in stream.sample(choices, len(choices)):
            checks = checks_of(changes(device, element)) if _is_only(element, choices) else ()
            if checks:
                return _task(name, number, world, path, (*way, *end, element), checks)
    raise TaskError(f"no path of {name!r} ends where a touch changes something")


def tasks_of(
    name: str, paths: Sequence[Path], numbers: Iterable[int], worlds: Sequence[int] = WORLDS
) -> tuple[Task, ...]:
    """Return the tasks with these numbers."""
    return tuple(task_of(name, paths, number, worlds) for number in numbers)


def walk(device: Device, through: Sequence[str]) -> tuple[Element, ...] | None:
    """Touch what these words name, one after the other; leaves the phone at the end.

    Returns:
        What was touched; `None` where words name nothing or more than one thing, or where a touch
        on the way changes something.
    """
    way: list[Element] = []
    for words in through:
        named = [element for element in listed(device) if words_of(element) == words]
        if len(named) != 1 or _touch(device, named[0]):
            return None
        way.append(named[0])
    return tuple(way)


def words_of(element: Element) -> str:
    """Return the words of an element as a goal says them: its name, without what it is set to."""
    name = element.label.split(" · ")[0]
    words = "".join(c if c.isalnum() else " " for c in name).lower().split()
    return " ".join(words[:_WORDS])


def _task(
    name: str,
    number: int,
    world: World,
    path: Path,
    way: Sequence[Element],
    checks: tuple[Check, ...],
) -> Task:
    last = way[-1]
    verb = "choose" if last.checked is None else "turn off" if last.checked else "turn on"
    return Task(
        id=f"paths/{name}@1",
        seed=number,
        env=EnvRef(kind="phone", size_px=SIZE_PX),
        world=world,
        goal=Goal(text=f"{verb} {words_of(last)} in {path.through[-1]}"),
        params={"begins": f"{path.front}{path.page}", "touches": [words_of(one) for one in way]},
        checks=checks,
        allowed=tuple(pattern for pattern in ALLOWED if not _is_goal(pattern)),
        golden=tuple(Tap(at=one.at) for one in way),
        tags={"domain": path.app, "apps": path.app, "difficulty": "easy"},
        budget=Budget(steps=len(way)),
        optimal_steps=len(way),
    )


def _is_goal(pattern: str) -> bool:
    """Whether an allowed side effect is what some of these tasks ask for."""
    return pattern.split(".")[0] in ("messages", "notes", "wallet")


def _touch(device: Device, element: Element) -> tuple[DiffRow, ...]:
    device.begin("try", "gui")
    act(device, Tap(at=element.at))
    return tuple(device.end())


def _is_only(element: Element, choices: Sequence[Element]) -> bool:
    """Whether the goal's words name this element alone."""
    words = words_of(element)
    return bool(words) and len([one for one in choices if words_of(one) == words]) == 1
