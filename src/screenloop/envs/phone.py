"""The mocked phone as an Environment: touches in, frames out, business state as evidence."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import msgspec

from screenloop.actions import Action, Pointed, Tap, Tool, Wait, tag_of
from screenloop.errors import ConfigError, EnvironmentFault, StaleFrame, UnsupportedAction
from screenloop.phone.declare.document import Doc, scene_hash, state_hash
from screenloop.phone.declare.state import AppData, diff_data
from screenloop.phone.declare.system import OS_ID
from screenloop.phone.device.boot import installed, new_device
from screenloop.phone.device.device import Device, Snapshot, refused
from screenloop.phone.device.gestures import GESTURES, act
from screenloop.phone.device.screen import SIZE_PX, Screen
from screenloop.phone.draw.canvas import Node
from screenloop.phone.show.render import NativeRenderer, Renderer
from screenloop.store.blobs import BlobStore
from screenloop.types import (
    BlobKey,
    DiffRow,
    Effect,
    EnvRef,
    EnvSpec,
    Evidence,
    Mode,
    Observation,
    SizePx,
    SnapshotKey,
    Start,
    StepResult,
    Struct,
    Want,
)

_DATA_ENTRIES = 256


class Codec(Struct, frozen=True, kw_only=True):
    """How frames are stored."""

    name: str = "jpeg"
    quality: int = 90


class FrameCache:
    """What groups of attempts have in common, since they start alike.

    Frames already painted, by what was painted; apps' data as plain values, by their digest.
    """

    def __init__(self, entries: int = 4096) -> None:
        self.entries = entries
        self.hits = 0
        self._keys: OrderedDict[str, BlobKey] = OrderedDict()
        self._data: OrderedDict[str, Any] = OrderedDict()

    def data_of(self, data: AppData) -> Any:
        """Return an app's data as plain JSON values (a tuple is a list), shared: do not change."""
        key = data.digest
        found = self._data.get(key)
        if found is None:
            found = msgspec.json.decode(msgspec.json.encode(data.builtins()))
            self._data[key] = found
            if len(self._data) > _DATA_ENTRIES:
                self._data.popitem(last=False)
        else:
            self._data.move_to_end(key)
        return found

    def get(self, drawn: str) -> BlobKey | None:
        key = self._keys.get(drawn)
        if key is not None:
            self.hits += 1
            self._keys.move_to_end(drawn)
        return key

    def put(self, drawn: str, key: BlobKey) -> None:
        if self.entries == 0:
            return
        self._keys[drawn] = key
        if len(self._keys) > self.entries:
            self._keys.popitem(last=False)


@lru_cache(maxsize=8)
def phone_spec(size_px: SizePx) -> EnvSpec:
    """Return what every phone of a size can do."""
    apps = [a for a in installed().values() if a.id != OS_ID]
    return EnvSpec(
        kind="phone",
        surface="mobile",
        size_px=size_px,
        actions=frozenset(tag_of(a) for a in (*GESTURES, Tool)),
        wants=frozenset({"frame", "tree", "text"}),
        can_fork=True,
        apps=tuple(a.title[0] for a in apps),
        tools=tuple(tool for a in apps for tool in a.tools()),
    )


class PhoneEnvironment:
    """One mocked phone."""

    def __init__(
        self,
        env: EnvRef,
        blobs: BlobStore,
        *,
        renderer: Renderer | None = None,
        cache: FrameCache | None = None,
        codec: Codec | None = None,
        quantum_ms: int = 1000,
        want: Sequence[Want] = ("frame",),
    ) -> None:
        width, height = env.size_px
        if width < 1 or abs(height * SIZE_PX[0] / (width * SIZE_PX[1]) - 1) > 0.002:
            raise ConfigError(
                f"a phone cannot be {width}x{height}: its frames have the proportions of "
                f"{SIZE_PX[0]}x{SIZE_PX[1]}, for example 412x915 or 1080x2400"
            )
        self.spec = phone_spec(env.size_px)
        self._blobs = blobs
        self._renderer: Renderer = renderer or NativeRenderer()
        self._cache = cache if cache is not None else FrameCache()
        self._codec = codec or Codec()
        self._quantum_ms = quantum_ms
        self._want = tuple(want)
        self._device: Device | None = None
        self._first: Doc | None = None
        self._mode: Mode = "gui_only"
        self._frame: BlobKey | None = None
        self._kept: dict[SnapshotKey, tuple[Snapshot, Doc, Mode]] = {}

    # ---- the contract ----------------------------------------------------------------------

    async def reset(
        self, start: Start | SnapshotKey, *, deadline_s: float, want: Sequence[Want] | None = None
    ) -> Observation:
        if isinstance(start, str):
            if start not in self._kept:
                raise EnvironmentFault(f"this phone keeps no snapshot {start!r}")
            kept, self._first, self._mode = self._kept[start]
            device = Device(installed(), kept.doc, quantum_ms=self._quantum_ms)
            device.restore(kept)
            self._device = device
        else:
            world = start.task.world
            self._device = new_device(
                world.name, world.seed, world.patches, quantum_ms=self._quantum_ms
            )
            self._first = self._device.doc
            self._mode = start.mode
        want = self._want if want is None else want
        self._device.paints = "frame" in want
        return await self.observe(want, deadline_s=deadline_s)

    async def observe(self, want: Sequence[Want] = ("frame",), *, deadline_s: float) -> Observation:
        device = self._running()
        frame = tree = text = None
        if "frame" in want:
            screen = device.painted()
            frame = await self._paint(screen)
            self._frame = frame
        if "tree" in want:
            tree = self._blobs.put(msgspec.json.encode(tree_of(device.screen)), "json")
        if "text" in want:
            words = "\n".join(n.label for n in device.screen.nodes if n.label)
            text = self._blobs.put(words.encode(), "txt")
        return Observation(
            frame=frame,
            tree=tree,
            text=text,
            size_px=self.spec.size_px,
            app=device.doc.front,
            tools=device.tool_names() if self._mode == "hybrid" else (),
            clock_s=device.doc.clock_ms / 1000,
            state_hash=state_hash(device.doc),
            scene_hash=scene_hash(device.doc),
        )

    async def step(self, action: Action, *, action_id: str, deadline_s: float) -> StepResult:
        device = self._running()
        self._check(action)
        device.begin(action_id, "tool" if isinstance(action, Tool) else "gui")
        effect = _impossible(action) or act(device, action)
        extra_ms = round(action.seconds * 1000) if isinstance(action, Wait) else 0
        rows = device.end(extra_ms=extra_ms)
        observation = await self.observe(self._want, deadline_s=deadline_s)
        return StepResult(effect=effect, observation=observation, changes=rows)

    async def evidence(self, *, deadline_s: float) -> Evidence:
        device = self._running()
        assert self._first is not None
        diff = net_diff(self._first, device)
        return Evidence(
            before=self._plain(self._first),
            after=self._plain(device.doc),
            diff=msgspec.json.decode(msgspec.json.encode(diff), type=tuple[DiffRow, ...]),
        )

    async def snapshot(self, *, deadline_s: float) -> SnapshotKey:
        device = self._running()
        assert self._first is not None
        key = f"snap-{len(self._kept)}"
        self._kept[key] = (device.snapshot(), self._first, self._mode)
        return key

    async def close(self) -> None:
        self._device = None
        self._kept.clear()

    # ---- parts -----------------------------------------------------------------------------

    @property
    def device(self) -> Device:
        """The phone itself, for whoever owns the Environment (proof, live page, benches)."""
        return self._running()

    def _plain(self, doc: Doc) -> dict[str, Any]:
        """Return the business state as plain JSON values, as a remote host would send them.

        Apps whose data are the same data share one value: before and after, and from one attempt
        at a task to the next.
        """
        return {app: self._cache.data_of(part.data) for app, part in doc.apps.items()}

    def _running(self) -> Device:
        if self._device is None:
            raise EnvironmentFault("the phone has not been reset yet, or is closed")
        return self._device

    def _check(self, action: Action) -> None:
        if tag_of(action) not in self.spec.actions:
            raise UnsupportedAction(
                f"a phone does not execute {tag_of(action)!r}; it executes "
                f"{', '.join(sorted(self.spec.actions))}"
            )
        if isinstance(action, Tool) and self._mode == "gui_only":
            raise UnsupportedAction("tools are not callable in mode gui_only; use the screen")
        if isinstance(action, Pointed) and action.frame not in (None, self._frame):
            raise StaleFrame(
                f"the coordinates of {tag_of(action)!r} refer to frame {action.frame}, but the "
                f"screen is {self._frame}; observe again"
            )

    async def _paint(self, screen: Screen) -> BlobKey:
        drawn = hashlib.sha256(
            f"{self.spec.size_px}{self._codec}{screen.html}".encode()
        ).hexdigest()
        key = self._cache.get(drawn)
        if key is None:
            frame = await self._renderer.render(screen, self.spec.size_px)
            suffix = "jpg" if self._codec.name == "jpeg" else "png"
            key = self._blobs.put(frame.encode(self._codec.name, self._codec.quality), suffix)
            self._cache.put(drawn, key)
        return key


class PhoneEnvironments:
    """Opens phones that share one frame cache."""

    def __init__(self, blobs: BlobStore, *, want: Sequence[Want] = ("frame",)) -> None:
        """Prepare.

        Args:
            blobs: Where frames and trees go.
            want: What `reset` and `step` show; a policy that reads the tree needs no frame painted.
        """
        self._blobs = blobs
        self._want = tuple(want)
        self._cache = FrameCache()

    async def open(self, env: EnvRef) -> PhoneEnvironment:
        return PhoneEnvironment(env, self._blobs, cache=self._cache, want=self._want)

    async def close(self) -> None:
        """Phones hold nothing outside the process."""


def _impossible(action: Action) -> Effect | None:
    """Return why no finger can do this, for touches that the wire form allows."""
    match action:
        case Tap(button=button) if button != "left":
            why = f"a phone has no {button} button; tap without one, or hold"
            return refused("no_such_button", f"{button} tap", why)
        case Tap(count=3):
            why = "a phone knows single and double taps, not triple ones"
            return refused("no_such_touch", "triple tap", why)
        case _:
            return None


def net_diff(first: Doc, device: Device) -> tuple[DiffRow, ...]:
    """Return what differs from the first state, each row with the last action that touched it."""
    touched: dict[tuple[str, str, str, str], DiffRow] = {}
    for row in device.changes():
        touched[row.app, row.table, row.id, row.field] = row
        touched[row.app, row.table, row.id, ""] = row
    found: list[DiffRow] = []
    for app_id, part in device.doc.apps.items():
        for row in diff_data(app_id, first.apps[app_id].data, part.data):
            last = touched.get((row.app, row.table, row.id, row.field))
            if last is not None:
                row = msgspec.structs.replace(row, action_id=last.action_id, channel=last.channel)
            found.append(row)
    return tuple(found)


def tree_of(screen: Screen) -> dict[str, Any]:
    """Return the accessibility tree: what can be read and touched, in layout pixels."""
    return {
        "size_px": list(SIZE_PX),
        "page": screen.route,
        "nodes": [_leaf(node) for node in screen.nodes if node.label or node.do],
    }


def _leaf(node: Node) -> dict[str, Any]:
    leaf: dict[str, Any] = {
        "role": node.role,
        "label": node.label,
        "box": [node.box.x, node.box.y, node.box.w, node.box.h],
    }
    touches = {
        "tap": node.do,
        "long_press": node.long,
        "double_tap": node.double,
        "slide": node.place,
    }
    can = [name for name, do in touches.items() if do is not None]
    facts = (
        ("value", node.value),
        ("checked", node.checked),
        ("selected", node.selected),
        ("field", node.field),
        ("can", can),
    )
    leaf.update(
        {name: value for name, value in facts if value or (value is False and name == "checked")}
    )
    if not node.enabled:
        leaf["enabled"] = False
    return leaf
