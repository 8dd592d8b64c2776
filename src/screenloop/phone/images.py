"""Images by key: a key says all there is to draw, so any renderer can ask for the bytes."""

from __future__ import annotations

from functools import lru_cache

from screenloop.errors import ConfigError
from screenloop.phone.icons import icon_image
from screenloop.phone.imagery import picture


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
    match key.split("/"):
        case ["icon", name, size_px, color]:
            return icon_image(name, int(size_px), f"#{color}")
        case ["art", kind, seed, width_px, height_px]:
            return picture(kind, int(seed), int(width_px), int(height_px))
        case _:
            raise ConfigError(f"{key!r} is no image key")
