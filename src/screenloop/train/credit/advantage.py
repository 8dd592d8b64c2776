"""From the attempts of an update to Samples with advantages: one door to all estimators; pure.

Order of things: unscored attempts leave, groups that teach nothing are skipped and counted, the
estimator runs on what is left, its values are laid onto the sampled tokens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from screenloop.errors import ConfigError
from screenloop.registry import find
from screenloop.train.credit.gae import gae
from screenloop.train.credit.group_advantage import (
    dr_grpo,
    grpo,
    reinforce_plus_plus,
    reinforce_plus_plus_baseline,
    rloo,
)
from screenloop.train.credit.groups import select_groups
from screenloop.train.credit.step_advantage import StepAdvantages, StepRows, gigpo, hgpo
from screenloop.train.data.samples import (
    with_attempt_advantage,
    with_step_advantages,
    with_token_advantages,
)
from screenloop.train.settings import ESTIMATORS, AdvantageSettings, compares_groups
from screenloop.train.types import AttemptReward, GroupCounts, Sample, TrainAttempt, UpdateSamples
from screenloop.types import Struct


class EstimatorInput(Struct, frozen=True, kw_only=True):
    """What an estimator sees: the attempts of an update that are trained on, group by group."""

    attempts: tuple[TrainAttempt, ...]
    rewards_A: Tensor
    """Of each attempt, less what its tokens pay."""
    groups_A: Tensor
    """Index of each attempt's group, from 0."""
    token_rewards_A_S: Tensor
    """Each step's reward on its last sampled token, less what the token pays."""
    mask_A_S: Tensor
    """1 on sampled tokens, 0 behind an attempt's last one."""
    settings: AdvantageSettings


TokenValues = Mapping[str, Sequence[float]]
"""Attempt id to one value a sampled token, in order."""
_GROUP_ESTIMATORS = {"grpo": grpo, "dr_grpo": dr_grpo, "rloo": rloo}


def update_samples(
    attempts: Sequence[TrainAttempt],
    settings: AdvantageSettings,
    *,
    values: TokenValues | None = None,
    token_costs: TokenValues | None = None,
) -> UpdateSamples:
    """Return the Samples to train on, with their advantages.

    Costs of tokens are taken off where the estimator looks. Where one number is compared (`grpo`,
    `dr_grpo`, `rloo`, `reinforce++_baseline`), the attempt's total is lowered by the sum over its
    tokens, which all of them share. Where tokens earn (`ppo`, `reinforce++`), each pays for itself.
    Where steps earn (`gigpo`, `hgpo`), the total pays in the episode part, and in the step part a
    step's reward is lowered by the costs of its tokens, so that steps before it feel them with the
    discount. Whether a group has spread is asked before any cost: attempts that did equally well
    differ in their costs by next to nothing, which a division by their standard deviation would
    blow up to a full advantage.

    Args:
        attempts: All attempts of the update, unscored ones too.
        settings: Which estimator, and how.
        values: What the value head said of each sampled token (`ppo`).
        token_costs: Taken off the reward of each sampled token: the KL in the reward.

    Raises:
        ConfigError: an attempt is there twice, an anchor, a value or a cost is missing.
    """
    costs = {} if token_costs is None else token_costs
    selection = select_groups(attempts, relative=compares_groups(settings.estimator))
    kept = selection.attempts
    if not kept:
        return UpdateSamples(samples=(), counts=selection.counts)
    rewards_A = torch.tensor(
        [
            reward - sum(costs.get(attempt.attempt_id, ()))
            for attempt, reward in zip(kept, selection.rewards_A, strict=True)
        ],
        dtype=torch.float64,
    )
    groups_A = torch.tensor(selection.groups_A)
    match settings.estimator:
        case "grpo" | "dr_grpo" | "rloo":
            values_A = _GROUP_ESTIMATORS[settings.estimator](rewards_A, groups_A)
            samples = _laid_by_attempt(kept, values_A.tolist())
            return UpdateSamples(samples=samples, counts=selection.counts)
        case "gigpo" | "hgpo":
            credit = _stepwise(kept, rewards_A, groups_A, settings, costs)
            return UpdateSamples(
                samples=_laid_by_step(kept, credit.advantages_E.tolist()),
                counts=selection.counts,
                anchors=credit.anchors,
            )
        case name if name not in ESTIMATORS:
            samples = _from_outside(kept, rewards_A, groups_A, settings, costs)
            return UpdateSamples(samples=samples, counts=selection.counts)
        case _:
            return _tokenwise(kept, rewards_A, groups_A, settings, selection.counts, values, costs)


def token_rewards(attempt: TrainAttempt, costs: Sequence[float] = ()) -> list[float]:
    """Return the reward of each sampled token of an attempt: a step's is on its last token.

    What a step without a trained token earned goes to the next trained one, or to the last; so the
    sum is the attempt's total less the costs.

    Raises:
        ConfigError: costs are given, but not one a sampled token.
    """
    reward = _reward_of(attempt)
    net = [gain - cost for gain, cost in zip(reward.step_rewards, reward.step_costs, strict=True)]
    spans = [span for sample in attempt.samples for span in sample.spans if span.end > span.start]
    made: list[float] = []
    paid = 0
    for span in spans:
        made += [0.0] * (span.end - span.start)
        made[-1] += sum(net[paid : span.step_index + 1])
        paid = span.step_index + 1
    if made:
        made[-1] += sum(net[paid:])
    if costs:
        _require_one_each(attempt, costs, "costs")
        made = [gain - cost for gain, cost in zip(made, costs, strict=True)]
    return made


def _stepwise(
    kept: Sequence[TrainAttempt],
    rewards_A: Tensor,
    groups_A: Tensor,
    settings: AdvantageSettings,
    costs: TokenValues,
) -> StepAdvantages:
    rewards: list[float] = []
    penalties: list[float] = []
    anchors: list[str] = []
    owners: list[int] = []
    for index, attempt in enumerate(kept):
        reward = _reward_of(attempt)
        if len(attempt.anchors) != len(reward.step_rewards):
            raise ConfigError(
                f"{settings.estimator} needs one anchor a step, but attempt {attempt.attempt_id} "
                f"has {len(attempt.anchors)} for {len(reward.step_rewards)} steps"
            )
        by_step = _costs_by_step(attempt, costs.get(attempt.attempt_id, ()))
        rewards += [gain - by_step.get(t, 0.0) for t, gain in enumerate(reward.step_rewards)]
        penalties += reward.step_costs
        anchors += attempt.anchors
        owners += [index] * len(attempt.anchors)
    rows = StepRows(
        attempts_E=torch.tensor(owners),
        rewards_E=torch.tensor(rewards, dtype=torch.float64),
        anchors_E=tuple(anchors),
        costs_E=torch.tensor(penalties, dtype=torch.float64),
    )
    if settings.estimator == "gigpo":
        return gigpo(
            rows,
            rewards_A,
            groups_A,
            gamma=settings.discount,
            omega=settings.omega,
            normalise=settings.normalise or "none",
            pool_steps=settings.pool_steps,
        )
    return hgpo(
        rows,
        rewards_A,
        groups_A,
        history=settings.history,
        gamma=settings.discount,
        alpha=settings.alpha,
        normalise=settings.normalise or "std",
    )


def _tokenwise(
    kept: Sequence[TrainAttempt],
    rewards_A: Tensor,
    groups_A: Tensor,
    settings: AdvantageSettings,
    counts: GroupCounts,
    values: TokenValues | None,
    costs: TokenValues,
) -> UpdateSamples:
    rows = [token_rewards(attempt, costs.get(attempt.attempt_id, ())) for attempt in kept]
    rewards_A_S = _padded(rows)
    mask_A_S = _padded([[1.0] * len(row) for row in rows])
    returns: dict[str, tuple[float, ...]] = {}
    if settings.estimator == "reinforce++":
        found_A_S = reinforce_plus_plus(
            rewards_A_S, mask_A_S, gamma=settings.discount, statistics=settings.statistics
        )
    elif settings.estimator == "reinforce++_baseline":
        found_A_S = reinforce_plus_plus_baseline(
            rewards_A, groups_A, mask_A_S, statistics=settings.statistics
        )
    else:
        for attempt in kept:
            _require_one_each(attempt, (values or {}).get(attempt.attempt_id, ()), "values")
        assert values is not None
        targets = gae(
            rewards_A_S,
            _padded([values[attempt.attempt_id] for attempt in kept]),
            mask_A_S,
            gamma=settings.discount,
            lam=settings.lam,
            statistics=settings.statistics,
        )
        found_A_S = targets.advantages_B_T
        returns = {
            attempt.attempt_id: tuple(row[: len(own)])
            for attempt, row, own in zip(kept, targets.returns_B_T.tolist(), rows, strict=True)
        }
    samples = _laid_by_token(kept, found_A_S.tolist())
    return UpdateSamples(samples=samples, counts=counts, returns=returns)


def _from_outside(
    kept: Sequence[TrainAttempt],
    rewards_A: Tensor,
    groups_A: Tensor,
    settings: AdvantageSettings,
    costs: TokenValues,
) -> tuple[Sample, ...]:
    rows = [token_rewards(attempt, costs.get(attempt.attempt_id, ())) for attempt in kept]
    given = EstimatorInput(
        attempts=tuple(kept),
        rewards_A=rewards_A,
        groups_A=groups_A,
        token_rewards_A_S=_padded(rows),
        mask_A_S=_padded([[1.0] * len(row) for row in rows]),
        settings=settings,
    )
    advantages: Tensor = find("estimator", settings.estimator, {})(given)
    if not isinstance(advantages, Tensor) or not advantages.isfinite().all():
        raise ConfigError(f"estimator {settings.estimator} must return a tensor of finite numbers")
    if advantages.shape == given.rewards_A.shape:
        return _laid_by_attempt(kept, advantages.tolist())
    if advantages.shape == given.mask_A_S.shape:
        return _laid_by_token(kept, advantages.tolist())
    raise ConfigError(
        f"estimator {settings.estimator} returned the shape {tuple(advantages.shape)}; it must be "
        f"{tuple(given.rewards_A.shape)}, one number an attempt, or "
        f"{tuple(given.mask_A_S.shape)}, one a sampled token"
    )


def _laid_by_attempt(
    kept: Sequence[TrainAttempt], advantages_A: Sequence[float]
) -> tuple[Sample, ...]:
    return tuple(
        with_attempt_advantage(sample, value)
        for attempt, value in zip(kept, advantages_A, strict=True)
        for sample in attempt.samples
    )


def _laid_by_token(
    kept: Sequence[TrainAttempt], advantages_A_S: Sequence[Sequence[float]]
) -> tuple[Sample, ...]:
    """Lay advantages out; what stands behind an attempt's last sampled token is padding."""
    made: list[Sample] = []
    for attempt, row in zip(kept, advantages_A_S, strict=True):
        sampled = sum(sample.sampled for sample in attempt.samples)
        made += with_token_advantages(attempt.samples, row[:sampled])
    return tuple(made)


def _laid_by_step(
    kept: Sequence[TrainAttempt], advantages_E: Sequence[float]
) -> tuple[Sample, ...]:
    made: list[Sample] = []
    taken = 0
    for attempt in kept:
        own = dict(enumerate(advantages_E[taken : taken + len(attempt.anchors)]))
        taken += len(attempt.anchors)
        made += [with_step_advantages(sample, own) for sample in attempt.samples]
    return tuple(made)


def _costs_by_step(attempt: TrainAttempt, costs: Sequence[float]) -> dict[int, float]:
    if not costs:
        return {}
    _require_one_each(attempt, costs, "costs")
    by_step: dict[int, float] = {}
    taken = 0
    for sample in attempt.samples:
        for span in sample.spans:
            width = span.end - span.start
            by_step[span.step_index] = sum(costs[taken : taken + width])
            taken += width
    return by_step


def _reward_of(attempt: TrainAttempt) -> AttemptReward:
    if attempt.reward is None:
        raise ConfigError(f"attempt {attempt.attempt_id} is unscored; it earns nothing to lay out")
    return attempt.reward


def _require_one_each(attempt: TrainAttempt, given: Sequence[float], what: str) -> None:
    sampled = sum(sample.sampled for sample in attempt.samples)
    if len(given) != sampled:
        raise ConfigError(
            f"attempt {attempt.attempt_id} has {sampled} sampled tokens but {len(given)} {what}"
        )


def _padded(rows: Sequence[Sequence[float]]) -> Tensor:
    return torch.nn.utils.rnn.pad_sequence(
        [torch.tensor(row, dtype=torch.float64) for row in rows], batch_first=True
    )
