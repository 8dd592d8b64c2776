"""The reference painter: the same document in a real Chromium, and the boxes both see.

Not used by Environments; it proves that the native painter shows what a browser would, and what
the state machine believes.
"""

from __future__ import annotations

import base64
import json
from io import BytesIO

import pytakumi
from PIL import Image

from screenloop.browser.launch import Browser
from screenloop.browser.page import BrowserTab, Viewport
from screenloop.errors import ConfigError
from screenloop.phone.device.screen import SIZE_PX, Screen
from screenloop.phone.draw.images import image_bytes
from screenloop.phone.show.render import STYLE, Frame, body_html, font_css, shared_native
from screenloop.types import SizePx, Struct

_SHOW = """
(async (html, images) => {
  document.body.innerHTML = html;
  for (const image of document.images) image.src = images[image.getAttribute("src")];
  await document.fonts.ready;
  await Promise.all([...document.images].map((image) => image.decode()));
})(%s, %s)
"""
_BOXES = """
[...document.querySelectorAll(".s > *")].map((element) => {
  const box = element.getBoundingClientRect();
  let text_px = 0;
  if (element.firstChild && element.firstChild.nodeType === 3) {
    const range = document.createRange();
    range.selectNodeContents(element);
    text_px = range.getBoundingClientRect().width;
  }
  return [box.x, box.y, box.width, box.height, text_px];
})
"""


class PaintedBox(Struct, frozen=True, kw_only=True):
    """Where a painter put one element, in CSS pixels."""

    x: float
    y: float
    w: float
    h: float
    text_px: float
    """Width of the text in it; 0 without text."""


class ChromiumRenderer:
    """Paints screens in one page of a browser that somebody else owns."""

    def __init__(self, page: BrowserTab) -> None:
        self._page = page
        self._shown: Screen | None = None

    @classmethod
    async def open(cls, browser: Browser) -> ChromiumRenderer:
        """Open a page with the phone's fonts and rules."""
        page = await BrowserTab.open(browser, Viewport(size_px=SIZE_PX))

        def url(data: bytes, kind: str) -> str:
            return f"data:{kind};base64,{base64.b64encode(data).decode()}"

        rules = font_css(lambda file: url(file.data, "font/otf")) + STYLE
        await page.set_content(f"<style>body{{margin:0}}{rules}</style><body></body>")
        return cls(page)

    async def _show(self, screen: Screen) -> None:
        if self._shown is screen:
            return
        images = {
            key: "data:image/svg+xml;base64," + base64.b64encode(image_bytes(key)).decode()
            for key in screen.images
        }
        await self._page.evaluate(_SHOW % (json.dumps(body_html(screen)), json.dumps(images)))
        self._shown = screen

    async def render(self, screen: Screen, size_px: SizePx = SIZE_PX) -> Frame:
        """Paint a screen; only at the layout size."""
        if size_px != SIZE_PX:
            raise ConfigError(f"the Chromium painter paints {SIZE_PX} only, not {size_px}")
        await self._show(screen)
        with Image.open(BytesIO(await self._page.picture("png"))) as image:
            return Frame(rgba=image.convert("RGBA").tobytes(), size_px=image.size)

    async def boxes(self, screen: Screen) -> tuple[PaintedBox, ...]:
        """Return where the browser puts each element, in document order."""
        await self._show(screen)
        found = await self._page.evaluate(_BOXES)
        return tuple(PaintedBox(x=x, y=y, w=w, h=h, text_px=t) for x, y, w, h, t in found)

    async def close(self) -> None:
        await self._page.close()


def native_boxes(screen: Screen) -> tuple[PaintedBox, ...]:
    """Return where pytakumi puts each element, in document order."""
    tree = pytakumi.from_html(body_html(screen), use_presets=False)
    images = {key: image_bytes(key) for key in screen.images}
    root = shared_native().measure(
        tree, width=SIZE_PX[0], height=SIZE_PX[1], stylesheets=[STYLE], images=images or None
    )
    return tuple(
        PaintedBox(
            x=part["transform"][4],
            y=part["transform"][5],
            w=part["width"],
            h=part["height"],
            text_px=max((run["x"] + run["width"] for run in part["runs"]), default=0.0)
            - min((run["x"] for run in part["runs"]), default=0.0),
        )
        for part in root["children"]
    )


def disagreements(
    native: tuple[PaintedBox, ...], browser: tuple[PaintedBox, ...], tolerance_px: float = 1.0
) -> list[str]:
    """Return one sentence for each element that the painters place or set differently."""
    if len(native) != len(browser):
        return [f"native has {len(native)} elements, the browser {len(browser)}"]
    found = []
    for number, (a, b) in enumerate(zip(native, browser, strict=True)):
        sides = (a.x - b.x, a.y - b.y, a.w - b.w, a.h - b.h, a.text_px - b.text_px)
        if max(map(abs, sides)) > tolerance_px:
            found.append(f"element {number}: native {a}, browser {b}")
    return found
