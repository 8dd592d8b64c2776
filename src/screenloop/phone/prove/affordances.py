"""What the page in front offers to a finger, scrolled-away parts included."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from screenloop.errors import ConfigError
from screenloop.phone.commands import Both, Do, Go, OpenApp, calls_in, key_of
from screenloop.phone.device.device import Apps, Device
from screenloop.phone.device.screen import SIZE_PX, Screen, build_screen, view_of
from screenloop.phone.draw.canvas import Node
from screenloop.phone.draw.page import Region
from screenloop.phone.draw.theme import NAV_PX, STATUS_PX
from screenloop.types import Effect, Struct

SCROLL_SCREENS = 0.8
"""How far one scroll goes here, in heights of the scrolling part."""
MAX_SCROLLS = 60
Gesture = Literal["tap", "hold", "double", "swipe_left", "swipe_right", "place", "pinch", "submit"]


class Affordance(Struct, frozen=True, kw_only=True):
    """One touch that the page in front offers."""

    gesture: Gesture
    do: Do
    """What it does; of a slider, what it does in the middle of its track."""
    node: Node
    scroll: Literal["", "up", "down"] = ""
    """Where to scroll first; empty when it can be reached now."""
    scrolls: int = 0
    """How many scrolls of SCROLL_SCREENS that takes, about."""
    chrome: bool = False
    """Belongs to the system's bars, not to the page."""

    def key(self, apps: Apps) -> str:
        """Return the widget key template; gestures other than a tap are part of it."""
        key = template_key(self.do, apps)
        return key if self.gesture in ("tap", "place") else f"{self.gesture}:{key}"


def template_key(do: Do, apps: Apps) -> str:
    """Return the template of a Do, with the routes and apps that it leads to."""
    match do:
        case Both(first=first, then=then):
            return f"{template_key(first, apps)}>{template_key(then, apps)}"
        case Go(app=app, path=path):
            return f"go:{app}{apps[app].resolve(path)[0].template}"
        case OpenApp(app=app):
            return f"open:{app}"
        case _:
            return key_of(do)


def broken_link(do: Do, apps: Apps) -> str:
    """Return what is wrong with where a touch leads, or an empty text."""
    for part in calls_in(do):
        if isinstance(part, Go):
            try:
                apps[part.app].resolve(part.path)
            except ConfigError as error:
                return str(error)
    return ""


def is_chrome(node: Node) -> bool:
    """Whether a node belongs to the status bar, the navigation bar or the keyboard."""
    if node.role == "key":
        return True
    box = node.box
    return (box.y == 0 and box.h == STATUS_PX) or box.y >= SIZE_PX[1] - NAV_PX


def identity(node: Node) -> tuple[str, ...]:
    """Return what tells a node from the others of its page, wherever it is scrolled."""
    return node.role, node.label, node.field, str(node.box.x), repr(node.do), repr(node.long)


def whole_page(device: Device) -> Screen:
    """Return the screen as if it were tall enough to need no scrolling."""
    screen = device.screen
    if not screen.region.max_px:
        return screen
    tall = (SIZE_PX[0], SIZE_PX[1] + screen.region.max_px)
    return build_screen(device.doc, device.apps, tall, paint=False)


def affordances_of(device: Device) -> list[Affordance]:
    """Return all touches that the page in front offers, keys of the keyboard left out."""
    screen = device.screen
    found: list[Affordance] = []
    known = set()
    for node in screen.reachable():
        if node.role == "key":
            continue
        known.add(identity(node))
        found.extend(_of_node(node, chrome=is_chrome(node)))
    if not screen.region.max_px:
        return found
    tall = whole_page(device)
    top = _top_px(device, screen.region)
    step = SCROLL_SCREENS * screen.region.box.h
    for node in tall.reachable():
        if node.role == "key" or identity(node) in known:
            continue
        y = node.box.y - tall.region.box.y
        if not 0 <= y < tall.region.box.h:
            continue
        above = y < top
        away = top - y if above else y + node.box.h - top - screen.region.box.h
        found.extend(
            _of_node(node, scroll="up" if above else "down", scrolls=max(1, -int(-away // step)))
        )
    return found


def _top_px(device: Device, region: Region) -> int:
    """Return how much of the content lies above the visible part."""
    doc = device.doc
    if doc.overlay is None:
        view = view_of(doc, device.apps, doc.front, doc.page)
        if getattr(view, "from_bottom", False):
            return region.max_px - region.offset_px
    return region.offset_px


def _of_node(
    node: Node, *, scroll: Literal["", "up", "down"] = "", scrolls: int = 0, chrome: bool = False
) -> list[Affordance]:
    parts: tuple[tuple[Gesture, Do | None], ...] = (
        ("tap", node.do if node.enabled else None),
        ("hold", node.long),
        ("double", node.double),
        ("swipe_left", node.swipe_left),
        ("swipe_right", node.swipe_right),
        ("place", node.place(0.5) if node.place and node.enabled else None),
        ("pinch", node.pinch(2.0) if node.pinch else None),
        ("submit", node.submit),
    )
    return [
        Affordance(gesture=gesture, do=do, node=node, scroll=scroll, scrolls=scrolls, chrome=chrome)
        for gesture, do in parts
        if do is not None
    ]


def scroll_to(
    device: Device, offer: Affordance, scroll: Callable[[], bool] | None = None
) -> tuple[Node, int] | None:
    """Scroll until a touch reaches the node; return it as it lies now, and how many scrolls.

    `scroll` makes one scroll and tells whether anything moved; by default no time passes.
    """
    target = identity(offer.node)
    for count in range(MAX_SCROLLS):
        for node in device.screen.reachable():
            if identity(node) == target:
                return node, count
        if not offer.scroll:
            return None
        if not (scroll() if scroll else device.scroll(offer.scroll, SCROLL_SCREENS).ok):
            return None
    return None


def touch(device: Device, gesture: Gesture, node: Node, *, share: float = 0.5) -> Effect:
    """Touch a node that lies in reach.

    Args:
        device: where.
        gesture: how.
        node: what, as it lies now.
        share: for a slider, where on its track.
    """
    x, y = node.box.center
    match gesture:
        case "hold":
            return device.tap(x, y, hold_ms=600)
        case "double":
            return device.double_tap(x, y)
        case "swipe_left":
            return device.swipe(x, y, max(0, x - 160), y)
        case "swipe_right":
            return device.swipe(x, y, min(SIZE_PX[0] - 1, x + 160), y)
        case "place":
            return device.tap(place_x(node, share), y)
        case "pinch":
            return device.pinch(x, y, 2.0)
        case "submit":
            device.tap(x, y)
            return device.press("enter")
        case _:
            return device.tap(x, y)


def place_x(node: Node, share: float) -> int:
    """Return the pixel of a share of a slider's track."""
    return node.box.x + round(share * (node.box.w - 1))
