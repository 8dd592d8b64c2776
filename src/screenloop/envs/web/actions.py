"""Carrying out one Action on a page with mouse, keyboard and the page's own clock."""

from __future__ import annotations

import itertools
import json
import math

from screenloop.actions import (
    Action,
    ActionBase,
    Hotkey,
    Hover,
    Key,
    Open,
    Point,
    Scroll,
    Swipe,
    Tap,
    Type,
    Wait,
)
from screenloop.browser.input import Keyboard, Mouse
from screenloop.browser.keys import named_key
from screenloop.browser.page import BrowserTab
from screenloop.envs.web.site import is_local_url
from screenloop.errors import EnvironmentFault
from screenloop.types import Effect

SUPPORTED: tuple[type[ActionBase], ...] = (Tap, Swipe, Scroll, Type, Key, Hotkey, Hover, Wait)
"""Always; `Open` besides where a site lets the agent navigate."""

_MOVES_PER_SWIPE = 16
_MOVES_PER_SEGMENT = 2
_LABEL_JS = """
((x, y) => {
  const e = document.elementFromPoint(x, y);
  if (!e) return "nothing";
  const text = (e.innerText || e.value || e.getAttribute("aria-label") || "").trim();
  return "<" + e.tagName.toLowerCase() + ">" + (text ? " '" + text.slice(0, 40) + "'" : "");
})
"""
_NO_WEB_KEY = frozenset({"home", "recents", "menu", "power", "volume_up", "volume_down"})


class PageHands:
    """Performs Actions on one page; the page's clock runs for as long as an Action lasts."""

    def __init__(self, page: BrowserTab, *, navigates: bool) -> None:
        self._page = page
        self._mouse = Mouse(page)
        self._keyboard = Keyboard(page)
        self._navigates = navigates
        self.clock_ms = 0.0
        """How long the page's clock has run."""

    async def advance(self, ms: float) -> None:
        await self._page.evaluate(f"__screenloop.advance({ms!r})")
        self.clock_ms += ms

    async def perform(self, action: Action) -> Effect:
        match action:
            case Tap():
                return await self._tap(action)
            case Swipe():
                return await self._swipe(action)
            case Scroll():
                return await self._scroll(action)
            case Hover():
                x, y = self._css(action.at)
                await self._mouse.move(x, y)
                return await self._did(f"hover {x:.0f},{y:.0f}", action.at)
            case Type():
                return await self._type(action)
            case Key():
                return await self._key(action)
            case Hotkey():
                return await self._hotkey(action)
            case Wait():
                await self.advance(1000 * action.seconds)
                return Effect(ok=True, executed=f"wait {action.seconds:g} s")
            case Open():
                return await self._open(action)
        raise EnvironmentFault(f"no hand for {type(action).__name__}")

    async def _tap(self, action: Tap) -> Effect:
        x, y = self._css(action.at)
        label = await self._label(action.at)
        if action.hold_ms:
            for count in range(1, action.count + 1):
                await self._mouse.down(x, y, action.button, count)
                await self.advance(action.hold_ms)
                await self._mouse.up(x, y, action.button, count)
        else:
            await self._mouse.click(x, y, action.button, action.count)
        return Effect(ok=True, executed=f"{action.button} click {x:.0f},{y:.0f} on {label}")

    async def _swipe(self, action: Swipe) -> Effect:
        points = [self._css(point) for point in action.path]
        segments = len(points) - 1
        moves = max(_MOVES_PER_SEGMENT, math.ceil(_MOVES_PER_SWIPE / segments))
        pause_ms = action.duration_ms / (moves * segments)
        label = await self._label(action.path[0])
        await self._mouse.down(*points[0])
        if action.hold_ms:
            await self.advance(action.hold_ms)
        for (x0, y0), (x1, y1) in itertools.pairwise(points):
            for move in range(1, moves + 1):
                share = move / moves
                if pause_ms:
                    await self.advance(pause_ms)
                await self._mouse.move(x0 + (x1 - x0) * share, y0 + (y1 - y0) * share, held="left")
        await self._mouse.up(*points[-1])
        (x0, y0), (x1, y1) = points[0], points[-1]
        return Effect(
            ok=True, executed=f"drag from {x0:.0f},{y0:.0f} on {label} to {x1:.0f},{y1:.0f}"
        )

    async def _scroll(self, action: Scroll) -> Effect:
        at = action.at or (0.5, 0.5)
        x, y = self._css(at)
        width, height = self._page.viewport.css_px
        sign = 1 if action.direction in ("down", "right") else -1
        dx, dy = 0.0, 0.0
        if action.direction in ("up", "down"):
            dy = sign * action.screens * height
        else:
            dx = sign * action.screens * width
        await self._mouse.wheel(x, y, dx, dy)
        await self._page.draw()
        return await self._did(f"scroll {action.direction} by {abs(dx + dy):.0f}", at)

    async def _type(self, action: Type) -> Effect:
        if action.at is not None:
            x, y = self._css(action.at)
            await self._mouse.click(x, y)
        if action.clear:
            await self._keyboard.command(["selectAll"])
            await self._press("backspace")
        await self._keyboard.type(action.text)
        if action.submit:
            await self._press("enter")
        tail = " and press enter" if action.submit else ""
        return Effect(ok=True, executed=f"type {action.text[:60]!r}{tail}")

    async def _key(self, action: Key) -> Effect:
        if action.name == "back":
            return await self._back()
        if action.name in _NO_WEB_KEY:
            return Effect(
                ok=False, code="no_such_key", message=f"A browser has no {action.name} key."
            )
        await self._press(action.name)
        return Effect(ok=True, executed=f"press {action.name}")

    async def _hotkey(self, action: Hotkey) -> Effect:
        keys = [named_key(name) for name in action.keys]
        for name, key in zip(action.keys, keys, strict=True):
            if key is None:
                return Effect(ok=False, code="no_such_key", message=f"There is no key {name!r}.")
        await self._keyboard.press(*(key for key in keys if key is not None))
        return Effect(ok=True, executed=f"press {'+'.join(action.keys)}")

    async def _back(self) -> Effect:
        history = await self._page.session.send("Page.getNavigationHistory")
        index = history["currentIndex"]
        earlier = [e for e in history["entries"][:index] if is_local_url(e["url"])]
        if not self._navigates or not earlier:
            return Effect(ok=False, code="nothing_to_go_back_to", message="No earlier page.")
        with self._page.session.listen("Page.loadEventFired") as loads:
            await self._page.session.send(
                "Page.navigateToHistoryEntry", {"entryId": earlier[-1]["id"]}
            )
            await loads.next()
        return Effect(ok=True, executed=f"go back to {earlier[-1]['url']}")

    async def _open(self, action: Open) -> Effect:
        if not is_local_url(action.app):
            return Effect(
                ok=False,
                code="not_allowed",
                message=f"{action.app!r} is no file or loopback URL; no other may be opened.",
            )
        await self._page.navigate(action.app)
        return Effect(ok=True, executed=f"open {action.app}")

    async def _press(self, name: str) -> None:
        key = named_key(name)
        assert key is not None
        await self._keyboard.press(key)

    async def _did(self, what: str, at: Point) -> Effect:
        return Effect(ok=True, executed=f"{what} on {await self._label(at)}")

    async def _label(self, at: Point) -> str:
        x, y = self._css(at)
        return str(await self._page.evaluate(f"{_LABEL_JS}({json.dumps(x)}, {json.dumps(y)})"))

    def _css(self, at: Point) -> tuple[float, float]:
        """Return the point in CSS pixels, inside the viewport."""
        width, height = self._page.viewport.css_px
        edge = 1 / self._page.viewport.scale
        return (min(at[0] * width, width - edge), min(at[1] * height, height - edge))
