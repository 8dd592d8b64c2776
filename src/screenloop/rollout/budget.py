"""What an Episode has used, and which limit it reached; pure."""

from __future__ import annotations

from screenloop.types import Budget, EndReason, Struct, Usage


class Spent(Struct, frozen=True, kw_only=True):
    """What an Episode has used so far."""

    steps: int = 0
    usage: Usage = Usage()
    seconds: float = 0.0


def limit_reached(budget: Budget, spent: Spent) -> EndReason | None:
    """Return the first limit that is used up: steps, tokens, money, seconds.

    Tokens are prompt plus completion as the server counts them; where it does not, neither the
    token limit nor the cost limit can bind.
    """
    if spent.steps >= budget.steps:
        return EndReason.STEP_LIMIT
    known = [n for n in (spent.usage.prompt, spent.usage.completion) if n is not None]
    if budget.tokens is not None and known and sum(known) >= budget.tokens:
        return EndReason.TOKEN_LIMIT
    cost = spent.usage.cost_usd
    if budget.cost_usd is not None and cost is not None and cost >= budget.cost_usd:
        return EndReason.COST_LIMIT
    if budget.seconds is not None and spent.seconds >= budget.seconds:
        return EndReason.TIME_LIMIT
    return None
