"""Commands that play a Run, and those that read one: its report, a comparison, an Episode."""

from __future__ import annotations

import asyncio
import math
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from msgspec.structs import replace

from screenloop.cli.output import (
    Json,
    Switch,
    error_console,
    out_console,
    print_json,
    require_range,
    say,
)
from screenloop.cli.output import show as show_value
from screenloop.cli.training import report_training
from screenloop.config import Window
from screenloop.errors import ConfigError
from screenloop.messages import Sampling
from screenloop.models.usage import parse_price
from screenloop.report.compare import compare as compare_runs
from screenloop.report.html import Replays, write_report
from screenloop.report.replay import write_replay
from screenloop.report.score import eval_json
from screenloop.report.terminal import ProgressBar, compare_table, print_fitted, run_table
from screenloop.report.training.metrics import NAME as METRICS
from screenloop.rollout.managers import manager_at
from screenloop.rollout.play import RunRequest, play, run_folder
from screenloop.store.runs import RunFolder, RunResult
from screenloop.store.sealed import seal_run
from screenloop.types import Budget, Mode


@dataclass(frozen=True, kw_only=True)
class RunFlags:
    """Flags that `eval` and `collect` share; the words under each are its help."""

    suite: str
    """Name of the suite; `screenloop suites` lists them."""
    model: str = ""
    """oracle, random, scripted:FILE, replay:RUN, gguf:FILE[,MMPROJ], openai:MODEL@BASE_URL or a
    class package.module:Class; with openai+tokens: the records keep token ids and log-probs, for
    training."""
    agent: str = ""
    """A class package.module:Class that decides actions itself, with --model or without."""
    dialect: str = "plain"
    """How the model writes actions."""
    prompt: str = ""
    """File with an author's own system prompt."""
    tasks: str = "*"
    """Pattern of task names, e.g. 'save_*'."""
    limit: int | None = None
    """At most so many tasks."""
    repeats: int = 1
    """Episodes a task."""
    seed: int = 0
    """Of the task instances and of all that is drawn."""
    concurrency: int = 4
    """Episodes at a time."""
    mode: Mode = "gui_only"
    """Whether the apps' tools may be called."""
    steps: int | None = None
    """Steps an episode; default: the task's."""
    window: int = 10
    """Steps of history a window (K)."""
    overlap: int = 2
    """Steps that a window shares with the last (O)."""
    temperature: float = 0.0
    """Of the sampling; 0 is greedy."""
    max_tokens: int = 1024
    """Of a reply."""
    price: str = ""
    """Dollars for a million tokens: PROMPT,REPLY[,CACHED]."""
    out: str = ""
    """Folder of the run; an earlier one is continued."""
    manager: str = ""
    """URL of a manager to lease from; its token is $SCREENLOOP_TOKEN."""

    def request(self, now_s: float) -> RunRequest:
        """Return what is asked for.

        Raises:
            ConfigError: a number is out of range.
        """
        for name in ("repeats", "concurrency", "limit", "steps", "max_tokens"):
            if (value := getattr(self, name)) is not None:
                require_range(name, value, 1)
        if not 0 <= self.temperature < math.inf:
            raise ConfigError(f"--temperature must be at least 0, not {self.temperature:g}.")
        try:
            window = Window(steps=self.window, overlap=self.overlap)
        except ValueError as error:
            raise ConfigError(f"--window and --overlap: {error}") from error
        request = RunRequest(
            suite=self.suite,
            model=self.model,
            agent=self.agent,
            dialect=self.dialect,
            prompt_file=self.prompt,
            tasks=self.tasks,
            limit=self.limit,
            repeats=self.repeats,
            seed=self.seed,
            concurrency=self.concurrency,
            mode=self.mode,
            window=window,
            out=self.out,
            budget=None if self.steps is None else Budget(steps=self.steps),
            sampling=Sampling(temperature=self.temperature, max_tokens=self.max_tokens),
            price=parse_price(self.price) if self.price else None,
            manager=manager_at(self.manager, os.environ),
        )
        return replace(request, out=str(run_folder(request, now_s)))


Flags = Annotated[RunFlags, Parameter(name="*")]


def _play(flags: RunFlags, *, quiet: bool) -> tuple[RunResult, str]:
    """Play a Run with a progress bar and return its result and folder."""
    request = flags.request(time.time())
    try:
        if quiet:
            return asyncio.run(play(request)), request.out
        with ProgressBar(error_console) as bar:
            result = asyncio.run(play(request, bar))
    except KeyboardInterrupt:
        if (Path(request.out) / "run.json").exists():
            error_console.print(f"\nStopped. Go on with: --out {request.out}")
        raise
    return result, request.out


def _show_run(result: RunResult, out: str, json: bool, **files: Path) -> None:
    """Print what came of a Run, and the files that were made of it."""
    if json:
        print_json({**eval_json(result, out), **{name: str(path) for name, path in files.items()}})
        return
    print_fitted(out_console, run_table(result, out))
    for name, path in files.items():
        say("data" if name == "parquet" else name, path)


def evaluate(flags: Flags, *, json: Json = False) -> None:
    """Evaluate a model, or an agent of your own, on a suite."""
    _show_run(*_play(flags, quiet=json), json)


def collect(flags: Flags, *, only_success: Switch = False, json: Json = False) -> None:
    """Play episodes and keep them as one Parquet file, a row a step.

    Parameters
    ----------
    only_success
        Keep solved episodes only.
    """
    result, out = _play(flags, quiet=json)
    _show_run(result, out, json, parquet=seal_run(RunFolder(Path(out)), only_success=only_success))


def report(run: Path, *, replays: Replays = "all", json: Json = False) -> None:
    """Write a run's HTML report and print its table.

    Parameters
    ----------
    run
        Folder of the run.
    replays
        Which episodes get a replay page.
    """
    if (run / METRICS).is_file():
        report_training(run, json=json)
        return
    folder = RunFolder.around(run)
    page = write_report(folder.root, replays=replays)
    _show_run(folder.result(), str(folder.root), json, report=page)


def compare(run_a: Path, run_b: Path, *, force: Switch = False, json: Json = False) -> None:
    """Compare two runs, paired by task and repeat.

    Parameters
    ----------
    run_a
        Folder of the first run.
    run_b
        Folder of the second run.
    force
        Compare although the harness differs.
    """
    sides = [RunFolder.around(path).result() for path in (run_a, run_b)]
    show_value(compare_runs(*sides, force=force), json, compare_table)


def show(episode: Path, *, json: Json = False) -> None:
    """Write the replay page of one episode.

    Parameters
    ----------
    episode
        An `episode.jsonl`, or the folder it lies in.
    """
    path = episode / "episode.jsonl" if episode.is_dir() else episode
    if not path.is_file():
        raise ConfigError(
            f"{episode} is no episode: give an episode.jsonl or the attempt folder it lies in, "
            "RUN/episodes/EPISODE/attempt-N."
        )
    page = write_replay(path)
    if json:
        print_json({"episode": str(path), "page": str(page)})
    else:
        say("page", page)
        say("next", "open it in a browser; arrow keys move between steps")
