"""The browsers behind the web Environments: shared by many, replaced when they die."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

from screenloop.browser.binary import find_chromium
from screenloop.browser.launch import Browser, launch
from screenloop.browser.page import BrowserTab, Viewport
from screenloop.errors import EnvironmentFault, ScreenloopError


class BrowserHost:
    """Owns persistent browsers and hands out pages, each in a context of its own.

    One browser serves all pages of a display scale; most hosts have one. An empty page is kept
    ready, so that a reset need not wait for a new process; no page is used for two episodes.
    """

    def __init__(self, binary: Path | None = None, *, draw_on_demand: bool | None = None) -> None:
        self._binary = binary
        self._draw_on_demand = draw_on_demand
        self._browsers: dict[float, Browser] = {}
        self._starting = asyncio.Lock()
        self._spares: dict[Viewport, asyncio.Task[BrowserTab]] = {}
        self._chores: set[asyncio.Task[None]] = set()
        self._closed = False

    @property
    def pids(self) -> tuple[int, ...]:
        """The browsers' processes; each leads a process group."""
        return tuple(browser.pid for browser in self._browsers.values())

    def check(self) -> None:
        """Make sure that there is a browser to start.

        Raises:
            ConfigError: none is installed; says what to do.
        """
        self._binary = self._binary or find_chromium()

    async def page(self, viewport: Viewport) -> BrowserTab:
        """Return a page that nobody has used.

        Raises:
            ConfigError: no browser is installed.
            EnvironmentFault: the browser does not start, or the host is closed.
        """
        browser = await self._browser(viewport.scale)
        spare = self._spares.pop(viewport, None)
        if spare is not None:
            # A spare that died with an earlier browser is simply not used.
            with contextlib.suppress(EnvironmentFault):
                page = await spare
                if page.is_alive:
                    return page
        return await BrowserTab.open(browser, viewport)

    def prepare(self, viewport: Viewport, warm_url: str) -> None:
        """Have a page ready for the next `page` call.

        Args:
            viewport: of the page.
            warm_url: a page to load beforehand, which leaves the site's scripts compiled in the
                page's process; empty for none.
        """
        browser = self._browsers.get(viewport.scale)
        if browser is not None and browser.is_alive and viewport not in self._spares:
            spare = asyncio.create_task(_warm_page(browser, viewport, warm_url))
            spare.add_done_callback(_seen)
            self._spares[viewport] = spare

    def retire(self, page: BrowserTab) -> None:
        """Close a page without waiting for it."""
        chore = asyncio.create_task(_close(page))
        self._chores.add(chore)
        chore.add_done_callback(self._chores.discard)

    async def idle(self) -> None:
        """Return when no page is being closed or made ready."""
        await asyncio.gather(*self._chores, *self._spares.values(), return_exceptions=True)

    async def close(self) -> None:
        self._closed = True
        async with self._starting:
            browsers = tuple(self._browsers.values())
            self._browsers.clear()
        await asyncio.gather(*(browser.close() for browser in browsers))
        await self.idle()
        self._spares.clear()

    async def _browser(self, scale: float) -> Browser:
        """Return the browser of a scale, started afresh when there is none or it has died."""
        async with self._starting:
            if self._closed:
                raise EnvironmentFault("the browser host is closed")
            browser = self._browsers.get(scale)
            if browser is not None and browser.is_alive:
                return browser
            if browser is not None:
                del self._browsers[scale]
                await browser.close()
            browser = await launch(self._binary, scale=scale, draw_on_demand=self._draw_on_demand)
            self._browsers[scale] = browser
            return browser


async def _warm_page(browser: Browser, viewport: Viewport, warm_url: str) -> BrowserTab:
    page = await BrowserTab.open(browser, viewport)
    try:
        if warm_url:
            await page.navigate(warm_url)
    except BaseException:
        await _close(page)
        raise
    return page


async def _close(page: BrowserTab) -> None:
    # The page goes with its context or its browser, whether or not this succeeds.
    with contextlib.suppress(ScreenloopError):
        await page.close()


def _seen(task: asyncio.Task[BrowserTab]) -> None:
    """Mark the failure of a page that nobody may come to use as seen."""
    if not task.cancelled():
        task.exception()
