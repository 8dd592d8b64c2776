"""Bench of many live phones: all leased at once, each reset, stepped with a frame, and judged.

One process, one manager with its journal on disk, one host. No two phones have the same task
instance. Each phone opens the first app of its task, which must not solve it; every twentieth then
plays its known solution, which must. Frames are painted and kept as in any run: equal screens once.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from screenloop.actions import Action, Answer, Finish, Open
from screenloop.bench.process import resident_bytes
from screenloop.envs.phone import PhoneEnvironments
from screenloop.errors import ScreenloopError
from screenloop.manager.hosts.instances import InstanceHost
from screenloop.manager.journal.sqlite import SqliteJournal
from screenloop.manager.service import ManagerService
from screenloop.manager.supply.on_demand import OnDemandSupply
from screenloop.rollout.plans import golden_plan
from screenloop.store.blobs import FolderBlobs
from screenloop.suites.catalog import find_suite, select
from screenloop.types import Claim, Lease, Start, Struct, Task

TTL_S = 3600.0
DEADLINE_S = 60.0
SOLVED_EVERY = 20
"""Of so many phones one is solved."""

Tell = Callable[[str, int, int], None]
"""Called with the stage, how many phones it is over for, and how many there are."""


class LiveBench(Struct, frozen=True, kw_only=True, omit_defaults=False):
    """What was counted."""

    instances: int
    """Phones leased at the same time."""
    resets_ok: int
    steps_ok: int
    """Phones whose step was carried out and gave a frame."""
    evaluated_ok: int
    """Phones with the right verdict, before and after the known solution where it was played."""
    solved: int
    """Phones whose known solution was played."""
    lost: int
    """Phones with any operation that failed."""
    frames: int
    """Different frames painted."""
    rss_mb: float
    """Of the whole process with all phones alive, after the last verdict."""
    bytes_per_phone: float
    """Growth of the process from before the first phone to the end, for each."""
    seconds: float
    """Wall time from the first lease to the last verdict."""
    cpu_s: float


@dataclass
class _Phone:
    """One leased phone and how it fared."""

    task: Task
    lease: Lease | None = None
    reset: bool = False
    stepped: bool = False
    judged: bool = False
    lost: bool = False


async def run(instances: int = 20_000, tell: Tell = lambda stage, done, of: None) -> LiveBench:
    """Measure; takes minutes for thousands of phones."""
    phones = [_Phone(task) for task in phone_tasks(instances)]
    with tempfile.TemporaryDirectory(prefix="screenloop-live-") as folder:
        blobs = FolderBlobs(Path(folder) / "blobs")
        opener = PhoneEnvironments(blobs)
        host = InstanceHost("bench", opener.open)
        manager = ManagerService(
            OnDemandSupply(host, boot=host.boot), SqliteJournal(Path(folder) / "journal.db")
        )
        bare = resident_bytes()
        began_s, began_cpu_s = time.perf_counter(), time.process_time()
        try:
            for stage, work in (("reset", _begin), ("step", _step), ("evaluate", _judge)):
                for number, phone in enumerate(phones):
                    if not phone.lost:
                        try:
                            await work(manager, phone, solve=number % SOLVED_EVERY == 0)
                        except ScreenloopError:
                            phone.lost = True
                    tell(stage, number + 1, instances)
            seconds, cpu_s = time.perf_counter() - began_s, time.process_time() - began_cpu_s
            resident = resident_bytes()
            frames = sum(1 for _ in blobs.root.rglob("*.jpg"))
        finally:
            await manager.close()
            await opener.close()
    return LiveBench(
        instances=sum(phone.lease is not None for phone in phones),
        resets_ok=sum(phone.reset for phone in phones),
        steps_ok=sum(phone.stepped for phone in phones),
        evaluated_ok=sum(phone.judged for phone in phones),
        solved=len(phones[::SOLVED_EVERY]),
        lost=sum(phone.lost for phone in phones),
        frames=frames,
        rss_mb=resident / 1e6,
        bytes_per_phone=(resident - bare) / max(1, instances),
        seconds=seconds,
        cpu_s=cpu_s,
    )


def phone_tasks(count: int) -> list[Task]:
    """Return so many tasks, all of the suite before any comes with another seed."""
    tasks: list[Task] = []
    suite, seed = find_suite("phone-core"), 0
    while len(tasks) < count:
        tasks += select(suite, seed=seed)
        seed += 1
    return tasks[:count]


async def _begin(manager: ManagerService, phone: _Phone, *, solve: bool) -> None:
    phone.lease = await manager.acquire(phone.task.env, "live", ttl_s=TTL_S)
    start = Start(task=phone.task, mode="hybrid" if solve else "gui_only")
    seen = await manager.reset(phone.lease, start, deadline_s=DEADLINE_S)
    phone.reset = seen.frame is not None


async def _step(manager: ManagerService, phone: _Phone, *, solve: bool) -> None:
    assert phone.lease is not None
    app = phone.task.tags["apps"].partition("+")[0]
    result = await manager.step(phone.lease, "live/open", Open(app=app), deadline_s=DEADLINE_S)
    phone.stepped = result.effect.ok and result.observation.frame is not None


async def _judge(manager: ManagerService, phone: _Phone, *, solve: bool) -> None:
    assert phone.lease is not None
    first = await manager.evaluate(phone.lease, Claim(), deadline_s=DEADLINE_S)
    phone.judged = first.unscored is None and not first.success and first.reward == 0
    if solve:
        claim = Claim()
        for number, action in enumerate(await golden_plan(phone.task, "hybrid")):
            claim = await _play(manager, phone.lease, f"live/{number}", action, claim)
        last = await manager.evaluate(phone.lease, claim, deadline_s=DEADLINE_S)
        phone.judged &= last.success and last.reward == 1


async def _play(
    manager: ManagerService, lease: Lease, action_id: str, action: Action, claim: Claim
) -> Claim:
    """Carry out one Action of a known solution, or add it to what is claimed."""
    if isinstance(action, Answer):
        return Claim(answer=action.text, finish=claim.finish)
    if isinstance(action, Finish):
        return Claim(answer=claim.answer, finish=action)
    await manager.step(lease, action_id, action, deadline_s=DEADLINE_S)
    return claim
