"""From names to a finished Run: what `eval` and `collect` both do."""

from __future__ import annotations

import asyncio
import os
import platform
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeVar

from screenloop.agent.base import Agent
from screenloop.agent.dialects import DIALECTS
from screenloop.agent.dialects.base import Dialect
from screenloop.agent.harness import renderer, wants_of
from screenloop.agent.prompt import prompt_hash
from screenloop.config import HarnessConfig, RunConfig, Window
from screenloop.criteria import Code
from screenloop.envs.kinds import KINDS
from screenloop.errors import ConfigError
from screenloop.messages import Sampling
from screenloop.models.base import Model
from screenloop.models.catalog import make_model, parse_model
from screenloop.models.usage import Price
from screenloop.registry import find, source_hash
from screenloop.rollout.agents import AgentClass, find_agent
from screenloop.rollout.batch import Progress, run_batch
from screenloop.rollout.build import build_harness
from screenloop.rollout.context import RunContext
from screenloop.rollout.managers import ManagerAt, manager_for
from screenloop.rollout.plans import golden_plan, prepare_for
from screenloop.store.runs import RunFolder, RunResult, slug
from screenloop.suites.catalog import SUITES, find_suite, select
from screenloop.types import Budget, Mode, Struct, Task

T = TypeVar("T")
RENDERING = ("screenloop", "pytakumi", "pillow", "miniwob")
"""Packages that decide what an agent sees."""


class RunRequest(Struct, frozen=True, kw_only=True):
    """What a person asks for."""

    suite: str
    model: str = ""
    """Empty where an agent of one's own asks none."""
    agent: str = ""
    """Dotted path of a class that decides Actions itself; empty for the harness."""
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


def run_sync(work: Coroutine[Any, Any, T]) -> T:
    """Wait for a coroutine from plain code; in a notebook, whose loop runs, by a thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def run_folder(request: RunRequest, now_s: float) -> Path:
    """Return the folder that a request names, or a fresh name under `runs/`."""
    if request.out:
        return Path(request.out)
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now_s))
    return (
        Path("runs") / f"{stamp}-{slug(request.suite)}-{slug(request.model or request.agent)[:40]}"
    )


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


def resolve(
    request: RunRequest, tasks: tuple[Task, ...], dialect: Dialect, agent: AgentClass | None = None
) -> RunConfig:
    """Return the frozen configuration of a request; an agent of one's own speaks no dialect."""
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
        model=request.model or request.agent,
        agent=request.agent,
        agent_hash=agent.source_hash if agent else "",
        dialect="" if agent else request.dialect,
        prompt_hash=prompt_hash(prompt) if prompt is not None else "",
        sampling=request.sampling,
        outside=_outside(request, tasks, speaks=agent is None),
    )


def _outside(request: RunRequest, tasks: tuple[Task, ...], *, speaks: bool) -> tuple[str, ...]:
    """Return what a Run uses of other packages, with the hash of its source.

    Environments and judges may be installed with the manager's hosts alone: they are named then.
    """
    here = [("suite", request.suite, SUITES)]
    if speaks:
        here.append(("dialect", request.dialect, DIALECTS))
    if request.model and parse_model(request.model).kind == "class":
        here.append(("model", request.model, {}))
    sources = {name: source_hash(find(what, name, table)) for what, name, table in here}
    checks = (check for task in tasks for check in task.checks)
    there = {task.env.kind: ("environment kind", KINDS) for task in tasks} | {
        check.path: ("judge", {}) for check in checks if isinstance(check, Code)
    }
    for name, (what, table) in there.items():
        try:
            sources[name] = source_hash(find(what, name, table))
        except ConfigError:
            sources[name] = "only with the hosts"
    return tuple(f"{name}={source}" for name, source in sorted(sources.items()) if source)


async def play(request: RunRequest, progress: Progress | None = None) -> RunResult:
    """Play every Episode that a request asks for and that its folder does not hold yet.

    Raises:
        ConfigError: a name, a file or the folder is wrong; nothing ran.
        ModelUnavailable: the model cannot be reached; nothing ran.
    """
    agent = _agent_of(request)
    name = parse_model(request.model) if request.model else None
    dialect: Dialect = find("dialect", request.dialect, DIALECTS)()
    suite = find_suite(request.suite)
    if request.mode == "hybrid" and agent is None and not dialect.calls_tools:
        raise ConfigError(
            f"dialect {request.dialect!r} cannot call tools; use --mode gui_only or another dialect"
        )
    tasks = select(suite, glob=request.tasks, limit=request.limit, seed=request.seed)
    if name is not None and name.kind == "oracle":
        _require_golden(tasks)
    config = resolve(request, tasks, dialect, agent)
    prompt = read_prompt(request.prompt_file)
    out = run_folder(request, time.time())
    want = agent.wants if agent else wants_of(dialect)
    async with AsyncExitStack() as stack:
        manager, blobs = await stack.enter_async_context(
            manager_for(request.manager, RunFolder(out).blobs, want)
        )
        spec = await manager.spec(tasks[0].env)
        model: Model | None = None
        if name is not None:
            model = make_model(
                name,
                blobs=blobs,
                render=renderer(dialect, spec, request.mode, config.harness.image),
                actions=spec.actions,
                seed=request.seed,
                price=request.price,
            )
            stack.push_async_callback(model.close)
            await model.preflight()

        def make_agent() -> Agent:
            if agent is not None:
                return agent.make(blobs, model)
            assert model is not None
            return build_harness(config, model, blobs, dialect, prompt=prompt)

        make_agent()  # a class that cannot be made is refused before anything runs
        prepare = None if model is None else prepare_for(model, golden_plan)
        return await run_batch(
            config,
            tasks,
            RunContext(manager=manager, prepare=prepare, want=want),
            make_agent,
            out,
            concurrency=request.concurrency,
            versions=versions_here(),
            machine=machine_here(),
            progress=progress,
        )


def _agent_of(request: RunRequest) -> AgentClass | None:
    """Return the class that acts, `None` for the harness.

    Raises:
        ConfigError: the request names no one to act, or an agent and what only the harness takes.
    """
    if not request.agent:
        if not request.model:
            raise ConfigError("name who is to act: --model, or --agent package.module:Class")
        return None
    if request.prompt_file or request.dialect != "plain":
        raise ConfigError(
            f"agent {request.agent} writes its own prompts: leave out --prompt and --dialect"
        )
    agent = find_agent(request.agent)
    agent.require_model(request.model)
    return agent


def _require_golden(tasks: tuple[Task, ...]) -> None:
    missing = [task.id for task in tasks if not task.golden]
    if missing:
        raise ConfigError(
            f"the oracle knows no solution of {missing[0]}"
            + (f" and {len(missing) - 1} other tasks" if len(missing) > 1 else "")
            + "; choose tasks with --tasks, or another model"
        )


def versions_here() -> dict[str, str]:
    """Return the versions of Python and of the packages that decide what an agent sees."""
    found = {"python": platform.python_version()}
    for package in RENDERING:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def machine_here() -> dict[str, str]:
    """Return the CPU's model, the cores this process may use, and the system."""
    return {
        "cpu": _cpu_model() or platform.machine(),
        "cores": str(len(os.sched_getaffinity(0))),
        "system": f"{platform.system()} {platform.machine()}",
    }


def _cpu_model() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "")
