"""Each flow twice: by touches and by tools. Both must leave the same business state."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import msgspec

from screenloop.errors import EnvironmentFault, TaskError
from screenloop.phone.commands import Call
from screenloop.phone.declare.app import App, Flow
from screenloop.phone.declare.document import Doc, business_hash, state_hash
from screenloop.phone.declare.flow_steps import FlowStep, Pass
from screenloop.phone.declare.schema import misfits
from screenloop.phone.device.boot import installed, new_device
from screenloop.phone.device.device import Apps, Device
from screenloop.phone.device.dispatch import Outcome
from screenloop.phone.prove.flows import run_step
from screenloop.types import Channel, Struct


class FlowOutcome(Struct, frozen=True, kw_only=True):
    """What one step of a flow came to: time that passed, and the actions it ran."""

    seconds: int = 0
    calls: tuple[Call, ...] = ()


class FlowReport(Struct, frozen=True, kw_only=True):
    """How a flow fared."""

    app: str
    flow: str
    where: str
    outcomes: tuple[FlowOutcome, ...] = ()
    failures: tuple[str, ...] = ()
    """Sentences; empty when all is well."""

    @property
    def calls(self) -> tuple[Call, ...]:
        """The actions that the flow ran, in order."""
        return tuple(call for outcome in self.outcomes for call in outcome.calls)


def fresh_hash(doc: Doc) -> str:
    """Return a hash of a device's whole state that trusts no kept digest of its data.

    `state_hash` keeps the digest of data that must not change; this one would notice if it did.
    """
    data = [msgspec.json.encode(part.data.fields) for part in doc.apps.values()]
    return hashlib.sha256(b"\0".join([state_hash(doc).encode(), *data])).hexdigest()


def replay(app: App[Any], flow: Flow, device: Device | None = None) -> FlowReport:
    """Run a flow by touches, then its actions by tools, and compare.

    Args:
        app: whose flow it is.
        flow: the walk.
        device: a phone with a quantum of 0; by default a strict one in the default world. It ends
            as it was.
    """
    device = device or new_device(quantum_ms=0, strict=True)
    first = fresh_hash(device.doc)
    kept, tools = device.snapshot(), device.fork()
    outcomes, failures = _by_touch(device, app, flow.steps)
    if not failures:
        failures += _by_tool(tools, outcomes)
        if business_hash(tools.doc) != business_hash(device.doc):
            failures.append("touches and tools leave different business states")
        failures += _schema_failures(device.apps, outcomes)
    device.on_call = None
    device.restore(kept)
    if fresh_hash(device.doc) != first:
        failures.append("after restoring the snapshot the state is not the first one")
    return FlowReport(
        app=app.id,
        flow=flow.name,
        where=flow.where,
        outcomes=tuple(outcomes),
        failures=tuple(failures),
    )


def replay_all(app_ids: Sequence[str] | None = None) -> tuple[FlowReport, ...]:
    """Replay every flow of the named apps, or of all."""
    apps = [a for a in installed().values() if app_ids is None or a.id in app_ids]
    return tuple(replay(app, flow) for app in apps for flow in app.flows)


def _by_touch(
    device: Device, app: App[Any], steps: Sequence[FlowStep]
) -> tuple[list[FlowOutcome], list[str]]:
    ran: list[Call] = []

    def listen(call: Call, channel: Channel, outcome: Outcome) -> None:
        if channel == "gui":
            ran.append(call)

    device.on_call = listen
    device.begin()
    device.open(app.id)
    device.end()
    outcomes: list[FlowOutcome] = []
    for number, step in enumerate(steps, start=1):
        ran.clear()
        device.begin()
        try:
            effect = run_step(device, step)
            device.end()
        except (TaskError, EnvironmentFault) as error:
            return outcomes, [f"step {number}: {error}"]
        if not effect.ok:
            return outcomes, [f"step {number} ({effect.executed}): {effect.message}"]
        seconds = step.seconds if isinstance(step, Pass) else 0
        outcomes.append(FlowOutcome(seconds=seconds, calls=tuple(ran)))
    return outcomes, []


def _by_tool(device: Device, outcomes: Sequence[FlowOutcome]) -> list[str]:
    """Run the actions as a golden solution holds them: through JSON, without the screen."""
    for outcome in msgspec.json.decode(msgspec.json.encode(outcomes), type=list[FlowOutcome]):
        if outcome.seconds:
            device.advance(outcome.seconds * 1000)
        for call in outcome.calls:
            device.begin(channel="tool")
            try:
                effect = device.perform(call)
                device.end()
            except EnvironmentFault as error:
                return [f"tool {call.app}.{call.action}: {error}"]
            if not effect.ok:
                return [f"tool {call.app}.{call.action} {call.args}: {effect.message}"]
    return []


def _schema_failures(apps: Apps, outcomes: Sequence[FlowOutcome]) -> list[str]:
    failures = []
    for outcome in outcomes:
        for call in outcome.calls:
            action = apps[call.app].actions[call.action]
            if action.tool:
                args = msgspec.json.decode(msgspec.json.encode(call.args))
                failures += [
                    f"the schema of {action.tool_name} refuses {args}: {why}"
                    for why in misfits(args, action.signature.schema())
                ]
    return failures
