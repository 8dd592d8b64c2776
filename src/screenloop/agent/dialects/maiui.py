"""MAI-UI: `mobile_use` calls behind a thinking block, coordinates 0 to 999.

    <thinking>
    The Save button is at the bottom right.
    </thinking>
    <tool_call>
    {"name": "mobile_use", "arguments": {"action": "click", "coordinate": [870, 930]}}
    </tool_call>

`swipe` names a direction of the content (down shows what lies below) and is a Scroll here; `drag`
is two points of the finger and is a Swipe. App-native tools are called by their own name. The
family knows phones only; on computers the same set is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from screenloop.actions import (
    Action,
    Answer,
    Ask,
    Finish,
    Key,
    Open,
    Scroll,
    Swipe,
    Tap,
    Tool,
    Type,
    Wait,
)
from screenloop.agent.dialects.base import (
    CoordinateSpace,
    DialectContext,
    inexpressible,
    one_line,
    supported,
    thought_for,
)
from screenloop.agent.dialects.reading import hermes
from screenloop.agent.dialects.reading.fields import Fields, is_only
from screenloop.agent.dialects.reading.hermes import Reader
from screenloop.config import ImageRule
from screenloop.types import EnvSpec, Mode, SizePx

FUNCTION = "mobile_use"
HOLD_MS = 1000
"""A long press; the family gives no length."""
_BUTTONS = {name: name for name in ("back", "home", "menu", "enter")}
_DIRECTIONS = {name: name for name in ("up", "down", "left", "right")}
_STATUS = {"success": "success", "fail": "failure", "failure": "failure"}


def _double(f: Fields) -> Action:
    return Tap(at=f.point("coordinate"), count=2)


def _swipe(f: Fields) -> Action:
    at = f.optional_point("coordinate")
    return Scroll(direction=f.choice("direction", _DIRECTIONS), at=at)


READERS: Mapping[str, Reader] = {
    "click": lambda f: Tap(at=f.point("coordinate")),
    "long_press": lambda f: Tap(at=f.point("coordinate"), hold_ms=HOLD_MS),
    "double_click": _double,
    "double_tap": _double,
    "type": lambda f: Type(text=f.text("text")),
    "swipe": _swipe,
    "drag": lambda f: Swipe(path=(f.point("start_coordinate"), f.point("end_coordinate"))),
    "open": lambda f: Open(app=f.text("text", empty=False)),
    "system_button": lambda f: Key(name=f.choice("button", _BUTTONS)),
    "wait": lambda f: Wait(),
    "answer": lambda f: Answer(text=f.text("text")),
    "ask_user": lambda f: Ask(text=f.text("text", empty=False)),
    "terminate": lambda f: Finish(status=f.choice("status", _STATUS)),
}
_LINES: tuple[tuple[tuple[type, ...], str], ...] = (
    ((Tap,), '{"action": "click", "coordinate": [x, y]}'),
    ((Tap,), '{"action": "long_press", "coordinate": [x, y]}'),
    ((Tap,), '{"action": "double_click", "coordinate": [x, y]}'),
    ((Type,), '{"action": "type", "text": "<text for the focused field>"}'),
    (
        (Scroll,),
        '{"action": "swipe", "direction": "up" | "down" | "left" | "right", "coordinate": [x, y]}: '
        "show what lies in that direction; coordinate may be left out",
    ),
    ((Swipe,), '{"action": "drag", "start_coordinate": [x, y], "end_coordinate": [x, y]}'),
    ((Open,), '{"action": "open", "text": "<app>"}'),
    ((Key,), '{"action": "system_button", "button": "back" | "home" | "menu" | "enter"}'),
    ((Wait,), '{"action": "wait"}'),
    ((Ask,), '{"action": "ask_user", "text": "<question>"}'),
    ((Answer,), '{"action": "answer", "text": "<answer>"}; then terminate'),
    ((Finish,), '{"action": "terminate", "status": "success" | "fail"}'),
)


class MaiUI:
    """The dialect of the MAI-UI agents."""

    name = "maiui"
    image = ImageRule(factor_px=32, min_pixels=65_536, max_pixels=6_553_600)
    space = CoordinateSpace(scale=999)
    system_role = True
    calls_tools = True

    def system_prompt(self, spec: EnvSpec, mode: Mode, picture_px: SizePx, lang: str) -> str:
        lines = [
            "You operate a phone for a person, one function call a turn.",
            "",
            "Reply in this form:",
            "<thinking>\nwhat you see, and in one sentence what to do next\n</thinking>",
            '<tool_call>\n{"name": "mobile_use", "arguments": <JSON object>}\n</tool_call>',
            "",
            "Arguments, with coordinates from [0, 0] at the top left to [999, 999]:",
            *(line for kinds, line in _LINES if supported(spec, *kinds)),
        ]
        if mode == "hybrid" and spec.tools:
            lines += ["", "Tools of the apps, called by their own name in place of mobile_use:"]
            lines += [hermes.declare(t.name, t.description, t.parameters) for t in spec.tools]
        lines += ["", "Each turn tells what your last action did and shows the screen as it is."]
        if spec.apps:
            lines.append(f"Apps: {', '.join(spec.apps)}.")
        if lang != "en":
            lines.append(f"Think and answer in the language {lang!r}.")
        return "\n".join(lines)

    def parse(self, text: str, context: DialectContext) -> tuple[Action, ...]:
        return hermes.parse_calls(text, FUNCTION, READERS, self.space, context)

    def expresses(self, action: Action, context: DialectContext) -> bool:
        return self._write(action, context) is not None

    def render(self, action: Action, context: DialectContext, thought: str = "") -> str:
        arguments = self._write(action, context)
        if arguments is None:
            raise inexpressible(self.name, action)
        call = hermes.write_call(action.name if isinstance(action, Tool) else FUNCTION, arguments)
        return f"<thinking>\n{one_line(thought) or thought_for(action)}\n</thinking>\n{call}"

    def _write(self, action: Action, context: DialectContext) -> dict[str, Any] | None:
        match action:
            case Tool(name=name, args=args):
                return args if name in context.tools else None
            case Open(app=app):
                return {"action": "open", "text": app}
            case Key(name=name) if name in _BUTTONS:
                return {"action": "system_button", "button": name}
            case Type(text=text) if is_only(action, "text"):
                return {"action": "type", "text": text}
            case Wait() if is_only(action):
                return {"action": "wait"}
            case Ask(text=text):
                return {"action": "ask_user", "text": text}
            case Answer(text=text):
                return {"action": "answer", "text": text}
            case Finish(status="success", message=""):
                return {"action": "terminate", "status": "success"}
            case Finish(status="failure", message=""):
                return {"action": "terminate", "status": "fail"}
            case Tap() | Swipe() | Scroll():
                return self._write_pointed(action, context)
        return None

    def _write_pointed(
        self, action: Tap | Swipe | Scroll, context: DialectContext
    ) -> dict[str, Any] | None:
        size = context.picture_px
        match action:
            case Tap(at=at) if is_only(action, "at"):
                return {"action": "click", "coordinate": self.space.write(at, size)}
            case Tap(at=at, hold_ms=1000) if is_only(action, "at", "hold_ms"):
                return {"action": "long_press", "coordinate": self.space.write(at, size)}
            case Tap(at=at, count=2) if is_only(action, "at", "count"):
                return {"action": "double_click", "coordinate": self.space.write(at, size)}
            case Swipe(path=(start, end)) if is_only(action, "path"):
                return {
                    "action": "drag",
                    "start_coordinate": self.space.write(start, size),
                    "end_coordinate": self.space.write(end, size),
                }
            case Scroll(direction=direction, at=spot) if is_only(action, "direction", "at"):
                swipe: dict[str, Any] = {"action": "swipe", "direction": direction}
                if spot is not None:
                    swipe["coordinate"] = self.space.write(spot, size)
                return swipe
        return None
