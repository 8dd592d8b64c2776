"""The phone's line icons: one style, drawn for this project, each an SVG file of `assets/icons`.

An icon lives on a 24 by 24 grid with round caps and joins; `currentColor` in its file is the
colour that it is painted with. A new file is a new icon.

How to paint one cheaply: give the native renderer ``images={key: icon_image(...)}`` and place
``<img src="key">`` at the icon's size. The renderer rasterises an SVG image once for each size
and device scale and keeps it, so 25 icons cost about 0.2 CPU-ms and stay sharp at every scale;
the same markup inline is parsed and drawn again at each frame, about 2.3 CPU-ms. Pass only the
images that a page shows: the renderer hashes each one's bytes at each frame.
"""

from __future__ import annotations

import difflib
from functools import lru_cache

from screenloop.errors import ConfigError
from screenloop.phone.draw.svg import elements_of, names_of


def icon_names() -> tuple[str, ...]:
    """Return every icon's name."""
    return names_of("icons")


def icon_svg(name: str, size_px: int, color: str, stroke: float = 2.0) -> str:
    """Return an icon as a complete SVG element.

    Args:
        name: One of `icon_names()`.
        size_px: Width and height of the square it fills.
        color: A CSS colour.
        stroke: Line width in grid units; the grid is 24 wide whatever the size.

    Raises:
        ConfigError: No icon has that name.
    """
    if name not in icon_names():
        close = difflib.get_close_matches(name, icon_names(), n=4, cutoff=0.4)
        hint = f"; did you mean {', '.join(close)}?" if close else ""
        raise ConfigError(f"no icon is named {name!r}{hint}")
    shapes = elements_of("icons", name).replace("currentColor", color)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size_px}" height="{size_px}" '
        f'viewBox="0 0 24 24" fill="none" stroke="{color}" stroke-width="{stroke:g}" '
        f'stroke-linecap="round" stroke-linejoin="round">{shapes}</svg>'
    )


@lru_cache(maxsize=4096)
def icon_image(name: str, size_px: int, color: str, stroke: float = 2.0) -> bytes:
    """Return ``icon_svg`` as the bytes of an image, for ``<img>`` by key or data URL.

    Raises:
        ConfigError: No icon has that name.
    """
    return icon_svg(name, size_px, color, stroke).encode()
