"""The training run: measure, warm up, then play and learn in turn, with checkpoints on the way.

With `max_staleness` 0 playing and learning alternate strictly; above, attempts for later updates
are played while the learner works, on weights that lie at most so many updates behind.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from screenloop.engine.local import LocalEngine
from screenloop.report.training.metrics import (
    EvaluationLine,
    Line,
    MetricsFile,
    StageSeconds,
    TaskSet,
    When,
)
from screenloop.store.blobs import BlobStore
from screenloop.train.checkpoint import Checkpoint, RunCounters, save_checkpoint
from screenloop.train.curriculum import TaskProgress, after_group, attempts_for, choose_tasks
from screenloop.train.data.demonstrations import Tokeniser
from screenloop.train.data.streams import stream, stream_seed
from screenloop.train.guard.stops import (
    TrainingStopped,
    require_fresh,
    require_scored,
    write_evidence,
)
from screenloop.train.learner import Learner
from screenloop.train.lines import (
    PlayedBatch,
    UpdateOutcome,
    by_domain,
    domain_of,
    groups_with_spread,
    update_line,
)
from screenloop.train.loss.scoring import Patches
from screenloop.train.preparation import prepare_update, reads_all, train_attempt
from screenloop.train.recipe import Recipe, TaskSets
from screenloop.train.rollouts import EpisodeFiles, Rollouts, one_each, update_attempts
from screenloop.train.types import PlayedAttempt, Sample
from screenloop.train.warm_up import WarmUp, WarmUpSeams, warm_up
from screenloop.types import Struct, Task

T = TypeVar("T")
Watch = Callable[[Line], None]
PARITY_SAMPLES = 64
"""Samples that the parity gate looks at in a batch without anything to learn from."""


class Clocks(Struct, frozen=True, kw_only=True):
    """Where seconds come from."""

    wall: Callable[[], float]
    cpu: Callable[[], float]
    """CPU seconds of this process since its start, all threads."""


class Trainer:
    """One run of a recipe."""

    def __init__(
        self,
        recipe: Recipe,
        tasks: TaskSets,
        *,
        seed: int,
        folder: Path,
        learner: Learner,
        engine: LocalEngine,
        rollouts: Rollouts,
        blobs: BlobStore,
        metrics: MetricsFile,
        fingerprint: str,
        clocks: Clocks,
        watch: Watch,
    ) -> None:
        self.counters = RunCounters()
        self.engine = engine
        self.learner = learner
        self._recipe = recipe
        self._settings = recipe.settings
        self._tasks = tasks
        self._seed = seed
        self._folder = folder
        self._rollouts = rollouts
        self._blobs = blobs
        self._metrics = metrics
        self._fingerprint = fingerprint
        self._clocks = clocks
        self._watch = watch
        self._files = EpisodeFiles(folder / "episodes", recipe.settings.rollout.keep_updates)
        self._tokeniser = Tokeniser(learner.policy)
        self._by_key = {task.key: task for task in tasks.train}
        self._progress = {
            task.key: TaskProgress(key=task.key, domain=domain_of(task.tags))
            for task in tasks.train
        }
        self._began_s = clocks.wall()
        self._spent = (0.0, 0.0)
        """Wall and CPU seconds of earlier processes."""
        self._pending: deque[asyncio.Task[PlayedBatch]] = deque()

    # ---- the whole -------------------------------------------------------------------------

    def resume(self, checkpoint: Checkpoint) -> None:
        self.counters = checkpoint.counters
        self._spent = (checkpoint.counters.wall_s, checkpoint.counters.cpu_s)
        self._progress = {task.key: task for task in checkpoint.progress}
        self.learner.restore(checkpoint.learner)

    async def begin(self, demonstrations: Callable[[], Awaitable[Sequence[PlayedAttempt]]]) -> None:
        """Measure the untrained policy and warm it up.

        Args:
            demonstrations: Gives solved attempts at training tasks; not asked where the warm-up is
                left out.

        Raises:
            TrainingStopped: the warm-up gave numbers that are not finite; the evidence is in the
                folder, and the engine holds the last good weights.
        """
        await self._hand_over()
        before = await self._ends("before")
        after = before
        if self._settings.warm_up.max_steps:
            await self._warm_up(await demonstrations())
            self.learner.begin()
            await self._hand_over()
            after = await self._ends("after_sft")
        else:
            # The policy is the same, so what was measured stands for both ends.
            self.learner.begin()
            for line in before.values():
                self._tell(replace(line, when="after_sft", seconds=0.0))
        self.counters = replace(
            self.counters,
            success_before=before["test"].success,
            success_after_sft=after["test"].success,
            unseen_before=before["unseen"].success if "unseen" in before else None,
            unseen_after_sft=after["unseen"].success if "unseen" in after else None,
        )
        self.checkpoint()

    async def learn(self) -> None:
        """Run the updates that are left.

        Raises:
            TrainingStopped: an update was refused; evidence and a checkpoint of the last good
                weights are in the folder, and the engine holds them.
        """
        await self._hand_over()
        try:
            while self.counters.update < self._settings.updates and not self.counters.stopped_early:
                await self._one_update()
                done = self.counters.update
                last = done == self._settings.updates or self.counters.stopped_early
                if last or done % self._settings.checkpoint_every == 0:
                    self.checkpoint()
        except TrainingStopped as stopped:
            write_evidence(self._folder, stopped.evidence)
            self.checkpoint()
            await self._hand_over()
            raise
        finally:
            for task in self._pending:
                task.cancel()
            await asyncio.gather(*self._pending, return_exceptions=True)
            self._pending.clear()

    async def finish(self) -> tuple[float, float | None]:
        """Measure the trained policy; returns the success on test and on unseen tasks."""
        await self._hand_over()
        measured = await self._ends("after_rl")
        unseen = measured.get("unseen")
        return measured["test"].success, None if unseen is None else unseen.success

    def checkpoint(self) -> None:
        """Keep everything that is needed to go on from here."""
        wall_s, cpu_s = self.spent()
        self.counters = replace(self.counters, wall_s=wall_s, cpu_s=cpu_s)
        save_checkpoint(
            self._folder,
            Checkpoint(
                fingerprint=self._fingerprint,
                counters=self.counters,
                progress=tuple(self._progress.values()),
                learner=self.learner.state(),
            ),
        )

    def spent(self) -> tuple[float, float]:
        """Return wall and CPU seconds of the run so far, earlier processes included."""
        return (
            self._spent[0] + self._clocks.wall() - self._began_s,
            self._spent[1] + self._clocks.cpu(),
        )

    # ---- warm-up ---------------------------------------------------------------------------

    async def _warm_up(self, demonstrations: Sequence[PlayedAttempt]) -> None:
        settings = self._settings.warm_up
        self._files.write("demonstrations", demonstrations)
        samples = [s for one in demonstrations for s in self._tokeniser.samples(one.episode)]
        seams = WarmUpSeams(
            measure=self._measured, collect=self._collected, patches=self._patches, tell=self._tell
        )
        trainee = WarmUp(self.learner.policy, settings, seed=self._seed)
        try:
            steps = await warm_up(trainee, samples, settings, seams)
        except TrainingStopped as stopped:
            write_evidence(self._folder, stopped.evidence)
            await self._hand_over()
            raise
        self.counters = replace(self.counters, warm_up_steps=steps)

    async def _measured(self, step: int) -> float:
        """Return the success on the validation tasks in the midst of the warm-up."""
        self.counters = replace(self.counters, warm_up_steps=step)
        await self._hand_over()
        return (await self.evaluate("warm_up", "validation")).success

    async def _collected(self, step: int) -> list[Sample]:
        """Let the policy try training tasks itself; return Samples of what it solved."""
        count = min(self._settings.warm_up.collect, len(self._tasks.train))
        if not count:
            return []
        tasks = stream(self._seed, "collect", step).sample(self._tasks.train, count)
        planned = [
            replace(one, seed=stream_seed(self._seed, "collect", step, number))
            for number, one in enumerate(one_each(f"c{step}", tasks))
        ]
        played = await self._rollouts.play(
            planned, self.engine, temperature=self._settings.rollout.temperature
        )
        solved = [one for one in played if one.success]
        self._files.write(f"collected-{step:06d}", solved)
        return [sample for one in solved for sample in self._tokeniser.samples(one.episode)]

    # ---- updates ---------------------------------------------------------------------------

    async def _one_update(self) -> None:
        number, version = self.counters.update + 1, self.learner.version
        batch = await self._next_batch(number)
        at = [self._clocks.wall()]
        self._files.write(f"update-{number:06d}", batch.played)
        learning, vision = self._settings.learning, self.learner.policy.vision
        attempts = tuple(
            train_attempt(one, learning, vision=vision, blobs=self._blobs) for one in batch.played
        )
        samples = [sample for attempt in attempts for sample in attempt.samples]
        require_scored(batch.played, number)
        require_fresh(samples, version=version, max_staleness=self._settings.rollout.max_staleness)
        parity_samples = samples[:PARITY_SAMPLES]
        ahead = reads_all(learning)
        patches = self._patches(samples if ahead else [])
        prepared = await self._beside(
            lambda: prepare_update(attempts, self.learner, learning, patches)
        )
        chosen = prepared.chosen
        if not ahead:
            patches = self._patches(chosen.samples or parity_samples)
        at.append(self._clocks.wall())
        figures = await self._beside(
            lambda: self.learner.update(
                chosen.samples, patches, parity_samples, prepared.value_rows
            )
        )
        self._learn_progress(batch.played, number)
        self.counters = replace(
            self.counters,
            update=number,
            episodes=self.counters.episodes + len(attempts),
            groups_with_spread=self.counters.groups_with_spread + groups_with_spread(attempts),
            parity_max=max(self.counters.parity_max, figures.parity.max_abs),
        )
        await self._hand_over()
        at.append(self._clocks.wall())
        held_out = await self._scheduled(number)
        at.append(self._clocks.wall())
        seconds = StageSeconds(
            rollout=batch.seconds,
            sample=at[1] - at[0],
            update=at[2] - at[1],
            evaluate=at[3] - at[2],
        )
        outcome = UpdateOutcome(
            update=number,
            version=version,
            batch=batch,
            attempts=attempts,
            prepared=prepared,
            figures=figures,
            held_out=held_out,
            seconds=seconds,
            cpu_s=self.spent()[1],
        )
        self._tell(update_line(outcome))

    async def _beside(self, work: Callable[[], T]) -> T:
        """Do the learner's work, in a thread where later attempts are played meanwhile."""
        if self._settings.rollout.max_staleness:
            return await asyncio.to_thread(work)
        return work()

    async def _next_batch(self, number: int) -> PlayedBatch:
        """Return the attempts of an update, and set those of later ones going."""
        ahead = self._settings.rollout.max_staleness
        if not ahead:
            return await self._play(number)
        while len(self._pending) <= ahead:
            later = number + len(self._pending)
            if later > self._settings.updates:
                break
            self._pending.append(asyncio.create_task(self._play(later)))
        return await self._pending.popleft()

    async def _play(self, number: int) -> PlayedBatch:
        curriculum = self._settings.learning.curriculum
        keys = choose_tasks(
            list(self._progress.values()),
            self._settings.rollout.groups,
            update=number,
            settings=curriculum,
            stream=stream(self._seed, "tasks", number),
        )
        planned = update_attempts(
            self._seed,
            number,
            [self._by_key[key] for key in keys],
            [attempts_for(self._progress[key], curriculum) for key in keys],
        )
        began, before = self._clocks.wall(), self.engine.counters.as_dict()
        played = await self._rollouts.play(
            planned,
            self.engine,
            temperature=self._settings.rollout.temperature,
            lockstep=self._settings.rollout.max_staleness == 0,
        )
        return PlayedBatch(
            played=played,
            seconds=self._clocks.wall() - began,
            before=before,
            after=self.engine.counters.as_dict(),
        )

    def _learn_progress(self, played: Sequence[PlayedAttempt], number: int) -> None:
        groups: dict[str, list[PlayedAttempt]] = {}
        for one in played:
            groups.setdefault(one.planned.group_id, []).append(one)
        for group in groups.values():
            key = group[0].planned.task.key
            self._progress[key] = after_group(
                self._progress[key],
                [one.success for one in group],
                update=number,
                settings=self._settings.learning.curriculum,
            )

    async def _hand_over(self) -> None:
        """Give the engine the learner's weights; the prefix cache begins anew."""
        await self.engine.swap(self.learner.weights(), str(self.learner.version))

    def _patches(self, samples: Sequence[Sample]) -> Patches:
        vision = self.learner.policy.vision
        if vision is None:
            return {}
        keys = {image.key for sample in samples for image in sample.images}
        return {key: vision.pixels(self._blobs.get(key)) for key in sorted(keys)}

    # ---- measuring -------------------------------------------------------------------------

    async def evaluate(self, when: When, of: TaskSet) -> EvaluationLine:
        """Try each task once, greedily; the prefix cache begins anew afterwards."""
        began = self._clocks.wall()
        name = f"{when}-{of}-u{self.counters.update}-s{self.counters.warm_up_steps}"
        known: tuple[Task, ...] = getattr(self._tasks, of)
        played = await self._rollouts.play(one_each(name, known), self.engine, temperature=0.0)
        await self._hand_over()
        scored = [one for one in played if one.success is not None]
        line = EvaluationLine(
            when=when,
            of=of,
            update=self.counters.update,
            step=self.counters.warm_up_steps,
            scored=len(scored),
            unscored=len(played) - len(scored),
            successes=sum(bool(one.success) for one in scored),
            by_domain=by_domain(played),
            seconds=self._clocks.wall() - began,
            cpu_s=self.spent()[1],
        )
        if when in ("before", "after_sft", "after_rl"):
            self._files.write(f"{when}-{of}", played)
        self._tell(line)
        return line

    async def _ends(self, when: When) -> dict[TaskSet, EvaluationLine]:
        """Measure the tasks that tell what a run gained: test, and unseen ones where there are."""
        measured: dict[TaskSet, EvaluationLine] = {"test": await self.evaluate(when, "test")}
        if self._tasks.unseen:
            measured["unseen"] = await self.evaluate(when, "unseen")
        return measured

    async def _scheduled(self, number: int) -> float | None:
        if number % self._settings.evaluate_every:
            return None
        line = await self.evaluate("scheduled", "validation")
        if line.success >= self._settings.stop_at:
            self.counters = replace(self.counters, stopped_early=True)
        return line.success

    def _tell(self, line: Line) -> None:
        self._metrics.write(line)
        self._watch(line)
