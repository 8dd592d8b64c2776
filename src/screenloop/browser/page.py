"""One page in a browser context of its own, on a clock that only moves when told to.

Where the browser lets its owner draw the frames (chromium-headless-shell), a frame is drawn only
when asked for: no waiting for a screen's refresh, and no frame that nobody sees.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import functools
import json
from importlib import resources
from typing import Any, Literal

from screenloop.browser.cdp import BrowserGone, Params, Result, Session
from screenloop.browser.launch import Browser
from screenloop.errors import EnvironmentFault
from screenloop.types import SizePx, Struct

Codec = Literal["png", "jpeg"]

EPOCH_MS = 1_735_732_800_000
"""When a page's clock starts: 2025-01-01 12:00 UTC, a Wednesday."""
SETTLE_CAP_S = 5.0
"""How long loading under way may hold up a frame."""
FRAME_DEADLINE_S = 5.0
"""After which a page that draws no frame counts as hung and is closed."""
_FRAME_TRIES = 3


class PageError(EnvironmentFault):
    """Raised when a script that we run in a page throws."""


class Viewport(Struct, frozen=True, kw_only=True):
    """What a page is laid out and painted at."""

    size_px: SizePx
    """Of the frame."""
    scale: float = 1.0
    """Frame pixels per CSS pixel; the browser must have been launched with it."""

    @property
    def css_px(self) -> SizePx:
        """Width and height in CSS pixels."""
        return (round(self.size_px[0] / self.scale), round(self.size_px[1] / self.scale))


def page_script(*, seed: int = 0, css: str = "", epoch_ms: int = EPOCH_MS) -> str:
    """Return the script that gives a document the virtual clock and seeded random numbers."""
    options = {"epoch_ms": epoch_ms, "seed": seed, "css": _BASE_CSS + css}
    return f"({_source()})({json.dumps(options)})"


_BASE_CSS = """
* { caret-animation: manual !important; scroll-behavior: auto !important; }
select:not([multiple]):not([size]), ::picker(select) { appearance: base-select !important; }
::-webkit-calendar-picker-indicator { display: none !important; }
"""
"""A caret that does not blink, and no pickers in windows of their own: those are in no frame, so
nobody could see what they do. A select opens inside the page instead."""


@functools.cache
def _source() -> str:
    return resources.files("screenloop.browser").joinpath("page.js").read_text("utf-8")


class BrowserTab:
    """A tab in its own browser context: shares no cookies, storage or cache with others."""

    def __init__(
        self, browser: Browser, session: Session, context_id: str, viewport: Viewport
    ) -> None:
        self.session = session
        self.viewport = viewport
        self._browser = browser
        self._context_id = context_id
        self._closed = False
        self._frames: set[asyncio.Task[Result]] = set()
        self._loading: set[str] = set()
        self._quiet = asyncio.Event()
        self._quiet.set()
        session.on("Network.requestWillBeSent", self._on_request)
        session.on("Network.loadingFinished", self._on_loaded)
        session.on("Network.loadingFailed", self._on_loaded)
        session.on("Page.frameRequestedNavigation", self._on_navigation)
        session.on("Page.frameStartedLoading", self._on_navigation)
        session.on("Page.frameStoppedLoading", self._on_stopped)
        session.on("Page.javascriptDialogOpening", self._on_dialog)
        session.on("Inspector.targetCrashed", self._on_crash)

    @classmethod
    async def open(cls, browser: Browser, viewport: Viewport) -> BrowserTab:
        """Open an empty page in a new context."""
        send = browser.session.send
        context = await send("Target.createBrowserContext", {"disposeOnDetach": True})
        context_id = context["browserContextId"]
        try:
            return await cls._open(browser, viewport, context_id)
        except BaseException:
            # Also when cancelled: nobody else knows of the context.
            browser.session.post("Target.disposeBrowserContext", {"browserContextId": context_id})
            raise

    @classmethod
    async def _open(cls, browser: Browser, viewport: Viewport, context_id: str) -> BrowserTab:
        send = browser.session.send
        width, height = viewport.css_px
        target: dict[str, Any] = {
            "url": "about:blank",
            "browserContextId": context_id,
            "width": width,
            "height": height,
        }
        if browser.draws_on_demand:
            target["enableBeginFrameControl"] = True
        created = await send("Target.createTarget", target)
        attached = await send(
            "Target.attachToTarget", {"targetId": created["targetId"], "flatten": True}
        )
        page = cls(browser, browser.attached(attached["sessionId"]), context_id, viewport)
        metrics = {"width": width, "height": height, "deviceScaleFactor": 0, "mobile": False}
        post = page.session.post
        await asyncio.gather(
            post("Inspector.enable"),
            post("Page.enable"),
            post("Network.enable"),
            post("Emulation.setDeviceMetricsOverride", metrics),
            post("Emulation.setFocusEmulationEnabled", {"enabled": True}),
        )
        return page

    @property
    def is_alive(self) -> bool:
        return self.session.fault is None

    async def close(self) -> None:
        """Dispose of the page and its context; harmless when the browser is gone."""
        async with self._browser.display:
            await self._dispose()

    async def _dispose(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._browser.forget(self.session)
        if self._browser.is_alive:
            await self._browser.session.send(
                "Target.disposeBrowserContext", {"browserContextId": self._context_id}
            )

    async def navigate(self, url: str, *, script: str | None = None) -> None:
        """Load a URL and return when its load event has fired.

        Args:
            url: where to.
            script: runs in this document and all later ones before their own scripts.

        Raises:
            EnvironmentFault: the URL cannot be loaded.
        """
        if script is not None:
            self.session.post("Page.addScriptToEvaluateOnNewDocument", {"source": script})
        self._loading.clear()
        with self.session.listen("Page.loadEventFired") as loads:
            answer = await self.session.send("Page.navigate", {"url": url})
            if answer.get("errorText"):
                raise EnvironmentFault(f"cannot load {url}: {answer['errorText']}")
            if "loaderId" in answer:
                await loads.next()

    async def set_content(self, html: str) -> None:
        """Replace the document by the HTML and wait for what it loads."""
        with self.session.listen("Page.loadEventFired") as loads:
            tree = await self.session.send("Page.getFrameTree")
            frame_id = tree["frameTree"]["frame"]["id"]
            await self.session.send("Page.setDocumentContent", {"frameId": frame_id, "html": html})
            await loads.next()

    async def evaluate(self, expression: str) -> Any:
        """Return the JSON value of a script, awaited when it is a promise.

        Raises:
            PageError: the script throws.
        """
        answer = await self.session.send(
            "Runtime.evaluate",
            {"expression": expression, "returnByValue": True, "awaitPromise": True},
        )
        thrown = answer.get("exceptionDetails")
        if thrown is not None:
            said = thrown.get("exception", {}).get("description") or thrown.get("text", "")
            raise PageError(f"a script in the page failed: {said}")
        return answer["result"].get("value")

    @property
    def is_loading(self) -> bool:
        return not self._quiet.is_set()

    async def loaded(self, cap_s: float = SETTLE_CAP_S) -> None:
        """Return when nothing is being loaded, or after the cap."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(cap_s):
                await self._quiet.wait()
        if self.session.fault is not None:
            raise self.session.fault

    async def send_aligned(self, method: str, params: Params) -> Result:
        """Send an input event that the page takes in with its next frame; draws frames for it."""
        future = self.session.post(method, params)
        while self._browser.draws_on_demand and not future.done():
            await self.draw()
        return await future

    async def draw(self) -> None:
        """Let the page draw a frame: scrolling, hovering and layout come to rest."""
        if self._browser.draws_on_demand:
            await self._begin_frame({})
        else:
            await self.evaluate("__screenloop.painted()")

    async def picture(self, codec: Codec = "png", quality: int = 90) -> bytes:
        """Return the viewport as an image file of `viewport.size_px`.

        Args:
            codec: the file format.
            quality: of JPEG, 1 to 100.

        Raises:
            EnvironmentFault: the browser gives no picture.
        """
        options: dict[str, Any] = {"format": codec, "optimizeForSpeed": True}
        if codec == "jpeg":
            options["quality"] = quality
        if not self._browser.draws_on_demand:
            shot = await self.session.send("Page.captureScreenshot", options)
            return base64.b64decode(shot["data"])
        for _ in range(_FRAME_TRIES):
            frame = await self._begin_frame({"screenshot": options})
            if "screenshotData" in frame:
                return base64.b64decode(frame["screenshotData"])
        raise EnvironmentFault("the browser drew frames but gave no picture of any")

    async def _begin_frame(self, params: Params) -> Result:
        """Draw one frame; once begun it is seen to its end, even when the caller gives up."""
        # A page that runs no script between opening a select and drawing never ends the frame
        # (seen with Chromium 156). Asking first also keeps a page that hangs off the display.
        poke = self.session.post("Runtime.evaluate", {"expression": "0"})
        await asyncio.wait({poke}, timeout=FRAME_DEADLINE_S)
        if not poke.done():
            self._give_up()
            await self.close()
        await poke
        frame = asyncio.create_task(self._frame(params))
        self._frames.add(frame)
        frame.add_done_callback(self._end_frame)
        return await asyncio.shield(frame)

    def _end_frame(self, frame: asyncio.Task[Result]) -> None:
        self._frames.discard(frame)
        if not frame.cancelled():
            frame.exception()  # Seen, also where the caller is gone.

    async def _frame(self, params: Params) -> Result:
        async with self._browser.display:
            answer = self.session.post("HeadlessExperimental.beginFrame", params)
            await asyncio.wait({answer}, timeout=FRAME_DEADLINE_S)
            if not answer.done():
                self._give_up()
                await self._dispose()
            return await answer

    def _give_up(self) -> None:
        self.session.lose(BrowserGone(f"the page drew no frame in {FRAME_DEADLINE_S:g} s"))

    def _on_request(self, params: Result) -> None:
        self._begin_loading(params["requestId"])

    def _on_loaded(self, params: Result) -> None:
        self._end_loading(params["requestId"])

    def _on_navigation(self, params: Result) -> None:
        self._begin_loading(f"frame {params['frameId']}")

    def _on_stopped(self, params: Result) -> None:
        self._end_loading(f"frame {params['frameId']}")

    def _begin_loading(self, what: str) -> None:
        self._loading.add(what)
        self._quiet.clear()

    def _end_loading(self, what: str) -> None:
        self._loading.discard(what)
        if not self._loading:
            self._quiet.set()

    def _on_dialog(self, params: Result) -> None:
        # A native dialog is in no frame and stops the page: say yes to what only tells or leaves,
        # no to what asks.
        accept = params.get("type") in ("alert", "beforeunload")
        self.session.post("Page.handleJavaScriptDialog", {"accept": accept})

    def _on_crash(self, params: Result) -> None:
        self._quiet.set()
        self.session.lose(BrowserGone("the page crashed"))
