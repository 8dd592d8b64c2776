"""Bench of mocked phones: resets, touches with a fresh frame, memory, determinism.

Walks the screens that solving phone-core's tasks by touch goes through, with the frame cache off;
JPEG by Pillow and the apps' own Python are in every figure.
"""

from __future__ import annotations

import gc
import time
from statistics import median

from screenloop.actions import Action, Answer, Finish
from screenloop.bench.process import resident_bytes
from screenloop.envs.phone import FrameCache, PhoneEnvironment
from screenloop.rollout.plans import golden_plan
from screenloop.store.blobs import blob_key
from screenloop.suites.catalog import find_suite, select
from screenloop.types import EnvRef, Start, Struct, Task

SMALL_PX = (412, 915)
LARGE_PX = (1080, 2400)
DEADLINE_S = 60.0
SEEDS = 10
"""Worlds that the live phones are spread over."""


class PhoneBench(Struct, frozen=True, kw_only=True):
    """What was measured; milliseconds are medians."""

    reset_ms_p50: float
    """Reset to a task, without the frame that `reset` also returns."""
    reset_frame_ms_p50: float
    """Reset to a task and its first frame."""
    step_frame_ms_p50: float
    """Wall time of one touch: hit-test, reducer, page, 412x915 frame, JPEG, hashes."""
    step_frame_cpu_ms: float
    """CPU time of the same, all threads."""
    frame_1080x2400_ms_p50: float
    """Wall time of one such frame, JPEG included, over the same screens."""
    phones_live: int
    rss_mb: float
    """Of the process with all phones alive."""
    bytes_per_phone: float
    """Growth of the process for each live phone."""
    screens: int
    """Touches measured."""
    resets_equal: bool
    """Whether two resets gave equal state hashes and frames, for every task."""
    runs_equal: bool
    """Whether two identical runs gave equal state hashes and frames, step by step."""


class _Forgetting:
    """A blob store that keeps keys only: frames must not count as phones."""

    def put(self, data: bytes, suffix: str) -> str:
        return blob_key(data, suffix)

    def get(self, key: str) -> bytes:
        raise KeyError(key)


class _Watch:
    """Wall and CPU milliseconds of repeated work."""

    def __init__(self) -> None:
        self.wall_ms: list[float] = []
        self.cpu_ms: list[float] = []

    def __enter__(self) -> None:
        self._cpu_s, self._wall_s = time.process_time(), time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self.wall_ms.append((time.perf_counter() - self._wall_s) * 1000)
        self.cpu_ms.append((time.process_time() - self._cpu_s) * 1000)


def _phone(size_px: tuple[int, int]) -> PhoneEnvironment:
    ref = EnvRef(kind="phone", size_px=size_px)
    return PhoneEnvironment(ref, _Forgetting(), cache=FrameCache(entries=0))


async def run(live: int = 1000) -> PhoneBench:
    """Measure; takes about a minute."""
    tasks = select(find_suite("phone-core"))
    plans = {task.key: await golden_plan(task, "gui_only") for task in tasks}
    await _walk(_phone(SMALL_PX), tasks[0], plans[tasks[0].key], _Watch(), _Watch())
    resets, steps, large = _Watch(), _Watch(), _Watch()
    resets_equal = runs_equal = True
    for task in tasks:
        plan = plans[task.key]
        first = await _walk(_phone(SMALL_PX), task, plan, resets, steps)
        again = await _walk(_phone(SMALL_PX), task, plan, _Watch(), _Watch())
        resets_equal &= first[0] == again[0]
        runs_equal &= first == again
        await _walk(_phone(LARGE_PX), task, plan, _Watch(), _Watch(), frames=large)
    bare = await _bare_resets(tasks)
    before = await _settled()
    phones = [await _live_phone(number, tasks) for number in range(live)]
    after = await _settled()
    return PhoneBench(
        reset_ms_p50=median(bare.wall_ms),
        reset_frame_ms_p50=median(resets.wall_ms),
        step_frame_ms_p50=median(steps.wall_ms),
        step_frame_cpu_ms=median(steps.cpu_ms),
        frame_1080x2400_ms_p50=median(large.wall_ms),
        phones_live=len(phones),
        rss_mb=after / 1e6,
        bytes_per_phone=(after - before) / max(1, live),
        screens=len(steps.wall_ms),
        resets_equal=resets_equal,
        runs_equal=runs_equal,
    )


async def _walk(
    env: PhoneEnvironment,
    task: Task,
    plan: tuple[Action, ...],
    resets: _Watch,
    steps: _Watch,
    frames: _Watch | None = None,
) -> list[tuple[str | None, str | None]]:
    """Play a plan and return (state hash, frame key) of every Observation."""
    with resets:
        seen = await env.reset(Start(task=task), deadline_s=DEADLINE_S)
    trail = [(seen.state_hash, seen.frame)]
    for number, action in enumerate(plan):
        if isinstance(action, Answer | Finish):
            continue
        with steps:
            result = await env.step(action, action_id=f"bench/{number}", deadline_s=DEADLINE_S)
        trail.append((result.observation.state_hash, result.observation.frame))
        if frames is not None:
            with frames:
                await env.observe(deadline_s=DEADLINE_S)
    return trail


async def _bare_resets(tasks: tuple[Task, ...]) -> _Watch:
    watch = _Watch()
    env = _phone(SMALL_PX)
    for task in tasks * 5:
        with watch:
            await env.reset(Start(task=task), deadline_s=DEADLINE_S, want=())
    return watch


async def _live_phone(number: int, tasks: tuple[Task, ...]) -> PhoneEnvironment:
    """Return a phone that is well into a task of its own world."""
    task = tasks[number % len(tasks)]
    seed = number % SEEDS
    placed = find_suite("phone-core").task(task.id.split("/")[1].split("@")[0], seed)
    env = _phone(SMALL_PX)
    await env.reset(Start(task=placed), deadline_s=DEADLINE_S, want=())
    device = env.device
    for step in range(4):
        device.begin(f"live/{step}")
        nodes = [node for node in device.screen.reachable() if node.do is not None]
        device.tap(*nodes[(number * 7 + step * 3) % len(nodes)].box.center)
        device.end()
    return env


async def _settled() -> int:
    gc.collect()
    return resident_bytes()
