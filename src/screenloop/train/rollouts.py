"""Playing many attempts at once, through the one rollout path, with the policy in this process.

All attempts of a batch share the engine's passes. In lockstep, a pass holds exactly the calls of
all attempts that still run, so a run with the same seed gives the same bits.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from msgspec.structs import replace

from screenloop.actions import Action, Tap
from screenloop.agent.dialects.base import Dialect, DialectContext
from screenloop.agent.harness import Harness
from screenloop.config import HarnessConfig, RetryPolicy, RunConfig, Window
from screenloop.engine.local import LocalEngine
from screenloop.errors import AgentError, ConfigError, InfraFault
from screenloop.messages import ChatRequest, Reply, Sampling
from screenloop.models.base import Model
from screenloop.rollout.build import build_attempt, build_harness
from screenloop.rollout.context import RunContext
from screenloop.rollout.episode import run_episode
from screenloop.rollout.plans import Plan
from screenloop.store.blobs import BlobStore
from screenloop.store.episodes import Record, encode_record, episode_of
from screenloop.train.credit.judging import JudgingManager
from screenloop.train.data.streams import attempt_seed
from screenloop.train.types import PlannedAttempt, PlayedAttempt
from screenloop.types import Mode, Task

_ROUNDING = 0.0025
"""Shares of the frame."""


class MemoryLog:
    """Keeps an attempt's records; `EpisodeFiles` writes them batch by batch."""

    def __init__(self) -> None:
        self.records: list[Record] = []

    def write(self, record: Record) -> None:
        self.records.append(record)


class EpisodeFiles:
    """Episode records on disk, one file a batch; of the updates' files only the newest are kept."""

    def __init__(self, folder: Path, keep: int) -> None:
        self.folder = folder
        self._keep = keep

    def write(self, name: str, played: Sequence[PlayedAttempt]) -> Path:
        """Write a batch as `<name>.jsonl`, attempt after attempt, whole or not at all.

        Raises:
            InfraFault: the disk refuses.
        """
        path = self.folder / f"{name}.jsonl"
        partial = path.with_suffix(".part")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with partial.open("wb") as file:
                for one in played:
                    file.writelines(encode_record(record) + b"\n" for record in one.records)
            partial.replace(path)
            for old in sorted(self.folder.glob("update-*.jsonl"))[: -self._keep]:
                old.unlink()
        except OSError as error:
            raise InfraFault(f"cannot write episode file {path}: {error}") from error
        return path


class Demonstrator:
    """A Model that says a plan's Actions in the words of a dialect, as they fit the screen."""

    name = "demonstrator"

    def __init__(self, dialect: Dialect, plan: Sequence[Action]) -> None:
        self.watched: Harness | None = None
        """Knows what the newest turn's reply will be read with."""
        self._dialect = dialect
        self._left = list(plan)

    async def complete(self, request: ChatRequest, *, deadline_s: float) -> Reply:
        """Say the next Action.

        Raises:
            ConfigError: the dialect has no words for it.
            AgentError: the plan is at its end.
        """
        context = None if self.watched is None else self.watched.context
        if context is None or not self._left:
            raise AgentError("the plan is at its end")
        return Reply(text=self._dialect.render(on_marks(self._left.pop(0), context), context))

    async def preflight(self) -> None:
        """A plan is always there."""

    async def close(self) -> None:
        """A plan holds nothing."""


def on_marks(action: Action, context: DialectContext) -> Action:
    """Return a tap moved by at most a pixel onto the element it is meant for."""
    if isinstance(action, Tap):
        for element in context.elements:
            if max(abs(a - b) for a, b in zip(action.at, element.at, strict=True)) < _ROUNDING:
                return replace(action, at=element.at)
    return action


def training_config(
    tasks: Sequence[Task],
    *,
    dialect: Dialect,
    model: str,
    window: Window,
    sampling: Sampling,
    seed: int = 0,
) -> RunConfig:
    """Return the configuration under which a policy is trained or measured on the tasks.

    An attempt that comes to nothing is left out of its group, not played again, so there is one
    start for each; temperature and seed of the sampling are set attempt by attempt.
    """
    return RunConfig(
        harness=HarnessConfig(
            suite="+".join(sorted({task.suite for task in tasks})),
            suite_version="+".join(sorted({task.id.rpartition("@")[2] for task in tasks})),
            tasks=tuple(sorted({task.key for task in tasks})),
            seed=seed,
            window=window,
            image=dialect.image,
            retry=RetryPolicy(attempts=1),
        ),
        model=model,
        dialect=dialect.name,
        sampling=sampling,
    )


class Rollouts:
    """Plays attempts under one configuration."""

    def __init__(
        self,
        setting: RunContext,
        blobs: BlobStore,
        *,
        config: RunConfig,
        dialect: Dialect,
        run_id: str,
        judged: bool = False,
        lockstep: bool = True,
    ) -> None:
        """Prepare.

        Args:
            setting: The manager and the deadlines.
            blobs: Where frames lie and pictures go.
            config: Of the run; see `training_config`.
            dialect: How the policy writes Actions; what `config.dialect` names.
            run_id: In whose name Instances are leased.
            judged: Whether each step is judged as well, for rewards that count progress.
            lockstep: Whether attempts may wait for one another. Where Instances are fewer than
                attempts, those that wait for one would hold up those that have one.
        """
        self._setting = setting
        self._blobs = blobs
        self._dialect = dialect
        self._config = config
        self._run_id = run_id
        self._judged = judged
        self._lockstep = lockstep

    async def play(
        self,
        planned: Sequence[PlannedAttempt],
        model: Model,
        *,
        temperature: float,
        lockstep: bool = True,
    ) -> tuple[PlayedAttempt, ...]:
        """Play all at once; returns them in the order given.

        Raises:
            ConfigError: a name or setting is wrong.
        """
        with ExitStack() as members:
            leave: list[ExitStack] = []
            for _ in planned:
                leave.append(members.enter_context(ExitStack()))
                if lockstep and self._lockstep and isinstance(model, LocalEngine):
                    leave[-1].enter_context(model.taking_part())
            return tuple(
                await asyncio.gather(
                    *(
                        self._one(one, model, temperature, done)
                        for one, done in zip(planned, leave, strict=True)
                    )
                )
            )

    async def show(
        self, planned: Sequence[PlannedAttempt], plan: Plan
    ) -> tuple[PlayedAttempt, ...]:
        """Play known solutions through the very harness of the policy, in its own words.

        Raises:
            ConfigError: a solution cannot be said in the dialect, or does not solve its Task.
        """
        played: list[PlayedAttempt] = []
        for one in planned:
            shown = Demonstrator(self._dialect, await plan(one.task, one.mode))
            harness = self._harness(shown, one, 0.0)
            shown.watched = harness
            played.append(await self._run(one, harness))
            if not played[-1].success:
                verdict = played[-1].episode.verdict
                raise ConfigError(
                    f"the known solution of {one.task.key} does not solve it in "
                    f"{one.task.budget.steps} steps: {verdict}"
                )
        return tuple(played)

    async def _one(
        self, planned: PlannedAttempt, model: Model, temperature: float, done: ExitStack
    ) -> PlayedAttempt:
        with done:
            return await self._run(planned, self._harness(model, planned, temperature))

    def _harness(self, model: Model, planned: PlannedAttempt, temperature: float) -> Harness:
        sampling = replace(self._config.sampling, temperature=temperature, seed=planned.seed)
        return build_harness(self._config, model, self._blobs, self._dialect, sampling=sampling)

    async def _run(self, planned: PlannedAttempt, harness: Harness) -> PlayedAttempt:
        log = MemoryLog()
        attempt = build_attempt(
            self._config,
            planned.task,
            episode_id=planned.episode_id,
            run_id=self._run_id,
            seed=planned.seed,
            mode=planned.mode,
        )
        setting, judging = self._setting, JudgingManager(self._setting.manager)
        if self._judged:
            setting = dataclasses.replace(setting, manager=judging)
        await run_episode(attempt, harness, setting, log)
        episode = episode_of(log.records)
        assert episode is not None
        return PlayedAttempt(
            planned=planned,
            episode=episode,
            records=tuple(log.records),
            verdicts=judging.verdicts(len(episode.steps)),
        )


def update_attempts(
    run_seed: int, update: int, tasks: Sequence[Task], attempts: Sequence[int]
) -> tuple[PlannedAttempt, ...]:
    """Return the attempts of an update, group by group, each with its own random stream."""
    return tuple(
        PlannedAttempt(
            episode_id=f"u{update}-g{group}-a{attempt}",
            group_id=f"u{update}-g{group}",
            task=task,
            seed=attempt_seed(run_seed, update=update, group=group, attempt=attempt),
        )
        for group, (task, count) in enumerate(zip(tasks, attempts, strict=True))
        for attempt in range(count)
    )


def one_each(
    name: str, tasks: Sequence[Task], seed: int = 0, *, modes: Sequence[Mode] = ("gui_only",)
) -> tuple[PlannedAttempt, ...]:
    """Return one attempt at each task, for a measurement or a demonstration.

    Args:
        name: What the attempts' ids begin with.
        tasks: To attempt.
        seed: From which each samples.
        modes: Taken in turn, one a task.
    """
    return tuple(
        PlannedAttempt(
            episode_id=f"{name}-{i}",
            group_id=f"{name}-{i}",
            task=task,
            seed=seed,
            mode=modes[i % len(modes)],
        )
        for i, task in enumerate(tasks)
    )
