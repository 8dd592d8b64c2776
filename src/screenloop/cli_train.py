"""The commands that need torch: train a policy, serve a model; torch is imported when they run."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from cyclopts import Parameter
from rich.console import Console

from screenloop.config import plain
from screenloop.errors import ConfigError
from screenloop.registry import unknown
from screenloop.report import words
from screenloop.report.terminal import print_fitted
from screenloop.report.training.display import Board, LiveRun, result_table
from screenloop.report.training.gains import gains
from screenloop.report.training.metrics import NAME as METRICS
from screenloop.report.training.metrics import Line, read_metrics
from screenloop.report.training.page import write_run_page
from screenloop.report.training.run_files import policy_folder, read_recipe
from screenloop.rollout.managers import manager_at
from screenloop.store.runs import write_whole
from screenloop.train.extra import missing_packages
from screenloop.train.trackers import require_trackers, tracking

if TYPE_CHECKING:
    from screenloop.train.run import TrainResult

Tracked = Annotated[tuple[str, ...], Parameter(negative="")]
Json = Annotated[bool, Parameter(help="Print one JSON object on stdout.", negative="")]
Switch = Annotated[bool, Parameter(negative="")]
Dtype = Literal["float32", "bfloat16", "float16"]
ONE_FILE = "01_grpo_in_one_file"
"""The recipe that is an algorithm to be read, not a setting of the trainer."""


def require_train_extra() -> None:
    """Refuse to go on without the packages of the `train` extra.

    Raises:
        ConfigError: names what is missing and the command that installs it.
    """
    missing = missing_packages()
    if missing:
        raise ConfigError(
            f"this needs {', '.join(missing)}, which is not installed: "
            "pip install 'screenloop[train]'"
        )


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
    from screenloop.train.guard.stops import TrainingStopped
    from screenloop.train.recipes import RECIPES, find_recipe
    from screenloop.train.run import all_of, run_folder
    from screenloop.train.run import train as train_policy

    if recipe not in RECIPES and ":" not in recipe:
        raise unknown("recipe", recipe, (ONE_FILE, *RECIPES))
    chosen = find_recipe(recipe)
    folder = run_folder(recipe, seed, out, time.time())
    if resume and not (folder / METRICS).exists():
        raise ConfigError(f"{folder} holds no training run to go on with: leave out --resume.")
    board = Board(
        title=f"{chosen.name}, seed {seed}",
        updates=chosen.settings.updates,
        warm_up_steps=chosen.settings.warm_up.max_steps,
    )
    console = Console(stderr=True)

    config = {"recipe": chosen.name, "seed": seed, "settings": plain(chosen.settings)}

    try:
        with ExitStack() as watching:
            watches: list[Callable[[Line], None]] = []
            if track:
                watches.append(watching.enter_context(tracking(track, folder, config)))
            if not json:
                watches.append(watching.enter_context(LiveRun(console, board, time.monotonic)))
            result = asyncio.run(
                train_policy(
                    chosen,
                    seed,
                    folder,
                    resume=resume,
                    watch=all_of(*watches),
                    at=manager_at(manager, os.environ),
                )
            )
    except KeyboardInterrupt:
        _say_how_to_resume(console, recipe, seed, folder)
        raise
    except TrainingStopped:
        page = write_run_page(folder)
        console.print(f"Evidence and the last good weights: {folder}; page: {page}", soft_wrap=True)
        raise
    page = write_run_page(folder)
    if json:
        _print_json(result)
    else:
        _show(result, page)


def serve_model(
    folder: Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    model: str = "",
    device: str = "cpu",
    dtype: Dtype = "float32",
    threads: int = 0,
    seed: int = 0,
) -> None:
    """Serve a model over an OpenAI-compatible URL, with token ids and log-probabilities.

    Parameters
    ----------
    folder
        Of a training run, finished or not, of a model in the Hugging Face layout, or the name of a
        policy that the package holds: tiny_text.
    host
        Address to listen on.
    port
        Port to listen on; 0 takes a free one.
    model
        Name that clients ask for; the policy's own, or the folder's, when not given.
    device
        cpu, or a CUDA device.
    dtype
        Of the weights.
    threads
        Of each CPU pass; 0 leaves torch's own choice.
    seed
        For calls that name none.
    """
    if not 0 <= port <= 65535:
        raise ConfigError(f"--port must be 0 to 65535, not {port}.")
    if threads < 0:
        raise ConfigError(f"--threads must be at least 0, not {threads}.")
    require_train_extra()
    from screenloop.engine.serving import serve

    console = Console()
    found, dialect = _policy_named(folder)
    spoken = f" --dialect {dialect}" if dialect else ""

    def ready(base_url: str, name: str) -> None:
        console.print(f"serving  {name} at {base_url}", soft_wrap=True, highlight=False)
        line = f"screenloop eval --suite phone-core{spoken} --model openai:{name}@{base_url}"
        console.print(f"next     {line}", soft_wrap=True, highlight=False)

    asyncio.run(
        serve(
            found,
            model=model,
            host=host,
            port=port,
            device=device,
            dtype=dtype,
            threads=threads,
            seed=seed,
            ready=ready,
        )
    )


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
    told = {"result": result, "curve": found.curve}
    write_whole(folder / RESULT, msgspec.json.encode(told))
    if json:
        _print_json(result)
    else:
        console = Console()
        console.print(f"result   {folder / RESULT}", soft_wrap=True, highlight=False)
        console.print("next     screenloop train --recipe tiny_text", highlight=False)


def _print_json(value: object) -> None:
    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")
    sys.stdout.flush()


def _say_how_to_resume(console: Console, recipe: str, seed: int, folder: Path) -> None:
    from screenloop.train.checkpoint import NAME as CHECKPOINT

    command = f"screenloop train --recipe {recipe} --seed {seed} --out {folder}"
    if (folder / CHECKPOINT).exists():
        said = f"Stopped. Go on with: {command} --resume"
    else:
        said = f"Stopped before the first checkpoint. Begin again with: {command}"
    console.print(f"\n{said}", markup=False, highlight=False, soft_wrap=True)


def report_training(folder: Path, *, json: bool) -> None:
    """Write the page of a training run, finished or not, and print its gain."""
    page = write_run_page(folder)
    told = gains(read_metrics(folder))
    if json:
        _print_json({"gains": told, "report": str(page)})
        return
    console = Console()
    print_fitted(console, result_table(folder.name, told, ()))
    console.print(f"report   {page}", soft_wrap=True, highlight=False)


def _show(result: TrainResult, page: Path) -> None:
    folder = Path(result.run_dir)
    console = Console()
    facts = (
        ("updates", words.count(result.updates)),
        ("episodes", words.count(result.episodes)),
        ("groups with spread", words.count(result.groups_with_spread)),
        ("parity, max", f"{result.parity_max:.1e}"),
        ("CPU, wall", f"{words.seconds(result.cpu_s)}, {words.seconds(result.wall_s)}"),
    )
    told = gains(read_metrics(folder))
    print_fitted(console, result_table(f"{result.recipe}, seed {result.seed}", told, facts))
    console.print(f"\nresult   {folder}", soft_wrap=True, highlight=False)
    console.print(f"page     {page}", soft_wrap=True, highlight=False)
    console.print("next     open the page in a browser; another seed shows the spread: --seed 1")
