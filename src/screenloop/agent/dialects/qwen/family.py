"""What the Qwen families share: `mobile_use` on touch screens, `computer_use` elsewhere.

A reply is a thought, the action in words, and one tagged call:

    Thought: The Save button is at the bottom right.
    Action: click
    <tool_call>
    {"name": "mobile_use", "arguments": {"action": "click", "coordinate": [870, 930]}}
    </tool_call>
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from screenloop.actions import Action, Point, Tool
from screenloop.agent.dialects.base import (
    CoordinateSpace,
    DialectContext,
    inexpressible,
    one_line,
    thought_for,
)
from screenloop.agent.dialects.qwen import computer_use, mobile_use
from screenloop.agent.dialects.reading import hermes
from screenloop.config import ImageRule
from screenloop.types import EnvSpec, Mode, SizePx

RULES = (
    "Each turn shows the screen as it is now and tells what your last action did; older "
    "screenshots are left out.",
    "Press the middle of a target. If an action changed nothing, try something else.",
    "Do only what the goal asks for. If it asks a question, answer before you end the task.",
)


class Qwen:
    """Base of the dialects that write `mobile_use` and `computer_use` calls."""

    name: str
    image: ImageRule
    space: CoordinateSpace
    system_role = True
    calls_tools = True
    open_verb = "open"
    asks = False
    layout: tuple[str, ...] = (
        "Reply in this form:",
        "Thought: one sentence on what you see and what to do next",
        "Action: the action in a few words",
        '<tool_call>\n{"name": <function>, "arguments": <JSON object>}\n</tool_call>',
    )

    def system_prompt(self, spec: EnvSpec, mode: Mode, picture_px: SizePx, lang: str) -> str:
        wide, high = self.space.limits(picture_px)
        where = f"[x, y] on a screen of {wide}x{high}, from the top left corner"
        tools = spec.tools if mode == "hybrid" else ()
        if spec.surface == "mobile":
            name, says = mobile_use.FUNCTION, "Operate a phone by touch."
            properties = mobile_use.schema(spec, where, self.open_verb, self.asks)
        else:
            name, says = computer_use.FUNCTION, "Operate a computer by mouse and keyboard."
            properties = computer_use.schema(spec, where)
        parameters = {"type": "object", "properties": properties, "required": ["action"]}
        lines = [
            "You operate a device for a person, one function call a turn.",
            "",
            "# Tools",
            "<tools>",
            hermes.declare(name, says, parameters),
            *(hermes.declare(t.name, t.description, t.parameters) for t in tools),
            "</tools>",
            "",
            *self.layout,
            "",
            *RULES,
        ]
        if spec.apps and name == mobile_use.FUNCTION:
            lines.append(f"Apps: {', '.join(spec.apps)}.")
        if lang != "en":
            lines.append(f"Write thoughts and answers in the language {lang!r}.")
        return "\n".join(lines)

    def parse(self, text: str, context: DialectContext) -> tuple[Action, ...]:
        readers: Mapping[str, hermes.Reader]
        if context.surface == "mobile":
            name = mobile_use.FUNCTION
            readers = mobile_use.ASKING if self.asks else mobile_use.READERS
        else:
            name = computer_use.FUNCTION
            readers = computer_use.readers(self.space.limits(context.picture_px))
        return hermes.parse_calls(text, name, readers, self.space, context)

    def expresses(self, action: Action, context: DialectContext) -> bool:
        return self._write(action, context) is not None

    def render(self, action: Action, context: DialectContext, thought: str = "") -> str:
        written = self._write(action, context)
        if written is None:
            raise inexpressible(self.name, action)
        name, arguments = written
        call = hermes.write_call(name, arguments)
        verb = name if isinstance(action, Tool) else arguments["action"]
        return self._reply(one_line(thought) or thought_for(action), verb, call)

    def _reply(self, thought: str, verb: str, call: str) -> str:
        return f"Thought: {thought}\nAction: {verb}\n{call}"

    def _write(self, action: Action, context: DialectContext) -> tuple[str, dict[str, Any]] | None:
        if isinstance(action, Tool):
            return (action.name, action.args) if action.name in context.tools else None

        def grid(at: Point) -> list[int]:
            return list(self.space.write(at, context.picture_px))

        if context.surface == "mobile":
            name = mobile_use.FUNCTION
            arguments = mobile_use.write(action, grid, self.open_verb, self.asks)
        else:
            name = computer_use.FUNCTION
            arguments = computer_use.write(action, grid, self.space.limits(context.picture_px))
        return None if arguments is None else (name, arguments)
