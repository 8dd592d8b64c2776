"""What a new phone holds, as data: `data.toml` beside an app, drawn and filled for each world.

A fact is a pattern, drawn once a world: `{day 2-4}`, `{pine|otter}{100-998}`, `{380-620/10}`, or
`{streets}` for a list of that name. A text names facts: `Dinner is on {dinner_day:spoken}`.
"""

from __future__ import annotations

import random
import re
import string
import tomllib
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any

from screenloop.phone.declare.cast import Cast

Facts = Mapping[str, Any]
Ways = Mapping[str, Callable[[Any], str]]
"""How facts are told, by the word after the colon."""
_SLOT = re.compile(r"\{([^{}]+)\}")
_NUMBER = re.compile(r"(day )?(-?\d+)(?:-(\d+))?(?:/(\d+))?")


@lru_cache
def read_data(package: str) -> dict[str, Any]:
    """Return the `data.toml` of an app's package; not to be changed."""
    return tomllib.loads(files(package).joinpath("data.toml").read_text(encoding="utf-8"))


def drawn(pattern: Any, cast: Cast, rng: random.Random, lists: Mapping[str, list[str]]) -> Any:
    """Return patterns with their slots drawn in the order in which they stand.

    `{low-high}` is a number with both ends in it, as many digits as `low` at least; `/step` goes
    in steps; `day` makes it the ISO date so many days from the world's start.
    """
    if isinstance(pattern, dict):
        return {name: drawn(part, cast, rng, lists) for name, part in pattern.items()}
    if isinstance(pattern, list):
        return [drawn(part, cast, rng, lists) for part in pattern]

    def draw(match: re.Match[str]) -> str:
        number = _NUMBER.fullmatch(match[1])
        if number is None:
            choices: list[str] = lists.get(match[1]) or match[1].split("|")
            return rng.choice(choices)
        day, low, high, step = number.groups()
        value = rng.randrange(int(low), int(high) + 1, int(step or 1)) if high else int(low)
        return cast.day(value) if day else str(value).zfill(len(low))

    return _SLOT.sub(draw, pattern)


def filled(value: Any, facts: Facts, ways: Ways) -> Any:
    """Return a value with the slots of its texts filled; `{day:spoken}` says how one is told."""
    if isinstance(value, dict):
        return {name: filled(part, facts, ways) for name, part in value.items()}
    if isinstance(value, list):
        return [filled(part, facts, ways) for part in value]
    return _Teller(ways).vformat(value, (), facts) if isinstance(value, str) else value


class _Teller(string.Formatter):
    def __init__(self, ways: Ways) -> None:
        self.ways = ways

    def format_field(self, value: Any, format_spec: str) -> Any:
        tell = self.ways.get(format_spec)
        return tell(value) if tell else super().format_field(value, format_spec)
