"""The command line: thin wrappers that print a result, where it is, and what to do next.

With `--json` a command prints one JSON object on stdout and nothing else there. Exit status: 0 it
worked, 1 something failed on the way, 2 a name, flag or file is wrong, 130 stopped by the user.
"""

from __future__ import annotations

import asyncio
import math
import os
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
from cyclopts import App, CycloptsError, Parameter, UnknownCommandError, UnknownOptionError
from msgspec.structs import replace
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from screenloop import __version__, cli_serve, cli_train
from screenloop.config import Window
from screenloop.errors import ConfigError, ScreenloopError
from screenloop.messages import Sampling
from screenloop.models.usage import parse_price
from screenloop.registry import unknown
from screenloop.report.compare import compare as compare_runs
from screenloop.report.html import Replays, write_report
from screenloop.report.replay import write_replay
from screenloop.report.score import eval_json
from screenloop.report.terminal import (
    ProgressBar,
    compare_table,
    print_fitted,
    run_table,
    struct_table,
)
from screenloop.report.training.metrics import NAME as METRICS
from screenloop.rollout.managers import MANAGER_VARIABLE, manager_at
from screenloop.rollout.play import RunRequest, play, run_folder
from screenloop.rollout.proof import TaskProof
from screenloop.store.runs import RunFolder, RunResult
from screenloop.store.sealed import seal_run
from screenloop.types import Budget, Mode

app = App(
    name="screenloop",
    help="One loop from screen to action: evaluate, collect, train and run GUI agents.",
    version=__version__,
)
apps = App(name="apps", help="The mocked phone's apps.")
bench = App(name="bench", help="Figures of docs/measurements.md, measured here.")
app.command(apps)
app.command(bench)
app.command(cli_train.train)
app.command(cli_train.serve_model)
app.command(cli_serve.serve)
app.command(cli_serve.top)

Json = Annotated[bool, Parameter(help="Print one JSON object on stdout.", negative="")]
Switch = Annotated[bool, Parameter(negative="")]
out_console = Console()
error_console = Console(stderr=True)


def print_json(value: Any) -> None:
    """Print one JSON object on stdout."""
    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")
    sys.stdout.flush()


# ---- looking around ------------------------------------------------------------------------


@app.command
def doctor(*, manager: str = "", json: Json = False) -> None:
    """Try what a Run needs and say what is missing and how to get it.

    Parameters
    ----------
    manager
        URL of a manager to try as well; $SCREENLOOP_MANAGER serves as well.
    """
    from screenloop.doctor import examine, findings_table, is_ready

    at = manager_at(manager or os.environ.get(MANAGER_VARIABLE, ""), os.environ)
    findings = asyncio.run(examine(at))
    if json:
        print_json({"ok": is_ready(findings), "findings": findings})
    else:
        out_console.print(findings_table(findings))
    if not is_ready(findings):
        sys.exit(1)


@app.command
def suites(*, json: Json = False) -> None:
    """List the suites."""
    from screenloop.suites.catalog import SUITES, find_suite

    rows = [
        {"suite": s.name, "version": s.version, "env": s.env_kind, "tasks": len(s.names())}
        for s in map(find_suite, SUITES)
    ]
    if json:
        print_json({"suites": rows})
        return
    table = Table("suite", "version", "environment", "tasks", box=None)
    for row in rows:
        table.add_row(*map(str, row.values()))
    out_console.print(table)
    out_console.print("\nnext: screenloop tasks SUITE", style="dim")


@app.command
def tasks(suite: str, *, seed: int = 0, tasks: str = "*", json: Json = False) -> None:
    """List the tasks of a suite.

    Parameters
    ----------
    suite
        Name of the suite.
    seed
        Which instance of each template.
    tasks
        Pattern of template names.
    """
    from screenloop.suites.catalog import find_suite, select

    chosen = select(find_suite(suite), glob=tasks, seed=seed)
    if json:
        print_json({"suite": suite, "tasks": chosen})
        return
    table = Table("task", "goal", "apps", "shortest", box=None)
    for task in chosen:
        name = task.id.partition("/")[2]
        shortest = "" if task.optimal_steps is None else str(task.optimal_steps)
        table.add_row(name, escape(task.goal.text), task.tags.get("apps", ""), shortest)
    out_console.print(table)
    command = f"screenloop eval --suite {suite} --model oracle"
    out_console.print(f"\n{len(chosen)} tasks; next: {command}", style="dim")


# ---- running -------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class RunFlags:
    """Flags that `eval` and `collect` share."""

    suite: Annotated[str, Parameter(help="Name of the suite; `screenloop suites` lists them.")]
    model: Annotated[
        str,
        Parameter(
            help="oracle, random, scripted:FILE, replay:RUN, gguf:FILE[,MMPROJ] or "
            "openai:MODEL@BASE_URL; with openai+tokens: the records keep token ids and "
            "log-probs, for training."
        ),
    ]
    dialect: Annotated[str, Parameter(help="How the model writes actions.")] = "plain"
    prompt: Annotated[str, Parameter(help="File with an author's own system prompt.")] = ""
    tasks: Annotated[str, Parameter(help="Pattern of task names, e.g. 'save_*'.")] = "*"
    limit: Annotated[int | None, Parameter(help="At most so many tasks.")] = None
    repeats: Annotated[int, Parameter(help="Episodes a task.")] = 1
    seed: Annotated[int, Parameter(help="Of the task instances and of all that is drawn.")] = 0
    concurrency: Annotated[int, Parameter(help="Episodes at a time.")] = 4
    mode: Annotated[Mode, Parameter(help="Whether the apps' tools may be called.")] = "gui_only"
    steps: Annotated[int | None, Parameter(help="Steps an episode; default: the task's.")] = None
    window: Annotated[int, Parameter(help="Steps of history a window (K).")] = 10
    overlap: Annotated[int, Parameter(help="Steps that a window shares with the last (O).")] = 2
    temperature: float = 0.0
    max_tokens: Annotated[int, Parameter(help="Of a reply.")] = 1024
    price: Annotated[
        str, Parameter(help="Dollars for a million tokens: PROMPT,REPLY[,CACHED].")
    ] = ""
    out: Annotated[str, Parameter(help="Folder of the run; an earlier one is continued.")] = ""
    manager: Annotated[
        str, Parameter(help="URL of a manager to lease from; its token is $SCREENLOOP_TOKEN.")
    ] = ""

    def request(self, now_s: float) -> RunRequest:
        """Return what is asked for.

        Raises:
            ConfigError: a number is out of range.
        """
        for name in ("repeats", "concurrency", "limit", "steps", "max_tokens"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"--{name.replace('_', '-')} must be at least 1, not {value}.")
        if not 0 <= self.temperature < math.inf:
            raise ConfigError(f"--temperature must be at least 0, not {self.temperature:g}.")
        try:
            window = Window(steps=self.window, overlap=self.overlap)
        except ValueError as error:
            raise ConfigError(f"--window and --overlap: {error}") from error
        request = RunRequest(
            suite=self.suite,
            model=self.model,
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


@app.command(name="eval")
def evaluate(flags: Flags, *, json: Json = False) -> None:
    """Evaluate a model on a suite."""
    result, out = _play(flags, quiet=json)
    if json:
        print_json(eval_json(result, out))
    else:
        print_fitted(out_console, run_table(result, out))


@app.command
def collect(flags: Flags, *, only_success: Switch = False, json: Json = False) -> None:
    """Play episodes and keep them as one Parquet file, a row a step.

    Parameters
    ----------
    only_success
        Keep solved episodes only.
    """
    result, out = _play(flags, quiet=json)
    path = seal_run(RunFolder(Path(out)), only_success=only_success)
    if json:
        print_json({**eval_json(result, out), "parquet": str(path)})
    else:
        print_fitted(out_console, run_table(result, out))
        out_console.print(f"data     {path}", soft_wrap=True)


# ---- reading -------------------------------------------------------------------------------


@app.command
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
        cli_train.report_training(run, json=json)
        return
    folder = RunFolder.around(run)
    page = write_report(folder.root, replays=replays)
    if json:
        print_json({**eval_json(folder.result(), str(folder.root)), "report": str(page)})
    else:
        print_fitted(out_console, run_table(folder.result(), str(folder.root)))
        out_console.print(f"report   {page}", soft_wrap=True)


@app.command
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
    comparison = compare_runs(*sides, force=force)
    if json:
        print_json(comparison)
    else:
        print_fitted(out_console, compare_table(comparison))


@app.command
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
        out_console.print(f"page     {page}", soft_wrap=True)
        out_console.print("next     open it in a browser; arrow keys move between steps")


# ---- phones --------------------------------------------------------------------------------


@app.command
def phone(*, host: str = "127.0.0.1", port: int = 8412, world_seed: int = 0) -> None:
    """Serve one live mocked phone as a web page.

    Parameters
    ----------
    host
        Address to listen on.
    port
        Port to listen on; 0 takes a free one.
    world_seed
        Which world the phone lives in.
    """
    from screenloop.phone.show.serve import serve_phone

    serve_phone(host, port, world_seed, tell=out_console.print)


@apps.command(name="stats")
def stats(*, json: Json = False) -> None:
    """Explore every app and replay its flows."""
    from screenloop.phone.prove.stats import apps_stats

    with error_console.status("Exploring the apps ..."):
        found = apps_stats()
    if json:
        print_json(found)
    else:
        out_console.print(struct_table(found))


@app.command
def proof(
    suite_name: Annotated[str, Parameter(name="--suite")],
    *,
    tasks: str = "*",
    seed: int = 0,
    json: Json = False,
) -> None:
    """Prove a suite's verifiers: three states, a path by touch, mutants.

    Parameters
    ----------
    suite_name
        Name of the suite.
    tasks
        Pattern of task names.
    seed
        Which instance of each template.
    """
    from screenloop.rollout.proof import prove_suite, summary

    proofs = asyncio.run(prove_suite(suite_name, tasks, seed, tell=_tell_proof(json)))
    total = summary(suite_name, proofs)
    if json:
        print_json(total)
    else:
        out_console.print(struct_table(total))
    if total.rejected:
        sys.exit(1)


def _tell_proof(quiet: bool) -> Callable[[TaskProof], None]:
    def tell(one: TaskProof) -> None:
        for reason in one.reasons:
            error_console.print(f"[red]rejected[/] {escape(one.task)}: {escape(reason)}")
        if one.accepted and not quiet:
            line = f"{one.task}: {one.steps} steps, {one.killed} of {one.mutants} mutants killed"
            out_console.print(line, highlight=False)

    return tell


# ---- benches -------------------------------------------------------------------------------


@bench.command(name="phone")
def bench_phone(*, live: int = 1000, json: Json = False) -> None:
    """Measure resets, frames and memory of mocked phones.

    Parameters
    ----------
    live
        Phones to keep alive at once.
    """
    from screenloop.bench.phone import run as measured

    _bench(measured.run(live=live), json)


@bench.command(name="web")
def bench_web(*, json: Json = False) -> None:
    """Measure resets and steps of MiniWoB++ pages, and of the peer where it is installed."""
    from screenloop.bench.web import run as measured

    _bench(measured.run(), json)


@bench.command(name="prefix")
def bench_prefix(*, engine: Switch = False, json: Json = False) -> None:
    """Count prompt tokens that windowed history lets a prefix cache reuse.

    Parameters
    ----------
    engine
        Compare with what the engine really takes from its cache, on Episodes of tiny policies.
    """
    if engine:
        cli_train.require_train_extra()
        from screenloop.bench.prefix import engine as prefix_engine

        _bench(prefix_engine.run(), json)
        return
    from screenloop.bench.prefix import run as measured

    _bench(measured.run(), json)


@bench.command(name="trainer")
def bench_trainer(*, updates: int = 500, json: Json = False) -> None:
    """Watch the memory of a training run over hundreds of updates.

    Parameters
    ----------
    updates
        How many; at least 200.
    """
    cli_train.require_train_extra()
    from screenloop.bench.train import memory as measured

    _bench(measured.run(updates), json)


@bench.command(name="update")
def bench_update(*, json: Json = False) -> None:
    """Time one update on window samples against one on per-step samples of the same episodes."""
    cli_train.require_train_extra()
    from screenloop.bench.train import update as measured

    _bench(measured.run(), json)


@bench.command(name="leases")
def bench_leases(*, schedules: int = 10_000, json: Json = False) -> None:
    """Measure what a lease operation costs, and play random schedules of crashes against it.

    Parameters
    ----------
    schedules
        Random schedules to play.
    """
    from screenloop.bench.lease import run as measured

    _bench(measured.run(schedules=schedules), json)


@bench.command(name="http")
def bench_http(*, phones: int = 2000, json: Json = False) -> None:
    """Measure what HTTP costs: the manager's CPU an operation, and how much longer a step takes.

    Parameters
    ----------
    phones
        Phones live and leased while steps are timed.
    """
    if phones < 1:
        raise ConfigError(f"--phones must be at least 1, not {phones}.")
    from screenloop.bench import http as measured

    _bench(measured.run(phones=phones), json)


@bench.command(name="live")
def bench_live(*, instances: int = 20_000, json: Json = False) -> None:
    """Keep many phones live at once; reset, step and judge each.

    Parameters
    ----------
    instances
        Phones.
    """
    from screenloop.bench.phone import live as measured

    if instances < 1:
        raise ConfigError(f"--instances must be at least 1, not {instances}.")
    with error_console.status("Leasing ...") as status:

        def tell(stage: str, done: int, of: int) -> None:
            status.update(f"{stage}: {done:,} of {of:,}")

        found = asyncio.run(measured.run(instances, tell))
    _print_bench(found, json)


@bench.command(name="fleet")
def bench_fleet(*, out: Path | None = None, json: Json = False) -> None:
    """Simulate fleets past this machine in virtual time, by the manager's own decisions.

    Parameters
    ----------
    out
        Folder to write plots to.
    """
    from screenloop.bench.fleet import run as measured

    _bench(measured.run(out), json)


@bench.command(name="chaos")
def bench_chaos(
    *, episodes: int = 300, seed: int = 0, fencing: bool = True, json: Json = False
) -> None:
    """Play episodes while hosts, manager, disk, network and clock go wrong; count what is lost.

    Parameters
    ----------
    episodes
        Episodes to play.
    seed
        Of the faults; the same one gives the same schedule.
    fencing
        Without fences, late workers are let in, and violations must be found.
    """
    from screenloop.bench.chaos import run as measured

    _bench(measured.run(episodes, seed=seed, fencing=fencing), json)


def _bench(work: Coroutine[Any, Any, Any], json: bool) -> None:
    with error_console.status("Measuring ..."):
        found = asyncio.run(work)
    _print_bench(found, json)


def _print_bench(found: Any, json: bool) -> None:
    if json:
        print_json(found)
    else:
        out_console.print(struct_table(found))


@app.command
def demo() -> None:
    """Evaluate two agents on phones and in a browser, and write reports worth a look."""
    from screenloop.demo import run_demo

    run_demo(out_console)


# ---- one place for failures ----------------------------------------------------------------


def main(words: Sequence[str] | None = None) -> None:
    """Run the command line; every failure is one line on stderr and an exit status.

    Args:
        words: what was typed after `screenloop`; `None` takes it from the process.
    """
    words = sys.argv[1:] if words is None else words
    try:
        for word in words:
            _require_text(word)
        app(words, exit_on_error=False, print_error=False)
    except CycloptsError as error:
        _fail(usage_sentence(error), 2)
    except ConfigError as error:
        _fail(str(error), 2)
    except ScreenloopError as error:
        _fail(f"{error} ({error.blame})", 1)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


def _require_text(word: str) -> None:
    """Refuse bytes that are no text: what is written down about a run could not name them."""
    try:
        word.encode()
    except UnicodeEncodeError as error:
        raise ConfigError(f"{word!r} is not UTF-8; rename the file or folder.") from error


def usage_sentence(error: CycloptsError) -> str:
    """Return a usage error as one line; an unknown command or flag names the valid ones."""
    if isinstance(error, UnknownCommandError) and error.app and error.unused_tokens:
        names = [name for name in error.app if not name.startswith("-")]
        return str(unknown("command", error.unused_tokens[0], names))
    words = " ".join(str(error).split())
    collection = getattr(error, "argument_collection", None)
    if isinstance(error, UnknownOptionError) and collection is not None:
        flags = sorted({n for a in collection for n in a.names if n.startswith("--")})
        words += f" Valid: {', '.join(flags)}." if flags else " It takes no flags."
    return words


def _fail(words: str, status: int) -> None:
    error_console.print(f"screenloop: {words}", style="red", markup=False, soft_wrap=True)
    sys.exit(status)
