"""UI-TARS (1.5 and Doubao): a thought and a call, in pixels of the resized picture.

    Thought: The Save button is at the bottom right.
    Action: click(point='<point>362 863</point>')

The fixed text opens the first user turn; there is no system message. Documented: the mobile set
(click, long_press, type, scroll, open_app, drag, press_home, press_back, finished), the computer
set (click, left_double, right_single, drag, hotkey, type, scroll, wait, finished) and call_user.
Points may also be written as `start_box='(x,y)'` or a box of four numbers, which stands for its
centre. scroll's direction is the content's. A trailing new line of `type` presses enter. `wait` is
5 seconds. `finished` with content states that content as the answer and ends with success;
`call_user` with content asks it, without content it gives the task up as infeasible.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from screenloop.actions import (
    Action,
    Answer,
    Ask,
    Finish,
    Hotkey,
    Key,
    Open,
    Point,
    Scroll,
    Swipe,
    Tap,
    Type,
    Wait,
)
from screenloop.agent.dialects.base import (
    CoordinateSpace,
    DialectContext,
    clip,
    inexpressible,
    one_line,
    supported,
    thought_for,
)
from screenloop.agent.dialects.qwen.computer_use import key_names, press
from screenloop.agent.dialects.reading.calls import FunctionCall, quote, read_calls, starts_call
from screenloop.agent.dialects.reading.fields import Fields, checked, is_only
from screenloop.agent.dialects.reading.layout import action_line, bare, nothing_found
from screenloop.config import ImageRule
from screenloop.errors import ParseFailure
from screenloop.types import EnvSpec, Mode, SizePx

HOLD_MS = 1000
WAIT_S = 5.0
_SHAPE = "Action: click(point='<point>x y</point>')"
_DIRECTIONS = {name: name for name in ("up", "down", "left", "right")}
_N = r"-?\d{1,9}(?:\.\d{0,9})?"
_POINT = re.compile(
    rf"\s*(?:<point>|<bbox>|<\|box_start\|>)?\s*[(\[]?\s*({_N})(?:\s*,\s*|\s+)({_N})"
    rf"(?:(?:\s*,\s*|\s+)({_N})(?:\s*,\s*|\s+)({_N}))?\s*[)\]]?\s*"
    r"(?:</point>|</bbox>|<\|box_end\|>)?\s*"
)
Reader = Callable[[Fields], tuple[Action, ...]]


def _type(f: Fields) -> tuple[Action, ...]:
    text = f.text("content")
    submit = text.endswith("\n")
    return (Type(text=text.removesuffix("\n"), submit=submit),)


def _finished(f: Fields) -> tuple[Action, ...]:
    text = f.optional_text("content")
    return (Answer(text=text), Finish()) if text else (Finish(),)


def _call_user(f: Fields) -> tuple[Action, ...]:
    text = f.optional_text("content")
    return (Ask(text=text),) if text else (Finish(status="infeasible"),)


def _hotkey(f: Fields) -> tuple[Action, ...]:
    keys = tuple(f.text("key").split())
    if not keys:
        raise ParseFailure("hotkey: key must name keys separated by spaces, e.g. 'ctrl c'")
    return (press(keys),)


def _scroll(f: Fields) -> tuple[Action, ...]:
    at = f.optional_point("point", "start_box", boxes=True)
    return (Scroll(direction=f.choice("direction", _DIRECTIONS), at=at),)


def _at(f: Fields) -> Point:
    return f.point("point", "start_box", boxes=True)


def _drag(f: Fields) -> tuple[Action, ...]:
    start = f.point("start_point", "start_box", boxes=True)
    return (Swipe(path=(start, f.point("end_point", "end_box", boxes=True))),)


_COMMON: Mapping[str, Reader] = {
    "click": lambda f: (Tap(at=_at(f)),),
    "drag": _drag,
    "type": _type,
    "scroll": _scroll,
    "wait": lambda f: (Wait(seconds=WAIT_S),),
    "finished": _finished,
    "call_user": _call_user,
}
_MOBILE: Mapping[str, Reader] = {
    **_COMMON,
    "long_press": lambda f: (Tap(at=_at(f), hold_ms=HOLD_MS),),
    "open_app": lambda f: (Open(app=f.text("app_name", empty=False)),),
    "press_home": lambda f: (Key(name="home"),),
    "press_back": lambda f: (Key(name="back"),),
    "press_enter": lambda f: (Key(name="enter"),),
}
_COMPUTER: Mapping[str, Reader] = {
    **_COMMON,
    "left_double": lambda f: (Tap(at=_at(f), count=2),),
    "right_single": lambda f: (Tap(at=_at(f), button="right"),),
    "hotkey": _hotkey,
}
_POINT_ARGUMENTS = ("point", "start_box", "end_box", "start_point", "end_point")
_XY = "'<point>x y</point>'"
_Lines = tuple[tuple[tuple[type, ...], str], ...]
"""Each line with the Actions that it stands for."""
_MOBILE_LINES: _Lines = (
    ((Tap,), f"click(point={_XY})"),
    ((Tap,), f"long_press(point={_XY})"),
    ((Type,), "type(content='...')  # end with \\n to submit"),
    ((Scroll,), f"scroll(point={_XY}, direction='up, down, left or right')"),
    ((Open,), "open_app(app_name='...')"),
    ((Swipe,), f"drag(start_point={_XY}, end_point={_XY})"),
    ((Key,), "press_home()"),
    ((Key,), "press_back()"),
    ((Wait,), "wait()"),
)
_COMPUTER_LINES: _Lines = (
    ((Tap,), f"click(point={_XY})"),
    ((Tap,), f"left_double(point={_XY})"),
    ((Tap,), f"right_single(point={_XY})"),
    ((Swipe,), f"drag(start_point={_XY}, end_point={_XY})"),
    ((Hotkey, Key), "hotkey(key='ctrl c')  # keys in lower case, separated by spaces"),
    ((Type,), "type(content='...')  # end with \\n to submit"),
    ((Scroll,), f"scroll(point={_XY}, direction='up, down, left or right')"),
    ((Wait,), "wait()"),
)


class UITars:
    """The dialect of UI-TARS 1.5 and its Doubao successors."""

    name = "uitars"
    image = ImageRule(factor_px=28, min_pixels=78_400, max_pixels=12_845_056)
    space = CoordinateSpace(scale=None)
    system_role = False
    calls_tools = False

    def system_prompt(self, spec: EnvSpec, mode: Mode, picture_px: SizePx, lang: str) -> str:
        wide, high = self.space.limits(picture_px)
        known = _MOBILE_LINES if spec.surface == "mobile" else _COMPUTER_LINES
        lines = [
            "You operate a device for a person. Each turn you get a screenshot and choose one "
            "action.",
            "",
            "Reply in this form:",
            "Thought: a short plan, and in one sentence the next action and its target",
            "Action: one of the calls below",
            "",
            f"Calls; points are pixels of the {wide}x{high} screenshot:",
            *(line for kinds, line in known if supported(spec, *kinds)),
            "finished(content='...')  # end the task; content is the answer to the goal, or empty",
            "call_user(content='...')  # ask the person; empty if the task cannot be done",
            "",
            "scroll shows more of what lies in that direction. Escape quotes, backslashes and new "
            "lines in content.",
        ]
        if spec.apps and supported(spec, Open):
            lines.append(f"Apps: {', '.join(spec.apps)}.")
        if lang != "en":
            lines.append(f"Write thoughts and answers in the language {lang!r}.")
        return "\n".join(lines)

    def parse(self, text: str, context: DialectContext) -> tuple[Action, ...]:
        verbs = _MOBILE if context.surface == "mobile" else _COMPUTER
        line = action_line(text, _SHAPE)
        if line is None:
            line = bare(text)
            if not starts_call(line, frozenset(verbs)):
                raise nothing_found(text, _SHAPE)
        actions: list[Action] = []
        for call in read_calls(line, _SHAPE):
            if call.name not in verbs:
                raise ParseFailure(
                    f"there is no action {clip(call.name, 60)!r}; expected one of "
                    f"{', '.join(verbs)}"
                )
            actions += verbs[call.name](Fields(call.name, _with_points(call), self.space, context))
        return tuple(checked(action) for action in actions)

    def expresses(self, action: Action, context: DialectContext) -> bool:
        return self._write(action, context) is not None

    def render(self, action: Action, context: DialectContext, thought: str = "") -> str:
        call = self._write(action, context)
        if call is None:
            raise inexpressible(self.name, action)
        return f"Thought: {one_line(thought) or thought_for(action)}\nAction: {call}"

    def _write(self, action: Action, context: DialectContext) -> str | None:
        mobile = context.surface == "mobile"
        match action:
            case Type(text=text, submit=submit) if is_only(action, "text", "submit"):
                if text.endswith("\n") and not submit:
                    return None
                content = text + "\n" if submit else text
                return f"type(content={quote(content)})"
            case Open(app=app) if mobile:
                return f"open_app(app_name={quote(app)})"
            case Key(name="home" | "back" | "enter" as name) if mobile:
                return f"press_{name}()"
            case Key() | Hotkey() if not mobile:
                keys = key_names(action)
                # Spaces separate keys, so a key's name cannot hold one.
                fits = keys and all(key == "".join(key.split()) for key in keys)
                return f"hotkey(key={quote(' '.join(keys))})" if keys and fits else None
            case Wait(seconds=seconds) if seconds == WAIT_S:
                return "wait()"
            case Ask(text=text):
                return f"call_user(content={quote(text)})"
            case Finish(status="success", message=""):
                return "finished(content='')"
            case Finish(status="infeasible", message=""):
                return "call_user()"
            case Tap() | Swipe() | Scroll():
                return self._write_pointed(action, context)
        return None

    def _write_pointed(self, action: Tap | Swipe | Scroll, context: DialectContext) -> str | None:
        def xy(at: Point) -> str:
            x, y = self.space.write(at, context.picture_px)
            return f"'<point>{x} {y}</point>'"

        mobile = context.surface == "mobile"
        match action:
            case Tap(at=at) if is_only(action, "at"):
                return f"click(point={xy(at)})"
            case Tap(at=at, hold_ms=1000) if mobile and is_only(action, "at", "hold_ms"):
                return f"long_press(point={xy(at)})"
            case Tap(at=at, count=2) if not mobile and is_only(action, "at", "count"):
                return f"left_double(point={xy(at)})"
            case Tap(at=at, button="right") if not mobile and is_only(action, "at", "button"):
                return f"right_single(point={xy(at)})"
            case Swipe(path=(start, end)) if is_only(action, "path"):
                return f"drag(start_point={xy(start)}, end_point={xy(end)})"
            case Scroll(direction=way, at=spot) if is_only(action, "direction", "at"):
                point = f"point={xy(spot)}, " if spot is not None else ""
                return f"scroll({point}direction='{way}')"
        return None


def _with_points(call: FunctionCall) -> dict[str, object]:
    """Return the arguments with points that are written as text turned into lists."""
    arguments = dict(call.arguments)
    for name in _POINT_ARGUMENTS:
        value = arguments.get(name)
        if isinstance(value, str):
            found = _POINT.fullmatch(value) if len(value) <= 200 else None
            if not found:
                raise ParseFailure(
                    f"{call.name}: {name} must be '<point>x y</point>', not {clip(value, 60)!r}"
                )
            arguments[name] = [float(n) for n in found.groups() if n is not None]
    return arguments
