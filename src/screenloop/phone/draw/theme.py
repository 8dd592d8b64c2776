"""Colours and sizes of the phone; one theme for light and one for dark, tinted by the app."""

from __future__ import annotations

from functools import lru_cache

from screenloop.types import Struct

STATUS_PX = 32
"""Height of the status bar."""
BAR_PX = 56
"""Height of an app's title bar."""
NAV_PX = 44
"""Height of the system navigation bar with back, home and recents."""
TABS_PX = 60
"""Height of an app's bottom tabs."""
MARGIN_PX = 16
KEYBOARD_PX = 248


class Theme(Struct, frozen=True, kw_only=True):
    """What things are painted with; all colours are `#rrggbb`."""

    dark: bool
    tint: str
    """The app's own colour."""
    tint_soft: str
    """A background that belongs to the tint."""
    on_tint: str
    bg: str
    surface: str
    fill: str
    """Of quiet controls: fields, chips, tracks."""
    ink: str
    muted: str
    line: str
    danger: str
    ok: str


def mix(color: str, other: str, share: float) -> str:
    """Return `color` blended with `share` of `other`."""
    a = [int(color[i : i + 2], 16) for i in (1, 3, 5)]
    b = [int(other[i : i + 2], 16) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(x + (y - x) * share):02x}" for x, y in zip(a, b, strict=True))


@lru_cache(maxsize=64)
def theme(tint: str, dark: bool) -> Theme:
    """Return the theme of an app."""
    if dark:
        bright = mix(tint, "#ffffff", 0.35)
        return Theme(
            dark=True,
            tint=bright,
            tint_soft=mix(tint, "#16181c", 0.72),
            on_tint="#101114",
            bg="#111214",
            surface="#1c1e22",
            fill="#292c31",
            ink="#eceef1",
            muted="#9ba1aa",
            line="#2d3036",
            danger="#ff7a6e",
            ok="#5fd39b",
        )
    return Theme(
        dark=False,
        tint=tint,
        tint_soft=mix(tint, "#ffffff", 0.88),
        on_tint="#ffffff",
        bg="#f6f7f9",
        surface="#ffffff",
        fill="#eceef2",
        ink="#1a1c20",
        muted="#676d76",
        line="#e4e6ea",
        danger="#d92d20",
        ok="#12805c",
    )
