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

import colorsys
import difflib
import functools
import math
from collections.abc import Callable, Sequence
from random import Random

from screenloop.errors import ConfigError

_ACCENTS = (
    "#2563eb",
    "#0f766e",
    "#e11d48",
    "#ea580c",
    "#7c3aed",
    "#0e7490",
    "#b45309",
    "#334155",
    "#15803d",
    "#be185d",
)
_SKIN = ("#f6d3b8", "#eab78f", "#d19a6c", "#a86e46", "#7b4a2d")
_HAIR = ("#2b2118", "#4a3020", "#7a4a22", "#b98345", "#1c1c24", "#8d8d93")
_DARK = "#27303f"


def _hsl(hue: float, saturation: float, lightness: float) -> str:
    red, green, blue = colorsys.hls_to_rgb(hue % 1.0, lightness, saturation)
    return f"#{round(red * 255):02x}{round(green * 255):02x}{round(blue * 255):02x}"


def _shade(color: str, factor: float) -> str:
    """Darken a colour (factor below 1), or lighten it towards white (factor above 1)."""
    channels = [int(color[at : at + 2], 16) for at in (1, 3, 5)]
    if factor <= 1:
        mixed = [round(channel * factor) for channel in channels]
    else:
        mixed = [round(channel + (255 - channel) * (factor - 1)) for channel in channels]
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def _gradient(name: str, colors: Sequence[str], slant: float = 0.0) -> str:
    """Return a top-to-bottom gradient, leaning to the right by ``slant``."""
    last = len(colors) - 1
    stops = "".join(
        f'<stop offset="{at / last:g}" stop-color="{color}"/>' for at, color in enumerate(colors)
    )
    return (
        f'<linearGradient id="{name}" x1="0" y1="0" x2="{slant:g}" y2="1">{stops}</linearGradient>'
    )


def _path(data: str, fill: str, extra: str = "") -> str:
    return f'<path d="{data}" fill="{fill}"{extra}/>'


def _line(data: str, color: str, width: float) -> str:
    return (
        f'<path d="{data}" fill="none" stroke="{color}" stroke-width="{width:g}" '
        f'stroke-linecap="round" stroke-linejoin="round"/>'
    )


def _oval(x: float, y: float, rx: float, ry: float, fill: str, extra: str = "") -> str:
    return f'<ellipse cx="{x:g}" cy="{y:g}" rx="{rx:g}" ry="{ry:g}" fill="{fill}"{extra}/>'


def _box(
    x: float, y: float, width: float, height: float, fill: str, radius: float = 0, extra: str = ""
) -> str:
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius:g}" '
        f'fill="{fill}"{extra}/>'
    )


def _backdrop(colors: Sequence[str], slant: float = 0.0) -> str:
    return _gradient("sky", colors, slant) + _box(0, 0, 100, 100, "url(#sky)")


def _ridge(rng: Random, base: float, rise: float, steps: int) -> str:
    """Return a jagged skyline from the left edge to the right, closed along the bottom."""
    points = []
    for step in range(steps + 1):
        peak = rise * rng.uniform(0.55, 1.0) if step % 2 else rise * rng.uniform(0.0, 0.3)
        points.append(f"L{100 * step / steps:.1f} {base - peak:.1f}")
    return f"M0 101{''.join(points)}L100 101z"


def _dune(rng: Random, base: float, swing: float) -> str:
    """Return a smooth hill line, closed along the bottom."""
    first, second = base + rng.uniform(-swing, swing), base + rng.uniform(-swing, swing)
    return (
        f"M0 {first:.1f}C25 {first - swing:.1f} 35 {base + swing:.1f} 55 {base:.1f}"
        f"S85 {second - swing:.1f} 100 {second:.1f}V101H0z"
    )


_SKIES = (
    ("#3b82c4", "#8cc5e8", "#fbe9c6"),
    ("#2f4b8f", "#e0718a", "#fdd29a"),
    ("#4aa3df", "#a7dcf5", "#eefaff"),
    ("#40357a", "#c8557a", "#fca45c"),
)


def _sea(rng: Random) -> str:
    sky = rng.choice(_SKIES)
    sun, hue = rng.uniform(25, 75), rng.uniform(0.51, 0.58)
    sail = rng.uniform(18, 80)
    deep, pale = _hsl(hue, 0.65, 0.28), _hsl(hue, 0.55, 0.55)
    return (
        _backdrop(sky)
        + _oval(sun, 46, 15, 15, "#fff6d8", ' opacity=".35"')
        + _oval(sun, 46, 8.5, 8.5, "#fff6d8")
        + _gradient("sea", (pale, deep))
        + _box(0, 55, 100, 46, "url(#sea)")
        + _line(f"M{sun - 9:.1f} 59h18M{sun - 6:.1f} 63h14M{sun - 10:.1f} 68h17", "#fff6d8", 1)
        + _path(f"M{sail:.1f} 57V43l9 13zM{sail - 1.2:.1f} 57V46l-5 10z", "#ffffff")
        + _path(f"M{sail - 7:.1f} 58h17l-3 4h-11z", "#7c3f2a")
        + _path("M0 82C20 76 32 84 52 81S84 74 100 79V101H0z", "#f2dfb4")
        + _line("M0 82C20 76 32 84 52 81S84 74 100 79", "#ffffff", 1.6)
    )


def _mountains(rng: Random) -> str:
    hue = rng.choice((0.58, 0.62, 0.7))
    peak, side = rng.uniform(38, 62), rng.uniform(24, 30)
    snow = f"M{peak:.1f} {side:.1f}l9.6 14-4.5-1.5-4 5-4-4.2-5.2 2.5z"
    return (
        _backdrop(rng.choice(_SKIES))
        + _oval(rng.uniform(12, 88), 20, 7, 7, "#fffbe8", ' opacity=".9"')
        + _path(_ridge(rng, 62, 24, 8), _hsl(hue, 0.3, 0.66))
        + _path(
            f"M{peak - 44:.1f} 101L{peak:.1f} {side:.1f} {peak + 48:.1f} 101z",
            _hsl(hue, 0.28, 0.45),
        )
        + _path(f"M{peak:.1f} {side:.1f}L{peak + 48:.1f} 101H{peak + 6:.1f}z", _hsl(hue, 0.3, 0.36))
        + _path(snow, "#ffffff")
        + _path(_ridge(rng, 82, 14, 12), _hsl(0.42, 0.3, 0.3))
        + _path(_dune(rng, 88, 4), _hsl(0.36, 0.35, 0.24))
    )


def _city(rng: Random) -> str:
    far, near, lights = [], [], []
    at = -2.0
    while at < 100:
        width = rng.uniform(9, 15)
        far.append(f"M{at:.1f} 101V{rng.uniform(34, 58):.1f}h{width:.1f}V101z")
        at += width
    at = -4.0
    while at < 100:
        width, top = rng.choice((11, 14, 17)), rng.randrange(46, 74)
        near.append(f"M{at:.1f} 101V{top}h{width - 1.5:.1f}V101z")
        lights += [
            f"M{at + 2 + column * 3:.1f} {row}h1.5v2h-1.5z"
            for row in range(top + 3, 96, 5)
            for column in range((width - 4) // 3)
            if rng.random() < 0.55
        ]
        at += width
    stars = "".join(f"M{rng.uniform(2, 98):.1f} {rng.uniform(2, 36):.1f}h.01" for _ in range(16))
    moon = rng.uniform(16, 84)
    return (
        _backdrop(("#0d1638", "#2b2f6b", rng.choice(("#8a4b86", "#3f6fa3", "#b0617a"))))
        + _line(stars, "#dfe7ff", 0.8)
        + _oval(moon, 17, 7, 7, "#f5efd6")
        + _path("".join(far), "#27305f")
        + _path("".join(near), "#10162f")
        + _path("".join(lights), "#ffd98a")
    )


def _forest(rng: Random) -> str:
    def firs(base: float, size: float, count: int) -> str:
        trees = []
        for place in range(count):
            x = 100 * (place + rng.uniform(0.1, 0.9)) / count
            tall, half = size * rng.uniform(0.8, 1.2), size * 0.26
            trees.append(
                f"M{x:.1f} {base - tall:.1f}l{half:.1f} {tall * 0.5:.1f}h{-half * 0.4:.1f}"
                f"l{half * 0.7:.1f} {tall * 0.5:.1f}h{-half * 2.6:.1f}l{half * 0.7:.1f} "
                f"{-tall * 0.5:.1f}h{-half * 0.4:.1f}z"
            )
        return "".join(trees) + f"M0 {base - 1:.1f}H100V101H0z"

    hue = rng.uniform(0.36, 0.46)
    return (
        _backdrop((_hsl(hue + 0.12, 0.45, 0.72), "#f3f6e4"))
        + _oval(rng.uniform(25, 75), 30, 10, 10, "#fff7d1")
        + _path(_dune(rng, 48, 6), _hsl(hue, 0.2, 0.7))
        + _path(firs(66, 26, 11), _hsl(hue, 0.25, 0.52))
        + _path(firs(82, 34, 8), _hsl(hue, 0.36, 0.34))
        + _path(firs(101, 44, 5), _hsl(hue, 0.45, 0.2))
    )


def _desert(rng: Random) -> str:
    x, hue = rng.uniform(18, 40), rng.uniform(0.06, 0.1)
    cactus = f"M{x:.1f} 84V58M{x:.1f} 74h-6v-8M{x:.1f} 70h6v-9"
    return (
        _backdrop(
            rng.choice((("#f7a35c", "#fbd08a", "#fdeccb"), ("#6f8fd0", "#f0b59a", "#fde0b8")))
        )
        + _oval(rng.uniform(52, 84), 34, 9, 9, "#fff4d0")
        + _path(_dune(rng, 58, 5), _hsl(hue, 0.6, 0.66))
        + _path(_dune(rng, 70, 6), _hsl(hue, 0.6, 0.56))
        + _line(cactus, "#3d6b4a", 4.2)
        + _path(_dune(rng, 84, 5), _hsl(hue, 0.58, 0.45))
    )


def _food(rng: Random) -> str:
    table = rng.choice(("#8a5a3c", "#d9cbb8", "#394a52", "#b9c8c2"))
    greens, accent = (
        ("#5aa84f", "#7cc35f", "#3f8a45"),
        rng.choice(("#e4572e", "#f2b134", "#d7263d")),
    )
    bites = []
    for turn in range(11):
        angle, reach = turn * 2.4 + rng.random(), 4 + 14 * (turn / 11) ** 0.5
        x, y = 50 + reach * math.cos(angle), 51 + reach * math.sin(angle)
        tone = accent if turn % 3 == 0 else rng.choice(greens)
        bites.append(_oval(round(x, 1), round(y, 1), 6.5, 5, tone))
    return (
        _backdrop((table, _shade(table, 0.85)), 0.6)
        + _oval(50, 54, 35, 35, "#000000", ' opacity=".22"')
        + _oval(50, 51, 35, 35, "#fbfaf7")
        + _oval(50, 51, 26, 26, "#eeebe4")
        + "".join(bites)
        + _oval(54, 48, 9, 8.5, "#fffdf5")
        + _oval(55, 48, 4.3, 4.3, "#f8b72d")
        + _line("M7 28v16M10.5 28v16M3.5 28v12c0 4 7 4 7 0M7 44v32", "#e8e8ec", 1.7)
        + _line("M93 76V28c-4 4-5 14-4 22h4", "#e8e8ec", 2)
    )


def _pet(rng: Random) -> str:
    wall = rng.random()
    fur = rng.choice(("#e8a35c", "#7b7f8c", "#3a3a44", "#f1e3cf", "#a8744a"))
    inner, dark = _shade(fur, 1.5), _shade(fur, 0.8)
    iris = rng.choice(("#6fbf5e", "#e8b931", "#5fb4d9"))
    return (
        _backdrop((_hsl(wall, 0.45, 0.82), _hsl(wall + 0.06, 0.45, 0.66)), 0.5)
        + _path("M16 101C16 74 34 68 50 68s34 6 34 33z", dark)
        + _path("M26 48 27 16 49 32zM74 48 73 16 51 32z", fur)
        + _path("M31 38 31 24 42 32zM69 38 69 24 58 32z", "#f0a8a0")
        + _oval(50, 52, 29, 25, fur)
        + _oval(50, 62, 15, 11.5, inner)
        + _line("M50 29v8M43 30.5l1 6M57 30.5l-1 6", dark, 2.2)
        + _oval(38, 49, 5.6, 6, iris)
        + _oval(62, 49, 5.6, 6, iris)
        + _oval(38, 49, 2.2, 4.8, "#15151c")
        + _oval(62, 49, 2.2, 4.8, "#15151c")
        + _oval(39.3, 46.8, 1.2, 1.2, "#ffffff")
        + _oval(63.3, 46.8, 1.2, 1.2, "#ffffff")
        + _path("M46.5 57.5h7L50 61z", "#d9736f")
        + _line("M50 61c-1 4-5 4-6.5 2.5M50 61c1 4 5 4 6.5 2.5", _DARK, 1.3)
        + _line("M31 60 17 57M31 64l-14 2M69 60l14-3M69 64l14 2", "#ffffff", 0.9)
    )


def _portrait(rng: Random) -> str:
    wall = rng.random()
    skin, hair, shirt = rng.choice(_SKIN), rng.choice(_HAIR), rng.choice(_ACCENTS)
    style = rng.randrange(4)
    behind = {
        1: _path("M26 42C26 8 74 8 74 42v30H26z", hair),
        3: _oval(50, 12, 9, 8, hair),
    }.get(style, "")
    fringe = (
        "M29 43C27 16 73 16 71 43 68 34 60 31 50 31S32 34 29 43z",
        "M30 46C28 18 72 18 70 46 68 35 58 33 46 27 44 34 34 36 30 46z",
        "M29 46C24 18 52 12 62 19c9 1 12 14 9 27-2-8-4-10-8-14-8 3-20 3-28 0-3 4-5 7-6 14z",
        "M30 42C28 16 72 16 70 42 64 32 58 29 50 29s-14 3-20 13z",
    )[style]
    return (
        _backdrop((_hsl(wall, 0.5, 0.8), _hsl(wall + 0.08, 0.5, 0.62)), 0.6)
        + behind
        + _path("M12 101C13 79 29 73 50 73s37 6 38 28z", shirt)
        + _path("M41 60h18v13c0 9-18 9-18 0z", _shade(skin, 0.86))
        + _oval(29.5, 46, 3.6, 5, _shade(skin, 0.92))
        + _oval(70.5, 46, 3.6, 5, _shade(skin, 0.92))
        + _oval(50, 45, 20.5, 23, skin)
        + _path(fringe, hair)
        + _oval(42, 46, 2, 2.4, _DARK)
        + _oval(58, 46, 2, 2.4, _DARK)
        + _line("M38.5 40.5c2-1.5 5-1.5 7 0M54.5 40.5c2-1.5 5-1.5 7 0", hair, 1.5)
        + _line("M50 47.5l-1.5 5h3", _shade(skin, 0.78), 1.2)
        + _line("M43.5 57c3.5 3.6 9.5 3.6 13 0", "#b4534f", 1.8)
    )


def _document(rng: Random) -> str:
    desk, tilt = rng.choice(("#6b4a35", "#4b5563", "#a5815c", "#2f3a45")), rng.uniform(-5, 5)
    lines = "".join(f"M28 {y}h{rng.randrange(30, 44)}" for y in range(40, 66, 5))
    accent = rng.choice(_ACCENTS)
    return (
        _backdrop((_shade(desk, 1.1), desk), 0.5)
        + f'<g transform="rotate({tilt:.1f} 50 50)">'
        + _box(23, 11, 60, 82, "#000000", 1, ' opacity=".25"')
        + _box(20, 8, 60, 82, "#fdfdfb", 1)
        + _box(27, 16, 11, 11, accent, 2)
        + _line("M43 19h26M43 24h16", "#4b5563", 2)
        + _line("M28 34h30", "#1f2937", 2.6)
        + _line(lines, "#b6bcc6", 1.7)
        + _box(28, 69, 20, 12, "#e7eaf0", 1)
        + _line("M56 79c3-8 5-8 5-2s4-6 6-4 2 4 5 3", "#1d4ed8", 1.2)
        + "</g>"
    )


def _flower(rng: Random) -> str:
    hue, count = rng.choice((0.93, 0.0, 0.13, 0.76, 0.6)), rng.choice((6, 8, 10))
    width = {6: 12, 8: 9.5, 10: 8}[count]

    def petals(reach: float, tone: str, turn: float) -> str:
        return "".join(
            _oval(50, 42 - reach, width, reach, tone, f' transform="rotate({angle:.1f} 50 42)"')
            for angle in (360 * petal / count + turn for petal in range(count))
        )

    turn = rng.uniform(0, 30)
    return (
        _backdrop(("#2f6b4f", "#7fae6a"), 0.7)
        + _oval(18, 24, 16, 16, "#ffffff", ' opacity=".1"')
        + _oval(84, 74, 20, 20, "#ffffff", ' opacity=".08"')
        + _line("M50 46C51 66 47 80 50 101", "#2e5b35", 3.2)
        + _path("M50 84C62 66 76 66 82 68 78 80 64 88 50 90z", "#3f7d47")
        + _path("M49 92C38 78 26 78 20 80 24 92 38 97 49 97z", "#4d8f52")
        + petals(16, _hsl(hue, 0.65, 0.66), turn)
        + petals(11, _hsl(hue, 0.7, 0.76), turn + 180 / count)
        + _oval(50, 42, 7.5, 7.5, "#f4b63f")
        + _oval(49, 41, 4.5, 4.5, "#e09526")
    )


def _studio(rng: Random, shadow_y: float, shadow_rx: float) -> str:
    """Return a product shot's soft backdrop and the shadow on its ground."""
    hue = rng.random()
    return (
        _backdrop((_hsl(hue, 0.35, 0.96), _hsl(hue + 0.04, 0.32, 0.86)), 0.3)
        + _oval(50, shadow_y, shadow_rx * 1.12, 4.4, _DARK, ' opacity=".10"')
        + _oval(50, shadow_y, shadow_rx, 2.8, _DARK, ' opacity=".16"')
    )


def _paint(color: str) -> str:
    """Return the body gradient of a product: lit from the upper left."""
    return _gradient("body", (_shade(color, 1.18), color, _shade(color, 0.78)), 0.8)


def _mug(rng: Random) -> str:
    color = rng.choice((*_ACCENTS, "#f3efe6"))
    return (
        _studio(rng, 82, 26)
        + _paint(color)
        + _line("M66 44h5a10.5 10.5 0 0 1 0 21h-6", _shade(color, 0.82), 5.5)
        + _path("M26 34h42v38a10 10 0 0 1-10 10H36a10 10 0 0 1-10-10z", "url(#body)")
        + _oval(47, 34, 21, 5, _shade(color, 1.3))
        + _oval(47, 34.6, 17.5, 3.5, "#5b3a26")
        + _line("M40 24c-3-4 3-6 0-10M49 24c-3-4 3-6 0-10", "#ffffff", 2)
        + _line("M33 44v22", _shade(color, 1.5), 2.4)
    )


def _lamp(rng: Random) -> str:
    color = rng.choice((*_ACCENTS, "#e9dcc3"))
    metal = rng.choice(("#3b4252", "#b08d57", "#8a8f98"))
    return (
        _studio(rng, 88, 20)
        + _paint(color)
        + _path("M28 52 14 92h72L72 52z", "#fff3c4", ' opacity=".45"')
        + _box(48.3, 50, 3.4, 36, metal)
        + _path("M34 88a16 5 0 0 1 32 0z", metal)
        + _path("M39 16h22l13 36H26z", "url(#body)")
        + _oval(50, 52, 24, 4, "#fff0b8")
        + _oval(50, 16, 11, 2, _shade(color, 1.35))
    )


def _backpack(rng: Random) -> str:
    color = rng.choice(_ACCENTS)
    dark = _shade(color, 0.68)
    return (
        _studio(rng, 89, 27)
        + _paint(color)
        + _line("M42 20c0-11 16-11 16 0", dark, 3.6)
        + _line("M27 46c-8 6-8 26-3 34M73 46c8 6 8 26 3 34", dark, 5)
        + _path(
            "M26 44C26 26 36 18 50 18s24 8 24 26v36a9 9 0 0 1-9 9H35a9 9 0 0 1-9-9z", "url(#body)"
        )
        + _line("M34 42C34 30 41 26 50 26s16 4 16 16", dark, 1.6)
        + _path("M33 56h34v20a6 6 0 0 1-6 6H39a6 6 0 0 1-6-6z", _shade(color, 0.84))
        + _line("M34 61h32", dark, 1.8)
        + _box(44.5, 40, 11, 7, "#f4f1ea", 1.5)
        + _line("M58 61v5", "#f4d58d", 1.8)
    )


def _headphones(rng: Random) -> str:
    color = rng.choice((*_ACCENTS, "#20242c", "#d8dbe0"))
    dark = _shade(color, 0.6)
    return (
        _studio(rng, 86, 28)
        + _paint(color)
        + _line("M24 58V48a26 26 0 0 1 52 0v10", dark, 6.5)
        + _line("M29 34a26 26 0 0 1 42 0", _shade(color, 1.15), 6.5)
        + _box(27, 50, 9, 31, "#2b2f38", 4.5)
        + _box(64, 50, 9, 31, "#2b2f38", 4.5)
        + _box(16, 51, 15, 29, "url(#body)", 7)
        + _box(69, 51, 15, 29, "url(#body)", 7)
        + _line("M20.5 58v14M79.5 58v14", _shade(color, 1.4), 1.8)
    )


def _shoes(rng: Random) -> str:
    color = rng.choice(_ACCENTS)
    return (
        _studio(rng, 76, 40)
        + _paint(color)
        + _path(
            "M14 42c4 3 9 3 13-3 5 6 14 8 20 4l8 9c6 5 14 6 22 8 8 2 11 5 11 11H13c-3-8-2-20 1-29z",
            "url(#body)",
        )
        + _path("M70 58c9 2 18 3 18 13H68c-4-5-2-11 2-13z", _shade(color, 0.74))
        + _path("M14 42c4 3 9 3 13-3l3 3c-3 8-10 11-17 8z", _shade(color, 0.66))
        + _line("M22 67c6-12 18-16 30-12", "#ffffff", 3)
        + _line("M44 46l-6 5M49 50l-6 5M54 54.5l-6 5", "#ffffff", 1.8)
        + _path("M11 70h78c2 4 0 8-4 8H16c-4 0-6-4-5-8z", "#fafafa")
        + _line("M13 75.5h74", "#d5d8de", 1.1)
    )


def _book(rng: Random) -> str:
    color, mark = rng.choice(_ACCENTS), rng.choice(("#f8d66d", "#ffffff", "#ffb4a2"))
    return (
        _studio(rng, 88, 27)
        + _paint(color)
        + _path("M30 16h44a3 3 0 0 1 3 3v66a3 3 0 0 1-3 3H30z", "#f7f3e8")
        + _line("M72 19v66M74.5 19v66", "#d9d2c0", 0.7)
        + _path(
            "M27 13h41a3 3 0 0 1 3 3v66a3 3 0 0 1-3 3H27a4 4 0 0 1-4-4V17a4 4 0 0 1 4-4z",
            "url(#body)",
        )
        + _box(23, 13, 6.5, 72, _shade(color, 0.7), 3)
        + _oval(50, 58, 12, 12, mark)
        + _path("M38 58a12 12 0 0 0 24 0C56 52 46 64 38 58z", _shade(color, 0.85))
        + _line("M38 25h24M42 32h16", "#ffffff", 2.6)
    )


def _plant(rng: Random) -> str:
    pot = rng.choice(("#c96f4a", "#f1ede4", "#39424e", "#d9a441", "#7fa3b5"))
    leaf = rng.choice(("#2f7d4f", "#3d8b40", "#1f6f5c"))
    blades = "".join(
        _path(
            "M50 60C42 46 44 28 50 14 56 28 58 46 50 60z",
            _shade(leaf, 0.8 if number % 2 else 1.15),
            f' transform="rotate({angle + rng.uniform(-5, 5):.1f} 50 62)"',
        )
        for number, angle in enumerate((-64, 64, -40, 40, -18, 18, 0))
    )
    return (
        _studio(rng, 88, 20)
        + _paint(pot)
        + blades
        + _path("M32 58h36l-5 27a4 4 0 0 1-4 3H41a4 4 0 0 1-4-3z", "url(#body)")
        + _box(29.5, 54, 41, 8, _shade(pot, 0.9), 2)
    )


def _chair(rng: Random) -> str:
    color, wood = rng.choice(_ACCENTS), rng.choice(("#b07d4f", "#7a5236", "#d3ab7a"))
    return (
        _studio(rng, 90, 27)
        + _paint(color)
        + _line("M35 62l-7 27M65 62l7 27M42 62l-3 22M58 62l3 22", wood, 3.4)
        + _path("M32 16a8 8 0 0 1 8-6h20a8 8 0 0 1 8 6l3 36H29z", "url(#body)")
        + _line("M40 18l-2 28M50 18v28M60 18l2 28", _shade(color, 0.76), 1.2)
        + _path(
            "M26 50h48a5 5 0 0 1 5 5v3a7 7 0 0 1-7 7H28a7 7 0 0 1-7-7v-3a5 5 0 0 1 5-5z",
            _shade(color, 0.84),
        )
        + _line("M28 54h44", _shade(color, 1.2), 1.8)
    )


def _watch(rng: Random) -> str:
    strap = rng.choice((*_ACCENTS, "#5b3a29", "#1f2430"))
    dial = rng.choice(("#ffffff", "#161b26", "#f3ead7"))
    hands = "#f5f5f5" if dial == "#161b26" else "#1f2937"
    hour, minute = rng.uniform(0, 2 * math.pi), rng.uniform(0, 2 * math.pi)
    ticks = "".join(
        f"M{50 + 16 * math.cos(turn):.1f} {50 + 16 * math.sin(turn):.1f}"
        f"L{50 + 18 * math.cos(turn):.1f} {50 + 18 * math.sin(turn):.1f}"
        for turn in (tick * math.pi / 6 for tick in range(12))
    )
    return (
        _studio(rng, 94, 18)
        + _paint(strap)
        + _path("M38 6h24l2 24H36zM36 70h28l-2 24H38z", "url(#body)")
        + _box(72, 46, 5, 8, "#8b919c", 1.5)
        + _oval(50, 50, 25, 25, "#a7adb8")
        + _oval(50, 50, 22, 22, dial)
        + _line(ticks, hands, 1.3)
        + _line(f"M50 50l{9 * math.cos(hour):.1f} {9 * math.sin(hour):.1f}", hands, 2.4)
        + _line(f"M50 50l{14 * math.cos(minute):.1f} {14 * math.sin(minute):.1f}", hands, 1.7)
        + _oval(50, 50, 1.9, 1.9, "#e11d48")
    )


def _bottle(rng: Random) -> str:
    color = rng.choice(_ACCENTS)
    return (
        _studio(rng, 91, 18)
        + _paint(color)
        + _box(43, 8, 14, 10, "#2f3542", 2.5)
        + _path(
            "M44 18h12v6c0 6 9 8 9 18v42a7 7 0 0 1-7 7H42a7 7 0 0 1-7-7V42c0-10 9-12 9-18z",
            "url(#body)",
        )
        + _box(35, 50, 30, 22, "#fdfbf6")
        + _oval(50, 58, 4.6, 4.6, color)
        + _line("M42 67h16", "#9aa1ad", 1.5)
        + _line("M40.5 40v5M40.5 77v7", _shade(color, 1.55), 2.2)
    )


def _keyboard(rng: Random) -> str:
    case = rng.choice(("#2b303b", "#e9e7e1", "#c9d3dc"))
    accent, cap = rng.choice(_ACCENTS), "#444b59" if case == "#2b303b" else "#ffffff"
    keys = "".join(
        f"M{14 + column * 6.7 + row * 1.1:.1f} {40 + row * 7.4:.1f}h5.3v5.6h-5.3z"
        for row in range(3)
        for column in range(10)
    )
    return (
        _studio(rng, 74, 44)
        + _paint(case)
        + _box(8, 34, 84, 39, _shade(case, 0.6), 5)
        + _box(8, 32, 84, 38, "url(#body)", 5)
        + _path(keys, cap)
        + _box(14, 62, 12, 4.6, cap, 1)
        + _box(28.5, 62, 38, 4.6, cap, 1)
        + _box(69, 62, 16, 4.6, accent, 1)
        + _box(14, 40, 5.3, 5.6, accent)
    )


def _jacket(rng: Random) -> str:
    color = rng.choice(_ACCENTS)
    dark = _shade(color, 0.72)
    return (
        _studio(rng, 91, 25)
        + _paint(color)
        + _path(
            "M34 22 20 30c-5 10-8 26-9 42l11 3 8-28zM66 22l14 8c5 10 8 26 9 42l-11 3-8-28z",
            _shade(color, 0.86),
        )
        + _path("M36 19h28l8 9-2 56a4 4 0 0 1-4 4H34a4 4 0 0 1-4-4l-2-56z", "url(#body)")
        + _path("M38 12h24l4 9-16 8-16-8z", dark)
        + _path("M42 14h16l-8 11z", "#f4f1ea")
        + _line("M50 27v60", "#e8e4da", 1.6)
        + _line("M35 64l8-4M65 64l-8-4", dark, 2)
        + _line("M31 82h38", dark, 1.8)
    )


def _wallpaper(rng: Random) -> str:
    hue, step = rng.choice(((0.57, 0.04), (0.64, 0.05), (0.74, 0.05), (0.5, 0.05), (0.03, -0.05)))
    hue += rng.uniform(-0.02, 0.02)
    waves = "".join(
        _path(
            f"M0 {level:.1f}C22 {level - rng.uniform(4, 16):.1f} "
            f"38 {level + rng.uniform(4, 14):.1f} 60 {level:.1f}"
            f"S88 {level - rng.uniform(4, 14):.1f} 100 {level - 4:.1f}V101H0z",
            _hsl(hue + step * (1 + number), 0.6, 0.56 - 0.08 * number),
            ' opacity=".8"',
        )
        for number, level in enumerate((52.0, 64.0, 76.0, 88.0))
    )
    return (
        _backdrop(
            (_hsl(hue - step, 0.6, 0.36), _hsl(hue, 0.66, 0.6), _hsl(hue + step, 0.75, 0.78)), 0.3
        )
        + _oval(rng.uniform(40, 60), 36, 9, 9, "#ffffff", ' opacity=".55"')
        + waves
    )


_Draw = Callable[[Random], str]

_SCENES: dict[str, _Draw] = {
    "sea": _sea,
    "mountains": _mountains,
    "city": _city,
    "forest": _forest,
    "desert": _desert,
    "food": _food,
    "pet": _pet,
    "portrait": _portrait,
    "document": _document,
    "flower": _flower,
}
_PRODUCTS: dict[str, _Draw] = {
    "mug": _mug,
    "lamp": _lamp,
    "backpack": _backpack,
    "headphones": _headphones,
    "shoes": _shoes,
    "book": _book,
    "plant": _plant,
    "chair": _chair,
    "watch": _watch,
    "bottle": _bottle,
    "keyboard": _keyboard,
    "jacket": _jacket,
}
_DRAWINGS: dict[str, _Draw] = {**_SCENES, **_PRODUCTS, "wallpaper": _wallpaper}

SCENE_KINDS: tuple[str, ...] = tuple(_SCENES)
PRODUCT_KINDS: tuple[str, ...] = tuple(_PRODUCTS)
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
