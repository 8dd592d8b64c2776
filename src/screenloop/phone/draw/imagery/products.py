"""Products as a shop shows them: one thing on a soft ground."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

from screenloop.phone.draw.imagery.strokes import (
    ACCENTS,
    DARK,
    backdrop,
    box,
    gradient,
    hsl,
    line,
    oval,
    path,
    shade,
)


def _studio(rng: Random, shadow_y: float, shadow_rx: float) -> str:
    """Return a product shot's soft backdrop and the shadow on its ground."""
    hue = rng.random()
    return (
        backdrop((hsl(hue, 0.35, 0.96), hsl(hue + 0.04, 0.32, 0.86)), 0.3)
        + oval(50, shadow_y, shadow_rx * 1.12, 4.4, DARK, ' opacity=".10"')
        + oval(50, shadow_y, shadow_rx, 2.8, DARK, ' opacity=".16"')
    )


def _paint(color: str) -> str:
    """Return the body gradient of a product: lit from the upper left."""
    return gradient("body", (shade(color, 1.18), color, shade(color, 0.78)), 0.8)


def _mug(rng: Random) -> str:
    color = rng.choice((*ACCENTS, "#f3efe6"))
    return (
        _studio(rng, 82, 26)
        + _paint(color)
        + line("M66 44h5a10.5 10.5 0 0 1 0 21h-6", shade(color, 0.82), 5.5)
        + path("M26 34h42v38a10 10 0 0 1-10 10H36a10 10 0 0 1-10-10z", "url(#body)")
        + oval(47, 34, 21, 5, shade(color, 1.3))
        + oval(47, 34.6, 17.5, 3.5, "#5b3a26")
        + line("M40 24c-3-4 3-6 0-10M49 24c-3-4 3-6 0-10", "#ffffff", 2)
        + line("M33 44v22", shade(color, 1.5), 2.4)
    )


def _lamp(rng: Random) -> str:
    color = rng.choice((*ACCENTS, "#e9dcc3"))
    metal = rng.choice(("#3b4252", "#b08d57", "#8a8f98"))
    return (
        _studio(rng, 88, 20)
        + _paint(color)
        + path("M28 52 14 92h72L72 52z", "#fff3c4", ' opacity=".45"')
        + box(48.3, 50, 3.4, 36, metal)
        + path("M34 88a16 5 0 0 1 32 0z", metal)
        + path("M39 16h22l13 36H26z", "url(#body)")
        + oval(50, 52, 24, 4, "#fff0b8")
        + oval(50, 16, 11, 2, shade(color, 1.35))
    )


def _backpack(rng: Random) -> str:
    color = rng.choice(ACCENTS)
    dark = shade(color, 0.68)
    return (
        _studio(rng, 89, 27)
        + _paint(color)
        + line("M42 20c0-11 16-11 16 0", dark, 3.6)
        + line("M27 46c-8 6-8 26-3 34M73 46c8 6 8 26 3 34", dark, 5)
        + path(
            "M26 44C26 26 36 18 50 18s24 8 24 26v36a9 9 0 0 1-9 9H35a9 9 0 0 1-9-9z", "url(#body)"
        )
        + line("M34 42C34 30 41 26 50 26s16 4 16 16", dark, 1.6)
        + path("M33 56h34v20a6 6 0 0 1-6 6H39a6 6 0 0 1-6-6z", shade(color, 0.84))
        + line("M34 61h32", dark, 1.8)
        + box(44.5, 40, 11, 7, "#f4f1ea", 1.5)
        + line("M58 61v5", "#f4d58d", 1.8)
    )


def _headphones(rng: Random) -> str:
    color = rng.choice((*ACCENTS, "#20242c", "#d8dbe0"))
    dark = shade(color, 0.6)
    return (
        _studio(rng, 86, 28)
        + _paint(color)
        + line("M24 58V48a26 26 0 0 1 52 0v10", dark, 6.5)
        + line("M29 34a26 26 0 0 1 42 0", shade(color, 1.15), 6.5)
        + box(27, 50, 9, 31, "#2b2f38", 4.5)
        + box(64, 50, 9, 31, "#2b2f38", 4.5)
        + box(16, 51, 15, 29, "url(#body)", 7)
        + box(69, 51, 15, 29, "url(#body)", 7)
        + line("M20.5 58v14M79.5 58v14", shade(color, 1.4), 1.8)
    )


def _shoes(rng: Random) -> str:
    color = rng.choice(ACCENTS)
    return (
        _studio(rng, 76, 40)
        + _paint(color)
        + path(
            "M14 42c4 3 9 3 13-3 5 6 14 8 20 4l8 9c6 5 14 6 22 8 8 2 11 5 11 11H13c-3-8-2-20 1-29z",
            "url(#body)",
        )
        + path("M70 58c9 2 18 3 18 13H68c-4-5-2-11 2-13z", shade(color, 0.74))
        + path("M14 42c4 3 9 3 13-3l3 3c-3 8-10 11-17 8z", shade(color, 0.66))
        + line("M22 67c6-12 18-16 30-12", "#ffffff", 3)
        + line("M44 46l-6 5M49 50l-6 5M54 54.5l-6 5", "#ffffff", 1.8)
        + path("M11 70h78c2 4 0 8-4 8H16c-4 0-6-4-5-8z", "#fafafa")
        + line("M13 75.5h74", "#d5d8de", 1.1)
    )


def _book(rng: Random) -> str:
    color, mark = rng.choice(ACCENTS), rng.choice(("#f8d66d", "#ffffff", "#ffb4a2"))
    return (
        _studio(rng, 88, 27)
        + _paint(color)
        + path("M30 16h44a3 3 0 0 1 3 3v66a3 3 0 0 1-3 3H30z", "#f7f3e8")
        + line("M72 19v66M74.5 19v66", "#d9d2c0", 0.7)
        + path(
            "M27 13h41a3 3 0 0 1 3 3v66a3 3 0 0 1-3 3H27a4 4 0 0 1-4-4V17a4 4 0 0 1 4-4z",
            "url(#body)",
        )
        + box(23, 13, 6.5, 72, shade(color, 0.7), 3)
        + oval(50, 58, 12, 12, mark)
        + path("M38 58a12 12 0 0 0 24 0C56 52 46 64 38 58z", shade(color, 0.85))
        + line("M38 25h24M42 32h16", "#ffffff", 2.6)
    )


def _plant(rng: Random) -> str:
    pot = rng.choice(("#c96f4a", "#f1ede4", "#39424e", "#d9a441", "#7fa3b5"))
    leaf = rng.choice(("#2f7d4f", "#3d8b40", "#1f6f5c"))
    blades = "".join(
        path(
            "M50 60C42 46 44 28 50 14 56 28 58 46 50 60z",
            shade(leaf, 0.8 if number % 2 else 1.15),
            f' transform="rotate({angle + rng.uniform(-5, 5):.1f} 50 62)"',
        )
        for number, angle in enumerate((-64, 64, -40, 40, -18, 18, 0))
    )
    return (
        _studio(rng, 88, 20)
        + _paint(pot)
        + blades
        + path("M32 58h36l-5 27a4 4 0 0 1-4 3H41a4 4 0 0 1-4-3z", "url(#body)")
        + box(29.5, 54, 41, 8, shade(pot, 0.9), 2)
    )


def _chair(rng: Random) -> str:
    color, wood = rng.choice(ACCENTS), rng.choice(("#b07d4f", "#7a5236", "#d3ab7a"))
    return (
        _studio(rng, 90, 27)
        + _paint(color)
        + line("M35 62l-7 27M65 62l7 27M42 62l-3 22M58 62l3 22", wood, 3.4)
        + path("M32 16a8 8 0 0 1 8-6h20a8 8 0 0 1 8 6l3 36H29z", "url(#body)")
        + line("M40 18l-2 28M50 18v28M60 18l2 28", shade(color, 0.76), 1.2)
        + path(
            "M26 50h48a5 5 0 0 1 5 5v3a7 7 0 0 1-7 7H28a7 7 0 0 1-7-7v-3a5 5 0 0 1 5-5z",
            shade(color, 0.84),
        )
        + line("M28 54h44", shade(color, 1.2), 1.8)
    )


def _watch(rng: Random) -> str:
    strap = rng.choice((*ACCENTS, "#5b3a29", "#1f2430"))
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
        + path("M38 6h24l2 24H36zM36 70h28l-2 24H38z", "url(#body)")
        + box(72, 46, 5, 8, "#8b919c", 1.5)
        + oval(50, 50, 25, 25, "#a7adb8")
        + oval(50, 50, 22, 22, dial)
        + line(ticks, hands, 1.3)
        + line(f"M50 50l{9 * math.cos(hour):.1f} {9 * math.sin(hour):.1f}", hands, 2.4)
        + line(f"M50 50l{14 * math.cos(minute):.1f} {14 * math.sin(minute):.1f}", hands, 1.7)
        + oval(50, 50, 1.9, 1.9, "#e11d48")
    )


def _bottle(rng: Random) -> str:
    color = rng.choice(ACCENTS)
    return (
        _studio(rng, 91, 18)
        + _paint(color)
        + box(43, 8, 14, 10, "#2f3542", 2.5)
        + path(
            "M44 18h12v6c0 6 9 8 9 18v42a7 7 0 0 1-7 7H42a7 7 0 0 1-7-7V42c0-10 9-12 9-18z",
            "url(#body)",
        )
        + box(35, 50, 30, 22, "#fdfbf6")
        + oval(50, 58, 4.6, 4.6, color)
        + line("M42 67h16", "#9aa1ad", 1.5)
        + line("M40.5 40v5M40.5 77v7", shade(color, 1.55), 2.2)
    )


def _keyboard(rng: Random) -> str:
    case = rng.choice(("#2b303b", "#e9e7e1", "#c9d3dc"))
    accent, cap = rng.choice(ACCENTS), "#444b59" if case == "#2b303b" else "#ffffff"
    keys = "".join(
        f"M{14 + column * 6.7 + row * 1.1:.1f} {40 + row * 7.4:.1f}h5.3v5.6h-5.3z"
        for row in range(3)
        for column in range(10)
    )
    return (
        _studio(rng, 74, 44)
        + _paint(case)
        + box(8, 34, 84, 39, shade(case, 0.6), 5)
        + box(8, 32, 84, 38, "url(#body)", 5)
        + path(keys, cap)
        + box(14, 62, 12, 4.6, cap, 1)
        + box(28.5, 62, 38, 4.6, cap, 1)
        + box(69, 62, 16, 4.6, accent, 1)
        + box(14, 40, 5.3, 5.6, accent)
    )


def _jacket(rng: Random) -> str:
    color = rng.choice(ACCENTS)
    dark = shade(color, 0.72)
    return (
        _studio(rng, 91, 25)
        + _paint(color)
        + path(
            "M34 22 20 30c-5 10-8 26-9 42l11 3 8-28zM66 22l14 8c5 10 8 26 9 42l-11 3-8-28z",
            shade(color, 0.86),
        )
        + path("M36 19h28l8 9-2 56a4 4 0 0 1-4 4H34a4 4 0 0 1-4-4l-2-56z", "url(#body)")
        + path("M38 12h24l4 9-16 8-16-8z", dark)
        + path("M42 14h16l-8 11z", "#f4f1ea")
        + line("M50 27v60", "#e8e4da", 1.6)
        + line("M35 64l8-4M65 64l-8-4", dark, 2)
        + line("M31 82h38", dark, 1.8)
    )


PRODUCTS: dict[str, Callable[[Random], str]] = {
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
"""Kinds of products to what draws them."""
