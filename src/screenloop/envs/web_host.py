"""One browser for many web Environments, replaced when it dies."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from pathlib import Path

from screenloop.browser.launch import Browser, launch
from screenloop.browser.page import Page, Viewport
from screenloop.errors import EnvironmentFault, ScreenloopError


class BrowserHost:
    """Owns a persistent browser and hands out pages, each in a context of its own.

    An empty page is kept ready, so that a reset need not wait for a new browser process; no page
    is ever used for two episodes.
    """

    def __init__(self, binary: Path | None = None, *, draw_on_demand: bool | None = None) -> None:
        self._binary = binary
        self._draw_on_demand = draw_on_demand
        self._browser: Browser | None = None
        self._starting = asyncio.Lock()
        self._spares: dict[Viewport, asyncio.Task[Page]] = {}
        self._chores: set[asyncio.Task[None]] = set()

    @property
    def pid(self) -> int | None:
        """The browser's process and process group, while there is one."""
        return self._browser.pid if self._browser is not None else None

    async def start(self) -> Browser:
        """Return the browser, started afresh when there is none or it has died.

        Raises:
            ConfigError: no browser is installed.
            EnvironmentFault: it does not start.
        """
        async with self._starting:
            if self._browser is not None and self._browser.is_alive:
                return self._browser
            if self._browser is not None:
                await self._browser.close()
            self._browser = await launch(self._binary, draw_on_demand=self._draw_on_demand)
            return self._browser

    async def page(self, viewport: Viewport) -> Page:
        """Return a page that nobody has used."""
        browser = await self.start()
        spare = self._spares.pop(viewport, None)
        if spare is not None:
            # A spare that died with an earlier browser is simply not used.
            with contextlib.suppress(EnvironmentFault):
                page = await spare
                if page.is_alive:
                    return page
        return await Page.open(browser, viewport)

    def prepare(self, viewport: Viewport) -> None:
        """Have a page ready for the next `page` call."""
        browser = self._browser
        if browser is not None and browser.is_alive and viewport not in self._spares:
            spare = asyncio.create_task(Page.open(browser, viewport))
            spare.add_done_callback(_seen)
            self._spares[viewport] = spare

    def retire(self, page: Page) -> None:
        """Close a page without waiting for it."""
        self._chore(page.close())

    async def idle(self) -> None:
        """Return when no page is being closed or made ready."""
        await asyncio.gather(*self._chores, *self._spares.values(), return_exceptions=True)

    async def close(self) -> None:
        """End the browser and everything in it; may be called twice."""
        waiting = [*self._chores, *self._spares.values()]
        self._spares.clear()
        async with self._starting:
            browser, self._browser = self._browser, None
        if browser is not None:
            await browser.close()
        await asyncio.gather(*waiting, return_exceptions=True)

    def _chore(self, work: Coroutine[None, None, None]) -> None:
        async def run() -> None:
            # The page goes with its browser or context whether or not this succeeds.
            with contextlib.suppress(ScreenloopError):
                await work

        task = asyncio.create_task(run())
        self._chores.add(task)
        task.add_done_callback(self._chores.discard)


def _seen(task: asyncio.Task[Page]) -> None:
    """Mark the failure of a page that nobody may come to use as seen."""
    if not task.cancelled():
        task.exception()
