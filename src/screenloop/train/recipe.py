"""What a training run is made of: its settings, its tasks, its policy; refused early when wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from screenloop.config import Window
from screenloop.engine.adapters import LoraSettings
from screenloop.engine.policy import Policy
from screenloop.envs.kinds import Opener
from screenloop.errors import ConfigError
from screenloop.messages import Sampling
from screenloop.registry import unknown
from screenloop.rollout.plans import Plan, golden_plan
from screenloop.store.blobs import BlobStore
from screenloop.train.data.tasks_split import require_held_out
from screenloop.train.settings import LearningSettings, Share, require_learnable
from screenloop.types import Mode, Struct, Task, Want

Count = Annotated[int, Meta(ge=1)]
WINDOW = Window()
Rate = Annotated[float, Meta(gt=0.0)]


class WarmUpSettings(Struct, frozen=True, kw_only=True):
    """Supervised learning on demonstrations, until a measured success."""

    demonstrations: Count = 256
    """Training tasks that the oracle shows; fewer where there are fewer."""
    batch: Count = 64
    learning_rate: Rate = 1e-3
    max_steps: Annotated[int, Meta(ge=0)] = 600
    """0 leaves the warm-up out."""
    stop_from: Share = 0.35
    """Stop when the greedy success on the validation tasks is at least this."""
    stop_to: Share = 0.5
    """Above it the last stretch is learnt again in half the steps, down to single ones."""
    check_steps: Count = 16
    """Steps between two measurements once they are worth it."""
    watch_above: Share = 0.2
    """Share of a batch's replies that the policy would give itself, from which success is
    measured."""
    collect: Annotated[int, Meta(ge=0)] = 0
    """Attempts at training tasks with each measurement; the successes join the demonstrations."""


class OptimiserSettings(Struct, frozen=True, kw_only=True):
    """AdamW for reinforcement learning."""

    learning_rate: Rate = 2e-4
    warm_up_updates: Annotated[int, Meta(ge=0)] = 5
    """Updates over which the rate grows from 0 to its full value."""
    beta1: Share = 0.9
    beta2: Share = 0.95
    weight_decay: Annotated[float, Meta(ge=0.0)] = 0.0
    max_grad_norm: Rate = 1.0
    passes: Count = 1
    """How often an update goes over its Samples."""
    minibatches: Count = 1
    """Optimiser steps a pass."""
    micro_tokens: Count = 32_768
    """Tokens, padding included, that one forward pass reads; a bound on memory."""


class RolloutSettings(Struct, frozen=True, kw_only=True):
    """How attempts are played."""

    groups: Count = 32
    """Tasks an update; `learning.curriculum` says how many attempts each gets."""
    max_tokens: Count = 8
    """Of a reply."""
    temperature: Rate = 1.0
    """Attempts are drawn and trained at it. Below 1 for a policy that a short warm-up left right
    but unsure, so that attempts are more than noise."""
    max_staleness: Annotated[int, Meta(ge=0)] = 0
    """Updates that the weights of an attempt may lie behind. 0 alternates strictly, and the same
    seed gives the same curve."""
    keep_updates: Count = 20
    """Updates whose episode files are kept."""


class TrainSettings(Struct, frozen=True, kw_only=True):
    """Everything that decides a training run, apart from its tasks and its policy."""

    learning: LearningSettings = LearningSettings()
    warm_up: WarmUpSettings = WarmUpSettings()
    optimiser: OptimiserSettings = OptimiserSettings()
    rollout: RolloutSettings = RolloutSettings()
    lora: LoraSettings | None = None
    """Train low-rank adapters alone, in the warm-up too; `None` trains every weight."""
    updates: Annotated[int, Meta(ge=0)] = 100
    stop_at: Share = 1.0
    """Stop early when the greedy success on the validation tasks reaches this."""
    evaluate_every: Count = 10
    checkpoint_every: Count = 5

    def sampling(self) -> Sampling:
        return Sampling(temperature=self.rollout.temperature, max_tokens=self.rollout.max_tokens)


class TaskSets(Struct, frozen=True, kw_only=True):
    """Tasks by what they are for; no task is in two of them."""

    train: tuple[Task, ...]
    validation: tuple[Task, ...]
    """Decides when to stop; known apps."""
    test: tuple[Task, ...]
    """Measured at the ends alone; known apps."""
    unseen: tuple[Task, ...] = ()
    """Of apps that are never trained on."""
    shown: tuple[Task, ...] = ()
    """Training tasks that may be demonstrated; empty is all of them."""


@dataclass(frozen=True)
class Recipe:
    """A training run that can be repeated by name."""

    name: str
    settings: TrainSettings
    dialect: str
    tasks: Callable[[], TaskSets]
    policy: Callable[[TaskSets, int], Policy]
    """Makes the untrained policy from the tasks and the seed."""
    open_environments: Callable[[BlobStore], Opener]
    window: Window = WINDOW
    want: tuple[Want, ...] = ("frame",)
    """What the Environments are opened to show."""
    plan: Plan = golden_plan
    """How demonstrations solve a task."""
    modes: tuple[Mode, ...] = ("gui_only",)
    """Modes that tasks are demonstrated in, in turn: by touch alone, or with tools as well."""


def require_trainable(settings: TrainSettings, tasks: TaskSets) -> None:
    """Refuse a run that cannot work or whose figures would mean nothing, before anything runs.

    Raises:
        ConfigError: says what does not go together and what to change.
    """
    for name, some in (("train", tasks.train), ("validation", tasks.validation)):
        if not some:
            raise ConfigError(f"there are no {name} tasks")
    longest = max(task.budget.steps for task in tasks.train)
    require_learnable(settings.learning, settings.sampling(), longest)
    if settings.rollout.groups > len(tasks.train):
        raise ConfigError(
            f"an update wants {settings.rollout.groups} different tasks but there are "
            f"{len(tasks.train)}: lower rollout.groups, or add tasks"
        )
    warm_up = settings.warm_up
    if warm_up.stop_from > warm_up.stop_to:
        raise ConfigError(
            f"warm_up.stop_from {warm_up.stop_from:g} lies above stop_to {warm_up.stop_to:g}"
        )
    domains = {task.tags.get("domain", "") for task in tasks.train}
    for domain in settings.learning.curriculum.shares:
        if domain not in domains:
            raise unknown("domain in the shares", domain, domains)
    require_apart(tasks)


def require_apart(tasks: TaskSets) -> None:
    """Refuse tasks that are in two sets, under their own name or another.

    Raises:
        ConfigError: names the tasks.
    """
    sets: Sequence[tuple[Task, ...]] = (tasks.train, tasks.validation, tasks.test, tasks.unseen)
    for number, one in enumerate(sets):
        for other in sets[number + 1 :]:
            require_held_out(one, other)
