"""A seeded monkey: random touches, texts, keys and tools, and what must hold whatever it does.

Held after each action: no exception, the state encodes, and the log rows explain the difference
between the data before and after. Held at the end: the first state was not touched, restoring
gives it back, and the same seed gives the same final state.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

from screenloop.actions import (
    Action,
    Direction,
    Key,
    KeyName,
    Open,
    Pinch,
    Scroll,
    Swipe,
    Tap,
    Tool,
    Type,
    Wait,
    encode_action,
)
from screenloop.errors import EnvironmentFault
from screenloop.phone.declare.app import AppAction, Query
from screenloop.phone.declare.document import business_data, state_hash
from screenloop.phone.declare.system import OS_ID
from screenloop.phone.device.device import Device, Snapshot
from screenloop.phone.device.gestures import run_action, unit
from screenloop.phone.device.screen import SIZE_PX
from screenloop.phone.prove.replay import fresh_hash
from screenloop.phone.prove.search_goal import references
from screenloop.types import DiffRow, Struct

TEXTS = (
    "Fern",
    "milk and bread",
    "12",
    "7.50",
    "0",
    "-3",
    "2026-03-05",
    "07:30",
    "555-0101",
    "",
    "a",
    "中文 text",
    "x" * 200,
    "line\nbreak",
    "<b>&amp;</b>",
    "%s {text} /",
)
"""What the monkey types and passes to tools: plain words, numbers, what breaks things."""
DIRECTIONS: tuple[Direction, ...] = ("up", "down", "down", "left", "right")
PRESSED: tuple[KeyName, ...] = (
    "back",
    "back",
    "back",
    "home",
    "recents",
    "enter",
    "backspace",
    "space",
    "volume_up",
    "volume_down",
    "tab",
)
NUMBERS = (-1, 0, 1, 2, 5, 12, 60, 100, 4_999, 1_000_000)


class FuzzReport(Struct, frozen=True, kw_only=True):
    """What came of one run."""

    seed: int
    actions: int
    refused: int
    """Actions that did nothing, each with a reason."""
    changes: int
    """Rows of the log."""
    final_hash: str
    failures: tuple[str, ...]
    """Sentences; empty when all held."""


def fuzz(device: Device, *, seed: int, steps: int) -> FuzzReport:
    """Let the monkey loose on a device; it is restored afterwards.

    Args:
        device: where; its state is where each run begins.
        seed: of the random choices.
        steps: actions to make.

    Raises:
        Exception: whatever an app raised; a note names seed, step and action.
    """
    kept = device.snapshot()
    first = fresh_hash(device.doc)
    failures: list[str] = []
    twin = device.fork()
    refused = _run(device, random.Random(seed), steps, failures)
    changes = len(device.changes()) - _rows_before(kept)
    final = fresh_hash(device.doc)
    if fresh_hash(kept.doc) != first:
        failures.append(f"seed {seed}: acting on the device changed the state that was kept")
    if fresh_hash(twin.doc) != first:
        failures.append(f"seed {seed}: acting on the device changed a fork of it")
    _run(twin, random.Random(seed), steps, [])
    if fresh_hash(twin.doc) != final:
        failures.append(f"seed {seed}: the same actions gave another state")
    if fresh_hash(device.doc) != final:
        failures.append(f"seed {seed}: acting on a fork changed the device")
    device.restore(kept)
    if fresh_hash(device.doc) != first:
        failures.append(f"seed {seed}: restoring did not give the first state back")
    return FuzzReport(
        seed=seed,
        actions=steps,
        refused=refused,
        changes=changes,
        final_hash=final,
        failures=tuple(failures),
    )


def _rows_before(kept: Snapshot) -> int:
    count, entry = 0, kept.log
    while entry is not None:
        count += len(entry.rows)
        entry = entry.past
    return count


def _run(device: Device, rng: random.Random, steps: int, failures: list[str]) -> int:
    refused = 0
    data = business_data(device.doc)
    for number in range(steps):
        action = choose(device, rng)
        try:
            done = run_action(device, action, f"fuzz/{number}")
            state_hash(device.doc)
            after = business_data(device.doc)
        except Exception as error:
            error.add_note(f"step {number}: {encode_action(action).decode()}")
            raise
        refused += not done.effect.ok
        if not done.effect.ok and not done.effect.message:
            failures.append(f"step {number}: refused without a reason: {action}")
        explained = replayed(data, done.rows)
        if explained != after:
            failures.append(
                f"step {number}: the log rows of {encode_action(action).decode()} do not explain "
                f"what changed in {[a for a in after if after[a] != explained.get(a)]}"
            )
        data = after
    return refused


def replayed(data: dict[str, Any], rows: Iterable[DiffRow]) -> dict[str, Any]:
    """Return business data with log rows applied to it; neither is changed.

    Raises:
        EnvironmentFault: a row does not fit the data, e.g. it removes what is not there.
    """
    apps = {app: dict(fields) for app, fields in data.items()}
    for row in rows:
        fields = apps[row.app]
        if not row.id:
            fields[row.table] = row.after
            continue
        table = dict(fields[row.table])
        if (row.id in table) == (row.op == "add"):
            raise EnvironmentFault(f"the log row {row} does not fit the table it speaks of")
        if row.op == "remove":
            del table[row.id]
        elif row.op == "add":
            table[row.id] = row.after
        else:
            table[row.id] = {**table[row.id], row.field: row.after}
        fields[row.table] = table
    return apps


# ---- choices -------------------------------------------------------------------------------


def choose(device: Device, rng: random.Random) -> Action:
    """Return the monkey's next action."""
    x, y = rng.randrange(SIZE_PX[0]), rng.randrange(SIZE_PX[1])
    kind = rng.random()
    if kind < 0.52:
        nodes = [n for n in device.screen.reachable() if n.role != "key" or rng.random() < 0.2]
        if nodes:
            x, y = rng.choice(nodes).box.center
        touch = rng.random()
        hold_ms, count = (600 if touch > 0.9 else 0), (2 if touch < 0.05 else 1)
        return Tap(at=unit(x, y), hold_ms=hold_ms, count=count)
    if kind < 0.60:
        return Tap(at=unit(x, y))
    if kind < 0.68:
        to = unit(rng.randrange(SIZE_PX[0]), rng.choice((y, rng.randrange(SIZE_PX[1]))))
        return Swipe(path=(unit(x, y), to))
    if kind < 0.76:
        return Scroll(direction=rng.choice(DIRECTIONS), screens=rng.choice((0.3, 0.8, 3.0)))
    if kind < 0.86:
        return _typing(device, rng)
    if kind < 0.91:
        return Key(name=rng.choice(PRESSED))
    if kind < 0.94:
        return Open(app=rng.choice([*device.apps, "nowhere"]))
    if kind < 0.96:
        return Wait(seconds=rng.choice((1, 60, 3600)))
    if kind < 0.97:
        return Pinch(at=unit(x, y), scale=rng.choice((0.5, 2.0)))
    return _tool(device, rng)


def _typing(device: Device, rng: random.Random) -> Type:
    fields = [n for n in device.screen.reachable() if n.field]
    at = unit(*rng.choice(fields).box.center) if fields else None
    return Type(text=rng.choice(TEXTS), at=at, clear=rng.random() < 0.5, submit=rng.random() < 0.3)


def _tool(device: Device, rng: random.Random) -> Action:
    app = device.apps[device.doc.front]
    parts: list[AppAction[Any] | Query] = [*app.actions.values(), *app.queries.values()]
    if app.id == OS_ID or not parts:
        return Open(app=rng.choice(list(device.apps)))
    part = rng.choice(parts)
    return Tool(name=part.tool_name, args=random_args(device, part, rng))


def random_args(device: Device, part: AppAction[Any] | Query, rng: random.Random) -> dict[str, Any]:
    """Return arguments of a tool: mostly of the right type, often of a row that is there."""
    schema = part.signature.schema()
    rows = references(part.signature.types)
    args = {}
    for name, kind in schema["properties"].items():
        if name not in schema["required"] and rng.random() < 0.4:
            continue
        args[name] = _value(device, rows.get(name, ""), kind, rng)
    return args


def _value(device: Device, table: str, kind: dict[str, Any], rng: random.Random) -> Any:
    if "anyOf" in kind:
        kind = rng.choice(kind["anyOf"])
    if kind.get("enum"):
        return rng.choice(kind["enum"])
    match kind.get("type"):
        case "boolean":
            return rng.random() < 0.5
        case "integer" | "number":
            low, high = kind.get("minimum"), kind.get("maximum")
            if low is not None and high is not None and rng.random() < 0.8:
                return rng.randint(int(low), int(high))
            return rng.choice(NUMBERS)
        case "array":
            inner = kind.get("items", {})
            return [_value(device, table, inner, rng) for _ in range(rng.randrange(3))]
        case "null":
            return None
        case _:
            return _row_id(device, table, rng) or rng.choice(TEXTS)


def _row_id(device: Device, table: str, rng: random.Random) -> str:
    app_id, _, name = table.partition(".")
    if app_id not in device.doc.apps or rng.random() < 0.1:
        return ""
    rows = device.doc.apps[app_id].data.fields.get(name, {})
    return rng.choice(list(rows)) if rows else ""
