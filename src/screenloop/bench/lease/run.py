"""Bench: what a lease operation costs, and whether random schedules break the rules.

An operation is one of a mix: for each grant ten admitted steps and one release. In memory that is
the table alone; with the journal each grant, intent, settlement and end is written to SQLite as
well. CPU time of this process, the best of some rounds, since a neighbour that empties the caches
only ever adds; the live Leases are used in random order. The schedules are those of
`lease_schedules`: crashes, lost and late messages, over the real manager and host.
"""

from __future__ import annotations

import logging
import random
import tempfile
import time
from collections import Counter
from pathlib import Path

from screenloop.actions import Tap
from screenloop.bench.lease.schedules import draw_schedule, play_schedule
from screenloop.manager.base import TakeStep
from screenloop.manager.journal.base import FreeRecord, Intent, Journal, LeaseRecord
from screenloop.manager.journal.sqlite import SqliteJournal
from screenloop.manager.leases.table import LeaseTable
from screenloop.types import EnvRef, Struct

LIVE = 20_000
FEW = 200
OPERATIONS = 60_000
ROUNDS = 5
STEPS_A_GRANT = 10
SCHEDULES = 10_000
CONTROL_SCHEDULES = 500
"""Schedules played with fencing switched off, which must show violations."""
_REF = EnvRef(kind="phone", size_px=(412, 915))
_TTL_S = 1800.0


class LeasesBench(Struct, frozen=True, kw_only=True):
    """The figures."""

    cpu_us_per_op_memory: float
    """At `live` Leases."""
    cpu_us_per_op_journal: float
    """The same with the SQLite journal."""
    cost_ratio_20000_to_200: float
    """CPU per operation at 20,000 live Leases over that at 200, in memory."""
    cost_ratio_20000_to_200_journal: float
    """The same with the SQLite journal."""
    double_grants: int
    """Of Instances that had a holder, in all schedules."""
    schedules: int
    violations: int
    """Schedules that broke a rule."""
    crashes: int
    """Of the manager, in all schedules."""
    control_schedules: int
    control_violations: int
    """Schedules that broke a rule with fencing switched off."""
    live: int
    operations: int


async def run(
    *, live: int = LIVE, operations: int = OPERATIONS, schedules: int = SCHEDULES
) -> LeasesBench:
    """Measure.

    Args:
        live: Leases held at the same time.
        operations: operations a measurement.
        schedules: random schedules played.
    """
    memory_us = await _cost_us(live, operations, None)
    few_us = await _cost_us(FEW, operations, None)
    with tempfile.TemporaryDirectory() as folder:
        journal_us = await _cost_us(live, operations, SqliteJournal(Path(folder) / "many.db"))
        few_journal_us = await _cost_us(FEW, operations, SqliteJournal(Path(folder) / "few.db"))
    played = await _play(schedules, fencing=True)
    control_schedules = min(schedules, CONTROL_SCHEDULES)
    control = await _play(control_schedules, fencing=False)
    return LeasesBench(
        cpu_us_per_op_memory=round(memory_us, 2),
        cpu_us_per_op_journal=round(journal_us, 2),
        cost_ratio_20000_to_200=round(memory_us / few_us, 2),
        cost_ratio_20000_to_200_journal=round(journal_us / few_journal_us, 2),
        double_grants=played["double_grants"],
        schedules=schedules,
        violations=played["violations"],
        crashes=played["crashes"],
        control_schedules=control_schedules,
        control_violations=control["violations"],
        live=live,
        operations=operations,
    )


async def _play(schedules: int, *, fencing: bool) -> Counter[str]:
    """Return how many of the schedules broke a rule, and what was counted in all of them."""
    played: Counter[str] = Counter()
    # Each fault in a schedule is logged by the manager; here they are the point.
    log = logging.getLogger("screenloop.manager")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        for seed in range(schedules):
            world = await play_schedule(draw_schedule(random.Random(seed)), fencing=fencing)
            played["violations"] += bool(world.violations)
            played["double_grants"] += world.double_grants
            played["crashes"] += world.crashes
    finally:
        log.setLevel(level)
    return played


async def _cost_us(live: int, operations: int, journal: Journal | None) -> float:
    """Return the CPU microseconds of one operation with so many Leases live."""
    desk = _Desk(journal)
    held = [await desk.grant(f"phone-{number}") for number in range(live)]
    rng = random.Random(live)
    order = [rng.randrange(live) for _ in range(operations // (STEPS_A_GRANT + 2))]
    rounds_us: list[float] = []
    for first in range(ROUNDS):
        places = order[first::ROUNDS]
        began_s = time.process_time()
        for place in places:
            record = held[place]
            for number in range(STEPS_A_GRANT):
                await desk.step(record, f"episode-{record.fence}/{number}/0")
            await desk.release(record)
            held[place] = await desk.grant(record.instance)
        took_s = time.process_time() - began_s
        rounds_us.append(1e6 * took_s / (len(places) * (STEPS_A_GRANT + 2)))
    if journal is not None:
        await journal.close()
    return min(rounds_us)


class _Desk:
    """Grants, steps and releases as the manager does them, without a host."""

    def __init__(self, journal: Journal | None) -> None:
        self._journal = journal
        self._table = LeaseTable()
        self._grants = 0
        self._now_s = 0.0

    async def grant(self, instance: str) -> LeaseRecord:
        self._grants += 1
        record = LeaseRecord(
            instance=instance,
            fence=self._table.next_fence(instance),
            lease_id=f"run/{self._grants:024x}",
            run_id="run",
            request_id=f"{self._grants:024x}",
            ttl_s=_TTL_S,
            env=_REF,
            host="host-1",
            boot="boot-1",
        )
        if self._journal is not None:
            await self._journal.grant(record)
        self._table.grant(record, self._now_s)
        return record

    async def step(self, record: LeaseRecord, action_id: str) -> None:
        self._now_s += 0.001
        self._table.expire(self._now_s)
        held = self._table.admit(record.token, self._now_s)
        if self._journal is not None:
            await self._journal.intend(
                Intent(
                    token=record.token,
                    step=TakeStep(action_id=action_id, action=Tap(at=(0.5, 0.5))),
                    deadline_s=60.0,
                )
            )
            await self._journal.settle(record.instance, record.fence, action_id)
        self._table.finish(held)

    async def release(self, record: LeaseRecord) -> None:
        self._table.release(record.token)
        if self._journal is not None:
            await self._journal.end(
                FreeRecord(
                    instance=record.instance,
                    fence=self._table.next_fence(record.instance),
                    env=record.env,
                    host=record.host,
                    boot=record.boot,
                )
            )
