"""The package from Python: plain functions that wait, for scripts and notebooks.

Each does what the command of its name does, and works where an event loop already runs.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Required, TypedDict, Unpack

from msgspec.structs import replace

from screenloop.config import Window
from screenloop.manager.client import HttpManager
from screenloop.manager.client import connect as connect_to
from screenloop.messages import Sampling
from screenloop.models.usage import Price
from screenloop.report.training.metrics import NAME as METRICS
from screenloop.rollout.managers import TOKEN_VARIABLE, manager_at
from screenloop.rollout.play import RunRequest, play, run_folder, run_sync
from screenloop.store.blobs import BlobStore, MemoryBlobs
from screenloop.store.episodes import Episode, Record, StartRecord, episode_of, read_records
from screenloop.store.runs import RunFolder, RunResult
from screenloop.store.sealed import seal_run
from screenloop.types import Budget, Mode


class RunOptions(TypedDict, total=False):
    """What `evaluate` and `collect` take; the fields of `rollout.play.RunRequest`."""

    suite: Required[str]
    model: str
    agent: str | type
    """A class that decides Actions itself, or its dotted path."""
    dialect: str
    prompt_file: str
    tasks: str
    limit: int | None
    repeats: int
    seed: int
    concurrency: int
    mode: Mode
    budget: Budget | None
    window: Window
    sampling: Sampling
    price: Price | None
    out: str
    manager: str
    """URL of a manager to lease from; its token is $SCREENLOOP_TOKEN."""


def evaluate(**options: Unpack[RunOptions]) -> RunResult:
    """Evaluate a model or an agent on a suite; see `RunOptions`.

    Raises:
        ConfigError: a name, a file or the folder is wrong; nothing ran.
        ModelUnavailable: the model cannot be reached; nothing ran.
    """
    return run_sync(play(_request(options)))


def collect(*, only_success: bool = False, **options: Unpack[RunOptions]) -> Path:
    """Play Episodes and return the Parquet file of their Steps, a row a Step.

    Raises:
        ConfigError: a name, a file or the folder is wrong; nothing ran.
        ModelUnavailable: the model cannot be reached; nothing ran.
    """
    request = _request(options)
    run_sync(play(request))
    return seal_run(RunFolder(Path(request.out)), only_success=only_success)


def load_run(folder: Path | str) -> RunResult:
    """Return what came of a Run so far: its manifest, and a row for each Episode that ended.

    Raises:
        ConfigError: there is no Run in or above the folder, or it cannot be read.
    """
    return RunFolder.around(Path(folder)).result()


def read_episodes(folder: Path | str) -> Iterator[Episode]:
    """Yield the Episodes of a Run that ended, sealed or not, in the order of its plan.

    Of a training run's folder: the Episodes of the batches that are kept, in the order played.

    Raises:
        ConfigError: there is no Run in or above the folder.
        InfraFault: a file cannot be read.
    """
    folder = Path(folder)
    if (folder / METRICS).is_file():
        for path in sorted((folder / "episodes").glob("*.jsonl")):
            yield from _batch(path)
        return
    run = RunFolder.around(folder)
    for row in run.rows():
        episode = episode_of(read_records(run.root / row.path))
        if episode is not None:
            yield episode


async def connect(url: str, *, blobs: BlobStore | None = None) -> HttpManager:
    """Return a client of a manager elsewhere; its token is $SCREENLOOP_TOKEN.

    Raises:
        ConfigError: the URL or the token is wrong.
        InfraFault: no manager answers there.
    """
    own = MemoryBlobs() if blobs is None else blobs
    return await connect_to(url, token=os.environ.get(TOKEN_VARIABLE, ""), own=own)


def _request(options: RunOptions) -> RunRequest:
    agent, manager = options.pop("agent", ""), options.pop("manager", "")
    if isinstance(agent, type):
        agent = f"{agent.__module__}:{agent.__qualname__}"
    request = RunRequest(**options, agent=agent, manager=manager_at(manager, os.environ))
    return replace(request, out=str(run_folder(request, time.time())))


def _batch(path: Path) -> Iterator[Episode]:
    """Yield the Episodes of a file that holds several, one after another."""
    records: list[Record] = []
    for record in read_records(path):
        if isinstance(record, StartRecord) and (episode := episode_of(records)):
            yield episode
            records = []
        records.append(record)
    if episode := episode_of(records):
        yield episode
