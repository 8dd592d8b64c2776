"""Images by key: a key says all there is to draw, so any renderer can ask for the bytes."""

from __future__ import annotations

import re
from functools import lru_cache

from screenloop.errors import ConfigError
from screenloop.phone.draw.icons import icon_image
from screenloop.phone.draw.imagery import picture

_ICON = re.compile(r"icon/([a-z0-9_]+)/([0-9]{1,4})/([0-9a-f]{6})")
_ART = re.compile(r"art/([a-z0-9_]+)/(-?[0-9]{1,18})/([1-9][0-9]{0,3})/([1-9][0-9]{0,3})")


def icon_key(name: str, size_px: int, color: str) -> str:
    """Return the key of an icon."""
    return f"icon/{name}/{size_px}/{color[1:]}"


def picture_key(kind: str, seed: int, width_px: int, height_px: int) -> str:
    """Return the key of a generated picture."""
    return f"art/{kind}/{seed}/{width_px}/{height_px}"


@lru_cache(maxsize=4096)
def image_bytes(key: str) -> bytes:
    """Return the SVG file that a key stands for.

    Raises:
        ConfigError: the key has another form, or names an unknown icon or kind.
    """
    icon, art = _ICON.fullmatch(key), _ART.fullmatch(key)
    if icon is not None:
        return icon_image(icon[1], int(icon[2]), f"#{icon[3]}")
    if art is not None:
        return picture(art[1], int(art[2]), int(art[3]), int(art[4]))
    raise ConfigError(
        f"{key!r} is no image key; the forms are icon/NAME/SIZE/RRGGBB and "
        "art/KIND/SEED/WIDTH/HEIGHT"
    )
