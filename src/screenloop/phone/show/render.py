"""Painting: one flat HTML document, two painters behind one Protocol.

`NativeRenderer` (pytakumi, no browser) is what Environments use; `show.chromium` paints the
same document in a real browser, as the reference and for people.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from io import BytesIO
from typing import Protocol

import pytakumi
from PIL import Image

from screenloop.phone.device.screen import SIZE_PX, Screen
from screenloop.phone.draw.fonts import FAMILY, FontFile, font_files
from screenloop.phone.draw.images import image_bytes
from screenloop.types import SizePx, Struct

STYLE = (
    ".s{position:relative;width:412px;height:915px;"
    f"font-family:{FAMILY};text-rendering:geometricPrecision;"
    "background:#ffffff}"
    ".b{position:absolute;display:block}"
    ".t{position:absolute;display:block;white-space:nowrap}"
)
"""The only rules there are; everything else is a box of its own."""


class Frame(Struct, frozen=True, kw_only=True):
    """Painted pixels, RGBA, rows from the top."""

    rgba: bytes
    size_px: SizePx

    def image(self) -> Image.Image:
        """Return the frame as an RGB picture."""
        return self._opaque().convert("RGB")

    def _opaque(self) -> Image.Image:
        """Return the pixels as they lie, the alpha byte ignored; JPEG takes them without a copy."""
        return Image.frombuffer("RGBX", self.size_px, self.rgba, "raw", "RGBX", 0, 1)

    def encode(self, codec: str = "jpeg", quality: int = 90) -> bytes:
        """Return the frame as a JPEG or PNG file."""
        out = BytesIO()
        if codec == "jpeg":
            self._opaque().save(out, "JPEG", quality=quality)
        else:
            self.image().save(out, "PNG", compress_level=1)
        return out.getvalue()


class Renderer(Protocol):
    """Paints screens; the boxes are the Screen's own."""

    async def render(self, screen: Screen, size_px: SizePx = SIZE_PX) -> Frame:
        """Paint a screen at a size of the phone's proportions."""
        ...


def body_html(screen: Screen, image_prefix: str = "") -> str:
    """Return the one element that holds the screen; `image_prefix` goes before image keys."""
    html = screen.html
    if image_prefix:
        html = html.replace('<img class="b" src="', f'<img class="b" src="{image_prefix}')
    return f'<div class="s">{html}</div>'


def font_css(url: Callable[[FontFile], str]) -> str:
    """Return the rules that give a browser the bundled fonts."""
    return "".join(
        f"@font-face{{font-family:'{f.family}';font-weight:{f.weight};"
        f"src:url('{url(f)}') format('opentype')}}"
        for f in font_files()
    )


def paint(native: pytakumi.Renderer, screen: Screen, size_px: SizePx = SIZE_PX) -> Frame:
    """Paint a screen with pytakumi; it lets go of the interpreter while it works.

    Common sizes are a pixel or two off the layout's proportions (1080x2400): the larger scale is
    taken, so that every pixel is painted and a fraction of a layout pixel is cut.
    """
    images = {key: image_bytes(key) for key in screen.images}
    raw = native.render_html(
        body_html(screen),
        width=size_px[0],
        height=size_px[1],
        format="raw",
        stylesheets=[STYLE],
        images=images or None,
        device_pixel_ratio=max(size_px[0] / SIZE_PX[0], size_px[1] / SIZE_PX[1]),
        use_presets=False,
    )
    return Frame(rgba=raw, size_px=size_px)


@lru_cache(maxsize=1)
def shared_native() -> pytakumi.Renderer:
    """Return the process's renderer with the bundled fonts, made on first use."""
    native = pytakumi.Renderer()
    for file in font_files():
        native.register_font(file.data, name=file.family, weight=file.weight)
    return native


class NativeRenderer:
    """Paints in-process without a browser; same screen, same bytes on one machine."""

    async def render(self, screen: Screen, size_px: SizePx = SIZE_PX) -> Frame:
        return paint(shared_native(), screen, size_px)
