"""Counting what model calls used and what they cost; pure."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import TypeVar

from screenloop.errors import ConfigError
from screenloop.types import Struct, Usage

_PER_TOKENS = 1_000_000
_Number = TypeVar("_Number", int, float)


class Price(Struct, frozen=True, kw_only=True):
    """US dollars for a million tokens."""

    prompt_usd: float
    completion_usd: float
    cached_usd: float
    """For prompt tokens that the server took from its cache."""


def parse_price(text: str) -> Price:
    """Read `PROMPT,COMPLETION` or `PROMPT,COMPLETION,CACHED`, in dollars a million tokens.

    Without the third figure, cached tokens cost as much as other prompt tokens.

    Raises:
        ConfigError: the text is in neither form, or a figure is negative.
    """
    try:
        figures = [float(part) for part in text.split(",")]
    except ValueError:
        figures = []
    if len(figures) not in (2, 3) or not all(0 <= figure < float("inf") for figure in figures):
        raise ConfigError(
            f"{text!r} is no price. Give dollars for a million tokens as "
            "PROMPT,COMPLETION[,CACHED], e.g. 0.5,2,0.1."
        )
    cached = figures[2] if len(figures) == 3 else figures[0]
    return Price(prompt_usd=figures[0], completion_usd=figures[1], cached_usd=cached)


def cost_usd(usage: Usage, price: Price) -> float | None:
    """Return what a call cost, or `None` when the server did not count its tokens."""
    if usage.prompt is None or usage.completion is None:
        return None
    cached = min(usage.cached or 0, usage.prompt)
    return (
        (usage.prompt - cached) * price.prompt_usd
        + cached * price.cached_usd
        + usage.completion * price.completion_usd
    ) / _PER_TOKENS


def add_usage(left: Usage, right: Usage) -> Usage:
    """Return the sum; a count that one side does not know is the other side's.

    So a sum over calls of which some told nothing is a lower bound, and `None` means that none
    told anything.
    """
    return Usage(
        prompt=_add(left.prompt, right.prompt),
        cached=_add(left.cached, right.cached),
        completion=_add(left.completion, right.completion),
        cost_usd=_add(left.cost_usd, right.cost_usd),
    )


def sum_usage(usages: Iterable[Usage]) -> Usage:
    """Return the sum of all; see `add_usage`."""
    return reduce(add_usage, usages, Usage())


def _add(left: _Number | None, right: _Number | None) -> _Number | None:
    if left is None or right is None:
        return right if left is None else left
    return left + right
