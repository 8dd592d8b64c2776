"""Many Episodes under one configuration: concurrency, repeats, retries, and going on later."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from screenloop.agent.base import Agent
from screenloop.config import RunConfig
from screenloop.errors import Blame, ConfigError
from screenloop.rollout.build import build_attempt
from screenloop.rollout.context import RunContext, episode_seed
from screenloop.rollout.episode import run_episode
from screenloop.store.episodes import EpisodeWriter
from screenloop.store.runs import EpisodeRow, RunFolder, RunManifest, RunResult, make_manifest, slug
from screenloop.types import Struct, Task


class Planned(Struct, frozen=True, kw_only=True):
    """One Episode that a Run wants."""

    index: int
    task: Task
    repeat: int
    seed: int


class Progress(Protocol):
    """Someone who watches a Run."""

    def planned(self, total: int, kept: int) -> None:
        """Told once how many Episodes the Run wants, and how many an earlier process played."""
        ...

    def began(self, planned: Planned, attempt: int) -> None:
        """Told when an attempt begins."""
        ...

    def ended(self, row: EpisodeRow) -> None:
        """Told when an Episode is through, scored or not."""
        ...


class NoProgress:
    """Watches nothing."""

    def planned(self, total: int, kept: int) -> None: ...

    def began(self, planned: Planned, attempt: int) -> None: ...

    def ended(self, row: EpisodeRow) -> None: ...


def plan_episodes(config: RunConfig, tasks: Sequence[Task]) -> tuple[Planned, ...]:
    """Return the Episodes of a Run, task by task, each with its seed; pure.

    Raises:
        ConfigError: the tasks are not those of the configuration.
    """
    by_key = {task.key: task for task in tasks}
    harness = config.harness
    if tuple(sorted(by_key)) != tuple(sorted(harness.tasks)) or len(by_key) != len(tasks):
        odd = sorted(set(by_key) ^ set(harness.tasks))
        raise ConfigError(
            f"the {len(tasks)} tasks given are not the {len(harness.tasks)} of the configuration"
            + (f" (first difference: {odd[0]})." if odd else ": one is there twice.")
        )
    pairs = [(by_key[key], repeat) for key in sorted(by_key) for repeat in range(harness.repeats)]
    return tuple(
        Planned(
            index=index, task=task, repeat=repeat, seed=episode_seed(harness.seed, task.key, repeat)
        )
        for index, (task, repeat) in enumerate(pairs)
    )


async def run_batch(
    config: RunConfig,
    tasks: Sequence[Task],
    setting: RunContext,
    make_agent: Callable[[], Agent],
    out: Path,
    *,
    concurrency: int = 4,
    versions: dict[str, str] | None = None,
    machine: dict[str, str] | None = None,
    progress: Progress | None = None,
) -> RunResult:
    """Play every Episode that has no result in `out` yet, and return the rows of all.

    A result is an Episode that ended and was scored. Whatever was cut off or left unscored by an
    earlier process is played again; nothing that has a result is.

    Raises:
        ConfigError: `out` holds another Run, another process plays it, or the tasks do not fit.
        InfraFault: the folder cannot be written.
    """
    if concurrency < 1:
        raise ConfigError(f"concurrency must be at least 1, not {concurrency}.")
    plan = plan_episodes(config, tasks)
    folder = RunFolder(out)
    with folder.lock():
        manifest = folder.open(
            make_manifest(
                config, versions=versions or {}, machine=machine or {}, started_at=setting.wall()
            )
        )
        batch = _Batch(
            manifest=manifest,
            folder=folder,
            setting=setting,
            make_agent=make_agent,
            progress=progress or NoProgress(),
        )
        rows = await batch.play(plan, concurrency)
        result = RunResult(manifest=manifest, rows=rows)
        folder.write_result(result)
        return result


@dataclass(frozen=True)
class _Batch:
    manifest: RunManifest
    folder: RunFolder
    setting: RunContext
    make_agent: Callable[[], Agent]
    progress: Progress

    async def play(self, plan: Sequence[Planned], concurrency: int) -> tuple[EpisodeRow, ...]:
        """Play what has no result yet, `concurrency` Episodes at a time."""
        rows = {p.index: row for p in plan if (row := self._kept(p)) is not None}
        self.progress.planned(len(plan), len(rows))
        waiting = iter([p for p in plan if p.index not in rows])

        async def work(queue: Iterator[Planned]) -> None:
            for planned in queue:
                rows[planned.index] = row = await self._play_one(planned)
                self.progress.ended(row)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(concurrency, len(plan))):
                    group.create_task(work(waiting))
        except BaseExceptionGroup as failed:
            raise failed.exceptions[0] from failed
        return tuple(rows[p.index] for p in plan)

    def _home(self, planned: Planned) -> Path:
        return self.folder.episode_folder(planned.index, planned.task.key, planned.repeat)

    def _kept(self, planned: Planned) -> EpisodeRow | None:
        row = self.folder.latest_row(planned.index, self._home(planned))
        return row if row is not None and row.unscored is None else None

    async def _play_one(self, planned: Planned) -> EpisodeRow:
        """Attempt one Episode until it is scored or the retry policy gives up."""
        home = self._home(planned)
        begun = self.folder.attempts(home)
        first = begun[-1] + 1 if begun else 0
        attempts = self.manifest.config.harness.retry.attempts
        for number in range(first, first + attempts):
            self.progress.began(planned, number)
            writer = EpisodeWriter(self.folder.attempt_path(home, number))
            try:
                attempt = build_attempt(
                    self.manifest.config,
                    planned.task,
                    episode_id=f"{slug(planned.task.key)}-r{planned.repeat}-a{number}",
                    run_id=self.manifest.run_id,
                    repeat=planned.repeat,
                    attempt=number,
                    seed=planned.seed,
                )
                ending = await run_episode(attempt, self.make_agent(), self.setting, writer)
            finally:
                writer.close()
            if not ending.may_retry or number == first + attempts - 1:
                break
            unscored = ending.verdict.unscored
            if unscored is not None and unscored.blame is Blame.INFRASTRUCTURE:
                await asyncio.sleep(self.setting.retry_pause_s * 3 ** (number - first))
        row = self.folder.latest_row(planned.index, home)
        assert row is not None
        return row
