"""Walking the steps of a flow on a device: find what a step means, scroll to it, touch it."""

from __future__ import annotations

from screenloop.errors import TaskError
from screenloop.phone.commands import Call, calls_in
from screenloop.phone.declare.flow_steps import Enter, FlowStep, OpenFlowApp, Pass, PressKey, Touch
from screenloop.phone.device.device import Device
from screenloop.phone.draw.canvas import Node
from screenloop.types import Effect

MAX_SCROLLS = 40


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
