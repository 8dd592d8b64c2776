"""From a recipe's name to a trained policy: what `screenloop train` does."""

from __future__ import annotations

import shutil
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

import msgspec
import torch
from msgspec.structs import replace

from screenloop.agent.dialects import DIALECTS
from screenloop.agent.dialects.base import Dialect
from screenloop.config import RunConfig, plain
from screenloop.engine.decoder import Limits
from screenloop.engine.local import LocalEngine
from screenloop.errors import ConfigError
from screenloop.manager.base import Manager
from screenloop.manager.direct import DirectManager
from screenloop.registry import find
from screenloop.report.training.metrics import Line, MetricsFile
from screenloop.report.training.run_files import POLICY, RunRecipe, read_recipe, write_recipe
from screenloop.rollout.context import Deadlines, RunContext
from screenloop.rollout.managers import ManagerAt, manager_for
from screenloop.store.blobs import BlobStore, FolderBlobs
from screenloop.store.runs import RunFolder
from screenloop.train.checkpoint import NAME as CHECKPOINT
from screenloop.train.checkpoint import Checkpoint, PolicyKeeper, read_checkpoint
from screenloop.train.credit.reward import counts_progress
from screenloop.train.data.streams import stream
from screenloop.train.guard.stops import TrainingStopped
from screenloop.train.learner import Learner
from screenloop.train.recipe import Recipe, TaskSets, TrainSettings, require_trainable
from screenloop.train.recipes import find_recipe
from screenloop.train.rollouts import Rollouts, one_each, training_config
from screenloop.train.settings import read_settings, source_hashes
from screenloop.train.trainer import Clocks, Trainer, Watch
from screenloop.train.types import PlayedAttempt
from screenloop.types import Struct

RESULT = "result.json"
ACQUIRE_S = 3600.0
"""How long an attempt may wait for an Instance of a manager elsewhere: there may be fewer of them
than an update makes attempts."""


class TrainResult(Struct, frozen=True, kw_only=True, omit_defaults=False):
    """What a training run came to; successes are greedy, on tasks that were never trained on."""

    recipe: str
    """Name of the recipe."""
    seed: int
    """Of everything that was drawn."""
    success_before: float
    """Of the untrained policy on the test tasks: known apps, other worlds."""
    success_after_sft: float
    """The same after the warm-up on demonstrations."""
    success_after_rl: float
    """The same after the last update."""
    heldout_after_rl: float | None
    """On tasks of apps that were never trained on; `None` where the recipe has none."""
    updates: int
    """Updates of reinforcement learning."""
    episodes: int
    """Attempts of the updates; demonstrations and measurements are not counted."""
    cpu_s: float
    """CPU seconds of the process, all threads, from its start; summed over resumed processes."""
    wall_s: float
    """Wall seconds, summed over resumed processes."""
    parity_max: float
    """Largest difference of log-probabilities between engine and trainer, nats."""
    groups_with_spread: int
    """Groups whose attempts earned different rewards, of all updates."""
    run_dir: str
    """Folder of the run."""


class SplitGain(Struct, frozen=True, kw_only=True, omit_defaults=False):
    """The same success before, after the warm-up and after reinforcement learning."""

    before: float | None
    """Of the untrained policy."""
    after_sft: float | None
    """After the warm-up on demonstrations."""
    after_rl: float | None
    """After the last update."""


class RunCard(Struct, frozen=True, kw_only=True, omit_defaults=False):
    """What is written to `result.json`."""

    result: TrainResult
    """The figures that the command prints."""
    known_apps: SplitGain
    """Success on the test tasks, apps that were trained on."""
    unseen_apps: SplitGain
    """Success on tasks of other apps; `None` each where the recipe has none."""
    warm_up_steps: int
    """Steps of the supervised warm-up."""
    fingerprint: str
    """Of all that decides the run, as in `recipe.json`."""


def run_folder(name: str, seed: int, out: str, now_s: float) -> Path:
    """Return the folder asked for, or a fresh name under `runs/`."""
    if out:
        return Path(out)
    return Path("runs") / f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime(now_s))}-{name}-{seed}"


async def train_recipe(
    name: str,
    seed: int = 0,
    out: str = "",
    *,
    resume: bool = False,
    watch: Watch = lambda line: None,
) -> TrainResult:
    """Train a policy by a recipe; metrics, episodes, checkpoint and result are in its folder.

    Raises:
        ConfigError: a name, a setting or the folder is wrong; nothing ran.
        TrainingStopped: an update was refused; the folder holds the evidence and a checkpoint of
            the last good weights.
    """
    return await train(
        find_recipe(name),
        seed,
        run_folder(name, seed, out, time.time()),
        resume=resume,
        watch=watch,
    )


async def train(
    recipe: Recipe,
    seed: int,
    folder: Path,
    *,
    resume: bool = False,
    watch: Watch = lambda line: None,
    clocks: Clocks | None = None,
    at: ManagerAt | None = None,
) -> TrainResult:
    """Train by a recipe at hand; see `train_recipe`.

    Args:
        recipe: what to train and how.
        seed: of everything that is drawn.
        folder: of the run.
        resume: whether to go on from the checkpoint in the folder.
        watch: called with each line of the metrics.
        clocks: measure the run.
        at: where Instances are leased; `None` opens them in this process.

    Raises:
        ConfigError: a setting, the folder or the manager's URL is wrong; nothing ran.
        InfraFault: no manager answers at the URL.
    """
    clocks = clocks or Clocks(wall=time.monotonic, cpu=time.process_time)
    plan = _checked(recipe, seed, folder, resume)
    # One thread: with more, sums are taken in another order each time.
    torch.set_num_threads(1)
    async with AsyncExitStack() as opened:
        trainer, keeper, rollouts = await _put_together(plan, opened, clocks, watch, at)
        try:
            if plan.checkpoint is not None:
                trainer.resume(plan.checkpoint)
            else:
                await trainer.begin(lambda: demonstrations(rollouts, recipe, plan.tasks, seed))
            await trainer.learn()
            test, unseen = await trainer.finish()
            keeper.keep()
        except TrainingStopped:
            keeper.keep()
            raise
    return _result(trainer, plan, test, unseen)


@dataclass(frozen=True)
class _Plan:
    """A run that was checked and may begin."""

    recipe: Recipe
    seed: int
    folder: Path
    tasks: TaskSets
    dialect: Dialect
    card: RunRecipe
    judged: bool
    """Whether each step is judged as well."""
    checkpoint: Checkpoint | None
    """To go on from."""


def _checked(recipe: Recipe, seed: int, folder: Path, resume: bool) -> _Plan:
    """Refuse what is wrong before anything runs, and make the folder ready."""
    dialect: Dialect = find("dialect", recipe.dialect, DIALECTS)()
    _require_words(recipe, dialect)
    tasks = recipe.tasks()
    # Settings put together in Python are not checked when they are made.
    read_settings(msgspec.to_builtins(recipe.settings), TrainSettings)
    require_trainable(recipe.settings, tasks)
    judged = counts_progress(recipe.settings.learning.reward)
    card = run_recipe(recipe, tasks, seed)
    _prepare_folder(folder, resume)
    if resume:
        _require_same_sources(folder, card)
    return _Plan(
        recipe=recipe,
        seed=seed,
        folder=folder,
        tasks=tasks,
        dialect=dialect,
        card=card,
        judged=judged,
        checkpoint=read_checkpoint(folder, card.fingerprint) if resume else None,
    )


async def _put_together(
    plan: _Plan, opened: AsyncExitStack, clocks: Clocks, watch: Watch, at: ManagerAt | None
) -> tuple[Trainer, PolicyKeeper, Rollouts]:
    """Open all that a run needs; it is closed with the stack."""
    recipe, seed, folder, settings = plan.recipe, plan.seed, plan.folder, plan.recipe.settings
    policy = recipe.policy(plan.tasks, seed)
    learner = Learner(policy, settings.learning, settings.optimiser, lora=settings.lora)
    blobs = FolderBlobs(folder / "blobs")
    manager = await opened.enter_async_context(instances_for(recipe, at, blobs))
    deadlines = Deadlines() if at is None else Deadlines(acquire_s=ACQUIRE_S)
    engine = LocalEngine(
        deepcopy(policy), blobs, seed=seed, limits=Limits(rows=512), threaded=False
    )
    opened.push_async_callback(engine.close)
    write_recipe(folder, plan.card)
    known = None if plan.checkpoint is None else plan.checkpoint.counters.update
    metrics = MetricsFile(folder, until_update=known)
    opened.callback(metrics.close)
    name = f"{recipe.name}-{seed}"
    keeper = PolicyKeeper(folder, engine, name=name, every=settings.checkpoint_every)
    rollouts = Rollouts(
        RunContext(manager=manager, want=recipe.want, deadlines=deadlines),
        blobs,
        config=run_config(recipe, plan.tasks, plan.dialect, seed),
        dialect=plan.dialect,
        run_id=folder.name,
        judged=plan.judged,
        lockstep=at is None,
    )
    trainer = Trainer(
        recipe,
        plan.tasks,
        seed=seed,
        folder=folder,
        learner=learner,
        engine=engine,
        rollouts=rollouts,
        blobs=blobs,
        metrics=metrics,
        fingerprint=plan.card.fingerprint,
        clocks=clocks,
        watch=all_of(keeper, watch),
    )
    return trainer, keeper, rollouts


async def demonstrations(
    rollouts: Rollouts, recipe: Recipe, tasks: TaskSets, seed: int
) -> Sequence[PlayedAttempt]:
    """Show the policy how training tasks are solved, by touch alone or with tools as well.

    The recipe's modes are taken in turn, so that both ways are in one mix.

    Raises:
        ConfigError: a known solution does not solve its task, or has no words in the dialect.
    """
    shown = tasks.shown or tasks.train
    count = min(recipe.settings.warm_up.demonstrations, len(shown))
    chosen = stream(seed, "demonstrations").sample(shown, count)
    return await rollouts.show(one_each("demo", chosen, modes=recipe.modes), recipe.plan)


def _require_words(recipe: Recipe, dialect: Dialect) -> None:
    """Refuse demonstrations that the dialect has no words for.

    Raises:
        ConfigError: says what to change.
    """
    if not recipe.modes:
        raise ConfigError("a recipe shows its tasks in at least one mode: gui_only or hybrid")
    if "hybrid" in recipe.modes and not dialect.calls_tools:
        raise ConfigError(
            f"hybrid demonstrations call tools, but dialect {recipe.dialect!r} cannot: take "
            "modes ('gui_only',), or a dialect that calls tools, e.g. tinytools"
        )


def run_config(recipe: Recipe, tasks: TaskSets, dialect: Dialect, seed: int) -> RunConfig:
    """Return the configuration that every Episode of a training run carries the hashes of."""
    sets = (getattr(tasks, name) for name in tasks.__struct_fields__)
    config = training_config(
        [task for some in sets for task in some],
        dialect=dialect,
        model=f"{recipe.name}-{seed}",
        window=recipe.window,
        sampling=recipe.settings.sampling(),
        seed=seed,
    )
    return replace(config, dialect=recipe.dialect)


def run_recipe(recipe: Recipe, tasks: TaskSets, seed: int) -> RunRecipe:
    """Return what decides a run, in plain data with its fingerprint."""
    return RunRecipe(
        name=recipe.name,
        seed=seed,
        dialect=recipe.dialect,
        window=recipe.window,
        modes=recipe.modes,
        settings=plain(recipe.settings),
        tasks={
            name: tuple(task.key for task in getattr(tasks, name))
            for name in tasks.__struct_fields__
        },
        outside=source_hashes(recipe.settings.learning),
    ).fingerprinted()


def all_of(*watches: Watch) -> Watch:
    """Return a watch that tells several, in this order."""

    def tell_all(line: Line) -> None:
        for watch in watches:
            watch(line)

    return tell_all


def _prepare_folder(folder: Path, resume: bool) -> None:
    if RunFolder(folder).manifest_path.exists():
        raise ConfigError(
            f"{folder} holds a run of `eval` or `collect`, which training would mix itself into; "
            "give another --out"
        )
    folder.mkdir(parents=True, exist_ok=True)
    if not resume and (folder / CHECKPOINT).exists():
        raise ConfigError(
            f"{folder} holds a training run already; go on with --resume, or give another --out"
        )
    if not resume:
        # Of an attempt that did not get to its first checkpoint.
        shutil.rmtree(folder / POLICY, ignore_errors=True)


def _require_same_sources(folder: Path, card: RunRecipe) -> None:
    """Refuse to go on with an estimator or a loss from outside whose code is another by now."""
    known = read_recipe(folder)
    for path, digest in card.outside.items():
        if known is not None and known.outside.get(path, digest) != digest:
            raise ConfigError(
                f"the source of {path} has changed since the run in {folder} began; resume with "
                "the source that it began with, or give another --out"
            )


def _result(trainer: Trainer, plan: _Plan, test: float, unseen: float | None) -> TrainResult:
    counters = trainer.counters
    wall_s, cpu_s = trainer.spent()
    result = TrainResult(
        recipe=plan.recipe.name,
        seed=plan.seed,
        success_before=counters.success_before,
        success_after_sft=counters.success_after_sft,
        success_after_rl=test,
        heldout_after_rl=unseen,
        updates=counters.update,
        episodes=counters.episodes,
        cpu_s=cpu_s,
        wall_s=wall_s,
        parity_max=counters.parity_max,
        groups_with_spread=counters.groups_with_spread,
        run_dir=str(plan.folder),
    )
    card = RunCard(
        result=result,
        known_apps=SplitGain(
            before=counters.success_before, after_sft=counters.success_after_sft, after_rl=test
        ),
        unseen_apps=SplitGain(
            before=counters.unseen_before, after_sft=counters.unseen_after_sft, after_rl=unseen
        ),
        warm_up_steps=counters.warm_up_steps,
        fingerprint=plan.card.fingerprint,
    )
    (plan.folder / RESULT).write_bytes(msgspec.json.encode(card))
    return result


@asynccontextmanager
async def instances_for(
    recipe: Recipe, at: ManagerAt | None, blobs: BlobStore
) -> AsyncIterator[Manager]:
    """Give a manager of what a recipe trains on; it ends with the block.

    Args:
        recipe: says how Instances are opened in this process.
        at: where Instances are leased instead; they are what is served there.
        blobs: the run's own; what is seen elsewhere is kept there.

    Raises:
        ConfigError: the URL or the token is wrong.
        InfraFault: no manager answers there.
    """
    if at is not None:
        async with manager_for(at, blobs, recipe.want) as (remote, _):
            yield remote
        return
    opener = recipe.open_environments(blobs)
    direct = DirectManager(opener.open)
    try:
        yield direct
    finally:
        await direct.close()
        await opener.close()
