"""From an Action of the wire to a gesture on a Device: points become pixels of the layout."""

from __future__ import annotations

from screenloop.actions import (
    Action,
    Key,
    Open,
    Pinch,
    Point,
    Scroll,
    Swipe,
    Tap,
    Tool,
    Type,
    Wait,
    tag_of,
)
from screenloop.errors import UnsupportedAction
from screenloop.phone.device.device import Device, refused
from screenloop.phone.device.screen import SIZE_PX
from screenloop.types import DiffRow, Effect, Struct

GESTURES = (Tap, Swipe, Scroll, Type, Key, Open, Wait, Pinch)
"""Actions that a phone carries out on its screen."""
KEYS = ("back", "home", "recents", "enter", "backspace", "space", "volume_up", "volume_down")
"""Keys that a phone has."""


class Performed(Struct, frozen=True, kw_only=True):
    """What one Action came to."""

    effect: Effect
    rows: tuple[DiffRow, ...]
    """What changed, timers that fell due included."""


def unit(x: float, y: float) -> Point:
    """Return the point in the middle of a pixel of the layout, as shares of the frame."""
    return (int(x) + 0.5) / SIZE_PX[0], (int(y) + 0.5) / SIZE_PX[1]


def layout_px(point: Point) -> tuple[float, float]:
    """Return a point in layout pixels."""
    return (
        min(point[0] * SIZE_PX[0], SIZE_PX[0] - 0.5),
        min(point[1] * SIZE_PX[1], SIZE_PX[1] - 0.5),
    )


def run_action(device: Device, action: Action, action_id: str = "") -> Performed:
    """Carry out one Action from `begin` to `end`.

    Raises:
        UnsupportedAction: a phone does not do this.
    """
    device.begin(action_id, "tool" if isinstance(action, Tool) else "gui")
    effect = act(device, action)
    extra_ms = round(action.seconds * 1000) if isinstance(action, Wait) else 0
    return Performed(effect=effect, rows=device.end(extra_ms=extra_ms))


def act(device: Device, action: Action) -> Effect:
    """Carry out one Action between the device's `begin` and `end`; a `Wait` is left to `end`.

    Raises:
        UnsupportedAction: a phone does not do this.
    """
    match action:
        case Tap(at=at, count=2):
            return device.double_tap(*layout_px(at))
        case Tap(at=at, hold_ms=hold_ms):
            return device.tap(*layout_px(at), hold_ms=hold_ms)
        case Swipe(path=path):
            return device.swipe(*layout_px(path[0]), *layout_px(path[-1]))
        case Scroll(direction=direction, screens=screens):
            return device.scroll(direction, screens)
        case Type():
            return _type(device, action)
        case Key(name=name):
            if name not in KEYS:
                why = f"a phone has no key {name!r}; it has {', '.join(KEYS)}"
                return refused("no_such_key", f"key {name}", why)
            return device.press(name)
        case Open(app=app):
            return device.open(app)
        case Wait(seconds=seconds):
            return Effect(ok=True, executed=f"wait {seconds:g} s")
        case Pinch(at=at, scale=scale):
            return device.pinch(*layout_px(at), scale)
        case Tool(name=name, args=args):
            return device.call_tool(name, args)
        case _:
            raise UnsupportedAction(f"a phone does not execute {tag_of(action)!r}")


def _type(device: Device, action: Type) -> Effect:
    if action.at is not None:
        effect = device.tap(*layout_px(action.at))
        if not effect.ok:
            return effect
    return device.type_text(action.text, clear=action.clear, submit=action.submit)
