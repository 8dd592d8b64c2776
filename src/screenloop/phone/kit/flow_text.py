"""Flows as text, in `flows.txt` beside an app: a name, then its steps, indented.

    save a contact:
        tap "New contact"; name = "Zoe Young"; tap people.add
        hold /p/{person} person=person5; press back; wait 60

Labels and texts are JSON strings. An action or a page path is the app's own, `shop:orders.place`
another's; what must be bound to it follows, each value JSON or a word.
"""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import Any

from screenloop.errors import ConfigError
from screenloop.phone.declare.app import App, Flow
from screenloop.phone.declare.flow_steps import FlowStep, Touch, enter, press, wait

_TEXT = r'"(?:[^"\\]|\\.)*"'
_STEP = re.compile(
    rf"""\s*(?:
    (?P<touch>tap|hold)\ (?:(?P<label>{_TEXT})|(?P<target>[^\s;"]+)(?P<args>(?:\ \w+=[^\s;]+)*))
  | press\ (?P<key>\w+) | wait\ (?P<seconds>\d+)
  | (?P<field>\w+)\ =\ (?P<text>{_TEXT})
)\s*(?:;|$)""",
    re.VERBOSE,
)


def read_flows(app: App[Any], package: str) -> None:
    """Add the flows that stand in a package's `flows.txt`.

    Raises:
        ConfigError: a line is no step, or names an action or a page that the app does not have.
    """
    walks: list[tuple[str, str, list[FlowStep]]] = []
    text = files(package).joinpath("flows.txt").read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), 1):
        where, rest = f"{package}/flows.txt:{number}", line
        if line[:1] != " ":
            walks.append((line.rstrip(":"), where, []))
            continue
        while rest:
            match = _STEP.match(rest)
            step = _step_of(app, match.groupdict()) if match else None
            if match is None or step is None:
                raise ConfigError(
                    f"{where}: no step, or no action or page of app {app.id!r}: {rest.strip()}"
                )
            walks[-1][2].append(step)
            rest = rest[match.end() :]
    app.flows += [Flow(name=name, steps=tuple(steps), where=at) for name, at, steps in walks]


def _step_of(app: App[Any], part: dict[str, str]) -> FlowStep | None:
    if part["key"]:
        return press(part["key"])
    if part["seconds"]:
        return wait(int(part["seconds"]))
    if part["field"]:
        return enter(part["field"], json.loads(part["text"]))
    hold = part["touch"] == "hold"
    if part["label"]:
        return Touch(label=json.loads(part["label"]), hold=hold)
    owner, _, target = part["target"].rpartition(":")
    if not owner and target not in app.actions and target not in app.routes:
        return None
    pairs = (word.split("=", 1) for word in part["args"].split())
    args = {name: _value(text) for name, text in pairs}
    dot = "" if target[0] == "/" else "."
    return Touch(target=f"{owner or app.id}{dot}{target}", args=args, hold=hold)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
