"""The project's own dialect: one line of thought, then one Action in its JSON wire form.

    Thought: The Save button is at the bottom right.
    Action: {"type": "tap", "at": [870, 930]}

Every Action can be written. The JSON is that of `actions`, except that coordinates are whole
numbers from 0 to 1000 on both axes, and `frame` is left out. Parsing takes the JSON object behind
the one `Action:` that begins a line, or a reply that is nothing but the object; words after it are
ignored, a second `Action:` line is a failure.
"""

from __future__ import annotations

from typing import Any, get_args

import msgspec

from screenloop.actions import (
    Action,
    Answer,
    Ask,
    Bash,
    Batch,
    Finish,
    Hotkey,
    Hover,
    Key,
    KeyName,
    Noop,
    Open,
    Pinch,
    Scroll,
    Swipe,
    Tap,
    Type,
    Wait,
    action_from,
    encode_action,
    pin_frame,
)
from screenloop.agent.dialects.base import (
    CoordinateSpace,
    DialectContext,
    one_line,
    supported,
    thought_for,
)
from screenloop.agent.dialects.reading.jsontext import read_object, unfence
from screenloop.agent.dialects.reading.layout import action_line, bare, nothing_found
from screenloop.config import ImageRule
from screenloop.errors import ParseFailure
from screenloop.types import EnvSpec, Mode, SizePx

SPACE = CoordinateSpace(scale=1000)


class Plain:
    """The dialect for models without one of their own."""

    name = "plain"
    image = ImageRule()
    system_role = True
    calls_tools = True

    def system_prompt(self, spec: EnvSpec, mode: Mode, picture_px: SizePx, lang: str) -> str:
        device = "phone" if spec.surface == "mobile" else "computer"
        lines = [
            f"You operate a {device} for a person. Each turn you get a screenshot and reply with "
            "one thought and one action.",
            "",
            "Reply in exactly two lines:",
            "Thought: one sentence on what you see and what to do next.",
            'Action: one JSON object, e.g. {"type": "tap", "at": [500, 250]}',
            "",
            "Coordinates are whole numbers [x, y] from 0 to 1000: [0, 0] is the top left corner of "
            "the screenshot and [1000, 1000] the bottom right, whatever its size.",
            "",
            "Actions (values in <> are yours; a field with = may be left out):",
            *(line for kinds, line in _LINES if supported(spec, *kinds)),
            *_tool_lines(spec, mode),
            "",
            "Rules:",
            *_RULES,
        ]
        if spec.apps and supported(spec, Open):
            lines.append(f"- Apps that open accepts: {', '.join(spec.apps)}.")
        if lang != "en":
            lines.append(f"- Write thoughts, questions and answers in the language {lang!r}.")
        return "\n".join(lines)

    def parse(self, text: str, context: DialectContext) -> tuple[Action, ...]:
        value, _ = read_object(_action_text(text), "the action")
        return (_from_wire(value, context.picture_px),)

    def expresses(self, action: Action, context: DialectContext) -> bool:
        return True

    def render(self, action: Action, context: DialectContext, thought: str = "") -> str:
        """Write the two lines; coordinates go to the nearest of the 1001 grid steps."""
        wire = msgspec.json.decode(encode_action(pin_frame(action, None)))
        mapped = _map_points(wire, lambda x, y: list(SPACE.write((x, y), context.picture_px)))
        line = msgspec.json.encode(mapped).decode()
        return f"Thought: {one_line(thought) or thought_for(action)}\nAction: {line}"


def _action_text(text: str) -> str:
    shape = "a line 'Action: {\"type\": ...}' with one JSON object"
    line = action_line(text, "one JSON object (put several actions into one batch)")
    if line is not None:
        return line
    rest = bare(text)
    if not unfence(rest).startswith(("{", "｛")):
        raise nothing_found(text, shape)
    return rest


def _from_wire(value: dict[str, Any], picture_px: SizePx) -> Action:
    if "type" not in value:
        raise ParseFailure('the action has no "type", e.g. {"type": "tap", "at": [500, 250]}')
    try:
        mapped = _map_points(value, lambda x, y: list(SPACE.read(x, y, picture_px)))
        return pin_frame(action_from(mapped), None)
    except msgspec.ValidationError as error:
        raise ParseFailure(f"the action is not valid: {error}") from None
    except RecursionError:
        raise ParseFailure("the action is nested too deeply to be read") from None


def _map_points(wire: dict[str, Any], each: Any) -> dict[str, Any]:
    """Return the wire form with every point of `at`, `path` and batched actions mapped."""
    out = dict(wire)
    kind = wire.get("type")
    if kind == "batch" and isinstance(wire.get("actions"), list):
        out["actions"] = [
            _map_points(a, each) if isinstance(a, dict) else a for a in wire["actions"]
        ]
    if kind in _POINTED and wire.get("at") is not None:
        out["at"] = _map_point(wire["at"], each)
    if kind == "swipe" and isinstance(wire.get("path"), list):
        out["path"] = [_map_point(p, each) for p in wire["path"]]
    return out


def _map_point(value: Any, each: Any) -> Any:
    if not isinstance(value, list) or len(value) != 2:
        raise ParseFailure("a point must be two numbers [x, y] from 0 to 1000")
    return each(value[0], value[1])


def _tool_lines(spec: EnvSpec, mode: Mode) -> list[str]:
    if mode == "gui_only" or not spec.tools:
        return []
    return [
        '{"type": "tool", "name": "<name>", "args": {...}}: call a tool of the app in front',
        "",
        "Tools of the apps (only those of the app in front can be called; the turn says which):",
        *(
            f"- {t.name}: {t.description} args: {msgspec.json.encode(t.parameters).decode()}"
            for t in spec.tools
        ),
    ]


_POINTED = frozenset({"tap", "scroll", "type", "pinch", "hover"})
_KEYS = ", ".join(get_args(KeyName))
_LINES: tuple[tuple[tuple[type, ...], str], ...] = (
    (
        (Tap,),
        '{"type": "tap", "at": [x, y], "count": <1 to 3> = 1, "hold_ms": <ms> = 0, "button": '
        '"left" | "right" | "middle" = "left"}: press a point; count 2 is a double tap, hold_ms '
        "1000 a long press",
    ),
    (
        (Swipe,),
        '{"type": "swipe", "path": [[x, y], [x, y]], "duration_ms": <ms> = 300, "hold_ms": <ms> '
        "= 0}: move the finger along the path; hold_ms 500 picks an item up before dragging it",
    ),
    (
        (Scroll,),
        '{"type": "scroll", "direction": "up" | "down" | "left" | "right", "screens": <number> = '
        '0.5, "at": [x, y] = the middle}: bring what lies in that direction into view',
    ),
    (
        (Type,),
        '{"type": "type", "text": "<text>", "at": [x, y] = the focused field, "clear": <bool> = '
        'false, "submit": <bool> = false}: enter text; clear empties the field first, submit '
        "presses enter afterwards",
    ),
    ((Key,), f'{{"type": "key", "name": "<key>"}}: press one key of: {_KEYS}'),
    ((Hotkey,), '{"type": "hotkey", "keys": ["ctrl", "c"]}: press keys together'),
    ((Open,), '{"type": "open", "app": "<app>"}: bring an app to the front'),
    ((Wait,), '{"type": "wait", "seconds": <number> = 1}: let time pass'),
    ((Pinch,), '{"type": "pinch", "at": [x, y], "scale": <number>}: zoom; above 1 zooms in'),
    ((Hover,), '{"type": "hover", "at": [x, y]}: move the pointer without pressing'),
    (
        (Bash,),
        '{"type": "bash", "command": "<command>", "timeout_s": <seconds> = 30}: run a shell '
        "command on the device",
    ),
    (
        (Batch,),
        '{"type": "batch", "actions": [...]}: several of these in order without a look in between',
    ),
    ((Noop,), '{"type": "noop", "note": "<note>" = ""}: do nothing'),
    ((Ask,), '{"type": "ask", "text": "<question>"}: ask the person; the reply comes next turn'),
    ((Answer,), '{"type": "answer", "text": "<answer>"}: state the answer; then finish'),
    (
        (Finish,),
        '{"type": "finish", "status": "success" | "failure" | "infeasible" = "success", '
        '"message": "<message>" = ""}: end the task',
    ),
)
_RULES = (
    "- The goal comes first; then each turn tells what your last action did and shows the screen "
    "as it is now. Older screenshots are left out, their words stay.",
    "- Press the middle of a target. If an action changed nothing, try something else.",
    "- Do only what the goal asks for. Ask if something that you need is nowhere to be found.",
    "- If the goal asks a question, give the answer before you finish.",
    "- When all is done, finish with success. If the task cannot be done, finish with infeasible.",
)
