"""Random schedules of workers, crashes and lost messages over the real manager and host."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from screenloop.bench.lease.schedules import MOVES, WORKERS, Move, draw_schedule, play_schedule
from screenloop.manager.journal.sqlite import SqliteJournal

moves = st.builds(
    Move,
    kind=st.sampled_from(sorted(set(MOVES))),
    worker=st.integers(0, WORKERS - 1),
    number=st.integers(0, 15),
    with_next=st.booleans(),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(moves, max_size=40))
async def test_no_order_of_events_breaks_a_rule(schedule: list[Move]) -> None:
    assert (await play_schedule(schedule)).violations == []


async def test_drawn_schedules_break_no_rule_and_meet_crashes_steps_and_answers() -> None:
    crashes = steps = answers = 0
    for seed in range(300):
        world = await play_schedule(draw_schedule(random.Random(seed)))
        assert world.violations == [], f"seed {seed}"
        crashes += world.crashes
        steps += world.carried_out.total()
        answers += len(world.answered)
    assert crashes > 200
    assert answers > 500
    assert steps >= answers


async def test_a_journal_in_a_file_does_as_well(tmp_path: Path) -> None:
    for seed in range(60):
        journal = SqliteJournal(tmp_path / f"{seed}.db")
        world = await play_schedule(draw_schedule(random.Random(seed)), journal=journal)
        assert world.violations == [], f"seed {seed}"
        await journal.close()


async def test_the_same_schedule_goes_the_same_way() -> None:
    first = await play_schedule(draw_schedule(random.Random(7)))
    second = await play_schedule(draw_schedule(random.Random(7)))
    assert first.carried_out == second.carried_out
    assert (first.answered, first.crashes) == (second.answered, second.crashes)


async def test_with_fencing_switched_off_the_same_schedules_break_rules() -> None:
    broken = [
        violation
        for seed in range(100)
        for violation in (
            await play_schedule(draw_schedule(random.Random(seed)), fencing=False)
        ).violations
    ]
    assert any("replaced lease" in violation for violation in broken)
    assert any("valid leases" in violation for violation in broken)


@pytest.mark.slow
async def test_ten_thousand_schedules_break_no_rule() -> None:
    for seed in range(10_000):
        world = await play_schedule(draw_schedule(random.Random(seed)))
        assert world.violations == [], f"seed {seed}"
