"""The training run: measure, warm up, then play and learn in turn, with checkpoints on the way.

With `max_staleness` 0 playing and learning alternate strictly; above, attempts for later updates
are played while the learner works, on weights that lie at most so many updates behind.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from screenloop.engine.local import LocalEngine
from screenloop.engine.weights import weights_of
from screenloop.store.blobs import BlobStore
from screenloop.train.advantage import TrainAttempt, UpdateSamples, update_samples
from screenloop.train.anchors import anchor_of
from screenloop.train.checkpoint import Checkpoint, Counters, save_checkpoint
from screenloop.train.curriculum import TaskProgress, after_group, attempts_for, choose_tasks
from screenloop.train.demonstrations import Tokeniser, successes
from screenloop.train.learner import Learner, UpdateFigures
from screenloop.train.metrics import (
    EvaluationLine,
    Line,
    MetricsFile,
    StageSeconds,
    TaskSet,
    UpdateLine,
    WarmUpLine,
    When,
)
from screenloop.train.recipe import Recipe, TaskSets
from screenloop.train.records import call_tokens
from screenloop.train.reward import AttemptReward, attempt_reward
from screenloop.train.rollouts import (
    EpisodeFiles,
    Played,
    Rollouts,
    one_each,
    update_attempts,
)
from screenloop.train.samples import Sample, window_samples
from screenloop.train.scoring import Patches
from screenloop.train.settings import STEPWISE
from screenloop.train.sft import WarmUp
from screenloop.train.stops import Evidence, TrainingStopped, write_evidence
from screenloop.train.streams import stream, stream_seed
from screenloop.types import Struct, Task

Watch = Callable[[Line], None]
WITNESSES = 64
"""Samples that the parity gate looks at in a batch without anything to learn from."""


class Clocks(Struct, frozen=True, kw_only=True):
    """Where seconds come from."""

    wall: Callable[[], float]
    cpu: Callable[[], float]
    """CPU seconds of this process since its start, all threads."""


class _Batch(Struct, frozen=True, kw_only=True):
    """The attempts of one update, played."""

    played: tuple[Played, ...]
    seconds: float
    before: dict[str, int]
    after: dict[str, int]
    """The engine's counters."""


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
        self.counters = Counters()
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
        self._pending: deque[asyncio.Task[_Batch]] = deque()

    # ---- the whole -------------------------------------------------------------------------

    def resume(self, checkpoint: Checkpoint) -> None:
        """Go on from a checkpoint."""
        self.counters = checkpoint.counters
        self._spent = (checkpoint.counters.wall_s, checkpoint.counters.cpu_s)
        self._progress = {task.key: task for task in checkpoint.progress}
        self.learner.restore(
            checkpoint.counters.update,
            checkpoint.weights,
            checkpoint.reference,
            checkpoint.optimiser,
        )

    async def begin(self, demonstrations: Callable[[], Awaitable[Sequence[Played]]]) -> None:
        """Measure the untrained policy and warm it up.

        Args:
            demonstrations: Gives solved attempts at training tasks.
        """
        await self._hand_over()
        before = await self.evaluate("before", "test")
        unseen = await self._unseen("before")
        if self._settings.warm_up.max_steps:
            await self._warm_up(await demonstrations())
        self.learner.begin()
        await self._hand_over()
        after = await self.evaluate("after_sft", "test")
        self.counters = replace(
            self.counters,
            success_before=before.success,
            success_after_sft=after.success,
            unseen_before=unseen,
            unseen_after_sft=await self._unseen("after_sft"),
        )
        self.checkpoint()

    async def learn(self) -> None:
        """Run the updates that are left.

        Raises:
            TrainingStopped: an update was refused; evidence and a checkpoint of the last good
                weights are in the folder.
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
            raise
        finally:
            for task in self._pending:
                task.cancel()
            await asyncio.gather(*self._pending, return_exceptions=True)
            self._pending.clear()

    async def finish(self) -> tuple[float, float | None]:
        """Measure the trained policy; returns the success on test and on unseen tasks."""
        await self._hand_over()
        test = await self.evaluate("after_rl", "test")
        return test.success, await self._unseen("after_rl")

    def checkpoint(self) -> None:
        """Keep everything that is needed to go on from here."""
        wall_s, cpu_s = self.spent()
        self.counters = replace(self.counters, wall_s=wall_s, cpu_s=cpu_s)
        weights, reference, optimiser = self.learner.state()
        save_checkpoint(
            self._folder,
            Checkpoint(
                fingerprint=self._fingerprint,
                counters=self.counters,
                progress=tuple(self._progress.values()),
                weights=weights,
                reference=reference,
                optimiser=optimiser,
            ),
        )

    def spent(self) -> tuple[float, float]:
        """Return wall and CPU seconds of the run so far, earlier processes included."""
        return (
            self._spent[0] + self._clocks.wall() - self._began_s,
            self._spent[1] + self._clocks.cpu(),
        )

    # ---- warm-up ---------------------------------------------------------------------------

    async def _warm_up(self, demonstrations: Sequence[Played]) -> None:
        settings = self._settings.warm_up
        self._files.write("demonstrations", demonstrations)
        samples = [s for one in demonstrations for s in self._tokeniser.samples(one.episode)]
        warm_up = WarmUp(
            self.learner.policy, settings, seed=self._seed, patches=self._patches(samples)
        )
        stretch = settings.check_steps
        agreement = 0.0
        while warm_up.step < settings.max_steps:
            told = warm_up.learn(samples)
            # The mean over a few batches; one alone is too noisy to act on.
            agreement += 0.3 * (told.agreement - agreement)
            self._tell(WarmUpLine(step=told.step, loss=told.loss, agreement=told.agreement))
            if agreement < settings.watch_above:
                if warm_up.since_mark >= stretch:
                    warm_up.mark()
                continue
            if warm_up.since_mark < stretch:
                continue
            self.counters = replace(self.counters, warm_up_steps=warm_up.step)
            await self._hand_over()
            measured = await self.evaluate("warm_up", "validation")
            if measured.success > settings.stop_to and stretch > 1:
                warm_up.back()
                stretch = max(1, stretch // 2)
                continue
            if measured.success >= settings.stop_from:
                break
            warm_up.mark()
            samples += await self._collected(warm_up.step)
        self.counters = replace(self.counters, warm_up_steps=warm_up.step)

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
        solved = successes([one.episode for one in played])
        return [sample for episode in solved for sample in self._tokeniser.samples(episode)]

    # ---- updates ---------------------------------------------------------------------------

    async def _one_update(self) -> None:
        number = self.counters.update + 1
        batch = await self._next_batch(number)
        at = [self._clocks.wall()]
        self._files.write(f"update-{number:06d}", batch.played)
        attempts = [self._attempt(one) for one in batch.played]
        chosen = update_samples(attempts, self._settings.learning.advantage)
        self._require_fresh(attempts)
        witnesses = [s for attempt in attempts for s in attempt.samples][:WITNESSES]
        patches = self._patches(chosen.samples or witnesses)
        at.append(self._clocks.wall())
        if self._settings.rollout.max_staleness:
            figures = await asyncio.to_thread(
                self.learner.update, chosen.samples, patches, witnesses
            )
        else:
            figures = self.learner.update(chosen.samples, patches, witnesses)
        self._learn_progress(batch.played, number)
        self.counters = replace(
            self.counters,
            update=number,
            episodes=self.counters.episodes + len(attempts),
            groups_with_spread=self.counters.groups_with_spread + chosen.counts.kept,
            parity_max=max(self.counters.parity_max, figures.parity.max_abs),
        )
        await self._hand_over()
        at.append(self._clocks.wall())
        held_out = await self._scheduled(number)
        at.append(self._clocks.wall())
        seconds = StageSeconds(
            rollout=batch.seconds, sample=at[1] - at[0], update=at[2] - at[1],
            evaluate=at[3] - at[2],
        )  # fmt: skip
        self._tell(self._line(batch, attempts, chosen, figures, held_out, seconds))

    def _require_fresh(self, attempts: Sequence[TrainAttempt]) -> None:
        """Refuse attempts on weights that lie too far behind: the gate would pass over them.

        Raises:
            TrainingStopped: names the versions.
        """
        versions = [s.weights_versions for attempt in attempts for s in attempt.samples]
        now, most = self.learner.version, self._settings.rollout.max_staleness
        odd = [v for v in versions if not now - most <= v[0] <= v[1] <= now]
        if odd:
            reason = (
                f"attempts were drawn with weights version {odd[0][0]}, the learner is at {now} "
                f"and max_staleness is {most}"
            )
            raise TrainingStopped(
                f"update {now + 1} is refused: {reason}", Evidence(update=now + 1, reason=reason)
            )

    async def _next_batch(self, number: int) -> _Batch:
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

    async def _play(self, number: int) -> _Batch:
        curriculum = self._settings.learning.curriculum
        keys = choose_tasks(
            list(self._progress.values()), self._settings.rollout.groups, update=number,
            settings=curriculum, stream=stream(self._seed, "tasks", number),
        )  # fmt: skip
        planned = update_attempts(
            self._seed, number, [self._by_key[key] for key in keys],
            [attempts_for(self._progress[key], curriculum) for key in keys],
        )  # fmt: skip
        began, before = self._clocks.wall(), self.engine.counters.told()
        played = await self._rollouts.play(
            planned, self.engine, temperature=self._settings.rollout.temperature,
            lockstep=self._settings.rollout.max_staleness == 0,
        )  # fmt: skip
        return _Batch(
            played=played, seconds=self._clocks.wall() - began,
            before=before, after=self.engine.counters.told(),
        )  # fmt: skip

    def _attempt(self, played: Played) -> TrainAttempt:
        learning, episode = self._settings.learning, played.episode
        reward = attempt_reward(episode, learning.reward)
        vision = self.learner.policy.vision
        samples: tuple[Sample, ...] = ()
        if reward is not None:
            samples = window_samples(
                played.planned.episode_id, call_tokens(episode.calls),
                placeholder_id=None if vision is None else vision.image_id,
                merge=2 if vision is None else vision.merge,
            )  # fmt: skip
        anchors: tuple[str, ...] = ()
        if learning.advantage.estimator in STEPWISE and reward is not None:
            kind = learning.advantage.anchor
            anchors = tuple(anchor_of(s.observation, kind, self._blobs) for s in episode.steps)
        return TrainAttempt(
            attempt_id=played.planned.episode_id,
            group_id=played.planned.group_id,
            reward=reward,
            samples=samples,
            anchors=anchors,
        )

    def _learn_progress(self, played: Sequence[Played], number: int) -> None:
        groups: dict[str, list[Played]] = {}
        for one in played:
            groups.setdefault(one.planned.group_id, []).append(one)
        for group in groups.values():
            key = group[0].planned.task.key
            self._progress[key] = after_group(
                self._progress[key], [one.success for one in group], update=number,
                settings=self._settings.learning.curriculum,
            )  # fmt: skip

    async def _hand_over(self) -> None:
        """Give the engine the learner's weights; the prefix cache begins anew."""
        await self.engine.swap(weights_of(self.learner.policy.model), str(self.learner.version))

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

    async def _unseen(self, when: When) -> float | None:
        if not self._tasks.unseen:
            return None
        return (await self.evaluate(when, "unseen")).success

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

    def _line(
        self,
        batch: _Batch,
        attempts: Sequence[TrainAttempt],
        chosen: UpdateSamples,
        figures: UpdateFigures,
        held_out: float | None,
        seconds: StageSeconds,
    ) -> UpdateLine:
        rewards = [a.reward for a in attempts if a.reward is not None]
        used = {name: batch.after[name] - batch.before[name] for name in batch.after}
        prompt = max(1, used["prompt_tokens"])
        counts = chosen.counts
        versions = [s.weights_versions[0] for s in chosen.samples]
        return UpdateLine(
            update=self.counters.update,
            success=sum(r.success for r in rewards) / max(1, len(rewards)),
            success_by_domain=by_domain(batch.played),
            held_out=held_out,
            reward=sum(r.total for r in rewards) / max(1, len(rewards)),
            reward_components=mean_components(rewards),
            attempts=counts.attempts,
            unscored=counts.unscored,
            parse_errors=sum(
                step.parse_error is not None for one in batch.played for step in one.episode.steps
            ),
            groups=counts.groups,
            groups_with_spread=counts.kept,
            groups_too_few=counts.too_few,
            groups_no_spread=counts.no_spread,
            trained=counts.trained,
            samples=len(chosen.samples),
            sampled_tokens=sum(s.sampled for s in chosen.samples),
            read_tokens=sum(len(s.token_ids) for s in chosen.samples),
            loss=figures.loss,
            kl=figures.kl,
            entropy=figures.entropy,
            clip_fraction=figures.clip_fraction,
            approx_kl=figures.approx_kl,
            grad_norm=figures.grad_norm,
            learning_rate=figures.learning_rate,
            parity_max=figures.parity.max_abs,
            parity_mean=figures.parity.mean_abs,
            parity_k3=figures.parity.k3,
            staleness=self.learner.version - 1 - min(versions) if versions else 0,
            prompt_tokens=used["prompt_tokens"],
            cached_tokens=used["cached_tokens"],
            decoded_tokens=used["decoded_tokens"],
            prefix_hit_share=used["cached_tokens"] / prompt,
            session_hit_share=used["session_cached_tokens"] / prompt,
            seconds=seconds,
            cpu_s=self.spent()[1],
        )


def domain_of(tags: dict[str, str]) -> str:
    """Return what curves go by: the task's domain."""
    return tags.get("domain", "")


def by_domain(played: Sequence[Played]) -> dict[str, float]:
    """Return the share of solved among scored attempts, by domain."""
    scored: Counter[str] = Counter()
    solved: Counter[str] = Counter()
    for one in played:
        if one.success is not None:
            domain = domain_of(one.planned.task.tags)
            scored[domain] += 1
            solved[domain] += one.success
    return {domain: solved[domain] / count for domain, count in sorted(scored.items())}


def mean_components(rewards: Sequence[AttemptReward]) -> dict[str, float]:
    """Return the mean of each named reward component."""
    names = sorted({name for reward in rewards for name in reward.components})
    return {
        name: sum(reward.components.get(name, 0.0) for reward in rewards) / len(rewards)
        for name in names
    }
