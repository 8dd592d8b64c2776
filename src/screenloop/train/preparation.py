"""From attempts as they were played to what an update learns from: rewards, Samples, advantages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from screenloop.engine.vision import VisionRule
from screenloop.store.blobs import BlobStore
from screenloop.train.credit.advantage import update_samples
from screenloop.train.credit.reward import (
    ProgressRewards,
    StepRewards,
    attempt_reward,
    counts_progress,
)
from screenloop.train.data.anchors import anchor_of
from screenloop.train.data.records import call_tokens
from screenloop.train.data.samples import window_samples
from screenloop.train.learner import Learner
from screenloop.train.loss.kl import KlCosts, kl_costs
from screenloop.train.loss.scoring import Patches
from screenloop.train.loss.value import ValueRow, value_rows, values_by_attempt
from screenloop.train.settings import STEPWISE, LearningSettings
from screenloop.train.types import PlayedAttempt, TrainAttempt, UpdateSamples
from screenloop.types import Struct


class PreparedUpdate(Struct, frozen=True, kw_only=True):
    """What an update learns from."""

    chosen: UpdateSamples
    costs: KlCosts | None = None
    """What the tokens of all scored attempts pay, where the KL is in the reward."""
    value_rows: Mapping[str, ValueRow] | None = None
    """What the value head learns, by the name of the Sample."""


def reads_all(learning: LearningSettings) -> bool:
    """Whether the policy or its reference reads all scored attempts before the update."""
    return learning.value is not None or learning.kl.place == "reward"


def prepare_update(
    attempts: Sequence[TrainAttempt], learner: Learner, learning: LearningSettings, patches: Patches
) -> PreparedUpdate:
    """Return what an update learns from; the learner does not change.

    Args:
        attempts: All attempts of the update, unscored ones too.
        learner: Knows the reference and the values.
        learning: Which of them are asked, and how credit is given.
        patches: Pixels of the attempts' pictures, where `reads_all`.

    Raises:
        ConfigError: see `update_samples`.
    """
    samples = [s for attempt in attempts if attempt.reward is not None for s in attempt.samples]
    costs = None
    if learning.kl.place == "reward" and samples:
        costs = kl_costs(samples, learner.reference_log_probs(samples, patches), learning.kl)
    paid = None if costs is None else costs.by_attempt
    if learning.value is None or not samples:
        chosen = update_samples(attempts, learning.advantage, token_costs=paid)
        return PreparedUpdate(chosen=chosen, costs=costs)
    values = learner.values(samples, patches)
    chosen = update_samples(
        attempts, learning.advantage, values=values_by_attempt(samples, values), token_costs=paid
    )
    return PreparedUpdate(
        chosen=chosen, costs=costs, value_rows=value_rows(chosen.samples, values, chosen.returns)
    )


def train_attempt(
    played: PlayedAttempt,
    learning: LearningSettings,
    *,
    vision: VisionRule | None,
    blobs: BlobStore,
) -> TrainAttempt:
    """Return an attempt for `update_samples`; without Samples where it is unscored.

    Args:
        played: The attempt.
        learning: What is rewarded and how credit is given.
        vision: How the policy cuts pictures up; `None` for text policies.
        blobs: Where the screens lie, for anchors.

    Raises:
        ConfigError: the records are incomplete, or a reward component has no source.
    """
    episode = played.episode
    made = TrainAttempt(
        attempt_id=played.planned.episode_id,
        group_id=played.planned.group_id,
        reward=attempt_reward(episode, learning.reward, step_sources(played, learning)),
        samples=(),
    )
    if made.reward is None:
        return made
    anchors: tuple[str, ...] = ()
    if learning.advantage.estimator in STEPWISE:
        kind = learning.advantage.anchor
        anchors = tuple(anchor_of(step.observation, kind, blobs) for step in episode.steps)
    return TrainAttempt(
        attempt_id=made.attempt_id,
        group_id=made.group_id,
        reward=made.reward,
        samples=window_samples(
            made.attempt_id,
            call_tokens(episode.calls),
            placeholder_id=None if vision is None else vision.image_id,
            merge=2 if vision is None else vision.merge,
        ),
        anchors=anchors,
    )


def step_sources(played: PlayedAttempt, learning: LearningSettings) -> tuple[StepRewards, ...]:
    """Return the sources of step rewards that an attempt brings along."""
    if not counts_progress(learning.reward):
        return ()
    return (ProgressRewards({played.planned.episode_id: played.verdicts}),)
