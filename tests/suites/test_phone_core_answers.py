"""Answers in words: what a guess may not win."""

from __future__ import annotations

import pytest

from screenloop.criteria import AnswerIs, Text
from screenloop.suites.catalog import find_suite, select
from screenloop.verify.matchers import answer_matches

GUESSABLE = ("cheapest_in_stock", "locker_code", "when_and_where_taken")


@pytest.mark.parametrize("name", GUESSABLE)
@pytest.mark.parametrize("seed", range(3))
def test_an_answer_that_lists_every_candidate_is_wrong(name: str, seed: int) -> None:
    (task,) = select(find_suite("phone-core"), glob=name, seed=seed)
    (wanted,) = [
        check.to
        for check in task.checks
        if isinstance(check, AnswerIs) and isinstance(check.to, Text)
    ]
    assert len(wanted.others) >= 2
    assert answer_matches(wanted, f"It is {wanted.value}.")
    assert not answer_matches(wanted, " or ".join((wanted.value, *wanted.others)))
