"""The chaos bench itself: nothing lost and nothing done twice, and violations without fences."""

from __future__ import annotations

import pytest

from screenloop.bench.chaos.run import run


async def test_a_short_run_loses_nothing_and_does_nothing_twice() -> None:
    found = await run(20, seed=1)
    assert (found.lost, found.duplicated, found.misscored) == (0, 0, 0), found
    assert found.killed == 3, found
    assert found.unscored <= 2, found
    assert found.broke == ""


async def test_without_fences_a_run_finds_violations() -> None:
    found = await run(20, seed=1, fencing=False)
    assert found.duplicated + found.misscored > 0, found
    assert not found.fencing


@pytest.mark.slow
async def test_three_hundred_episodes_survive_eighteen_kills() -> None:
    found = await run(300, seed=2)
    assert (found.lost, found.duplicated, found.misscored) == (0, 0, 0), found
    assert found.killed >= 15, found
    assert found.unscored_ratio <= 0.02, found
    assert found.task_faults > 0, found
