"""Bench: what a training run's memory comes to over hundreds of updates.

A run of the real trainer, from the warm-up on, with a policy and groups so small that an update is
a few hundredths of a second: touches on mocked phones, read as element lists. Resident memory is
asked of the operating system, after a garbage collection: `growth_mb` compares the median of ten
updates at the end with that of the ten up to update 100, by when what is bounded is full.
"""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median

import msgspec

from screenloop.bench.process import resident_bytes
from screenloop.engine.policy import Policy
from screenloop.engine.tiny import TinySize, tiny_text
from screenloop.engine.tokenizer import TinyWords, frequent_words
from screenloop.errors import ConfigError
from screenloop.report.training.metrics import Line, UpdateLine
from screenloop.train.recipe import Recipe, RolloutSettings, TaskSets, WarmUpSettings
from screenloop.train.recipes import tiny_text as recipe_of
from screenloop.train.recipes.touches import PAGES, tasks_of
from screenloop.train.run import train
from screenloop.train.settings import CurriculumSettings
from screenloop.types import Struct

SETTLED = 100
"""Updates after which growth counts."""
SPAN = 10
_SIZE = TinySize(hidden=32, layers=1, heads=2, head_dim=16, mlp=64)


class TrainerMemory(Struct, frozen=True, kw_only=True):
    """What was measured; sizes are resident memory of the whole process."""

    updates: int
    rss_mb_at_10: float
    rss_mb_at_100: float
    rss_mb_at_end: float
    growth_mb: float
    """From update 100 to the end."""
    kb_per_update: float
    episodes: int
    cpu_s: float
    wall_s: float


async def run(
    updates: int = 500,
    *,
    wall: Callable[[], float] = time.monotonic,
    cpu: Callable[[], float] = time.process_time,
) -> TrainerMemory:
    """Train in a temporary folder and watch the memory.

    Args:
        updates: How many.
        wall: Gives seconds.
        cpu: Gives CPU seconds of this process.

    Raises:
        ConfigError: there are too few updates to tell growth from beginning.
    """
    if updates < 2 * SETTLED:
        raise ConfigError(
            f"{updates} updates are too few: growth is counted from {SETTLED} on, "
            f"so give at least {2 * SETTLED}"
        )
    seen: dict[int, float] = {}
    episodes = 0

    def watch(line: Line) -> None:
        nonlocal episodes
        if not isinstance(line, UpdateLine):
            return
        episodes += line.attempts
        if any(end - SPAN < line.update <= end for end in (SPAN, SETTLED, updates)):
            gc.collect()
            seen[line.update] = resident_bytes() / 2**20

    def around(end: int) -> float:
        return median(seen[number] for number in range(end - SPAN + 1, end + 1))

    began = wall(), cpu()
    with tempfile.TemporaryDirectory() as folder:
        await train(small_recipe(updates), 0, Path(folder) / "run", watch=watch)
    growth = around(updates) - around(SETTLED)
    return TrainerMemory(
        updates=updates,
        rss_mb_at_10=round(around(SPAN), 1),
        rss_mb_at_100=round(around(SETTLED), 1),
        rss_mb_at_end=round(around(updates), 1),
        growth_mb=round(growth, 2),
        kb_per_update=round(1024 * growth / (updates - SETTLED), 2),
        episodes=episodes,
        cpu_s=round(cpu() - began[1], 1),
        wall_s=round(wall() - began[0], 1),
    )


def small_recipe(updates: int) -> Recipe:
    """Return the recipe: tiny_text in small, which neither stops early nor measures on the way."""
    whole = recipe_of.recipe()
    settings = msgspec.structs.replace(
        whole.settings,
        learning=msgspec.structs.replace(
            whole.settings.learning, curriculum=CurriculumSettings(attempts=4, attempts_unsolved=4)
        ),
        warm_up=WarmUpSettings(demonstrations=16, batch=16, max_steps=8, watch_above=1.0),
        rollout=RolloutSettings(groups=2, max_tokens=3, keep_updates=5),
        updates=updates,
        stop_at=1.0,
        evaluate_every=updates + 1,
        checkpoint_every=10,
    )
    return replace(whole, name="memory", settings=settings, tasks=_tasks, policy=_policy)


def _tasks() -> TaskSets:
    return TaskSets(
        train=tasks_of("known", PAGES, range(48)),
        validation=tasks_of("known", PAGES, range(1000, 1002)),
        test=tasks_of("known", PAGES, range(2000, 2002)),
    )


def _policy(sets: TaskSets, seed: int) -> Policy:
    words = frequent_words((task.goal.text for task in sets.train), 100)
    return tiny_text(TinyWords(words=words), seed=seed, size=_SIZE)
