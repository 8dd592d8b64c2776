"""The live phone: one device as a web page that a person uses with mouse and keyboard.

The browser only paints and reports pointers and keys; the state machine stays here. Everything the
page says comes over one websocket: the screen's HTML, what the touch did, what changed.
"""

from __future__ import annotations

import asyncio
from importlib.resources import files
from typing import Literal

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from screenloop.errors import ScreenloopError
from screenloop.phone.device.boot import new_device, patched
from screenloop.phone.device.device import Device, Snapshot, refused
from screenloop.phone.draw.fonts import font_files
from screenloop.phone.draw.images import image_bytes
from screenloop.phone.show.render import STYLE, body_html, font_css
from screenloop.types import DiffRow, Effect, Struct

Side = Literal["reset", "keep", "restore", "language", "theme"]
MAX_WAITING = 64
"""Updates kept for a page that reads slowly; the oldest is dropped, each shows all there is."""
Waiting = asyncio.Queue[bytes]


class PointerPress(Struct, frozen=True, kw_only=True, tag="tap", tag_field="type"):
    """A press of the pointer, in layout pixels."""

    x: float
    y: float
    hold_ms: int = 0


class Drag(Struct, frozen=True, kw_only=True, tag="swipe", tag_field="type"):
    """A move of the pressed pointer."""

    x0: float
    y0: float
    x1: float
    y1: float


class Wheel(Struct, frozen=True, kw_only=True, tag="wheel", tag_field="type"):
    """The mouse wheel, in layout pixels of content."""

    x: float
    y: float
    dy: float


class KeyDown(Struct, frozen=True, kw_only=True, tag="key", tag_field="type"):
    """A key: back, home, recents, enter, backspace."""

    name: Literal["back", "home", "recents", "enter", "backspace"]


class TypedText(Struct, frozen=True, kw_only=True, tag="text", tag_field="type"):
    """Typed or pasted characters."""

    text: str


class Command(Struct, frozen=True, kw_only=True, tag="command", tag_field="type"):
    """A button beside the phone."""

    name: Side


Event = PointerPress | Drag | Wheel | KeyDown | TypedText | Command


class Update(Struct, frozen=True, kw_only=True):
    """What the page is told after each event."""

    html: str
    route: str
    clock: str
    effect: Effect | None = None
    changes: tuple[DiffRow, ...] = ()
    nodes: int = 0
    kept: bool = False


class LivePhone:
    """The device behind the page; every open page shows the same one."""

    def __init__(self, world: str = "default", seed: int = 0) -> None:
        self.world = world
        self.seed = seed
        self.device: Device = new_device(world, seed)
        self.kept: Snapshot | None = None
        self.pages: set[Waiting] = set()

    def show(self, effect: Effect | None = None, changes: tuple[DiffRow, ...] = ()) -> Update:
        """Return what can be seen now."""
        screen = self.device.painted()
        seconds = self.device.doc.now_s
        return Update(
            html=body_html(screen, "image/"),
            route=screen.route,
            effect=effect,
            changes=changes,
            clock=f"{seconds // 3600 % 24:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}",
            nodes=len(screen.nodes),
            kept=self.kept is not None,
        )

    def handle(self, event: Event) -> Update:
        """Carry out one event; a fault of an app is told and leaves the phone as it was."""
        if isinstance(event, Command):
            return self._command(event.name)
        before = self.device.snapshot()
        try:
            return self._touch(event)
        except ScreenloopError as error:
            self.device.restore(before)
            return self.show(refused("fault", "", str(error)))

    def _touch(self, event: PointerPress | Drag | Wheel | KeyDown | TypedText) -> Update:
        device = self.device
        device.begin("live")
        match event:
            case PointerPress(x=x, y=y, hold_ms=hold_ms):
                effect = device.tap(x, y, hold_ms=hold_ms)
            case Drag():
                effect = device.swipe(event.x0, event.y0, event.x1, event.y1)
            case Wheel(dy=dy):
                height = device.screen.region.box.h
                screens = max(0.01, abs(dy) / max(1, height))
                effect = device.scroll("down" if dy > 0 else "up", screens)
            case KeyDown(name=name):
                effect = device.press(name)
            case TypedText(text=text):
                effect = device.type_text(text)
        return self.show(effect, device.end())

    def _command(self, name: Side) -> Update:
        match name:
            case "reset":
                self.device = new_device(self.world, self.seed)
            case "keep":
                self.kept = self.device.snapshot()
            case "restore":
                if self.kept is None:
                    return self.show(refused("no_state", "", "no state has been kept yet"))
                self.device.restore(self.kept)
            case "language" | "theme":
                return self._switch(name)
        return self.show(Effect(ok=True, executed=name))

    def _switch(self, name: Side) -> Update:
        system = self.device.system
        value: object = not system.dark
        if name == "language":
            value = "zh" if system.language == "en" else "en"
        field = {"language": "language", "theme": "dark"}[name]
        patch = {"app": "os", "op": "set", "field": field, "value": value}
        self.device.doc = patched(self.device.doc, (patch,))
        return self.show(Effect(ok=True, executed=name))

    # ---- pages -----------------------------------------------------------------------------

    def join(self) -> Waiting:
        """Add a page; it is shown the screen first."""
        waiting: Waiting = asyncio.Queue(MAX_WAITING)
        self.pages.add(waiting)
        _put(waiting, self.show())
        return waiting

    def leave(self, waiting: Waiting) -> None:
        """Forget a page that was closed."""
        self.pages.discard(waiting)

    def hear(self, raw: str | bytes, speaker: Waiting) -> None:
        """Carry out what a page sent and show every page; nonsense is answered and does nothing."""
        try:
            event = _DECODER.decode(raw)
        except (msgspec.DecodeError, UnicodeError) as error:
            _put(speaker, self.show(refused("bad_event", "", str(error))))
            return
        update = self.handle(event)
        for waiting in self.pages:
            _put(waiting, update)


def _put(waiting: Waiting, update: Update) -> None:
    if waiting.full():
        waiting.get_nowait()
    waiting.put_nowait(msgspec.json.encode(update))


async def _show_updates(socket: WebSocket, waiting: Waiting) -> None:
    while True:
        await socket.send_bytes(await waiting.get())


async def _hear_events(socket: WebSocket, phone: LivePhone, waiting: Waiting) -> None:
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return
        phone.hear(message.get("text") or message.get("bytes") or "", waiting)


_DECODER: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)


def make_app(phone: LivePhone) -> Starlette:
    """Return the web application of a live phone."""

    async def index(request: Request) -> Response:
        page = (files("screenloop.phone") / "assets" / "live.html").read_text("utf-8")
        rules = font_css(lambda f: f"font/{f.name}") + STYLE
        return HTMLResponse(page.replace("/*STYLE*/", rules))

    async def image(request: Request) -> Response:
        try:
            data = image_bytes(request.path_params["key"])
        except (ScreenloopError, ValueError) as error:
            return PlainTextResponse(str(error), status_code=404)
        return Response(data, media_type="image/svg+xml", headers=_FOREVER)

    async def font(request: Request) -> Response:
        for file in font_files():
            if file.name == request.path_params["name"]:
                return Response(file.data, media_type="font/otf", headers=_FOREVER)
        return PlainTextResponse("no such font", status_code=404)

    async def live(socket: WebSocket) -> None:
        await socket.accept()
        waiting = phone.join()
        showing = asyncio.create_task(_show_updates(socket, waiting))
        hearing = asyncio.create_task(_hear_events(socket, phone, waiting))
        try:
            await asyncio.wait((showing, hearing), return_when=asyncio.FIRST_COMPLETED)
        finally:
            phone.leave(waiting)
            showing.cancel()
            hearing.cancel()
            ended = await asyncio.gather(showing, hearing, return_exceptions=True)
        for end in ended:
            # A page that is closed while it is being shown something is no failure.
            if isinstance(end, Exception) and not isinstance(end, WebSocketDisconnect):
                raise end

    return Starlette(
        routes=[
            Route("/", index),
            Route("/image/{key:path}", image),
            Route("/font/{name}", font),
            WebSocketRoute("/live", live),
        ]
    )


_FOREVER = {"Cache-Control": "public, max-age=86400, immutable"}
