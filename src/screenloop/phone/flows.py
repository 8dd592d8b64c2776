"""Reference walks: what a person does in an app, step by step; each is replayed by `replay`.

app.flow("save a contact", tap("New contact"), enter("name", "Zoe"), tap(add))
"""

from __future__ import annotations

from typing import Any

from screenloop.errors import TaskError
from screenloop.phone.app import Action, Route
from screenloop.phone.canvas import Node
from screenloop.phone.device import Device
from screenloop.phone.do import Both, Call, Do, Go
from screenloop.types import Effect, Struct

MAX_SCROLLS = 40


class Touch(Struct, frozen=True, kw_only=True):
    """Touch what has this label, or what is bound to this action or page, scrolling to it."""

    label: str = ""
    target: str = ""
    """`app.action`, or `app` and the route template."""
    args: dict[str, Any] = {}
    """Arguments or slots that must be the bound ones."""
    hold: bool = False


class Enter(Struct, frozen=True, kw_only=True):
    """Put text into a field, in place of what is there."""

    field: str
    text: str
    submit: bool = False


class PressKey(Struct, frozen=True, kw_only=True):
    """Press a key."""

    key: str


class OpenFlowApp(Struct, frozen=True, kw_only=True):
    """Go on in another app."""

    app: str


class Pass(Struct, frozen=True, kw_only=True):
    """Let time go by."""

    seconds: int


FlowStep = Touch | Enter | PressKey | OpenFlowApp | Pass


def tap(what: str | Action[Any] | Route[Any], **args: Any) -> Touch:
    """Touch a label, or whatever is bound to an action or leads to a page."""
    return _touch(what, args, hold=False)


def hold(what: str | Action[Any] | Route[Any], **args: Any) -> Touch:
    """Press long."""
    return _touch(what, args, hold=True)


def enter(field: str, text: str, *, submit: bool = False) -> Enter:
    """Fill a field."""
    return Enter(field=field, text=text, submit=submit)


def press(key: str) -> PressKey:
    """Press a key: back, home, enter, ..."""
    return PressKey(key=key)


def open_app(app: str) -> OpenFlowApp:
    """Go on in another app."""
    return OpenFlowApp(app=app)


def wait(seconds: int) -> Pass:
    """Let time go by."""
    return Pass(seconds=seconds)


def _touch(what: str | Action[Any] | Route[Any], args: dict[str, Any], *, hold: bool) -> Touch:
    if isinstance(what, str):
        return Touch(label=what, hold=hold)
    if isinstance(what, Action):
        return Touch(target=what.tool_name, args=args, hold=hold)
    return Touch(target=f"{what.app}{what.template}", args=args, hold=hold)


def calls_in(do: Do | None) -> tuple[Call | Go, ...]:
    """Return the actions and moves inside a Do."""
    match do:
        case Both(first=first, then=then):
            return (*calls_in(first), *calls_in(then))
        case Call() | Go():
            return (do,)
        case _:
            return ()


def _fits(device: Device, step: Touch, node: Node) -> bool:
    do = node.long if step.hold else node.do
    if do is None:
        return False
    if step.label:
        return node.label == step.label or node.label.startswith(step.label + " · ")
    for part in calls_in(do):
        if isinstance(part, Call):
            name, args = f"{part.app}.{part.action}", part.args
        else:
            route, slots = device.apps[part.app].resolve(part.path)
            name, args = f"{part.app}{route.template}", dict(slots)
        if name == step.target and step.args.items() <= args.items():
            return True
    return False


def find_node(device: Device, step: Touch) -> Node:
    """Return the node that a Touch means, scrolling the page from its top until it is reached.

    Raises:
        TaskError: there is no such node on the page.
    """
    for start in (True, False):
        for node in reversed(device.screen.reachable()):
            if _fits(device, step, node):
                return node
        if start:
            device.scroll("up", 50)
    for _ in range(MAX_SCROLLS):
        for node in reversed(device.screen.reachable()):
            if _fits(device, step, node):
                return node
        if not device.scroll("down", 0.7).ok:
            break
    labels = [n.label for n in device.screen.nodes if n.do][:40]
    raise TaskError(
        f"nothing on {device.screen.route} fits {step.label or step.target!r} {step.args or ''}; "
        f"it offers {labels}"
    )


def run_step(device: Device, step: FlowStep) -> Effect:
    """Carry out one step of a flow on a device, inside `begin` and `end`."""
    match step:
        case Touch():
            node = find_node(device, step)
            return device.tap(*node.box.center, hold_ms=600 if step.hold else 0)
        case Enter(field=field, text=text, submit=submit):
            if device.doc.focus != field:
                effect = device.tap(*_find_field(device, field).box.center)
                if not effect.ok:
                    return effect
            return device.type_text(text, clear=True, submit=submit)
        case PressKey(key=key):
            return device.press(key)
        case OpenFlowApp(app=app):
            return device.open(app)
        case Pass(seconds=seconds):
            device.advance(seconds * 1000)
            return Effect(ok=True, executed=f"wait {seconds}")


def _find_field(device: Device, name: str) -> Node:
    for _ in range(MAX_SCROLLS):
        node = device.screen.field(name)
        if node is not None and node in device.screen.reachable():
            return node
        if not device.scroll("down", 0.5).ok:
            break
    raise TaskError(f"there is no field {name!r} on {device.screen.route}")
