"""The closed union of Actions: one wire form for every device, model and dialect.

The wire form is JSON with the tag `type`, e.g. `{"type": "tap", "at": [0.5, 0.25]}`. Coordinates
are floats in [0, 1] of the frame that `frame` names (its blob key); turning them into pixels is
the last thing an Environment does. Who executes what is in `EXECUTOR`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

Unit = Annotated[float, Meta(ge=0.0, le=1.0)]
"""A share of the frame's width or height: 0 is left or top, 1 is right or bottom."""
Point = tuple[Unit, Unit]
Button = Literal["left", "right", "middle"]
Direction = Literal["up", "down", "left", "right"]
KeyName = Literal[
    "back",
    "home",
    "recents",
    "enter",
    "menu",
    "power",
    "volume_up",
    "volume_down",
    "tab",
    "escape",
    "backspace",
    "delete",
    "space",
    "arrow_up",
    "arrow_down",
    "arrow_left",
    "arrow_right",
    "page_up",
    "page_down",
]
FinishStatus = Literal["success", "failure", "infeasible"]


class Executor(StrEnum):
    """Who carries an Action out."""

    ENVIRONMENT = "environment"
    ROLLOUT = "rollout"


class ActionBase(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    tag_field="type",
    omit_defaults=True,
    forbid_unknown_fields=True,
):
    """What all Actions share: a tagged, frozen, closed JSON form."""


class Tap(ActionBase, frozen=True, kw_only=True, tag="tap"):
    """Touch or click a point: `count` 2 is a double tap, `hold_ms` > 0 a long press."""

    at: Point
    count: Annotated[int, Meta(ge=1, le=3)] = 1
    hold_ms: Annotated[int, Meta(ge=0, le=10_000)] = 0
    button: Button = "left"
    frame: str | None = None


class Swipe(ActionBase, frozen=True, kw_only=True, tag="swipe"):
    """Move a finger along `path`; `hold_ms` before moving makes it a drag."""

    path: Annotated[tuple[Point, ...], Meta(min_length=2, max_length=64)]
    duration_ms: Annotated[int, Meta(ge=0, le=10_000)] = 300
    hold_ms: Annotated[int, Meta(ge=0, le=10_000)] = 0
    frame: str | None = None


class Scroll(ActionBase, frozen=True, kw_only=True, tag="scroll"):
    """Bring content from `direction` into view (content direction, not the finger's)."""

    direction: Direction
    screens: Annotated[float, Meta(gt=0.0, le=20.0)] = 0.5
    """How far, in heights (or widths) of the screen."""
    at: Point | None = None
    frame: str | None = None


class Type(ActionBase, frozen=True, kw_only=True, tag="type"):
    """Enter text into the focused field, or into the one at `at`."""

    text: Annotated[str, Meta(max_length=20_000)]
    at: Point | None = None
    clear: bool = False
    """Empty the field first."""
    submit: bool = False
    """Press enter afterwards."""
    frame: str | None = None


class Key(ActionBase, frozen=True, kw_only=True, tag="key"):
    """Press one named key."""

    name: KeyName


class Hotkey(ActionBase, frozen=True, kw_only=True, tag="hotkey"):
    """Press keys together, modifiers first, e.g. `["ctrl", "c"]`."""

    keys: Annotated[tuple[str, ...], Meta(min_length=1, max_length=5)]


class Open(ActionBase, frozen=True, kw_only=True, tag="open"):
    """Bring an app to the front by its name or id (on the web: a URL)."""

    app: Annotated[str, Meta(min_length=1)]


class Wait(ActionBase, frozen=True, kw_only=True, tag="wait"):
    """Let the Environment's own clock run for `seconds`."""

    seconds: Annotated[float, Meta(ge=0.0, le=3600.0)] = 1.0


class Pinch(ActionBase, frozen=True, kw_only=True, tag="pinch"):
    """Zoom around a point: `scale` above 1 zooms in."""

    at: Point
    scale: Annotated[float, Meta(gt=0.0, le=10.0)]
    frame: str | None = None


class Hover(ActionBase, frozen=True, kw_only=True, tag="hover"):
    """Move the pointer without pressing."""

    at: Point
    frame: str | None = None


class Bash(ActionBase, frozen=True, kw_only=True, tag="bash"):
    """Run a shell command on the device, where it has a shell."""

    command: Annotated[str, Meta(min_length=1)]
    timeout_s: Annotated[float, Meta(gt=0.0, le=600.0)] = 30.0


class Tool(ActionBase, frozen=True, kw_only=True, tag="tool"):
    """Call one of the foreground app's own tools."""

    name: Annotated[str, Meta(min_length=1)]
    args: dict[str, Any] = {}


class Ask(ActionBase, frozen=True, kw_only=True, tag="ask"):
    """Ask the person a question; the reply comes with the next Observation."""

    text: Annotated[str, Meta(min_length=1)]


class Answer(ActionBase, frozen=True, kw_only=True, tag="answer"):
    """State the answer to the Task's question; does not end the Episode."""

    text: str


class Finish(ActionBase, frozen=True, kw_only=True, tag="finish"):
    """End the Episode and claim how it went."""

    status: FinishStatus = "success"
    message: str = ""


class Noop(ActionBase, frozen=True, kw_only=True, tag="noop"):
    """Do nothing; `note` is kept in the Step."""

    note: str = ""


Single = (
    Tap
    | Swipe
    | Scroll
    | Type
    | Key
    | Hotkey
    | Open
    | Wait
    | Pinch
    | Hover
    | Bash
    | Tool
    | Ask
    | Answer
    | Finish
    | Noop
)


class Batch(ActionBase, frozen=True, kw_only=True, tag="batch"):
    """Several Actions decided on one Observation, executed in order until one fails."""

    actions: Annotated[tuple[Single, ...], Meta(min_length=1, max_length=32)]


Action = Single | Batch

EXECUTOR: dict[type[ActionBase], Executor] = {
    **dict.fromkeys(
        (Tap, Swipe, Scroll, Type, Key, Hotkey, Open, Wait, Pinch, Hover, Bash, Tool),
        Executor.ENVIRONMENT,
    ),
    **dict.fromkeys((Ask, Answer, Finish, Noop, Batch), Executor.ROLLOUT),
}
"""Who executes each Action; the docs table is generated from this and the struct fields."""

Pointed = Tap | Swipe | Scroll | Type | Pinch | Hover
"""Actions whose coordinates refer to a frame."""

_ENCODER = msgspec.json.Encoder()
_DECODER: msgspec.json.Decoder[Action] = msgspec.json.Decoder(Action)


def tag_of(action: ActionBase | type[ActionBase]) -> str:
    """Return the wire name of an Action or Action class, e.g. `tap`."""
    tag = action.__struct_config__.tag
    assert isinstance(tag, str)
    return tag


def encode_action(action: Action) -> bytes:
    """Return the JSON wire form."""
    return _ENCODER.encode(action)


def decode_action(data: bytes | str) -> Action:
    """Read the JSON wire form.

    Raises:
        msgspec.ValidationError: a field is missing, unknown or out of range (names its path).
        msgspec.DecodeError: the text is not JSON.
    """
    return _DECODER.decode(data)


def action_from(value: object) -> Action:
    """Build an Action from already parsed JSON; same errors as `decode_action`."""
    action: Action = msgspec.convert(value, Action)
    return action


def pin_frame(action: Action, frame: str | None) -> Action:
    """Return the Action with its coordinates tied to `frame`, where it has coordinates."""
    if isinstance(action, Batch):
        return msgspec.structs.replace(
            action, actions=tuple(pin_frame(a, frame) for a in action.actions)
        )
    if isinstance(action, Pointed):
        return msgspec.structs.replace(action, frame=frame)
    return action


def to_pixel(at: Point, size_px: tuple[int, int]) -> tuple[int, int]:
    """Return the device pixel of a point: `min(side - 1, floor(share * side))` on each axis."""
    return (
        min(size_px[0] - 1, int(at[0] * size_px[0])),
        min(size_px[1] - 1, int(at[1] * size_px[1])),
    )
