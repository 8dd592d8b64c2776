"""From names to a finished Run: what `eval` and `collect` both do."""

from __future__ import annotations

import time
from pathlib import Path

from screenloop.agent.dialects import DIALECTS
from screenloop.agent.dialects.base import Dialect
from screenloop.agent.harness import Harness, renderer, wants_of
from screenloop.agent.prompt import prompt_hash
from screenloop.config import HarnessConfig, RunConfig, Window
from screenloop.errors import ConfigError
from screenloop.messages import Sampling
from screenloop.models.catalog import make_model, parse_model
from screenloop.models.usage import Price
from screenloop.registry import find
from screenloop.rollout.batch import Progress, run_batch
from screenloop.rollout.card import machine_here, versions_here
from screenloop.rollout.context import RunContext
from screenloop.rollout.managers import ManagerAt, manager_for
from screenloop.rollout.plans import golden_plan
from screenloop.rollout.prepare import prepare_for
from screenloop.store.runs import RunFolder, RunResult, slug
from screenloop.suites.catalog import find_suite, select
from screenloop.types import Budget, Mode, Struct, Task


class RunRequest(Struct, frozen=True, kw_only=True):
    """What a person asks for."""

    suite: str
    model: str
    dialect: str = "plain"
    prompt_file: str = ""
    """An author's own system prompt; empty for the dialect's."""
    tasks: str = "*"
    """Pattern of template names."""
    limit: int | None = None
    repeats: int = 1
    seed: int = 0
    concurrency: int = 4
    mode: Mode = "gui_only"
    budget: Budget | None = None
    window: Window = Window()
    sampling: Sampling = Sampling()
    price: Price | None = None
    out: str = ""
    """Folder of the Run; empty makes a new one under `runs/`."""
    manager: ManagerAt | None = None
    """Where Instances are leased; `None` opens them in this process."""


def run_folder(request: RunRequest, now_s: float) -> Path:
    """Return the folder that a request names, or a fresh name under `runs/`."""
    if request.out:
        return Path(request.out)
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now_s))
    return Path("runs") / f"{stamp}-{slug(request.suite)}-{slug(request.model)[:40]}"


def read_prompt(path: str) -> str | None:
    """Return the text of an author's prompt file, or `None` without one.

    Raises:
        ConfigError: it cannot be read as UTF-8 text.
    """
    if not path:
        return None
    try:
        return Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the prompt file {path} cannot be read: {error}") from error


def resolve(request: RunRequest, tasks: tuple[Task, ...], dialect: Dialect) -> RunConfig:
    """Return the frozen configuration of a request."""
    suite = find_suite(request.suite)
    prompt = read_prompt(request.prompt_file)
    return RunConfig(
        harness=HarnessConfig(
            suite=suite.name,
            suite_version=suite.version,
            tasks=tuple(sorted(task.key for task in tasks)),
            repeats=request.repeats,
            seed=request.seed,
            mode=request.mode,
            budget=request.budget,
            window=request.window,
            image=dialect.image,
        ),
        model=request.model,
        dialect=request.dialect,
        prompt_hash=prompt_hash(prompt) if prompt is not None else "",
        sampling=request.sampling,
    )


async def play(request: RunRequest, progress: Progress | None = None) -> RunResult:
    """Play every Episode that a request asks for and that its folder does not hold yet.

    Raises:
        ConfigError: a name, a file or the folder is wrong; nothing ran.
        ModelUnavailable: the model cannot be reached; nothing ran.
    """
    name = parse_model(request.model)
    dialect: Dialect = find("dialect", request.dialect, DIALECTS)()
    suite = find_suite(request.suite)
    if request.mode == "hybrid" and not dialect.calls_tools:
        raise ConfigError(
            f"dialect {request.dialect!r} cannot call tools; use --mode gui_only or another dialect"
        )
    tasks = select(suite, glob=request.tasks, limit=request.limit, seed=request.seed)
    if name.kind == "oracle":
        _require_golden(tasks)
    config = resolve(request, tasks, dialect)
    prompt = read_prompt(request.prompt_file)
    out = run_folder(request, time.time())
    want = wants_of(dialect)
    async with manager_for(request.manager, RunFolder(out).blobs, want) as (manager, blobs):
        spec = await manager.spec(tasks[0].env)
        model = make_model(
            name,
            blobs=blobs,
            render=renderer(dialect, spec, request.mode, config.harness.image),
            actions=spec.actions,
            seed=request.seed,
            price=request.price,
        )
        try:
            await model.preflight()
            return await run_batch(
                config,
                tasks,
                RunContext(manager=manager, prepare=prepare_for(model, golden_plan), want=want),
                lambda: Harness(
                    model,
                    blobs,
                    dialect=dialect,
                    window=config.harness.window,
                    image=config.harness.image,
                    sampling=config.sampling,
                    prompt=prompt,
                ),
                out,
                concurrency=request.concurrency,
                versions=versions_here(),
                machine=machine_here(),
                progress=progress,
            )
        finally:
            await model.close()


def _require_golden(tasks: tuple[Task, ...]) -> None:
    missing = [task.id for task in tasks if not task.golden]
    if missing:
        raise ConfigError(
            f"the oracle knows no solution of {missing[0]}"
            + (f" and {len(missing) - 1} other tasks" if len(missing) > 1 else "")
            + "; choose tasks with --tasks, or another model"
        )
