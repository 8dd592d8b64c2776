"""Generated pictures for the phone: photos, products, portraits and wallpaper.

Every picture is a small SVG drawn from its kind and a seed, so a screen has content worth
looking at without any asset, and equal arguments give equal bytes on every machine. SVG and not
a bitmap: the native renderer rasterises one once for each size and device scale and keeps the
result, hashes an image's bytes at every frame (1 to 2 kB here), and resamples bitmaps at every
frame when the device scale is not 1. At 96 px a picture costs 0.2 to 0.5 CPU-ms when first seen,
and a 4 by 6 grid of them about 0.6 CPU-ms at each frame after that.

Scenes and products are drawn in a 100 by 100 box that is cropped to the asked shape.
"""

from __future__ import annotations

import difflib
import functools
from random import Random

from screenloop.errors import ConfigError
from screenloop.phone.draw.imagery.products import PRODUCTS
from screenloop.phone.draw.imagery.scenes import SCENES, wallpaper

_DRAWINGS = {**SCENES, **PRODUCTS, "wallpaper": wallpaper}

SCENE_KINDS: tuple[str, ...] = tuple(SCENES)
PRODUCT_KINDS: tuple[str, ...] = tuple(PRODUCTS)
PICTURE_KINDS: tuple[str, ...] = tuple(_DRAWINGS)
"""Every kind: scenes, products and ``wallpaper``."""


@functools.lru_cache(maxsize=2048)
def picture(kind: str, seed: int, width_px: int, height_px: int) -> bytes:
    """Return a picture as an SVG image of the asked size, at most some kilobytes.

    Args:
        kind: One of ``PICTURE_KINDS``.
        seed: Which picture of that kind; colours, places and proportions follow from it.
        width_px: Width at which the page shows it.
        height_px: Height at which the page shows it.

    Raises:
        ConfigError: The kind is unknown or a side is not positive.
    """
    draw = _DRAWINGS.get(kind)
    if draw is None:
        close = difflib.get_close_matches(kind, PICTURE_KINDS, n=4, cutoff=0.4)
        hint = f"; did you mean {', '.join(close)}?" if close else ""
        raise ConfigError(f"no picture is of kind {kind!r}{hint}")
    if width_px < 1 or height_px < 1:
        raise ConfigError(f"a picture needs positive sides, not {width_px} by {height_px}")
    body = draw(Random(f"{kind}:{seed}"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width_px}" height="{height_px}" '
        f'viewBox="0 0 100 100" preserveAspectRatio="xMidYMid slice">{body}</svg>'
    ).encode()
