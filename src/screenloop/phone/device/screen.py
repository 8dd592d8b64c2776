"""From a device's state to what is on its screen: one pure function, no renderer needed."""

from __future__ import annotations

from typing import Any

from screenloop.phone.commands import Back, Do, OpenApp, Overlay
from screenloop.phone.declare.app import App, Route
from screenloop.phone.declare.cast import cast
from screenloop.phone.declare.document import Doc, PageDoc
from screenloop.phone.declare.system import OS_ID, SystemState
from screenloop.phone.declare.view import Ui
from screenloop.phone.device.keyboard import draw_keyboard
from screenloop.phone.draw.canvas import Box, Canvas, Node, Words
from screenloop.phone.draw.page import Page, Region, Sheet, draw_page, draw_sheet
from screenloop.phone.draw.theme import KEYBOARD_PX, NAV_PX, STATUS_PX, theme
from screenloop.types import SizePx, Struct

SIZE_PX: SizePx = (412, 915)
"""The layout size of every phone; frames may be painted larger."""


class Screen(Struct, frozen=True, kw_only=True):
    """What can be seen and touched."""

    nodes: tuple[Node, ...]
    """From the bottom to the top."""
    region: Region
    """The part that scrolls."""
    route: str
    """`<app><route template>` of the page that takes touches."""
    html: str = ""
    """The flat list of boxes; empty when not painted."""
    images: tuple[str, ...] = ()
    """Keys of the images in it, see `images.image_bytes`."""
    dark: bool = False

    def hit(self, x: float, y: float) -> Node | None:
        """Return the topmost node at a point that takes touches, or `None`."""
        for node in reversed(self.nodes):
            if node.box.holds(x, y) and _takes_touches(node):
                return node
        return None

    def reachable(self) -> tuple[Node, ...]:
        """Return the nodes whose centre a touch would really reach."""
        takers = [node for node in self.nodes if _takes_touches(node)]
        found = []
        for number, node in enumerate(takers, start=1):
            x, y = node.box.center
            if not any(above.box.holds(x, y) for above in takers[number:]):
                found.append(node)
        return tuple(found)

    def field(self, name: str) -> Node | None:
        """Return the text field of this name, where it can be seen."""
        return next((n for n in reversed(self.nodes) if n.field == name), None)


def _takes_touches(node: Node) -> bool:
    """Whether a touch ends at a node, even if it does nothing there."""
    return bool(
        node.do
        or node.long
        or node.double
        or node.place
        or node.pinch
        or node.blocks
        or node.swipe_left
        or node.swipe_right
        or not node.enabled
    )


def view_of(doc: Doc, apps: dict[str, App[Any]], app_id: str, page: PageDoc) -> Page | Sheet:
    """Run a page function."""
    app = apps[app_id]
    people = cast(doc.world, doc.seed)
    route, slots = app.resolve(page.path)
    state = app.state(doc.apps[app_id].data, people)
    view: Page | Sheet = route.view(state, Ui(doc, page, people, app_id, apps), **slots)
    return view


def build_screen(
    doc: Doc, apps: dict[str, App[Any]], size_px: SizePx = SIZE_PX, *, paint: bool = True
) -> Screen:
    """Draw the whole screen of a device.

    Raises:
        NoSuchRow: the page in front shows a row that is gone; the device leaves such pages.
    """
    system = SystemState(doc.apps[OS_ID].data, cast(doc.world, doc.seed))
    front = apps[doc.front]
    d = Canvas(size_px, theme(front.tint, system.dark), system.language, paint=paint)
    route: Route[Any] = front.resolve(doc.apps[doc.front].page.path)[0]
    where = f"{doc.front}{route.template}"
    part = doc.apps[doc.front]
    page = view_of(doc, apps, doc.front, part.page)
    assert isinstance(page, Page), f"{where}: the page of an app in front must be a Page"
    keyboard_px = KEYBOARD_PX if doc.focus and doc.overlay is None else 0
    region = draw_page(
        d, page, depth=len(part.stack), scroll_px=part.page.scroll_px, keyboard_px=keyboard_px
    )
    d.flush()
    if page.dialog is not None:
        page.dialog.draw(d)
    if keyboard_px:
        node = next((n for n in d.nodes if n.field == doc.focus), None)
        draw_keyboard(d, doc.keyboard, node.keyboard if node else "text")
    if doc.overlay is not None:
        over = view_of(doc, apps, OS_ID, doc.overlay)
        where = f"{OS_ID}{apps[OS_ID].resolve(doc.overlay.path)[0].template}"
        if isinstance(over, Sheet):
            region = draw_sheet(d, over, scroll_px=doc.overlay.scroll_px)
        else:
            d.nodes.clear()  # it covers the whole screen: nothing below can be seen or touched
            region = draw_page(d, over, depth=1, scroll_px=doc.overlay.scroll_px, keyboard_px=0)
            if over.dialog is not None:
                over.dialog.draw(d)
    bare = isinstance(page, Page) and page.bare and doc.overlay is None
    _draw_status(d, doc, system, light=bare)
    if not keyboard_px:
        _draw_navigation(d, light=bare)
    if doc.toast:
        _draw_toast(d, doc.toast, keyboard_px)
    return Screen(
        nodes=tuple(d.nodes),
        region=region,
        route=where,
        html="".join(d.html),
        images=tuple(d.images),
        dark=d.theme.dark,
    )


def _draw_status(d: Canvas, doc: Doc, system: SystemState, *, light: bool) -> None:
    w = d.size_px[0]
    d.limit(0, d.size_px[1])
    color = "#ffffff" if light else d.theme.ink
    if not light:
        d.box(0, 0, w, STATUS_PX, d.theme.bg)
    clock = f"{doc.now_s // 3600 % 24:02d}:{doc.now_s // 60 % 60:02d}"
    d.text(clock, 18, 5, 60, 14, color, line_px=22, bold=True)
    icons = ["battery"]
    if system.airplane:
        icons.append("airplane")
    else:
        icons += ["signal"] * system.mobile_data
    icons += ["wifi"] * system.wifi
    icons += ["bluetooth"] * system.bluetooth
    icons += ["bell_off"] * system.do_not_disturb
    x = w - 30
    for name in icons:
        d.icon(name, x, 8, 16, color)
        x -= 20
    if len(system.notifications):
        d.box(66, 14, 6, 6, d.theme.tint if not light else "#ffffff", radius=3)
    label = f"{clock}, {', '.join(reversed(icons))}, {len(system.notifications)} notifications"
    opens = None if doc.overlay is not None else Overlay(path="/shade")
    d.node(Node("button", label, Box(0, 0, w, STATUS_PX), do=opens, blocks=True))


def _draw_navigation(d: Canvas, *, light: bool) -> None:
    w, screen_h = d.size_px
    top = screen_h - NAV_PX
    color = "#ffffff" if light else d.theme.muted
    if not light:
        d.box(0, top, w, NAV_PX, d.theme.surface)
    width = w // 3
    buttons: tuple[tuple[str, Words, Do], ...] = (
        ("back", ("Back", "返回"), Back()),
        ("home", ("Home", "主屏幕"), OpenApp(app=OS_ID)),
        ("recents", ("Recent apps", "最近任务"), Overlay(path="/recents")),
    )
    for number, (icon, label, do) in enumerate(buttons):
        x = number * width
        d.icon(icon, x + width // 2 - 10, top + 12, 20, color)
        box = Box(x, top, width, NAV_PX)
        d.node(Node("button", d.words(label), box, do=do, blocks=True))


def _draw_toast(d: Canvas, words: str, keyboard_px: int) -> None:
    w, screen_h = d.size_px
    top = screen_h - max(keyboard_px, NAV_PX) - 64
    d.box(24, top, w - 48, 46, "#2b2e34", radius=12)
    d.text(words, 40, top, w - 80, 14, "#ffffff", line_px=46)
