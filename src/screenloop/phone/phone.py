"""Drive a mocked phone in ten lines: touch it, call its tools, fork it, see what changed.

>>> phone = Phone(seed=3)
>>> phone.tap("Notes").ok
True
>>> phone.tap("New note").executed
"tap 368,766 on 'New note'"
>>> phone.type("Milk, bread", into="Title").ok and phone.tap("Save").ok
True
>>> [(row.table, row.op, row.after["title"]) for row in phone.changes()]
[('notes', 'add', 'Milk, bread')]
>>> twin = phone.fork()
>>> twin.call("notes.notes.search", text="bread").result[0]["title"]
'Milk, bread'
>>> phone.save("milk.png")  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from screenloop import actions
from screenloop.actions import Action, Direction, KeyName, Point
from screenloop.errors import ScreenloopError
from screenloop.phone.declare.app import App
from screenloop.phone.declare.document import business_data
from screenloop.phone.declare.flow_steps import Touch
from screenloop.phone.device.boot import new_device
from screenloop.phone.device.device import Device, Snapshot
from screenloop.phone.device.gestures import run_action, unit
from screenloop.phone.device.screen import SIZE_PX, Screen
from screenloop.phone.prove.flows import find_node
from screenloop.phone.show.render import paint, shared_native
from screenloop.types import DiffRow, Effect, SizePx, ToolSpec

Target = str | tuple[float, float]
"""What to touch: a label that the page shows, or a point in layout pixels (412x915)."""


class Phone:
    """A phone to drive by hand; every method that acts returns the Effect: what it did, or why not.

    A label is looked for on the whole page, which scrolls to it; where there is none, a `TaskError`
    says what the page offers. Whatever is raised leaves the phone as it was.
    """

    def __init__(
        self, world: str = "default", seed: int = 0, *, apps: Iterable[App[Any]] = ()
    ) -> None:
        """Start a phone in a world; `apps` are some of your own, beside the installed ones."""
        self.device: Device = new_device(world, seed, apps=apps)

    def act(self, action: Action) -> Effect:
        """Carry out any Action of a phone; its points are shares of the frame."""
        before = self.device.snapshot()
        try:
            return run_action(self.device, action, "by hand").effect
        except ScreenloopError:
            self.device.restore(before)
            raise

    def tap(self, target: Target, *, hold: bool = False) -> Effect:
        """Tap, or press long."""
        return self.act(actions.Tap(at=self._point(target, hold), hold_ms=600 if hold else 0))

    def type(self, text: str, *, into: str = "", submit: bool = False) -> Effect:
        """Type into the focused field, or replace what is in the field with the label `into`."""
        at = self._point(into) if into else None
        return self.act(actions.Type(text=text, at=at, clear=bool(into), submit=submit))

    def swipe(self, start: Target, end: tuple[float, float]) -> Effect:
        """Move a finger to a point."""
        return self.act(actions.Swipe(path=(self._point(start), unit(*end))))

    def scroll(self, direction: Direction = "down", screens: float = 0.7) -> Effect:
        """Bring content from a direction into view."""
        return self.act(actions.Scroll(direction=direction, screens=screens))

    def press(self, key: KeyName) -> Effect:
        """Press a key: back, home, recents, enter, ..."""
        return self.act(actions.Key(name=key))

    def open(self, app: str) -> Effect:
        """Bring an app to the front, by id or title."""
        return self.act(actions.Open(app=app))

    def wait(self, seconds: float) -> Effect:
        """Let time go by on the phone's own clock; alarms and timers that fall due run."""
        return self.act(actions.Wait(seconds=seconds))

    def call(self, tool: str, /, **args: Any) -> Effect:
        """Call an app's tool, e.g. `notes.notes.add`; the app comes to the front first."""
        app = tool.partition(".")[0]
        if app in self.device.apps and app != self.device.doc.front:
            self.open(app)
        return self.act(actions.Tool(name=tool, args=args))

    @property
    def screen(self) -> Screen:
        """The elements that can be seen (`nodes`: role, label, box, value), and the page's name."""
        return self.device.screen

    @property
    def labels(self) -> tuple[str, ...]:
        """The texts on the screen, from the bottom layer to the top one."""
        return tuple(node.label for node in self.screen.nodes if node.label)

    def frame(self, size_px: SizePx = SIZE_PX) -> bytes:
        """Return the screen as a PNG file."""
        return paint(shared_native(), self.device.painted(), size_px).encode("png")

    _repr_png_ = frame
    """A notebook shows a phone as its screen."""

    def save(self, path: str | Path) -> None:
        """Write the screen to a PNG file."""
        Path(path).write_bytes(self.frame())

    def tools(self, app: str = "") -> tuple[ToolSpec, ...]:
        """Return the tools of an app, by id; of the one in front when none is named."""
        return self.device.apps[app or self.device.doc.front].tools()

    @property
    def data(self) -> dict[str, Any]:
        """What all apps keep, as plain JSON values: `data["notes"]["notes"]["note1"]["title"]`."""
        return business_data(self.device.doc)

    def changes(self) -> tuple[DiffRow, ...]:
        """Return what changed in the apps' data since the start, the oldest first."""
        return self.device.changes()

    def snapshot(self) -> Snapshot:
        """Keep the state; costs two references."""
        return self.device.snapshot()

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a kept state."""
        self.device.restore(snapshot)

    def fork(self) -> Phone:
        """Return another phone in the same state; neither sees the other from now on."""
        twin = Phone.__new__(type(self))
        twin.device = self.device.fork()
        return twin

    def _point(self, target: Target, hold: bool = False) -> Point:
        if not isinstance(target, str):
            return unit(*target)
        twin = self.device.fork()
        node = find_node(twin, Touch(label=target, hold=hold))
        self.device.restore(twin.snapshot())
        return unit(*node.box.center)
