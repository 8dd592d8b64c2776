"""What an Episode has used, and which limit it reached; pure."""

from __future__ import annotations

from typing import TypeVar

from screenloop.types import Budget, EndReason, Struct, Usage

_N = TypeVar("_N", int, float)


class Spent(Struct, frozen=True, kw_only=True):
    """What an Episode has used so far."""

    steps: int = 0
    usage: Usage = Usage()
    seconds: float = 0.0


def add_usage(a: Usage, b: Usage) -> Usage:
    """Return the sum; a count that neither side knows stays unknown."""
    return Usage(
        prompt=_add(a.prompt, b.prompt),
        cached=_add(a.cached, b.cached),
        completion=_add(a.completion, b.completion),
        cost_usd=_add(a.cost_usd, b.cost_usd),
    )


def limit_reached(budget: Budget, spent: Spent) -> EndReason | None:
    """Return the first limit that is used up: steps, tokens, money, seconds.

    Tokens are prompt plus completion as the server counts them; where it does not, neither the
    token limit nor the cost limit can bind.
    """
    if spent.steps >= budget.steps:
        return EndReason.STEP_LIMIT
    tokens = _add(spent.usage.prompt, spent.usage.completion)
    if budget.tokens is not None and tokens is not None and tokens >= budget.tokens:
        return EndReason.TOKEN_LIMIT
    cost = spent.usage.cost_usd
    if budget.cost_usd is not None and cost is not None and cost >= budget.cost_usd:
        return EndReason.COST_LIMIT
    if budget.seconds is not None and spent.seconds >= budget.seconds:
        return EndReason.TIME_LIMIT
    return None


def _add(a: _N | None, b: _N | None) -> _N | None:
    if a is None:
        return b
    return a if b is None else a + b
