"""From an attempt as it was played to what an update sees of it: reward, Samples, anchors."""

from __future__ import annotations

from screenloop.engine.vision import VisionRule
from screenloop.store.blobs import BlobStore
from screenloop.train.credit.advantage import TrainAttempt
from screenloop.train.credit.reward import (
    ProgressRewards,
    StepRewards,
    attempt_reward,
    counts_progress,
)
from screenloop.train.data.anchors import anchor_of
from screenloop.train.data.records import call_tokens
from screenloop.train.data.samples import window_samples
from screenloop.train.rollouts import Played
from screenloop.train.settings import STEPWISE, LearningSettings


def train_attempt(
    played: Played, learning: LearningSettings, *, vision: VisionRule | None, blobs: BlobStore
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


def step_sources(played: Played, learning: LearningSettings) -> tuple[StepRewards, ...]:
    """Return the sources of step rewards that an attempt brings along."""
    if not counts_progress(learning.reward):
        return ()
    return (ProgressRewards({played.planned.episode_id: played.verdicts}),)
