"""One operation of a Lease at a time, in the order they came."""

from __future__ import annotations

import asyncio
import random

import pytest

from screenloop.errors import DeadlinePassed
from screenloop.manager.leases.operations import LeaseLocks


async def take(turns: LeaseLocks, lease_id: str, deadline_s: float = 5.0) -> None:
    await turns.take(lease_id, "step on one", deadline_s)


async def test_turns_come_in_order_and_leases_do_not_wait_for_each_other() -> None:
    turns = LeaseLocks()
    seen: list[str] = []

    async def work(lease_id: str, name: str) -> None:
        await take(turns, lease_id)
        seen.append(name)
        await asyncio.sleep(0)
        turns.leave(lease_id)

    async def later(name: str) -> None:
        await asyncio.sleep(0)
        await work("a", name)

    await asyncio.gather(work("a", "a1"), work("a", "a2"), later("a3"), work("b", "b1"))
    assert [name for name in seen if name != "b1"] == ["a1", "a2", "a3"]
    assert seen.index("b1") < seen.index("a2")
    assert len(turns) == 0


async def test_one_that_waits_too_long_leaves_the_line_and_the_next_gets_its_turn() -> None:
    turns = LeaseLocks()
    await take(turns, "a")
    with pytest.raises(DeadlinePassed, match="step on one did not get its turn within"):
        await take(turns, "a", 0.01)
    next_one = asyncio.create_task(take(turns, "a"))
    await asyncio.sleep(0)
    turns.leave("a")
    await next_one
    turns.leave("a")
    assert len(turns) == 0


class Crowd:
    """Workers of one Lease, some of whom give up."""

    def __init__(self) -> None:
        self.turns = LeaseLocks()
        self.inside = 0

    async def work(self, pauses: int) -> None:
        await take(self.turns, "a")
        self.inside += 1
        assert self.inside == 1
        for _ in range(pauses):
            await asyncio.sleep(0)
        self.inside -= 1
        self.turns.leave("a")

    async def give_up(self, after: int) -> None:
        task = asyncio.create_task(take(self.turns, "a"))
        for _ in range(after):
            await asyncio.sleep(0)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            return
        self.turns.leave("a")


async def test_whoever_gives_up_no_line_is_left_and_no_two_have_the_turn() -> None:
    for seed in range(200):
        rng = random.Random(seed)
        crowd = Crowd()
        await asyncio.gather(
            *(
                crowd.work(rng.randrange(4))
                if rng.random() < 0.5
                else crowd.give_up(rng.randrange(8))
                for _ in range(8)
            )
        )
        assert len(crowd.turns) == 0, f"seed {seed}"
