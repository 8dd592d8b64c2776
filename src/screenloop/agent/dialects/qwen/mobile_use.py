"""The `mobile_use` function of the Qwen families, by its documented schema.

Swipes are two points of the finger. `time` of long_press and wait is in seconds and 1 where it is
left out. `key` takes names of Android keys; back, home, menu and enter are written as
`system_button`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args

from screenloop.actions import (
    Action,
    Answer,
    Ask,
    Finish,
    Key,
    KeyName,
    Open,
    Point,
    Swipe,
    Tap,
    Type,
    Wait,
)
from screenloop.agent.dialects.base import supported
from screenloop.agent.dialects.reading.fields import Fields, is_only, whole
from screenloop.agent.dialects.reading.hermes import Reader
from screenloop.types import EnvSpec

FUNCTION = "mobile_use"
Grid = Callable[[Point], list[int]]
"""Writes a point in the family's space."""

_BUTTONS = {"back": "Back", "home": "Home", "menu": "Menu", "enter": "Enter"}
_KEYS = {name: name for name in get_args(KeyName)} | {"app_switch": "recents", "esc": "escape"}
_STATUS = {"success": "success", "failure": "failure", "fail": "failure"}


def _long_press(f: Fields) -> Action:
    seconds = f.number("time", low=0.001, high=10, default=1)
    return Tap(at=f.point("coordinate"), hold_ms=round(seconds * 1000))


READERS: Mapping[str, Reader] = {
    "click": lambda f: Tap(at=f.point("coordinate")),
    "long_press": _long_press,
    "swipe": lambda f: Swipe(path=(f.point("coordinate"), f.point("coordinate2"))),
    "type": lambda f: Type(text=f.text("text")),
    "key": lambda f: Key(name=f.choice("text", _KEYS)),
    "system_button": lambda f: Key(name=f.choice("button", {name: name for name in _BUTTONS})),
    "open": lambda f: Open(app=f.text("text", "app_name", empty=False)),
    "open_app": lambda f: Open(app=f.text("app_name", "text", empty=False)),
    "wait": lambda f: Wait(seconds=f.number("time", low=0, high=3600, default=1)),
    "answer": lambda f: Answer(text=f.text("text")),
    "terminate": lambda f: Finish(status=f.choice("status", _STATUS)),
}
ASKING: Mapping[str, Reader] = {
    **READERS,
    "interact": lambda f: Ask(text=f.text("text", empty=False)),
}
"""GUI-Owl's set: it can ask."""


def write(action: Action, grid: Grid, open_verb: str, asks: bool) -> dict[str, Any] | None:
    """Return the arguments that stand for the Action, or `None` where there are none.

    Args:
        action: What to do.
        grid: Writes points.
        open_verb: `open` (argument `text`) or `open_app` (argument `app_name`).
        asks: Whether the family has `interact`.
    """
    match action:
        case Open(app=app):
            field = "app_name" if open_verb == "open_app" else "text"
            return {"action": open_verb, field: app}
        case Ask(text=text) if asks:
            return {"action": "interact", "text": text}
        case Answer(text=text):
            return {"action": "answer", "text": text}
        case Finish(status=status, message="") if status in _STATUS:
            return {"action": "terminate", "status": status}
        case Wait(seconds=seconds):
            return {"action": "wait", "time": whole(seconds)}
        case Key(name=name) if name in _BUTTONS:
            return {"action": "system_button", "button": _BUTTONS[name]}
        case Key(name=name):
            return {"action": "key", "text": name}
        case Type(text=text) if is_only(action, "text"):
            return {"action": "type", "text": text}
        case Tap(at=at) if is_only(action, "at"):
            return {"action": "click", "coordinate": grid(at)}
        case Tap(at=at, hold_ms=hold_ms) if is_only(action, "at", "hold_ms"):
            seconds = whole(hold_ms / 1000)
            return {"action": "long_press", "coordinate": grid(at), "time": seconds}
        case Swipe(path=(start, end)) if is_only(action, "path"):
            return {"action": "swipe", "coordinate": grid(start), "coordinate2": grid(end)}
    return None


def schema(spec: EnvSpec, where: str, open_verb: str, asks: bool) -> dict[str, Any]:
    """Return the schema's properties, with the verbs that the Environment supports.

    Args:
        spec: The Environment.
        where: Says in words what coordinates are.
        open_verb: `open` or `open_app`.
        asks: Whether the family has `interact`.
    """
    field = "app_name" if open_verb == "open_app" else "text"
    verbs = {
        "click": ((Tap,), "press `coordinate`"),
        "long_press": ((Tap,), "hold `coordinate` for `time` seconds"),
        "swipe": ((Swipe,), "move the finger from `coordinate` to `coordinate2`"),
        "type": ((Type,), "enter `text` into the focused field"),
        "key": ((Key,), "press the key named by `text`, e.g. volume_up"),
        "system_button": ((Key,), "press `button`"),
        open_verb: ((Open,), f"open the app named by `{field}`"),
        "wait": ((Wait,), "wait `time` seconds"),
        "answer": ((Answer,), "state the answer in `text`; then terminate"),
        "interact": ((Ask,), "ask the person the question in `text`"),
        "terminate": ((Finish,), "end the task with `status`"),
    }
    if not asks:
        del verbs["interact"]
    offered = {v: doc for v, (kinds, doc) in verbs.items() if supported(spec, *kinds)}
    point = {"type": "array", "description": where}
    properties: dict[str, Any] = {
        "action": {
            "type": "string",
            "enum": list(offered),
            "description": "; ".join(f"{v}: {doc}" for v, doc in offered.items()),
        },
        "coordinate": point,
        "coordinate2": point,
        "text": {"type": "string"},
        "time": {"type": "number", "description": "seconds"},
        "button": {"type": "string", "enum": list(_BUTTONS.values())},
        "status": {"type": "string", "enum": ["success", "failure"]},
    }
    if open_verb == "open_app":
        properties["app_name"] = {"type": "string"}
    return properties
