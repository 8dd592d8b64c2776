"""What counts as solved on each MiniWoB++ page, read from the pages' own reward code.

A page pays a raw reward in [-1, 1], before its time decay. Most pages pay 1 for a right answer and
a negative number otherwise. Some pay a little for a wrong or partial answer; that is no success.

| pages | what they pay | solved |
|---|---|---|
| all others | 1 right, below 0 wrong | 1 |
| find-greatest | 0.1 for a wrong card | 1 |
| click-checkboxes*, odd-or-even | the share of right marks minus wrong ones | 1 |
| ascending-numbers | the share clicked when a number is clicked out of order | 1 |
| phone-book | 0.4 for the right person's wrong detail | 1 |
| buy-ticket, drag-shapes-2, tic-tac-toe | between -1 and 1 for what is nearly right | 1 |
| hot-cold | 1 within 5 px of the spot, 0.5 within 10, 0.25 within 40 | 1 |
| circle-center, find-midpoint | 1 minus distance over the radius (over 30 px) | 0.8 |
| bisect-angle, right-angle | 1 minus error over half the angle (over 90 degrees) | 0.8 |
| draw-line | 0.8 for the direction plus 0.2 for passing the point | 0.9 |
| draw-circle | 1 below 2 px deviation, 0.9 below 4, times a factor for size | 0.9 |
| use-colorwheel, use-colorwheel-2 | 1 minus the mean error of the channels | 0.95 |

The four pages with 0.8 put their mark about 2.5 px beside the point clicked, so an exact click
pays between 0.87 and 0.96.
"""

from __future__ import annotations

from importlib import resources
from typing import Literal

import msgspec

from screenloop.types import Struct

Difficulty = Literal["easy", "medium", "hard"]

FULL = 0.999
"""A full reward; sums of shares may miss 1 by rounding."""


class Family(Struct, frozen=True, kw_only=True):
    """Pages that ask for the same kind of work."""

    name: str
    difficulty: Difficulty
    steps: int
    """Budget: about three times what a careful person needs."""
    tasks: tuple[str, ...]


class _Rules(Struct, frozen=True, kw_only=True):
    families: tuple[Family, ...]
    partial: dict[str, float]


_TEXT = resources.files("screenloop.suites").joinpath("miniwob_rules.toml").read_text("utf-8")
_RULES = msgspec.toml.decode(_TEXT, type=_Rules)
FAMILIES = _RULES.families
PARTIAL = _RULES.partial
"""Least raw reward of a success, where the page grades how near an answer is."""


def family_of(task: str) -> Family:
    """Return the family of a page; pages that a newer package adds count as long ones."""
    for family in FAMILIES:
        if task in family.tasks:
            return family
    return FAMILIES[-1]


def success_min(task: str) -> float:
    """Return the least raw reward that counts as solved."""
    return PARTIAL.get(task, FULL)
