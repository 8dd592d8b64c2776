"""Products as a shop shows them: one thing on a soft ground.

Each is a template of `assets/pictures`: `{color}` stands for a chosen colour, `{color:0.8}` for a
darker shade of it, `{color:1.2}` for a lighter one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

from screenloop.phone.draw.imagery.strokes import ACCENTS, Color, hsl
from screenloop.phone.draw.svg import elements_of

_CHOICES: dict[str, dict[str, tuple[str, ...]]] = {
    "mug": {"color": (*ACCENTS, "#f3efe6")},
    "lamp": {"color": (*ACCENTS, "#e9dcc3"), "metal": ("#3b4252", "#b08d57", "#8a8f98")},
    "backpack": {"color": ACCENTS},
    "headphones": {"color": (*ACCENTS, "#20242c", "#d8dbe0")},
    "shoes": {"color": ACCENTS},
    "book": {"color": ACCENTS, "mark": ("#f8d66d", "#ffffff", "#ffb4a2")},
    "plant": {
        "pot": ("#c96f4a", "#f1ede4", "#39424e", "#d9a441", "#7fa3b5"),
        "leaf": ("#2f7d4f", "#3d8b40", "#1f6f5c"),
    },
    "chair": {"color": ACCENTS, "wood": ("#b07d4f", "#7a5236", "#d3ab7a")},
    "watch": {"strap": (*ACCENTS, "#5b3a29", "#1f2430"), "dial": ("#ffffff", "#161b26", "#f3ead7")},
    "bottle": {"color": ACCENTS},
    "keyboard": {"case": ("#2b303b", "#e9e7e1", "#c9d3dc"), "accent": ACCENTS},
    "jacket": {"color": ACCENTS},
}
"""What a product's template may be filled with, drawn in this order."""


def _leaves(rng: Random, chosen: dict[str, Any]) -> dict[str, Any]:
    angles = (-64, 64, -40, 40, -18, 18, 0)
    return {f"turn{n}": angle + rng.uniform(-5, 5) for n, angle in enumerate(angles)}


def _hands(rng: Random, chosen: dict[str, Any]) -> dict[str, Any]:
    hour, minute = rng.uniform(0, 2 * math.pi), rng.uniform(0, 2 * math.pi)
    return {
        "hands": "#f5f5f5" if chosen["dial"] == "#161b26" else "#1f2937",
        "hour_x": 9 * math.cos(hour),
        "hour_y": 9 * math.sin(hour),
        "minute_x": 14 * math.cos(minute),
        "minute_y": 14 * math.sin(minute),
    }


def _keys(rng: Random, chosen: dict[str, Any]) -> dict[str, Any]:
    return {"cap": "#444b59" if chosen["case"] == "#2b303b" else "#ffffff"}


_MORE = {"plant": _leaves, "watch": _hands, "keyboard": _keys}
"""What else a template needs, from the random stream and the colours chosen."""


def _product(name: str, rng: Random) -> str:
    chosen: dict[str, Any] = {n: Color(rng.choice(of)) for n, of in _CHOICES[name].items()}
    if name in _MORE:
        chosen |= _MORE[name](rng, chosen)
    hue = rng.random()
    ground = {"light": hsl(hue, 0.35, 0.96), "deep": hsl(hue + 0.04, 0.32, 0.86)}
    return elements_of("pictures", name).format_map(chosen | ground)


PRODUCTS: dict[str, Callable[[Random], str]] = {n: partial(_product, n) for n in _CHOICES}
"""Kinds of products to what draws them."""
