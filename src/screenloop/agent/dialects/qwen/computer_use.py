"""The `computer_use` function of the Qwen families, by its documented schema.

Two things are the project's own. `left_click_drag` is documented from wherever the pointer is; a
pure parser does not know that, so a drag must say `start_coordinate`. `pixels` of scroll and
hscroll count in units of the declared screen (positive is up, and right), so a share of the screen
comes out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from screenloop.actions import (
    Action,
    Answer,
    Finish,
    Hotkey,
    Hover,
    Key,
    KeyName,
    Scroll,
    Swipe,
    Tap,
    Type,
    Wait,
)
from screenloop.agent.dialects.base import supported
from screenloop.agent.dialects.qwen.mobile_use import Grid
from screenloop.agent.dialects.reading.fields import Fields, is_only, whole
from screenloop.agent.dialects.reading.hermes import Reader
from screenloop.errors import ParseFailure
from screenloop.types import EnvSpec, SizePx

FUNCTION = "computer_use"

KEYS: dict[str, KeyName] = {
    "enter": "enter",
    "tab": "tab",
    "esc": "escape",
    "space": "space",
    "backspace": "backspace",
    "delete": "delete",
    "up": "arrow_up",
    "down": "arrow_down",
    "left": "arrow_left",
    "right": "arrow_right",
    "pageup": "page_up",
    "pagedown": "page_down",
    "return": "enter",
    "escape": "escape",
    "page_up": "page_up",
    "page_down": "page_down",
}
"""Names of keyboard keys that are a Key of their own; the first name of each is written."""
_NAMES = {key: name for name, key in reversed(KEYS.items())}
_CLICKS: dict[str, dict[str, Any]] = {
    "left_click": {},
    "right_click": {"button": "right"},
    "middle_click": {"button": "middle"},
    "double_click": {"count": 2},
    "triple_click": {"count": 3},
}


def _click(f: Fields) -> Action:
    return Tap(at=f.point("coordinate"), **_CLICKS[f.verb])


def _key(f: Fields) -> Action:
    return press(f.strings("keys"))


def _drag(f: Fields) -> Action:
    return Swipe(path=(f.point("start_coordinate"), f.point("coordinate")))


def readers(limits: SizePx) -> Mapping[str, Reader]:
    """Return what each verb stands for on a declared screen of this size."""

    def scroll(f: Fields) -> Action:
        across = f.verb == "hscroll"
        side = limits[0 if across else 1]
        pixels = f.number("pixels", low=-20 * side, high=20 * side)
        if pixels == 0:
            raise ParseFailure(f"{f.verb}: pixels is 0, which scrolls nowhere")
        back, forth = ("left", "right") if across else ("down", "up")
        return Scroll(
            direction=forth if pixels > 0 else back,  # type: ignore[arg-type]
            screens=abs(pixels) / side,
            at=f.optional_point("coordinate"),
        )

    return {
        **dict.fromkeys(_CLICKS, _click),
        "left_click_drag": _drag,
        "mouse_move": lambda f: Hover(at=f.point("coordinate")),
        "scroll": scroll,
        "hscroll": scroll,
        "type": lambda f: Type(text=f.text("text")),
        "key": _key,
        "wait": lambda f: Wait(seconds=f.number("time", low=0, high=3600, default=1)),
        "answer": lambda f: Answer(text=f.text("text")),
        "terminate": lambda f: Finish(
            status=f.choice("status", {"success": "success", "failure": "failure"})
        ),
    }


def press(keys: tuple[str, ...]) -> Action:
    """Return the Key that a single known name stands for, or else the Hotkey."""
    name = KEYS.get(keys[0].lower()) if len(keys) == 1 else None
    return Key(name=name) if name else Hotkey(keys=keys)


def key_names(action: Action) -> tuple[str, ...] | None:
    """Return the keyboard keys of a Key or Hotkey; `None` where `press` would read another."""
    match action:
        case Key(name=name) if name in _NAMES:
            return (_NAMES[name],)
        case Hotkey(keys=keys) if press(keys) == action:
            return keys
    return None


def write(action: Action, grid: Grid, limits: SizePx) -> dict[str, Any] | None:
    """Return the arguments that stand for the Action, or `None` where there are none."""
    match action:
        case Tap(at=at) if is_only(action, "at", "count", "button"):
            for verb, extra in _CLICKS.items():
                if action == Tap(at=at, frame=action.frame, **extra):
                    return {"action": verb, "coordinate": grid(at)}
        case Swipe(path=(start, end)) if is_only(action, "path"):
            return {
                "action": "left_click_drag",
                "start_coordinate": grid(start),
                "coordinate": grid(end),
            }
        case Hover(at=at):
            return {"action": "mouse_move", "coordinate": grid(at)}
        case Scroll():
            return _write_scroll(action, grid, limits)
        case Type(text=text) if is_only(action, "text"):
            return {"action": "type", "text": text}
        case Key() | Hotkey():
            keys = key_names(action)
            return {"action": "key", "keys": list(keys)} if keys else None
        case Wait(seconds=seconds):
            return {"action": "wait", "time": whole(seconds)}
        case Answer(text=text):
            return {"action": "answer", "text": text}
        case Finish(status="success" | "failure" as status, message=""):
            return {"action": "terminate", "status": status}
    return None


def _write_scroll(action: Scroll, grid: Grid, limits: SizePx) -> dict[str, Any] | None:
    across = action.direction in ("left", "right")
    side = limits[0 if across else 1]
    pixels = round(action.screens * side)
    if pixels == 0 or pixels / side != action.screens:
        return None
    sign = 1 if action.direction in ("up", "right") else -1
    verb = {"action": "hscroll" if across else "scroll", "pixels": sign * pixels}
    return verb if action.at is None else {**verb, "coordinate": grid(action.at)}


def schema(spec: EnvSpec, where: str) -> dict[str, Any]:
    """Return the schema's properties, with the verbs that the Environment supports."""
    verbs = {
        "left_click": ((Tap,), "click `coordinate`"),
        "right_click": ((Tap,), "click it with the right button"),
        "middle_click": ((Tap,), "click it with the middle button"),
        "double_click": ((Tap,), "click it twice"),
        "triple_click": ((Tap,), "click it three times"),
        "left_click_drag": ((Swipe,), "drag from `start_coordinate` to `coordinate`"),
        "mouse_move": ((Hover,), "move the pointer to `coordinate`"),
        "scroll": ((Scroll,), "turn the wheel by `pixels`, up if positive, down if negative"),
        "hscroll": ((Scroll,), "scroll sideways by `pixels`, right if positive"),
        "type": ((Type,), "type `text` on the keyboard"),
        "key": ((Key, Hotkey), "press `keys` together"),
        "wait": ((Wait,), "wait `time` seconds"),
        "answer": ((Answer,), "state the answer in `text`; then terminate"),
        "terminate": ((Finish,), "end the task with `status`"),
    }
    offered = {v: doc for v, (kinds, doc) in verbs.items() if supported(spec, *kinds)}
    point = {"type": "array", "description": where}
    return {
        "action": {
            "type": "string",
            "enum": list(offered),
            "description": "; ".join(f"{v}: {doc}" for v, doc in offered.items()),
        },
        "coordinate": point,
        "start_coordinate": point,
        "pixels": {"type": "number"},
        "text": {"type": "string"},
        "keys": {"type": "array", "items": {"type": "string"}},
        "time": {"type": "number", "description": "seconds"},
        "status": {"type": "string", "enum": ["success", "failure"]},
    }
