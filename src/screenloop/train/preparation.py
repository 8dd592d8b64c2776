"""What an update needs to know before its first step: values, costs, advantages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from screenloop.train.credit.advantage import TrainAttempt, UpdateSamples, update_samples
from screenloop.train.credit.kl_costs import KlCosts, kl_costs
from screenloop.train.learner import Learner
from screenloop.train.loss.scoring import Patches
from screenloop.train.loss.value import ValueRow, value_rows, values_by_attempt
from screenloop.train.settings import LearningSettings
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
    attempts: Sequence[TrainAttempt],
    learner: Learner,
    learning: LearningSettings,
    patches: Patches,
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
