"""A device small enough to read: a launcher, a counter and a list of notes; pure.

State in, state out. The same widgets are drawn, hit by taps, and told as tree and text.
"""

from __future__ import annotations

import hashlib
import io
import random
from collections.abc import Callable
from typing import Any, Literal

import msgspec
from msgspec.structs import replace
from PIL import Image, ImageDraw, ImageFont

from screenloop.actions import (
    Action,
    Direction,
    Key,
    Open,
    Scroll,
    Swipe,
    Tap,
    Tool,
    Type,
    Wait,
    to_pixel,
)
from screenloop.errors import TaskError
from screenloop.types import Channel, DiffRow, SizePx, Struct, ToolSpec, World

SIZE_PX: SizePx = (160, 120)
ACTIONS = frozenset({"tap", "swipe", "scroll", "type", "key", "open", "wait", "tool"})
APPS = ("counter", "notes")
TOOLS = (
    ToolSpec(
        name="counter.add",
        description="Add an amount to the counter.",
        parameters={
            "type": "object",
            "required": ["amount"],
            "properties": {"amount": {"type": "integer"}},
        },
    ),
    ToolSpec(
        name="notes.add",
        description="Add a note.",
        parameters={
            "type": "object",
            "required": ["text"],
            "properties": {"text": {"type": "string"}},
        },
    ),
)
VISIBLE_NOTES = 3
STEP_S = 1.0
"""How far the device's clock goes on with each action but wait."""

_LONG_PRESS_MS = 500
_THINGS = ("Milk", "Bread", "Tea", "Apples", "Soap", "Stamps", "Rice", "Salt", "Candles", "String")
_ROW_TOP_PX, _ROW_PX = 44, 24
_INK, _PAPER, _BUTTON, _BAR = (20, 20, 30), (250, 250, 252), (205, 222, 250), (60, 70, 110)

Page = Literal["home", "counter", "notes"]
BoxPx = tuple[int, int, int, int]
"""Left, top, right, bottom; the last two are outside."""


class Note(Struct, frozen=True, kw_only=True):
    """One note."""

    text: str
    done: bool = False


class FakeState(Struct, frozen=True, kw_only=True):
    """The whole device state."""

    page: Page = "home"
    value: int = 0
    notes: dict[str, Note] = {}
    next_note: int = 1
    draft: str = ""
    focused: bool = False
    offset: int = 0
    """Index of the first note shown."""
    clock_s: float = 0.0


class MachineWidget(Struct, frozen=True, kw_only=True):
    """Something on the screen: what it shows, where, and the name of what a tap on it does."""

    label: str
    box_px: BoxPx
    does: str = ""

    @property
    def centre(self) -> tuple[float, float]:
        left, top, right, bottom = self.box_px
        return ((left + right) / 2 / SIZE_PX[0], (top + bottom) / 2 / SIZE_PX[1])


class MachineOutcome(Struct, frozen=True, kw_only=True):
    """What an action came to."""

    state: FakeState
    ok: bool = True
    code: str = ""
    executed: str = ""
    result: Any = None


class _Patch(Struct, frozen=True, kw_only=True):
    counter: int | None = None
    notes: tuple[str, ...] | None = None


# ---- states --------------------------------------------------------------------------------


def initial_state(world: World) -> FakeState:
    """Return the state of a world: three notes drawn by its seed, then its patches.

    A patch is `{"counter": 5}` or `{"notes": ["Milk", "Bread"]}`.

    Raises:
        TaskError: the world or a patch is unknown.
    """
    if world.name != "default":
        raise TaskError(f"the fake device knows no world {world.name!r}. Valid: default.")
    state = _with_notes(FakeState(), random.Random(world.seed).sample(_THINGS, VISIBLE_NOTES))
    for patch in world.patches:
        try:
            change = msgspec.convert(patch, _Patch)
        except msgspec.ValidationError as error:
            raise TaskError(f"{patch} is no patch of the fake device: {error}.") from error
        if change.counter is not None:
            state = replace(state, value=change.counter)
        if change.notes is not None:
            state = _with_notes(state, change.notes)
    return state


def business_data(state: FakeState) -> dict[str, Any]:
    """Return the apps' data, as verifiers read it."""
    notes = {key: {"text": note.text, "done": note.done} for key, note in state.notes.items()}
    return {"counter": {"value": state.value}, "notes": {"items": notes}}


def state_hash(state: FakeState) -> str:
    """Return the hash of the whole device state."""
    return hashlib.sha256(msgspec.json.encode(state, order="sorted")).hexdigest()


def changes(
    before: FakeState, after: FakeState, *, action_id: str, channel: Channel
) -> tuple[DiffRow, ...]:
    """Return what one action changed in the apps' data."""

    def row(app: str, table: str, **rest: Any) -> DiffRow:
        return DiffRow(app=app, table=table, action_id=action_id, channel=channel, **rest)

    rows = []
    if before.value != after.value:
        rows.append(row("counter", "value", op="set", before=before.value, after=after.value))
    old, new = business_data(before)["notes"]["items"], business_data(after)["notes"]["items"]
    rows += [row("notes", "items", id=k, op="add", after=new[k]) for k in new if k not in old]
    rows += [row("notes", "items", id=k, op="remove", before=old[k]) for k in old if k not in new]
    rows += [
        row("notes", "items", id=k, field=f, op="set", before=old[k][f], after=new[k][f])
        for k in new
        if k in old
        for f in new[k]
        if old[k][f] != new[k][f]
    ]
    return tuple(rows)


# ---- the screen ----------------------------------------------------------------------------


def widgets(state: FakeState) -> tuple[MachineWidget, ...]:
    """Return what is on the screen, in reading order."""
    match state.page:
        case "home":
            return (
                MachineWidget(label="Counter", box_px=(10, 30, 150, 60), does="open counter"),
                MachineWidget(label="Notes", box_px=(10, 72, 150, 102), does="open notes"),
            )
        case "counter":
            return (
                MachineWidget(label=str(state.value), box_px=(6, 24, 154, 50)),
                MachineWidget(label="-1", box_px=(6, 60, 50, 100), does="add -1"),
                MachineWidget(label="+1", box_px=(58, 60, 102, 100), does="add 1"),
                MachineWidget(label="Zero", box_px=(110, 60, 154, 100), does="zero"),
            )
        case "notes":
            shown = list(state.notes.items())[state.offset : state.offset + VISIBLE_NOTES]
            field = state.draft + ("|" if state.focused else "") or "New note"
            return (
                MachineWidget(label=field, box_px=(4, 20, 114, 40), does="focus"),
                MachineWidget(label="Add", box_px=(120, 20, 156, 40), does="add note"),
                *(
                    MachineWidget(
                        label=f"[{'x' if note.done else ' '}] {note.text}",
                        box_px=(4, top, 156, top + _ROW_PX - 2),
                        does=f"note {key}",
                    )
                    for top, (key, note) in zip(
                        range(_ROW_TOP_PX, SIZE_PX[1], _ROW_PX), shown, strict=False
                    )
                ),
            )


def screen_text(state: FakeState) -> str:
    """Return the words on the screen, one widget a line."""
    return "\n".join(widget.label for widget in widgets(state))


def screen_tree(state: FakeState) -> bytes:
    """Return the widgets as JSON."""
    return msgspec.json.encode(widgets(state))


def draw(state: FakeState, font: ImageFont.FreeTypeFont | ImageFont.ImageFont) -> bytes:
    """Return the screen as PNG."""
    image = Image.new("RGB", SIZE_PX, _PAPER)
    pen = ImageDraw.Draw(image)
    pen.rectangle((0, 0, SIZE_PX[0], 15), fill=_BAR)
    pen.text((4, 1), f"{state.page}  {state.clock_s:g}", font=font, fill=_PAPER)
    for widget in widgets(state):
        left, top, right, bottom = widget.box_px
        box = (left, top, right - 1, bottom - 1)
        pen.rectangle(box, fill=_BUTTON if widget.does else _PAPER, outline=_INK)
        pen.text((left + 4, top + 3), widget.label[:24], font=font, fill=_INK)
    data = io.BytesIO()
    image.save(data, "PNG")
    return data.getvalue()


# ---- actions -------------------------------------------------------------------------------


def apply(state: FakeState, action: Action) -> MachineOutcome:
    """Return what an action of `ACTIONS` comes to; the device's clock goes on with it."""
    outcome = _outcome(state, action)
    passed_s = action.seconds if isinstance(action, Wait) else STEP_S
    clock_s = outcome.state.clock_s + passed_s
    return replace(outcome, state=replace(outcome.state, clock_s=clock_s))


def _outcome(state: FakeState, action: Action) -> MachineOutcome:
    match action:
        case Tap():
            return _tap(state, action)
        case Type():
            return _type(state, action)
        case Scroll():
            return _scroll(state, action.direction)
        case Swipe():
            return _swipe(state, action)
        case Key():
            return _key(state, action)
        case Open():
            return _open(state, action.app.casefold())
        case Tool():
            return _tool(state, action)
        case _:
            return MachineOutcome(state=state, executed="wait")


def _tap(state: FakeState, action: Tap) -> MachineOutcome:
    x, y = to_pixel(action.at, SIZE_PX)
    hit = next((w for w in widgets(state) if w.does and _is_inside(w.box_px, x, y)), None)
    if hit is None:
        executed = f"tap {x},{y} on nothing"
        return MachineOutcome(state=state, ok=False, code="nothing_here", executed=executed)
    is_long = action.hold_ms >= _LONG_PRESS_MS
    executed = f"{'long press' if is_long else 'tap'} {x},{y} on {hit.label!r}"
    return MachineOutcome(state=_press(state, hit.does, is_long), executed=executed)


def _press(state: FakeState, does: str, is_long: bool) -> FakeState:
    verb, _, what = does.partition(" ")
    if verb == "note":
        notes = dict(state.notes)
        note = notes.pop(what)
        if not is_long:
            notes = {**state.notes, what: replace(note, done=not note.done)}
        return replace(state, notes=notes, offset=min(state.offset, _last_offset(len(notes))))
    presses: dict[str, Callable[[], FakeState]] = {
        "open counter": lambda: replace(state, page="counter"),
        "open notes": lambda: replace(state, page="notes"),
        "add -1": lambda: replace(state, value=state.value - 1),
        "add 1": lambda: replace(state, value=state.value + 1),
        "zero": lambda: replace(state, value=0),
        "focus": lambda: replace(state, focused=True),
        "add note": lambda: _add_draft(state),
    }
    return presses[does]()


def _type(state: FakeState, action: Type) -> MachineOutcome:
    if action.at is not None:
        tapped = _tap(state, Tap(at=action.at))
        if not tapped.state.focused:
            return replace(tapped, ok=False, code="not_a_field")
        state = tapped.state
    if not state.focused:
        return MachineOutcome(state=state, ok=False, code="no_focus", executed="type into nothing")
    draft = action.text if action.clear else state.draft + action.text
    state = replace(state, draft=draft)
    if action.submit:
        state = _add_draft(state)
    return MachineOutcome(state=state, executed=f"type {action.text!r}")


def _swipe(state: FakeState, action: Swipe) -> MachineOutcome:
    down = action.path[0][1] - action.path[-1][1]
    return _scroll(state, "down" if down > 0 else "up" if down < 0 else "left")


def _scroll(state: FakeState, direction: Direction) -> MachineOutcome:
    """Go to the next or last page of notes, however far the finger went."""
    by = {"up": -VISIBLE_NOTES, "down": VISIBLE_NOTES}.get(direction, 0)
    offset = max(0, min(_last_offset(len(state.notes)), state.offset + by))
    if state.page != "notes" or offset == state.offset:
        return MachineOutcome(state=state, ok=False, code="at_the_end", executed="scroll nowhere")
    executed = f"scroll {direction} {abs(offset - state.offset)} notes"
    return MachineOutcome(state=replace(state, offset=offset), executed=executed)


def _key(state: FakeState, action: Key) -> MachineOutcome:
    if action.name in ("back", "home"):
        state = replace(state, page="home", focused=False, draft="", offset=0)
    elif action.name == "enter" and state.focused:
        state = _add_draft(state)
    elif action.name == "backspace" and state.focused:
        state = replace(state, draft=state.draft[:-1])
    else:
        return MachineOutcome(
            state=state, ok=False, code="no_effect", executed=f"press {action.name}"
        )
    return MachineOutcome(state=state, executed=f"press {action.name}")


def _open(state: FakeState, app: str) -> MachineOutcome:
    if app not in APPS:
        return MachineOutcome(state=state, ok=False, code="no_such_app", executed=f"open {app!r}")
    page: Page = "counter" if app == "counter" else "notes"
    return MachineOutcome(state=replace(state, page=page), executed=f"open {app}")


def _tool(state: FakeState, action: Tool) -> MachineOutcome:
    match action.name, action.args:
        case "counter.add", {"amount": int(amount), **rest} if not rest:
            state = replace(state, value=state.value + amount)
            result: dict[str, Any] = {"value": state.value}
        case "notes.add", {"text": str(text), **rest} if not rest and text:
            result = {"id": f"n{state.next_note}"}
            state = _with_note(state, text)
        case name, _ if name in {tool.name for tool in TOOLS}:
            return MachineOutcome(
                state=state, ok=False, code="bad_arguments", executed=f"call {name}"
            )
        case name, _:
            return MachineOutcome(
                state=state, ok=False, code="no_such_tool", executed=f"call {name}"
            )
    return MachineOutcome(state=state, executed=f"call {action.name}", result=result)


def _add_draft(state: FakeState) -> FakeState:
    if not state.draft.strip():
        return state
    return replace(_with_note(state, state.draft.strip()), draft="", focused=False)


def _with_note(state: FakeState, text: str) -> FakeState:
    notes = {**state.notes, f"n{state.next_note}": Note(text=text)}
    return replace(state, notes=notes, next_note=state.next_note + 1)


def _with_notes(state: FakeState, texts: list[str] | tuple[str, ...]) -> FakeState:
    state = replace(state, notes={}, next_note=1)
    for text in texts:
        state = _with_note(state, text)
    return state


def _last_offset(notes: int) -> int:
    return max(0, notes - VISIBLE_NOTES)


def _is_inside(box: BoxPx, x: int, y: int) -> bool:
    return box[0] <= x < box[2] and box[1] <= y < box[3]
