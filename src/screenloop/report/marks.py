"""Where and how an Action is drawn on the screenshot it was decided on; pure."""

from __future__ import annotations

from typing import Literal

from screenloop.actions import (
    Answer,
    Ask,
    Bash,
    Finish,
    Hotkey,
    Hover,
    Key,
    Noop,
    Open,
    Pinch,
    Point,
    Scroll,
    Single,
    Swipe,
    Tap,
    Tool,
    Type,
    Wait,
)
from screenloop.types import SizePx, Struct

_CENTRE: Point = (0.5, 0.5)
_KEY_SIGNS = {"back": "◁ back", "home": "○ home", "recents": "□ recents", "enter": "⏎ enter"}
_STEP: dict[str, Point] = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}


class Mark(Struct, frozen=True, kw_only=True):
    """One drawing: a ring at a point, an arrow along a path, or a badge with words."""

    kind: Literal["ring", "arrow", "badge"]
    points: tuple[Point, ...]
    """In pixels of the frame; a badge has its in shares of the frame."""
    rings: int = 1
    """Circles around the point: one for each touch."""
    dashed: bool = False
    """A long press, or a finger that held still first."""
    label: str = ""

    @property
    def path(self) -> str:
        """The points as an SVG list."""
        return " ".join(f"{x:.1f},{y:.1f}" for x, y in self.points)


def marks_of(action: Single, size_px: SizePx) -> tuple[Mark, ...]:
    """Return the drawings of one single Action; none where it has no place on the screen."""
    match action:
        case Tap():
            return (_ring(action.at, size_px, rings=action.count, dashed=action.hold_ms > 0),)
        case Hover():
            return (_ring(action.at, size_px, dashed=True),)
        case Swipe():
            points = tuple(_px(point, size_px) for point in action.path)
            return (
                _ring(action.path[0], size_px, dashed=action.hold_ms > 0),
                Mark(kind="arrow", points=points, dashed=action.hold_ms > 0),
            )
        case Scroll():
            return (_scroll_arrow(action, size_px), _badge(f"scroll {action.direction}"))
        case Pinch():
            word = "zoom in" if action.scale > 1 else "zoom out"
            return (_ring(action.at, size_px, rings=2), _badge(f"{word} × {action.scale:g}"))
        case Type():
            ring = (_ring(action.at, size_px),) if action.at else ()
            return (*ring, _badge(f"⌨ {_short(action.text)}" + (" ⏎" if action.submit else "")))
        case Key():
            return (_badge(_KEY_SIGNS.get(action.name, action.name.replace("_", " "))),)
        case Hotkey():
            return (_badge(" + ".join(action.keys)),)
    return ()


def action_words(action: Single) -> str:
    """Return what the agent asked for, in a few words."""
    match action:
        case Tap():
            name = {1: "tap", 2: "double tap", 3: "triple tap"}[action.count]
            if action.hold_ms:
                name = f"hold {action.hold_ms} ms"
            if action.button != "left":
                name = f"{action.button} click"
            words = f"{name} at {_where(action.at)}"
        case Swipe():
            name = "drag" if action.hold_ms else "swipe"
            words = f"{name} from {_where(action.path[0])} to {_where(action.path[-1])}"
        case Scroll():
            words = f"scroll {action.direction} by {action.screens:g} screens"
        case Type():
            into = f" at {_where(action.at)}" if action.at else ""
            clear = "empty the field, then " if action.clear else ""
            enter = " and press enter" if action.submit else ""
            words = f"{clear}type “{_short(action.text, 120)}”{into}{enter}"
        case Hover():
            words = f"hover at {_where(action.at)}"
        case Pinch():
            words = f"pinch × {action.scale:g} at {_where(action.at)}"
        case _:
            words = _plain_words(action)
    return words


def _plain_words(action: Single) -> str:
    """Return the words of an Action that has no place on the screen."""
    match action:
        case Key():
            words = f"press {action.name.replace('_', ' ')}"
        case Hotkey():
            words = f"press {' + '.join(action.keys)}"
        case Open():
            words = f"open {action.app}"
        case Wait():
            words = f"wait {action.seconds:g} s"
        case Bash():
            words = f"run {_short(action.command, 120)}"
        case Tool():
            words = f"call tool {action.name}"
        case Ask():
            words = f"ask “{_short(action.text, 120)}”"
        case Answer():
            words = f"answer “{_short(action.text, 120)}”"
        case Finish():
            words = f"finish: {action.status}"
        case Noop():
            words = "do nothing"
        case _:
            words = type(action).__name__.lower()
    return words


def _px(point: Point, size_px: SizePx) -> Point:
    return point[0] * size_px[0], point[1] * size_px[1]


def _ring(at: Point, size_px: SizePx, *, rings: int = 1, dashed: bool = False) -> Mark:
    return Mark(kind="ring", points=(_px(at, size_px),), rings=rings, dashed=dashed)


def _badge(label: str) -> Mark:
    return Mark(kind="badge", points=((0.5, 0.94),), label=label)


def _scroll_arrow(action: Scroll, size_px: SizePx) -> Mark:
    """Point to where the new content comes from, as long as the way scrolled, inside the frame."""
    x, y = action.at or _CENTRE
    half = min(max(action.screens / 2, 0.06), 0.35)
    dx, dy = (half * share for share in _STEP[action.direction])
    ends = ((_inside(x - dx), _inside(y - dy)), (_inside(x + dx), _inside(y + dy)))
    return Mark(kind="arrow", points=tuple(_px(end, size_px) for end in ends))


def _inside(share: float) -> float:
    return min(0.97, max(0.03, share))


def _where(at: Point) -> str:
    return f"{100 * at[0]:.0f} %, {100 * at[1]:.0f} %"


def _short(text: str, limit: int = 36) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= limit else one_line[: limit - 1] + "…"
