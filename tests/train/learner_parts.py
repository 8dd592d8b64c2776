"""A small real policy with its engine, environments and learner, taken apart for tests."""

from __future__ import annotations

import time
from contextlib import ExitStack, asynccontextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from msgspec.structs import replace as changed
from trainer_parts import few_tasks, micro, micro_settings

from screenloop.agent.dialects import DIALECTS
from screenloop.engine.decoder import Limits
from screenloop.engine.local import LocalEngine
from screenloop.manager.direct import DirectManager
from screenloop.registry import find
from screenloop.report.training.metrics import MetricsFile
from screenloop.rollout.context import RunContext
from screenloop.store.blobs import FolderBlobs
from screenloop.train.learner import Learner
from screenloop.train.preparation import train_attempt
from screenloop.train.recipe import Recipe
from screenloop.train.rollouts import Rollouts, one_each, update_attempts
from screenloop.train.run import run_config
from screenloop.train.settings import LearningSettings
from screenloop.train.trainer import Clocks, Trainer


@dataclass
class Bench:
    """What a training run is made of, to be used piece by piece."""

    recipe: Recipe
    learner: Learner
    engine: LocalEngine
    rollouts: Rollouts
    blobs: FolderBlobs
    closing: ExitStack

    async def attempts(self, number: int, tasks=(), each: int = 4):
        """Play some tasks with the learner's weights; return what an update sees."""
        await self.engine.swap(self.learner.weights(), str(self.learner.version))
        tasks = tasks or self.recipe.tasks().train[:3]
        planned = update_attempts(0, number, tasks, [each] * len(tasks))
        played = await self.rollouts.play(planned, self.engine, temperature=1.0)
        learning, vision = self.recipe.settings.learning, self.learner.policy.vision
        return tuple(
            train_attempt(one, learning, vision=vision, blobs=self.blobs) for one in played
        )


@asynccontextmanager
async def bench(recipe: Recipe, folder: Path, seed: int = 0):
    """Put the parts of a run together as `train` does, and take them apart again."""
    torch.set_num_threads(1)
    settings = recipe.settings
    policy = recipe.policy(recipe.tasks(), seed)
    engine_policy = deepcopy(policy)
    learner = Learner(policy, settings.learning, settings.optimiser, lora=settings.lora)
    blobs = FolderBlobs(folder / "blobs")
    opener = recipe.open_environments(blobs)
    manager = DirectManager(opener.open)
    engine = LocalEngine(engine_policy, blobs, seed=seed, limits=Limits(rows=512), threaded=False)
    dialect = find("dialect", recipe.dialect, DIALECTS)()
    rollouts = Rollouts(
        RunContext(manager=manager, want=recipe.want),
        blobs,
        config=run_config(recipe, recipe.tasks(), dialect, seed),
        dialect=dialect,
        run_id=folder.name,
    )
    try:
        with ExitStack() as closing:
            yield Bench(recipe, learner, engine, rollouts, blobs, closing)
    finally:
        await engine.close()
        await manager.close()
        await opener.close()


def trainer_of(parts: Bench, folder: Path, watch=lambda line: None, seed: int = 0) -> Trainer:
    """Put a trainer around the parts."""
    metrics = MetricsFile(folder, until_update=None)
    parts.closing.callback(metrics.close)
    return Trainer(
        parts.recipe,
        parts.recipe.tasks(),
        seed=seed,
        folder=folder,
        learner=parts.learner,
        engine=parts.engine,
        rollouts=parts.rollouts,
        blobs=parts.blobs,
        metrics=metrics,
        fingerprint="f",
        clocks=Clocks(wall=time.monotonic, cpu=time.process_time),
        watch=watch,
    )


async def shown(parts: Bench, count: int = 4):
    """Show some training tasks, as `train` does."""
    tasks = parts.recipe.tasks().train[:count]
    return await parts.rollouts.show(one_each("demo", tasks), parts.recipe.plan)


@lru_cache
def tasks_once():
    return few_tasks()


def recipe_with(learning: LearningSettings | None = None, **changes: Any) -> Recipe:
    """Return the micro recipe with other settings."""
    settings = micro_settings(**changes)
    if learning is not None:
        settings = changed(settings, learning=learning)
    return replace(micro(), settings=settings, tasks=tasks_once)


def rewarded(samples):
    """Give every other Sample a good and a bad advantage."""
    return tuple(
        changed(s, advantages=tuple((1.0 if i % 2 else -1.0) * m for m in s.loss_mask))
        for i, s in enumerate(samples)
    )


def same(one, other):
    """Whether two states hold the same numbers, to the bit."""
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)
