"""The main job on a fresh machine: agents on phones and in a browser, then a policy that learns."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace
from rich.console import Console
from rich.rule import Rule

from screenloop.agent.dialects import DIALECTS
from screenloop.config import config_hash
from screenloop.errors import ConfigError
from screenloop.registry import find
from screenloop.report.html import write_report
from screenloop.report.terminal import ProgressBar, print_fitted, run_table
from screenloop.report.training.display import Board, LiveRun, result_table
from screenloop.report.training.gains import gains
from screenloop.report.training.metrics import read_metrics
from screenloop.report.training.page import write_run_page
from screenloop.report.training.terminal_curve import learning_curve
from screenloop.rollout.play import RunRequest, play, resolve, versions_here
from screenloop.suites.catalog import find_suite, select
from screenloop.train.extra import missing_packages
from screenloop.types import Budget, Struct

if TYPE_CHECKING:
    from screenloop.train.recipe import Recipe

PARTS = (
    (
        "The oracle plays the shortest touch path of every phone task: all must be solved.",
        RunRequest(suite="phone-core", model="oracle", out="runs/demo-phone-oracle"),
    ),
    (
        "An agent that acts at random on the same tasks: hardly any may be solved.",
        RunRequest(
            suite="phone-core",
            model="random",
            out="runs/demo-phone-random",
            budget=Budget(steps=10),
        ),
    ),
    (
        "The same loop on web pages, in a real browser, at random.",
        RunRequest(
            suite="miniwob",
            model="random",
            out="runs/demo-web-random",
            tasks="click-*",
            limit=12,
            budget=Budget(steps=10),
        ),
    ),
)


TRAINING = (
    "A policy of 0.2 million weights learns to touch what a goal names: first from demonstrations, "
    "then from its own attempts. About two minutes on one core."
)


def demo_folder(request: RunRequest) -> str:
    """Return a part's folder, named after its configuration and the versions here.

    The same demo goes on where it stopped; after an update it starts afresh in another folder.
    """
    tasks = select(
        find_suite(request.suite), glob=request.tasks, limit=request.limit, seed=request.seed
    )
    config = resolve(request, tasks, find("dialect", request.dialect, DIALECTS)())
    facts = msgspec.json.encode((config_hash(config), versions_here()), order="sorted")
    return f"{request.out}-{hashlib.sha256(facts).hexdigest()[:8]}"


def training_folder(name: str, settings: Struct) -> Path:
    """Return the folder of the training part; other settings or versions start afresh."""
    facts = msgspec.json.encode((settings, versions_here()), order="sorted")
    return Path(f"runs/demo-{name}-{hashlib.sha256(facts).hexdigest()[:8]}")


def run_demo(
    console: Console,
    *,
    parts: Sequence[tuple[str, RunRequest]] = PARTS,
    missing: Sequence[str] | None = None,
) -> None:
    """Play the parts, print their tables, write their reports, train; a second run goes on.

    Args:
        console: Where to show.
        parts: What is played, each with a sentence that says what is to be seen.
        missing: Packages without which nothing can be trained; `None` looks for them.

    Raises:
        ConfigError: everything was shown but the last part, for which packages are missing.
    """
    missing = missing_packages() if missing is None else missing
    pages: list[Path] = []
    for words, request in parts:
        console.print(Rule(style="dim"))
        console.print(words, style="bold")
        request = replace(request, out=demo_folder(request))
        try:
            with ProgressBar(console) as bar:
                result = asyncio.run(play(request, bar))
        except ConfigError as error:
            # Without a browser the phones are still worth showing.
            if request.suite != "miniwob":
                raise
            console.print(f"Left out: {error}", style="yellow")
            continue
        print_fitted(console, run_table(result, request.out))
        pages.append(write_report(Path(request.out)))
    if not missing:
        console.print(Rule(style="dim"))
        console.print(TRAINING, style="bold")
        pages.append(_train_tiny_text(console))
    console.print(Rule(style="dim"))
    console.print("Reports, with replays of the episodes and the curves of the training run:")
    for page in pages:
        console.print(f"  {page}", soft_wrap=True)
    _say_what_is_next(console)
    if missing:
        raise ConfigError(
            f"the last part, a policy that learns, was left out: {', '.join(missing)} not "
            "installed. Run: .venv/bin/python -m pip install -c scripts/dev-constraints.txt "
            "-e '.[train]'; then again: make demo"
        )


def train_and_show(console: Console, recipe: Recipe, folder: Path) -> Path:
    """Train with seed 0, or go on, or show a run that is through; returns the run's page."""
    from screenloop.train.checkpoint import NAME as CHECKPOINT
    from screenloop.train.run import RESULT, train

    title = f"{recipe.name}, seed 0"
    if not (folder / RESULT).exists():
        board = Board(
            title=title,
            updates=recipe.settings.updates,
            warm_up_steps=recipe.settings.warm_up.max_steps,
        )
        with LiveRun(console, board, time.monotonic) as live:
            resume = (folder / CHECKPOINT).exists()
            asyncio.run(train(recipe, 0, folder, resume=resume, watch=live))
    told = read_metrics(folder)
    console.print(learning_curve(told))
    console.print()
    print_fitted(console, result_table(title, gains(told), ()))
    return write_run_page(folder)


def _train_tiny_text(console: Console) -> Path:
    from screenloop.train.recipes import find_recipe

    recipe = find_recipe("tiny_text")
    return train_and_show(console, recipe, training_folder(recipe.name, recipe.settings))


def _say_what_is_next(console: Console) -> None:
    console.print("Next:", style="bold")
    console.print("  .venv/bin/screenloop phone                 use a mocked phone in a browser")
    for command in (
        "eval --suite phone-core --model openai:MODEL@BASE_URL",
        "train --recipe tiny_text --seed 1",
    ):
        console.print(f"  .venv/bin/screenloop {command}", soft_wrap=True)
