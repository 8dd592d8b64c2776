"""Photos: places, food, animals, people, papers; and the wallpaper."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

from screenloop.phone.draw.imagery.strokes import (
    ACCENTS,
    Color,
    backdrop,
    box,
    dune,
    gradient,
    hsl,
    line,
    oval,
    path,
    ridge,
    shade,
)
from screenloop.phone.draw.svg import elements_of

_SKIN = ("#f6d3b8", "#eab78f", "#d19a6c", "#a86e46", "#7b4a2d")
_HAIR = ("#2b2118", "#4a3020", "#7a4a22", "#b98345", "#1c1c24", "#8d8d93")
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
    deep, pale = hsl(hue, 0.65, 0.28), hsl(hue, 0.55, 0.55)
    return (
        backdrop(sky)
        + oval(sun, 46, 15, 15, "#fff6d8", ' opacity=".35"')
        + oval(sun, 46, 8.5, 8.5, "#fff6d8")
        + gradient("sea", (pale, deep))
        + box(0, 55, 100, 46, "url(#sea)")
        + line(f"M{sun - 9:.1f} 59h18M{sun - 6:.1f} 63h14M{sun - 10:.1f} 68h17", "#fff6d8", 1)
        + path(f"M{sail:.1f} 57V43l9 13zM{sail - 1.2:.1f} 57V46l-5 10z", "#ffffff")
        + path(f"M{sail - 7:.1f} 58h17l-3 4h-11z", "#7c3f2a")
        + path("M0 82C20 76 32 84 52 81S84 74 100 79V101H0z", "#f2dfb4")
        + line("M0 82C20 76 32 84 52 81S84 74 100 79", "#ffffff", 1.6)
    )


def _mountains(rng: Random) -> str:
    hue = rng.choice((0.58, 0.62, 0.7))
    peak, side = rng.uniform(38, 62), rng.uniform(24, 30)
    snow = f"M{peak:.1f} {side:.1f}l9.6 14-4.5-1.5-4 5-4-4.2-5.2 2.5z"
    return (
        backdrop(rng.choice(_SKIES))
        + oval(rng.uniform(12, 88), 20, 7, 7, "#fffbe8", ' opacity=".9"')
        + path(ridge(rng, 62, 24, 8), hsl(hue, 0.3, 0.66))
        + path(
            f"M{peak - 44:.1f} 101L{peak:.1f} {side:.1f} {peak + 48:.1f} 101z", hsl(hue, 0.28, 0.45)
        )
        + path(f"M{peak:.1f} {side:.1f}L{peak + 48:.1f} 101H{peak + 6:.1f}z", hsl(hue, 0.3, 0.36))
        + path(snow, "#ffffff")
        + path(ridge(rng, 82, 14, 12), hsl(0.42, 0.3, 0.3))
        + path(dune(rng, 88, 4), hsl(0.36, 0.35, 0.24))
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
        backdrop(("#0d1638", "#2b2f6b", rng.choice(("#8a4b86", "#3f6fa3", "#b0617a"))))
        + line(stars, "#dfe7ff", 0.8)
        + oval(moon, 17, 7, 7, "#f5efd6")
        + path("".join(far), "#27305f")
        + path("".join(near), "#10162f")
        + path("".join(lights), "#ffd98a")
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
        backdrop((hsl(hue + 0.12, 0.45, 0.72), "#f3f6e4"))
        + oval(rng.uniform(25, 75), 30, 10, 10, "#fff7d1")
        + path(dune(rng, 48, 6), hsl(hue, 0.2, 0.7))
        + path(firs(66, 26, 11), hsl(hue, 0.25, 0.52))
        + path(firs(82, 34, 8), hsl(hue, 0.36, 0.34))
        + path(firs(101, 44, 5), hsl(hue, 0.45, 0.2))
    )


def _desert(rng: Random) -> str:
    x, hue = rng.uniform(18, 40), rng.uniform(0.06, 0.1)
    cactus = f"M{x:.1f} 84V58M{x:.1f} 74h-6v-8M{x:.1f} 70h6v-9"
    return (
        backdrop(rng.choice((("#f7a35c", "#fbd08a", "#fdeccb"), ("#6f8fd0", "#f0b59a", "#fde0b8"))))
        + oval(rng.uniform(52, 84), 34, 9, 9, "#fff4d0")
        + path(dune(rng, 58, 5), hsl(hue, 0.6, 0.66))
        + path(dune(rng, 70, 6), hsl(hue, 0.6, 0.56))
        + line(cactus, "#3d6b4a", 4.2)
        + path(dune(rng, 84, 5), hsl(hue, 0.58, 0.45))
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
        bites.append(oval(round(x, 1), round(y, 1), 6.5, 5, tone))
    return (
        backdrop((table, shade(table, 0.85)), 0.6)
        + oval(50, 54, 35, 35, "#000000", ' opacity=".22"')
        + oval(50, 51, 35, 35, "#fbfaf7")
        + oval(50, 51, 26, 26, "#eeebe4")
        + "".join(bites)
        + oval(54, 48, 9, 8.5, "#fffdf5")
        + oval(55, 48, 4.3, 4.3, "#f8b72d")
        + line("M7 28v16M10.5 28v16M3.5 28v12c0 4 7 4 7 0M7 44v32", "#e8e8ec", 1.7)
        + line("M93 76V28c-4 4-5 14-4 22h4", "#e8e8ec", 2)
    )


def _pet(rng: Random) -> str:
    wall = rng.random()
    fur = rng.choice(("#e8a35c", "#7b7f8c", "#3a3a44", "#f1e3cf", "#a8744a"))
    iris = rng.choice(("#6fbf5e", "#e8b931", "#5fb4d9"))
    light, deep = hsl(wall, 0.45, 0.82), hsl(wall + 0.06, 0.45, 0.66)
    body = elements_of("pictures", "pet")
    return body.format(light=light, deep=deep, fur=Color(fur), iris=iris)


def _portrait(rng: Random) -> str:
    wall = rng.random()
    skin, hair, shirt = rng.choice(_SKIN), rng.choice(_HAIR), rng.choice(ACCENTS)
    style = rng.randrange(4)
    behind = {1: path("M26 42C26 8 74 8 74 42v30H26z", hair), 3: oval(50, 12, 9, 8, hair)}
    fringe = (
        "M29 43C27 16 73 16 71 43 68 34 60 31 50 31S32 34 29 43z",
        "M30 46C28 18 72 18 70 46 68 35 58 33 46 27 44 34 34 36 30 46z",
        "M29 46C24 18 52 12 62 19c9 1 12 14 9 27-2-8-4-10-8-14-8 3-20 3-28 0-3 4-5 7-6 14z",
        "M30 42C28 16 72 16 70 42 64 32 58 29 50 29s-14 3-20 13z",
    )
    return elements_of("pictures", "portrait").format(
        light=hsl(wall, 0.5, 0.8),
        deep=hsl(wall + 0.08, 0.5, 0.62),
        skin=Color(skin),
        hair=hair,
        shirt=shirt,
        behind=behind.get(style, ""),
        fringe=fringe[style],
    )


def _document(rng: Random) -> str:
    desk, tilt = rng.choice(("#6b4a35", "#4b5563", "#a5815c", "#2f3a45")), rng.uniform(-5, 5)
    lines = "".join(f"M28 {y}h{rng.randrange(30, 44)}" for y in range(40, 66, 5))
    body = elements_of("pictures", "document")
    return body.format(desk=Color(desk), tilt=tilt, lines=lines, accent=rng.choice(ACCENTS))


def _flower(rng: Random) -> str:
    hue, count = rng.choice((0.93, 0.0, 0.13, 0.76, 0.6)), rng.choice((6, 8, 10))
    width = {6: 12, 8: 9.5, 10: 8}[count]

    def petals(reach: float, tone: str, turn: float) -> str:
        return "".join(
            oval(50, 42 - reach, width, reach, tone, f' transform="rotate({angle:.1f} 50 42)"')
            for angle in (360 * petal / count + turn for petal in range(count))
        )

    turn = rng.uniform(0, 30)
    return (
        backdrop(("#2f6b4f", "#7fae6a"), 0.7)
        + oval(18, 24, 16, 16, "#ffffff", ' opacity=".1"')
        + oval(84, 74, 20, 20, "#ffffff", ' opacity=".08"')
        + line("M50 46C51 66 47 80 50 101", "#2e5b35", 3.2)
        + path("M50 84C62 66 76 66 82 68 78 80 64 88 50 90z", "#3f7d47")
        + path("M49 92C38 78 26 78 20 80 24 92 38 97 49 97z", "#4d8f52")
        + petals(16, hsl(hue, 0.65, 0.66), turn)
        + petals(11, hsl(hue, 0.7, 0.76), turn + 180 / count)
        + oval(50, 42, 7.5, 7.5, "#f4b63f")
        + oval(49, 41, 4.5, 4.5, "#e09526")
    )


def wallpaper(rng: Random) -> str:
    """Draw the launcher's ground: a sun over waves."""
    hue, step = rng.choice(((0.57, 0.04), (0.64, 0.05), (0.74, 0.05), (0.5, 0.05), (0.03, -0.05)))
    hue += rng.uniform(-0.02, 0.02)
    waves = "".join(
        path(
            f"M0 {level:.1f}C22 {level - rng.uniform(4, 16):.1f} "
            f"38 {level + rng.uniform(4, 14):.1f} 60 {level:.1f}"
            f"S88 {level - rng.uniform(4, 14):.1f} 100 {level - 4:.1f}V101H0z",
            hsl(hue + step * (1 + number), 0.6, 0.56 - 0.08 * number),
            ' opacity=".8"',
        )
        for number, level in enumerate((52.0, 64.0, 76.0, 88.0))
    )
    return (
        backdrop(
            (hsl(hue - step, 0.6, 0.36), hsl(hue, 0.66, 0.6), hsl(hue + step, 0.75, 0.78)), 0.3
        )
        + oval(rng.uniform(40, 60), 36, 9, 9, "#ffffff", ' opacity=".55"')
        + waves
    )


SCENES: dict[str, Callable[[Random], str]] = {
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
"""Kinds of photos to what draws them."""
