"""Limits of an Episode."""

from __future__ import annotations

from screenloop.rollout.limits import Spent, limit_reached
from screenloop.types import Budget, EndReason, Usage


def test_each_limit_binds_when_it_is_used_up_and_not_before() -> None:
    cases = [
        (Budget(steps=3), Spent(steps=2), Spent(steps=3), EndReason.STEP_LIMIT),
        (
            Budget(tokens=100),
            Spent(usage=Usage(prompt=90, completion=9)),
            Spent(usage=Usage(prompt=90, completion=10)),
            EndReason.TOKEN_LIMIT,
        ),
        (
            Budget(cost_usd=0.5),
            Spent(usage=Usage(cost_usd=0.49)),
            Spent(usage=Usage(cost_usd=0.5)),
            EndReason.COST_LIMIT,
        ),
        (Budget(seconds=60), Spent(seconds=59.9), Spent(seconds=60), EndReason.TIME_LIMIT),
    ]
    for budget, before, at, reason in cases:
        assert limit_reached(budget, before) is None
        assert limit_reached(budget, at) is reason


def test_no_limit_binds_on_what_nobody_counted() -> None:
    assert limit_reached(Budget(tokens=0, cost_usd=0), Spent()) is None


def test_a_budget_of_no_steps_is_used_up_at_once() -> None:
    assert limit_reached(Budget(steps=0), Spent()) is EndReason.STEP_LIMIT
