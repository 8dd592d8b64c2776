"""One mocked phone: a Doc, the gestures that change it, and the log of what changed.

`Device` holds the only mutable reference; everything it points to is immutable. Gestures come in as
pixels of the layout (412x915), are hit-tested on the Screen's boxes, and become a command (`Do`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from screenloop.errors import EnvironmentFault
from screenloop.phone.commands import (
    Back,
    Both,
    Call,
    Copy,
    Do,
    Focus,
    Go,
    OpenApp,
    Overlay,
    Paste,
    PickMedia,
    Press,
    SetLocal,
    Share,
    key_of,
)
from screenloop.phone.declare.app import App
from screenloop.phone.declare.cast import cast
from screenloop.phone.declare.document import Doc, PageDoc
from screenloop.phone.declare.state import NoSuchRow, diff_data
from screenloop.phone.declare.system import OS_ID, SystemState
from screenloop.phone.device import navigation
from screenloop.phone.device.dispatch import Outcome, dispatch, query
from screenloop.phone.device.screen import SIZE_PX, Screen, build_screen
from screenloop.phone.draw.canvas import Node
from screenloop.phone.draw.theme import KEYBOARD_PX, STATUS_PX
from screenloop.types import Channel, DiffRow, Effect, Struct

QUANTUM_MS = 1000
"""How far the clock moves with each action."""
LONG_PRESS_MS = 500
MAX_TEXT = 4000
"""Characters a field holds."""

Apps = dict[str, App[Any]]


class Log(NamedTuple):
    """A linked list of what changed, the latest first; sharing it makes forks free."""

    rows: tuple[DiffRow, ...]
    past: Log | None


class Snapshot(Struct, frozen=True, kw_only=True):
    """A kept state: two references."""

    doc: Doc
    log: Log | None


class Device:
    """A phone. Make one with `boot.new_device`; `restore` a Snapshot to reset or fork it."""

    def __init__(
        self, apps: Apps, doc: Doc, *, quantum_ms: int = QUANTUM_MS, strict: bool = False
    ) -> None:
        self.apps = apps
        self.quantum_ms = quantum_ms
        self.strict = strict
        self.doc = doc
        self.log: Log | None = None
        self.on_call: Callable[[Call, Channel, Outcome], None] | None = None
        """Told of each action that ran, e.g. to record a demonstration; forks tell it too."""
        self.paints = False
        """Whether every screen is drawn with its paint: for phones whose frames are wanted anyway,
        so that each state is drawn once."""
        self._screen: tuple[Doc, Screen] | None = None
        self._action_id = ""
        self._channel: Channel = "gui"
        self._rows: list[DiffRow] = []

    # ---- state -----------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Keep the state."""
        return Snapshot(doc=self.doc, log=self.log)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a kept state."""
        self.doc, self.log = snapshot.doc, snapshot.log

    def fork(self) -> Device:
        """Return another device in the same state; neither sees the other from now on."""
        twin = Device(self.apps, self.doc, quantum_ms=self.quantum_ms, strict=self.strict)
        twin.log = self.log
        twin.on_call = self.on_call
        twin.paints = self.paints
        twin._screen = self._screen
        return twin

    @property
    def screen(self) -> Screen:
        """What can be seen now, without paint; kept until the state changes."""
        if self._screen is None or self._screen[0] is not self.doc:
            self._screen = (self.doc, build_screen(self.doc, self.apps, paint=self.paints))
        return self._screen[1]

    def painted(self) -> Screen:
        """What can be seen now, with the boxes to paint."""
        return self.screen if self.paints else build_screen(self.doc, self.apps, paint=True)

    @property
    def system(self) -> SystemState:
        """The system's settings, to read."""
        return SystemState(self.doc.apps[OS_ID].data, cast(self.doc.world, self.doc.seed))

    def changes(self) -> tuple[DiffRow, ...]:
        """Return all rows of the log, the oldest first."""
        found: list[tuple[DiffRow, ...]] = []
        entry = self.log
        while entry is not None:
            found.append(entry.rows)
            entry = entry.past
        return tuple(row for rows in reversed(found) for row in rows)

    # ---- one action ------------------------------------------------------------------------

    def begin(self, action_id: str = "", channel: Channel = "gui") -> None:
        """Start an action: what follows until `end` is logged under its id."""
        self._action_id, self._channel, self._rows = action_id, channel, []
        self.doc = replace(self.doc, toast="") if self.doc.toast else self.doc

    def end(self, *, extra_ms: int = 0) -> tuple[DiffRow, ...]:
        """Let the clock run, fire what is due, and return what changed since `begin`."""
        self.advance(self.quantum_ms + extra_ms)
        self._leave_lost_pages()
        return tuple(self._rows)

    def advance(self, ms: int) -> None:
        """Move the clock and run every timer that falls due, in order."""
        target = self.doc.clock_ms + ms
        while True:
            due = [t for t in self.system.timers if t.due_s * 1000 <= target]
            if not due:
                break
            timer = min(due, key=lambda t: (t.due_s, t.id))
            data = self.doc.apps[OS_ID].data
            state = SystemState(data, cast(self.doc.world, self.doc.seed), frozenset({"timers"}))
            state.timers.remove(timer.id)
            part = replace(self.doc.apps[OS_ID], data=state.commit())
            self.doc = navigation.with_part(self.doc, OS_ID, part)
            self._note(diff_data(OS_ID, data, part.data), "system")
            clock = max(self.doc.clock_ms, timer.due_s * 1000)
            self.doc = replace(self.doc, clock_ms=clock)
            call = Call(app=timer.app, action=timer.action, args=timer.args)
            self._dispatch(call, "system")
        self.doc = replace(self.doc, clock_ms=target)

    # ---- gestures --------------------------------------------------------------------------

    def tap(self, x: float, y: float, *, hold_ms: int = 0) -> Effect:
        """Touch a point; held for half a second it is a long press."""
        node = self.screen.hit(x, y)
        where = f"{round(x)},{round(y)}"
        if node is None:
            return _nothing(f"tap {where}", "there is nothing to touch at this point")
        named = f"tap {where} on {node.label!r}" if node.label else f"tap {where}"
        if hold_ms >= LONG_PRESS_MS:
            named = named.replace("tap", "long press", 1)
            if node.long is None:
                return _nothing(named, "a long press does nothing here")
            return self.perform(node.long, named)
        if not node.enabled:
            return refused("disabled", named, "it is disabled")
        if node.place is not None:
            return self.perform(node.place(_share(node, x)), named)
        if node.do is None:
            return _nothing(named, "a tap does nothing here")
        return self.perform(node.do, named)

    def double_tap(self, x: float, y: float) -> Effect:
        """Touch a point twice; where nothing waits for that, it is two taps."""
        node = self.screen.hit(x, y)
        if node is not None and node.double is not None:
            return self.perform(node.double, f"double tap on {node.label!r}")
        first = self.tap(x, y)
        self._leave_lost_pages()
        return self.tap(x, y) if first.ok else first

    def swipe(self, x0: float, y0: float, x1: float, y1: float) -> Effect:
        """Move a finger: pull the shade, set a slider, turn a page, or scroll."""
        dx, dy = x1 - x0, y1 - y0
        named = f"swipe {round(x0)},{round(y0)} to {round(x1)},{round(y1)}"
        node = self.screen.hit(x0, y0)
        if y0 < STATUS_PX and dy > 80 and self.doc.overlay is None:
            return self.perform(Overlay(path="/shade"), named)
        if node is not None and node.place is not None and abs(dx) >= abs(dy):
            return self.perform(node.place(_share(node, x1)), named)
        if abs(dx) > abs(dy):
            found = self._sideways(x0, y0, left=dx < 0)
            return self.perform(found, named) if found else _nothing(named, "nothing moves")
        return self._scroll_by(-dy, named)

    def _sideways(self, x: float, y: float, *, left: bool) -> Do | None:
        for node in reversed(self.screen.nodes):
            if node.box.holds(x, y):
                found = node.swipe_left if left else node.swipe_right
                if found is not None or node.blocks:
                    return found
        return None

    def scroll(self, direction: str, screens: float) -> Effect:
        """Bring content from a direction into view, by heights of the scrolling part."""
        named = f"scroll {direction} by {screens:g} screens"
        if direction in ("left", "right"):
            box = self.screen.region.box
            x, y = box.center
            found = self._sideways(x, y, left=direction == "right")
            return self.perform(found, named) if found else _nothing(named, "nothing moves")
        distance = screens * self.screen.region.box.h
        return self._scroll_by(distance if direction == "down" else -distance, named)

    def _scroll_by(self, content_px: float, named: str) -> Effect:
        region = self.screen.region
        upside_down = self._is_from_bottom()
        delta = round(-content_px if upside_down else content_px)
        offset = min(max(0, region.offset_px + delta), region.max_px)
        if offset == region.offset_px:
            return _nothing(named, "there is no more to scroll")
        self.doc = navigation.scroll(self.doc, offset)
        return Effect(ok=True, executed=named)

    def _is_from_bottom(self) -> bool:
        from screenloop.phone.device.screen import view_of

        if self.doc.overlay is not None:
            return False
        view = view_of(self.doc, self.apps, self.doc.front, self.doc.page)
        return bool(getattr(view, "from_bottom", False))

    def pinch(self, x: float, y: float, scale: float) -> Effect:
        """Zoom where a picture waits for it."""
        node = self.screen.hit(x, y)
        if node is not None and node.pinch is not None:
            return self.perform(node.pinch(scale), f"pinch {scale:g} on {node.label!r}")
        return _nothing(f"pinch {scale:g}", "nothing can be zoomed here")

    # ---- text and keys ---------------------------------------------------------------------

    def type_text(self, text: str, *, clear: bool = False, submit: bool = False) -> Effect:
        """Put text into the focused field, as if pasted by a keyboard."""
        name = self.doc.focus
        if not name:
            why = "no text field is focused; tap one first or give a point"
            return refused("no_focus", "type", why)
        old = "" if clear else str(self.doc.page.locals.get(name, ""))
        field = self.screen.field(name)
        if field is not None and not field.multiline:
            text = text.replace("\n", " ")
        new = old + text
        if len(new) > MAX_TEXT:
            return refused("too_long", "type", f"a field holds {MAX_TEXT} characters")
        self.doc = navigation.set_locals(self.doc, {name: new})
        effect = Effect(ok=True, executed=f"type {text[:40]!r} into {name}")
        return self.press("enter") if submit else effect

    def press(self, key: str) -> Effect:
        """Press one key: of the soft keyboard, or back, home, recents, volume, power."""
        named = f"key {key}"
        if key in ("back", "home", "recents"):
            keys: dict[str, Do] = {
                "back": Back(),
                "home": OpenApp(app=OS_ID),
                "recents": Overlay(path="/recents"),
            }
            return self.perform(keys[key], named)
        if key in ("volume_up", "volume_down"):
            step = 10 if key == "volume_up" else -10
            volume = min(100, max(0, self.system.media_volume + step))
            return self.perform(
                Call(app=OS_ID, action="volume.set", args={"name": "media", "level": volume}), named
            )
        return self._press_soft(key, named)

    def _press_soft(self, key: str, named: str) -> Effect:
        name = self.doc.focus
        if key in ("shift", "symbols"):
            layout = {"shift": "capitals", "symbols": "symbols"}[key]
            now = "letters" if self.doc.keyboard == layout else layout
            self.doc = replace(self.doc, keyboard=now)
            return Effect(ok=True, executed=named)
        if not name:
            return refused("no_focus", named, "no text field is focused")
        if key == "enter":
            return self._enter(named)
        text = str(self.doc.page.locals.get(name, ""))
        if key == "backspace":
            text = text[:-1]
        elif key == "space" or len(key) == 1:
            text += " " if key == "space" else key
        else:
            return _nothing(named, "this key does nothing here")
        self.doc = navigation.set_locals(self.doc, {name: text})
        if self.doc.keyboard == "capitals":
            self.doc = replace(self.doc, keyboard="letters")
        return Effect(ok=True, executed=named)

    def _enter(self, named: str) -> Effect:
        node = self.screen.field(self.doc.focus)
        if node is not None and node.multiline:
            text = str(self.doc.page.locals.get(node.field, ""))
            self.doc = navigation.set_locals(self.doc, {node.field: text + "\n"})
            return Effect(ok=True, executed=named)
        self.doc = replace(self.doc, focus="", keyboard="letters")
        if node is not None and node.submit is not None:
            return self.perform(node.submit, named)
        return Effect(ok=True, executed=named)

    def open(self, name: str) -> Effect:
        """Bring an app to the front by id or title."""
        folded = name.strip().casefold()
        for app in self.apps.values():
            if folded in (app.id, app.title[0].casefold(), app.title[1].casefold()):
                return self.perform(OpenApp(app=app.id), f"open {app.id}")
        known = ", ".join(sorted(app.title[0] for app in self.apps.values() if app.id != OS_ID))
        why = f"no app is called {name!r}; the apps are {known}"
        return refused("unknown_app", f"open {name!r}", why)

    # ---- carrying out ----------------------------------------------------------------------

    def perform(self, do: Do, named: str = "") -> Effect:
        """Carry out one command."""
        executed = named or key_of(do)
        match do:
            case Call():
                outcome = self._dispatch(do, self._channel)
                if not outcome.ok:
                    self.doc = replace(self.doc, toast=outcome.message)
                    return refused(outcome.code, executed, outcome.message)
            case Both(first=first, then=then):
                effect = self.perform(first, executed)
                return self.perform(then, executed) if effect.ok else effect
            case Focus(field=field):
                self._focus(field)
            case Back():
                self._back()
            case Press(key=key):
                return self.press(key)
            case _:
                self._move(do)
        return Effect(ok=True, executed=executed)

    def _move(self, do: Do) -> None:
        match do:
            case Go():
                self.doc = navigation.go(self.doc, do)
            case OpenApp(app=app):
                self.doc = navigation.open_app(self.doc, app)
            case SetLocal(values=values):
                self.doc = navigation.set_locals(self.doc, values)
            case Overlay(path=path, locals=values):
                page = PageDoc(path=path, locals=values)
                self.doc = replace(self.doc, overlay=page, focus="", keyboard="letters")
            case PickMedia(local=local):
                self._pick(local)
            case Share(text=text, image=image):
                values = {"text": text, "image": image}
                self._move(Overlay(path="/share", locals=values))
            case Copy(text=text):
                self._dispatch(Call(app=OS_ID, action="clipboard.set", args={"text": text}), "gui")
                self.doc = replace(self.doc, toast=_copied(self.system.language))
            case Paste(field=field):
                self._focus(field)
                old = str(self.doc.page.locals.get(field, ""))
                self.doc = navigation.set_locals(self.doc, {field: old + self.system.clipboard})
            case _:
                raise EnvironmentFault(f"a device cannot carry out {do!r}")

    def _pick(self, local: str) -> None:
        app = self.doc.front
        granted = self.system.permissions.first(lambda p: p.app == app and p.name == "photos")
        path = "/pick" if granted is not None and granted.granted else "/permission"
        values = {"app": app, "name": "photos", "local": local}
        self._move(Overlay(path=path, locals=values))

    def _focus(self, field: str) -> None:
        node = self.screen.field(field)
        if node is None:
            return
        was = self.doc.page.locals
        self.doc = replace(self.doc, focus=field, keyboard="letters")
        if field not in was:
            self.doc = navigation.set_locals(self.doc, {field: node.value})
        hidden_px = node.box.y + node.box.h - (SIZE_PX[1] - KEYBOARD_PX - 8)
        if hidden_px > 0 and not self._is_from_bottom():
            limit = self.screen.region.max_px
            offset = min(limit, self.screen.region.offset_px + hidden_px)
            self.doc = navigation.scroll(self.doc, offset)

    def _back(self) -> None:
        if not self.doc.focus and self._shows_what_is_there():
            for node in reversed(self.screen.nodes):
                if node.role == "dialog" and node.blocks and node.do is not None:
                    if isinstance(node.do, Back):
                        break
                    self.perform(node.do)
                    return
        self.doc = navigation.back(self.doc)

    def _dispatch(self, call: Call, channel: Channel) -> Outcome:
        outcome = dispatch(self.doc, self.apps, call, strict=self.strict)
        if not outcome.ok:
            if channel == "system":
                raise EnvironmentFault(
                    f"the timer {call.app}.{call.action} failed: {outcome.message}"
                )
            return outcome
        self.doc = outcome.doc
        if self.on_call is not None:
            self.on_call(call, channel, outcome)
        if outcome.toast:
            self.doc = replace(self.doc, toast=outcome.toast)
        self._note(outcome.rows, channel)
        if channel == "gui":
            for move in outcome.navigation:
                if isinstance(move, Back):
                    self.doc = navigation.leave_page(self.doc)
                else:
                    self._move(move)
        return outcome

    def _note(self, rows: tuple[DiffRow, ...], channel: Channel) -> None:
        """Log what changed, under the running action's id."""
        if rows:
            rows = tuple(replace(r, action_id=self._action_id, channel=channel) for r in rows)
            self._rows.extend(rows)
            self.log = Log(rows, self.log)

    def _shows_what_is_there(self) -> bool:
        """Whether the page in front can be drawn: the row it shows is not gone."""
        try:
            return bool(self.screen)
        except NoSuchRow:
            return False

    def _leave_lost_pages(self) -> None:
        """Leave pages whose row is gone: what a tool removed while its page was open."""
        while not self._shows_what_is_there():
            self.doc = navigation.leave_page(self.doc)

    # ---- tools -----------------------------------------------------------------------------

    def tool_names(self) -> tuple[str, ...]:
        """Return the tools that can be called now: those of the app in front."""
        return tuple(tool.name for tool in self.apps[self.doc.front].tools())

    def call_tool(self, name: str, args: dict[str, Any]) -> Effect:
        """Call a tool of the app in front."""
        executed = f"tool {name}"
        if name not in self.tool_names():
            tools = ", ".join(self.tool_names()) or "none"
            why = f"{name!r} is no tool of the app in front; its tools are {tools}"
            return refused("no_such_tool", executed, why)
        app_id, _, part = name.partition(".")
        if part in self.apps[app_id].queries:
            try:
                found = query(self.doc, self.apps, app_id, part, args)
            except (msgspec.ValidationError, NoSuchRow) as error:
                code = "no_such_row" if isinstance(error, NoSuchRow) else "bad_args"
                return refused(code, executed, str(error))
            return Effect(ok=True, result=found, executed=executed)
        outcome = self._dispatch(Call(app=app_id, action=part, args=args), "tool")
        if not outcome.ok:
            return refused(outcome.code, executed, outcome.message)
        return Effect(ok=True, executed=executed, result=outcome.toast or None)


def refused(code: str, executed: str, why: str) -> Effect:
    """Return the Effect of what was not done."""
    return Effect(ok=False, code=code, executed=executed, message=why)


def _nothing(executed: str, why: str) -> Effect:
    return refused("nothing_here", executed, why)


def _share(node: Node, x: float) -> float:
    return min(1.0, max(0.0, (x - node.box.x) / max(1, node.box.w - 1)))


def _copied(lang: str) -> str:
    return "已复制" if lang == "zh" else "Copied"
