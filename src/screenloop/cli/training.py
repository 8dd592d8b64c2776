"""The commands that need torch: train a policy, serve a model; torch is imported when they run."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from cyclopts import Parameter

from screenloop.cli.output import (
    Json,
    Switch,
    error_console,
    out_console,
    print_json,
    require_range,
    say,
)
from screenloop.config import plain
from screenloop.errors import ConfigError
from screenloop.registry import unknown
from screenloop.report import words
from screenloop.report.terminal import print_fitted
from screenloop.report.training.display import Board, LiveRun, result_table
from screenloop.report.training.gains import gains
from screenloop.report.training.metrics import NAME as METRICS
from screenloop.report.training.metrics import read_metrics
from screenloop.report.training.page import write_run_page
from screenloop.report.training.run_files import policy_folder, read_recipe
from screenloop.rollout.managers import manager_at
from screenloop.store.runs import write_whole
from screenloop.train.facade import require_train_extra
from screenloop.train.trackers import require_trackers, tracking

if TYPE_CHECKING:
    from screenloop.train.recipe import Recipe
    from screenloop.train.run import TrainResult
    from screenloop.train.trainer import Watch

Tracked = Annotated[tuple[str, ...], Parameter(negative="")]
Dtype = Literal["float32", "bfloat16", "float16"]
ONE_FILE = "01_grpo_in_one_file"
"""The recipe that is an algorithm to be read, not a setting of the trainer."""


def train(
    *,
    recipe: str,
    seed: int = 0,
    out: str = "",
    resume: Switch = False,
    track: Tracked = (),
    manager: str = "",
    json: Json = False,
) -> None:
    """Train a policy by a recipe.

    Parameters
    ----------
    recipe
        Name of the recipe, or a dotted path to one.
    seed
        Of everything that is drawn.
    out
        Folder of the run.
    resume
        Go on from the last checkpoint in --out.
    track
        Where curves go besides the run's folder: tensorboard, wandb or trackio; may be repeated.
    manager
        URL of a manager to lease from; its token is $SCREENLOOP_TOKEN.
    """
    if resume and not out:
        raise ConfigError("--resume goes on with the run in a folder: give --out DIR as well.")
    require_train_extra()
    require_trackers(track)
    if recipe == ONE_FILE:
        if track:
            raise ConfigError(f"{ONE_FILE} keeps no metrics to track: leave out --track.")
        if manager:
            raise ConfigError(f"{ONE_FILE} opens its own environments: leave out --manager.")
        _train_in_one_file(seed, out, resume=resume, json=json)
        return
    _train_by_recipe(recipe, seed, out, resume=resume, track=track, manager=manager, json=json)


def _train_by_recipe(
    name: str, seed: int, out: str, *, resume: bool, track: Sequence[str], manager: str, json: bool
) -> None:
    from screenloop.train.recipes import RECIPES, find_recipe
    from screenloop.train.run import run_folder

    if name not in RECIPES and ":" not in name:
        raise unknown("recipe", name, (ONE_FILE, *RECIPES))
    recipe = find_recipe(name)
    folder = run_folder(name, seed, out, time.time())
    if resume and not (folder / METRICS).exists():
        raise ConfigError(f"{folder} holds no training run to go on with: leave out --resume.")
    with ExitStack() as watching:
        watches = _watches(watching, recipe, seed, folder, track=track, quiet=json)
        try:
            result = _train(recipe, seed, folder, watches, resume=resume, manager=manager)
        except KeyboardInterrupt:
            watching.close()
            _say_how_to_resume(name, seed, folder)
            raise
    page = write_run_page(folder)
    if json:
        print_json(result)
    else:
        _show(result, page)


def _watches(
    watching: ExitStack,
    recipe: Recipe,
    seed: int,
    folder: Path,
    *,
    track: Sequence[str],
    quiet: bool,
) -> list[Watch]:
    """Return who is told of each line of the metrics: trackers, and a board for people."""
    watches: list[Watch] = []
    if track:
        facts = {"recipe": recipe.name, "seed": seed, "settings": plain(recipe.settings)}
        watches.append(watching.enter_context(tracking(track, folder, facts)))
    if not quiet:
        board = Board(
            title=f"{recipe.name}, seed {seed}",
            updates=recipe.settings.updates,
            warm_up_steps=recipe.settings.warm_up.max_steps,
        )
        watches.append(watching.enter_context(LiveRun(error_console, board, time.monotonic)))
    return watches


def _train(
    recipe: Recipe, seed: int, folder: Path, watches: Sequence[Watch], *, resume: bool, manager: str
) -> TrainResult:
    """Train; where an update is refused, the page of the run is written before it is told."""
    from screenloop.train.guard.stops import TrainingStopped
    from screenloop.train.run import all_of, train

    at, watch = manager_at(manager, os.environ), all_of(*watches)
    try:
        return asyncio.run(train(recipe, seed, folder, resume=resume, watch=watch, at=at))
    except TrainingStopped:
        page = write_run_page(folder)
        error_console.print(
            f"Evidence and the last good weights: {folder}; page: {page}", soft_wrap=True
        )
        raise


@dataclass(frozen=True, kw_only=True)
class ModelFlags:
    """Flags of `serve-model`; the words under each are its help."""

    host: str = "127.0.0.1"
    """Address to listen on."""
    port: int = 8000
    """Port to listen on; 0 takes a free one."""
    model: str = ""
    """Name that clients ask for; the policy's own, or the folder's, when not given."""
    device: str = "cpu"
    """cpu, or a CUDA device."""
    dtype: Dtype = "float32"
    """Of the weights."""
    threads: int = 0
    """Of each CPU pass; 0 leaves torch's own choice."""
    seed: int = 0
    """For calls that name none."""


def serve_model(
    folder: Path, *, flags: Annotated[ModelFlags, Parameter(name="*")] = ModelFlags()
) -> None:
    """Serve a model over an OpenAI-compatible URL, with token ids and log-probabilities.

    Parameters
    ----------
    folder
        Of a training run, finished or not, of a model in the Hugging Face layout, or the name of a
        policy that the package holds: tiny_text.
    """
    require_range("port", flags.port, 0, 65535)
    require_range("threads", flags.threads, 0)
    require_train_extra()
    from screenloop.engine.serving import serve

    found, dialect = _policy_named(folder)
    spoken = f" --dialect {dialect}" if dialect else ""

    def ready(base_url: str, name: str) -> None:
        say("serving", f"{name} at {base_url}")
        say("next", f"screenloop eval --suite phone-core{spoken} --model openai:{name}@{base_url}")

    asyncio.run(serve(found, ready=ready, **asdict(flags)))


def _policy_named(folder: Path) -> tuple[Path, str]:
    """Return where the policy lies, and the dialect it speaks where that is known."""
    from screenloop.train.recipes import find_recipe
    from screenloop.train.recipes.checkpoints import shipped, shipped_names

    if not folder.exists() and str(folder) in shipped_names():
        return shipped(str(folder)), find_recipe(str(folder)).dialect
    found = policy_folder(folder.resolve())
    trained = read_recipe(found.parent)
    return found, "" if trained is None else trained.dialect


def _train_in_one_file(seed: int, out: str, *, resume: bool, json: bool) -> None:
    """Run the first recipe of the ladder, which has no trainer and so no checkpoints."""
    if resume:
        raise ConfigError(
            f"{ONE_FILE} runs for seconds and keeps no checkpoint: leave out --resume."
        )
    from screenloop.train.recipes.grpo_in_one_file import run
    from screenloop.train.run import RESULT, TrainResult, run_folder

    folder = run_folder(ONE_FILE, seed, out, time.time())
    if (folder / RESULT).exists():
        raise ConfigError(f"{folder} holds a training run already; give another --out.")
    began_s = time.monotonic()
    found = run(seed, tell=lambda line: None if json else print(line, file=sys.stderr))
    result = TrainResult(
        recipe=ONE_FILE,
        seed=seed,
        success_before=found.success_before,
        success_after_sft=found.success_before,
        success_after_rl=found.success_after,
        heldout_after_rl=found.unseen_after,
        updates=found.updates,
        episodes=found.episodes,
        cpu_s=time.process_time(),
        wall_s=time.monotonic() - began_s,
        parity_max=found.parity_max,
        groups_with_spread=found.groups_with_spread,
        run_dir=str(folder),
    )
    card = {"result": result, "curve": found.curve}
    write_whole(folder / RESULT, msgspec.json.encode(card))
    if json:
        print_json(result)
    else:
        say("result", folder / RESULT)
        say("next", "screenloop train --recipe tiny_text")


def _say_how_to_resume(recipe: str, seed: int, folder: Path) -> None:
    from screenloop.train.checkpoint import NAME as CHECKPOINT

    command = f"screenloop train --recipe {recipe} --seed {seed} --out {folder}"
    if (folder / CHECKPOINT).exists():
        said = f"Stopped. Go on with: {command} --resume"
    else:
        said = f"Stopped before the first checkpoint. Begin again with: {command}"
    error_console.print(f"\n{said}", markup=False, highlight=False, soft_wrap=True)


def report_training(folder: Path, *, json: bool) -> None:
    """Write the page of a training run, finished or not, and print its gain."""
    page = write_run_page(folder)
    measured = gains(read_metrics(folder))
    if json:
        print_json({"gains": measured, "report": str(page)})
        return
    print_fitted(out_console, result_table(folder.name, measured, ()))
    say("report", page)


def _show(result: TrainResult, page: Path) -> None:
    folder = Path(result.run_dir)
    facts = (
        ("updates", words.count(result.updates)),
        ("episodes", words.count(result.episodes)),
        ("groups with spread", words.count(result.groups_with_spread)),
        ("parity, max", f"{result.parity_max:.1e}"),
        ("CPU, wall", f"{words.seconds(result.cpu_s)}, {words.seconds(result.wall_s)}"),
    )
    measured = gains(read_metrics(folder))
    print_fitted(out_console, result_table(f"{result.recipe}, seed {result.seed}", measured, facts))
    out_console.print()
    say("result", folder)
    say("page", page)
    say("next", "open the page in a browser; another seed shows the spread: --seed 1")
