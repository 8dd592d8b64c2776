"""Tool calls in the Hermes form that the Qwen families share: JSON inside `<tool_call>`.

    <tool_call>
    {"name": "mobile_use", "arguments": {"action": "click", "coordinate": [500, 250]}}
    </tool_call>

Accepted besides: a missing `</tool_call>`, `arguments` that are encoded twice, an object that is
the arguments alone, code fences, a reply that is nothing but the object (fenced or not). Several
calls come back in order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from screenloop.actions import Action, Tool
from screenloop.agent.dialects.base import CoordinateSpace, DialectContext, clip
from screenloop.agent.dialects.reading.fields import Fields, checked
from screenloop.agent.dialects.reading.jsontext import read_object, unfence
from screenloop.agent.dialects.reading.layout import after_thinking, bare, nothing_found
from screenloop.errors import ParseFailure

Reader = Callable[[Fields], Action]
"""Makes the Action of one verb from its arguments."""
MAX_CALLS = 32
_OPEN = re.compile(r"<tool_call>", re.I)
_SHAPE = '<tool_call>{"name": "%s", "arguments": {"action": ...}}</tool_call>'


def parse_calls(
    text: str,
    function: str,
    readers: Mapping[str, Reader],
    space: CoordinateSpace,
    context: DialectContext,
) -> tuple[Action, ...]:
    """Read the calls of a reply.

    Args:
        text: The reply.
        function: The family's function; calls without a name are calls of it.
        readers: What each `action` argument stands for.
        space: The family's coordinate space.
        context: The Episode's surface, picture and tools.

    Raises:
        ParseFailure: no call, or one that cannot be read.
    """
    actions: list[Action] = []
    for value in _objects(text, function):
        if len(actions) == MAX_CALLS:
            raise ParseFailure(f"the reply holds more than {MAX_CALLS} tool calls")
        name, arguments = _call(value, function)
        if name != function and name in context.tools:
            actions.append(checked(Tool(name=name, args=arguments)))
        elif name != function:
            known = ", ".join([function, *sorted(context.tools)])
            raise ParseFailure(f"there is no function {clip(name, 60)!r}; expected one of {known}")
        else:
            actions.append(checked(_read(arguments, readers, space, context)))
    return tuple(actions)


def write_call(name: str, arguments: Mapping[str, Any]) -> str:
    """Return the tagged call."""
    call = msgspec.json.encode({"name": name, "arguments": arguments}).decode()
    return f"<tool_call>\n{call}\n</tool_call>"


def declare(name: str, description: str, parameters: Mapping[str, Any]) -> str:
    """Return the one line that declares a function in a prompt."""
    function = {"name": name, "description": description, "parameters": parameters}
    return msgspec.json.encode({"type": "function", "function": function}).decode()


def _objects(text: str, function: str) -> Iterable[dict[str, Any]]:
    body = after_thinking(text, _OPEN)
    opened = _OPEN.search(body)
    if not opened:
        yield _untagged(text, function)
        return
    while opened:
        value, body = read_object(body[opened.end() :], "the tool call")
        yield value
        opened = _OPEN.search(body)


def _untagged(text: str, function: str) -> dict[str, Any]:
    """Read a reply that is the object, or whose only code fence holds it."""
    rest = bare(text)
    if rest.count("```") in (1, 2):
        rest = rest[rest.index("```") :]
    if not unfence(rest).startswith(("{", "｛")):
        raise nothing_found(text, _SHAPE % function)
    return read_object(rest, "the tool call")[0]


def _call(value: dict[str, Any], function: str) -> tuple[str, dict[str, Any]]:
    if "arguments" not in value:
        if "action" in value:
            return function, value
        raise ParseFailure(f"the tool call has no arguments; expected {_SHAPE % function}")
    name, arguments = value.get("name", function), value["arguments"]
    if not isinstance(name, str):
        raise ParseFailure(f"the tool call's name must be a string, not {clip(name, 60)}")
    if isinstance(arguments, str):
        arguments, _ = read_object(arguments, "the tool call's arguments")
    if not isinstance(arguments, dict):
        raise ParseFailure(
            f"the tool call's arguments must be a JSON object, not {clip(arguments, 60)}"
        )
    return name, arguments


def _read(
    arguments: dict[str, Any],
    readers: Mapping[str, Reader],
    space: CoordinateSpace,
    context: DialectContext,
) -> Action:
    verb = arguments.get("action")
    if not isinstance(verb, str) or verb not in readers:
        raise ParseFailure(
            f"there is no action {clip(verb, 60)!r}; expected one of {', '.join(readers)}"
        )
    return readers[verb](Fields(verb, arguments, space, context))
