"""What pictures are drawn with: colours and SVG elements, in a box of 100 by 100."""

from __future__ import annotations

import colorsys
from collections.abc import Sequence
from random import Random

ACCENTS = tuple(
    "#2563eb #0f766e #e11d48 #ea580c #7c3aed #0e7490 #b45309 #334155 #15803d #be185d".split()
)


def hsl(hue: float, saturation: float, lightness: float) -> str:
    """Return the colour of a hue, saturation and lightness, each 0 to 1."""
    red, green, blue = colorsys.hls_to_rgb(hue % 1.0, lightness, saturation)
    return f"#{round(red * 255):02x}{round(green * 255):02x}{round(blue * 255):02x}"


def shade(color: str, factor: float) -> str:
    """Darken a colour (factor below 1), or lighten it towards white (factor above 1)."""
    channels = [int(color[at : at + 2], 16) for at in (1, 3, 5)]
    if factor <= 1:
        mixed = [round(channel * factor) for channel in channels]
    else:
        mixed = [round(channel + (255 - channel) * (factor - 1)) for channel in channels]
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


class Color(str):
    """A colour of a template: `{color:0.8}` is a darker shade, `{color:1.2}` a lighter one."""

    def __format__(self, factor: str) -> str:
        return shade(self, float(factor)) if factor else str(self)


def gradient(name: str, colors: Sequence[str], slant: float = 0.0) -> str:
    """Return a top-to-bottom gradient, leaning to the right by ``slant``."""
    last = len(colors) - 1
    stops = "".join(
        f'<stop offset="{at / last:g}" stop-color="{color}"/>' for at, color in enumerate(colors)
    )
    return (
        f'<linearGradient id="{name}" x1="0" y1="0" x2="{slant:g}" y2="1">{stops}</linearGradient>'
    )


def path(data: str, fill: str, extra: str = "") -> str:
    """Return a filled shape."""
    return f'<path d="{data}" fill="{fill}"{extra}/>'


def line(data: str, color: str, width: float) -> str:
    """Return a stroke with round ends."""
    return (
        f'<path d="{data}" fill="none" stroke="{color}" stroke-width="{width:g}" '
        f'stroke-linecap="round" stroke-linejoin="round"/>'
    )


def oval(x: float, y: float, rx: float, ry: float, fill: str, extra: str = "") -> str:
    """Return a filled ellipse."""
    return f'<ellipse cx="{x:g}" cy="{y:g}" rx="{rx:g}" ry="{ry:g}" fill="{fill}"{extra}/>'


def box(x: float, y: float, width: float, height: float, fill: str) -> str:
    """Return a filled rectangle."""
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="0" fill="{fill}"/>'


def backdrop(colors: Sequence[str], slant: float = 0.0) -> str:
    """Return a gradient over the whole picture."""
    return gradient("sky", colors, slant) + box(0, 0, 100, 100, "url(#sky)")


def ridge(rng: Random, base: float, rise: float, steps: int) -> str:
    """Return a jagged skyline from the left edge to the right, closed along the bottom."""
    points = []
    for step in range(steps + 1):
        peak = rise * rng.uniform(0.55, 1.0) if step % 2 else rise * rng.uniform(0.0, 0.3)
        points.append(f"L{100 * step / steps:.1f} {base - peak:.1f}")
    return f"M0 101{''.join(points)}L100 101z"


def dune(rng: Random, base: float, swing: float) -> str:
    """Return a smooth hill line, closed along the bottom."""
    first, second = base + rng.uniform(-swing, swing), base + rng.uniform(-swing, swing)
    return (
        f"M0 {first:.1f}C25 {first - swing:.1f} 35 {base + swing:.1f} 55 {base:.1f}"
        f"S85 {second - swing:.1f} 100 {second:.1f}V101H0z"
    )
