"""A Run in a process of its own, to be killed in the middle; see test_killed.py.

Usage: run_child.py OUT BLOCK_AFTER. The agents after the first BLOCK_AFTER stop at their second
turn for good; when every worker hangs there, the process says so.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from played import Bench, PlayedAgent, a_config, fake_task

from screenloop.actions import Finish, Wait
from screenloop.agent.base import Decision, Turn
from screenloop.rollout.batch import Planned, run_batch
from screenloop.store.runs import EpisodeRow, RunFolder

CONCURRENCY = 3
TASKS = [fake_task(name, seed) for name in ("add_note", "zero_counter") for seed in range(3)]


class Says:
    """Prints what begins and ends."""

    def planned(self, total: int, kept: int) -> None:
        print("planned", total, kept, flush=True)

    def began(self, planned: Planned, attempt: int) -> None:
        print("began", planned.index, attempt, flush=True)

    def ended(self, row: EpisodeRow) -> None:
        print("ended", row.index, flush=True)


async def main(out: Path, block_after: int) -> None:
    made = 0
    hanging = 0

    class Hanging(PlayedAgent):
        async def decide(self, turn: Turn, *, deadline_s: float) -> Decision:
            nonlocal hanging
            if turn.step_index == 1:
                hanging += 1
                if hanging == CONCURRENCY:
                    print("all hang", flush=True)
                await asyncio.Event().wait()
            return await super().decide(turn, deadline_s=deadline_s)

    def make_agent() -> PlayedAgent:
        nonlocal made
        made += 1
        kind = PlayedAgent if made <= block_after else Hanging
        return kind(Wait(seconds=1), Wait(seconds=2), Finish())

    bench = Bench(blobs=RunFolder(out).blobs)
    await run_batch(
        a_config(TASKS, repeats=2),
        TASKS,
        bench.setting(),
        make_agent,
        out,
        concurrency=CONCURRENCY,
        progress=Says(),
    )


asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
