"""Bench: what HTTP costs: the manager's CPU a small operation, and how much longer a step takes.

A small operation is an `observe` that wants nothing (a look whether the Instance is there): it goes
through all of the manager (token, lease table, turn, metrics) and on to the host and back, but
renders and stores nothing. CPU is that of the real manager process by /proc, the best of some
rounds, since a neighbour that empties the caches only ever adds. Step times are taken in turns from
a manager in this process and from the one behind HTTP, one after the other, each with `phones`
leased phones; through HTTP the frame is also copied to the client's own store. Wall times mean
something on an idle machine only, since a step goes through three processes; CPU time always does.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from screenloop.actions import Action, Open, Wait
from screenloop.bench.phone.live import phone_tasks
from screenloop.bench.served import ServedAt, cpu_s, serve_process
from screenloop.envs.phone import PhoneEnvironments
from screenloop.http.client import HttpClient, header_token
from screenloop.manager.base import Manager, Observe, OperationFor, TakeStep, token_of
from screenloop.manager.client import HttpManager
from screenloop.manager.direct import DirectManager
from screenloop.manager.wire.bodies import OperateBody
from screenloop.manager.wire.endpoints import operate_path
from screenloop.store.blob_urls import open_blobs
from screenloop.store.blobs import FolderBlobs
from screenloop.suites.catalog import find_suite
from screenloop.types import Claim, Lease, Start, Struct, Task

PHONES = 2000
OPERATIONS = 12_000
ROUNDS = 5
STEPS = 300
AT_ONCE = 32
IDLE_S = 6.0
TTL_S = 3600.0
DEADLINE_S = 60.0


class HttpBench(Struct, frozen=True, kw_only=True):
    """The figures."""

    server_cpu_us_per_small_op: float
    """CPU of the manager process."""
    host_cpu_us_per_small_op: float
    """CPU of the host process for the same operations."""
    server_cpu_us_per_step: float
    """CPU of the manager process for a step, which it also journals."""
    step_in_process_ms_p50: float
    step_http_ms_p50: float
    step_added_ms_p50: float
    step_added_ms_p95: float
    step_added_cpu_ms: float
    """CPU of client, manager and host together for a step over HTTP, less that in one process and
    less what the service uses while nobody asks."""
    control_bytes_max: int
    """Largest body of any request or answer of an Episode."""
    control_bytes_max_of: str
    """Its path."""
    phones: int
    operations: int
    steps: int


class _Sizes:
    """The largest body so far; a kind's spec is asked for once and is no part of an Episode."""

    def __init__(self) -> None:
        self.most = 0
        self.path = ""

    def note(self, path: str, sent: int, received: int) -> None:
        if path != "/v1/spec" and max(sent, received) > self.most:
            self.most, self.path = max(sent, received), path


async def run(
    *,
    phones: int = PHONES,
    operations: int = OPERATIONS,
    steps: int = STEPS,
    idle_s: float = IDLE_S,
) -> HttpBench:
    """Measure.

    Args:
        phones: live and leased while steps are timed, on either side.
        operations: small operations.
        steps: timed on either side.
        idle_s: how long what an idle service uses is measured.
    """
    tasks = phone_tasks(phones)
    with tempfile.TemporaryDirectory(prefix="screenloop-http-") as folder:
        place = Path(folder)
        sizes = _Sizes()
        async with serve_process((f"fake={AT_ONCE}",), place / "small") as served:
            small = await _small_cost(served, operations, sizes)
        async with serve_process((f"phone-core={phones}",), place / "phones") as served:
            times = await _step_times(served, place, tasks, steps, idle_s, sizes)
    near, far = times.near_ms, times.far_ms
    added = [there - here for here, there in zip(near, far, strict=True)]
    return HttpBench(
        server_cpu_us_per_small_op=round(small.manager_us, 1),
        host_cpu_us_per_small_op=round(small.host_us, 1),
        server_cpu_us_per_step=round(small.step_us, 1),
        step_in_process_ms_p50=round(_p(near, 50), 3),
        step_http_ms_p50=round(_p(far, 50), 3),
        step_added_ms_p50=round(_p(far, 50) - _p(near, 50), 3),
        step_added_ms_p95=round(_p(added, 95), 3),
        step_added_cpu_ms=round(times.added_cpu_ms, 3),
        control_bytes_max=sizes.most,
        control_bytes_max_of=sizes.path,
        phones=phones,
        operations=operations,
        steps=steps,
    )


def _p(values: Sequence[float], percent: int) -> float:
    return statistics.quantiles(values, n=100)[percent - 1]


# ---- CPU -------------------------------------------------------------------------------------


class _Small(Struct, frozen=True, kw_only=True):
    manager_us: float
    host_us: float
    step_us: float


async def _small_cost(served: ServedAt, operations: int, sizes: _Sizes) -> _Small:
    with tempfile.TemporaryDirectory() as own:
        manager = _client(served, Path(own), sizes)
        task = find_suite("fake").task("add_to_counter", 0)
        leases = [await manager.acquire(task.env, "bench", ttl_s=TTL_S) for _ in range(AT_ONCE)]
        for lease in leases:
            await manager.reset(lease, Start(task=task), deadline_s=DEADLINE_S)
        (host,) = served.hosts()
        each = max(1, operations // AT_ONCE // ROUNDS)
        looks: list[tuple[float, float]] = []
        steps: list[float] = []
        for number in range(ROUNDS):
            before = cpu_s(served.pid), cpu_s(host)
            await asyncio.gather(*(_looks(served, lease, each) for lease in leases))
            after = cpu_s(served.pid), cpu_s(host)
            looks.append((after[0] - before[0], after[1] - before[1]))
            await asyncio.gather(*(_waits(served, lease, number, each) for lease in leases))
            steps.append(cpu_s(served.pid) - after[0])
        for lease in leases:
            await manager.evaluate(lease, Claim(), deadline_s=DEADLINE_S)
            await manager.release(lease)
        await manager.close()
    done = each * AT_ONCE
    return _Small(
        manager_us=1e6 * min(manager for manager, _ in looks) / done,
        host_us=1e6 * min(host for _, host in looks) / done,
        step_us=1e6 * min(steps) / done,
    )


async def _looks(served: ServedAt, lease: Lease, count: int) -> None:
    await _send_all(served, lease, [Observe(want=())] * count)


async def _waits(served: ServedAt, lease: Lease, first: int, count: int) -> None:
    waits = [
        TakeStep(action_id=f"bench/{first}/{number}", action=Wait(seconds=1))
        for number in range(count)
    ]
    await _send_all(served, lease, waits)


async def _send_all(
    served: ServedAt, lease: Lease, operations: Sequence[OperationFor[Any]]
) -> None:
    client = HttpClient(connections=1)
    authorization = header_token(served.token)
    headers = {"Authorization": authorization, "Content-Type": "application/json"}
    token = token_of(lease)
    for operation in operations:
        body = OperateBody(lease=token, deadline_s=DEADLINE_S, operation=operation)
        answer = await client.send(
            "POST",
            served.url + operate_path(operation.verb),
            body=msgspec.json.encode(body),
            headers=headers,
            deadline_s=DEADLINE_S,
        )
        assert answer.status == 200, answer.body
    await client.close()


def _client(served: ServedAt, own: Path, sizes: _Sizes) -> HttpManager:
    return HttpManager(
        served.url,
        token=served.token,
        own=FolderBlobs(own),
        shared=open_blobs(served.blobs),
        exchanged=sizes.note,
    )


# ---- time ------------------------------------------------------------------------------------


class _Times(Struct, frozen=True, kw_only=True):
    near_ms: list[float]
    far_ms: list[float]
    added_cpu_ms: float


async def _step_times(
    served: ServedAt, folder: Path, tasks: Sequence[Task], steps: int, idle_s: float, sizes: _Sizes
) -> _Times:
    """Time steps in this process and over HTTP, in turns."""
    opener = PhoneEnvironments(FolderBlobs(folder / "near"))
    direct = DirectManager(opener.open)
    http = _client(served, folder / "own", sizes)
    try:
        here = [await _begin(direct, task) for task in tasks]
        there = [await _begin(http, task) for task in tasks]
        near: list[float] = []
        far: list[float] = []
        near_cpu_s = far_cpu_s = 0.0
        others = (served.pid, *served.hosts())
        idle_cpu = await _idle_cpu(others, idle_s)
        others_cpu_s, steps_began_s = sum(map(cpu_s, others)), time.perf_counter()
        for number in range(steps):
            place = number * len(tasks) // steps
            app = tasks[place].tags["apps"].partition("+")[0]
            began_s = time.process_time()
            near.append(await _timed(direct, here[place], number, Open(app=app)))
            between_s = time.process_time()
            far.append(await _timed(http, there[place], number, Open(app=app)))
            near_cpu_s += between_s - began_s
            far_cpu_s += time.process_time() - between_s
        idle_cpu_s = idle_cpu * (time.perf_counter() - steps_began_s)
        far_cpu_s += sum(map(cpu_s, others)) - others_cpu_s - idle_cpu_s
        await http.evaluate(there[0], Claim(answer="x" * 200), deadline_s=DEADLINE_S)
        return _Times(
            near_ms=near, far_ms=far, added_cpu_ms=1000 * (far_cpu_s - near_cpu_s) / steps
        )
    finally:
        await http.close()
        await direct.close()
        await opener.close()


async def _idle_cpu(pids: Sequence[int], idle_s: float) -> float:
    """Return the CPU seconds a second that processes use while nobody asks: their heartbeats."""
    began_s, cpu_began_s = time.perf_counter(), sum(map(cpu_s, pids))
    await asyncio.sleep(idle_s)
    return (sum(map(cpu_s, pids)) - cpu_began_s) / (time.perf_counter() - began_s)


async def _begin(manager: Manager, task: Task) -> Lease:
    lease = await manager.acquire(task.env, "bench", ttl_s=TTL_S)
    await manager.reset(lease, Start(task=task), deadline_s=DEADLINE_S)
    return lease


async def _timed(manager: Manager, lease: Lease, number: int, action: Action) -> float:
    began_s = time.perf_counter()
    await manager.step(lease, f"bench/{number}/0", action, deadline_s=DEADLINE_S)
    return 1000.0 * (time.perf_counter() - began_s)
