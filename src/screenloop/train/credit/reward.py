"""The reward that an attempt is trained on, put together from named components; pure.

`success` is the Verdict's own and is carried along untouched: mastery, curves and reports count
successes, never shaped rewards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from screenloop.errors import ConfigError
from screenloop.registry import unknown
from screenloop.store.episodes import Episode
from screenloop.train.settings import RewardSettings
from screenloop.train.types import AttemptReward
from screenloop.types import Verdict

REFUSED = frozenset({"unsupported", "stale_frame"})
"""Codes of effects that mean: this was no Action that could be carried out here."""
PROGRESS = "progress"
SOURCES = (PROGRESS,)
"""Sources of step rewards that a training run can have."""
StepValues = tuple[float | None, ...]
"""One value a step in [0, 1]; `None` where the source cannot tell."""


class StepRewards(Protocol):
    """A source of step rewards: progress of the state, a judge of steps, a process reward model."""

    name: str

    def values(self, episode: Episode) -> StepValues:
        """Return one value a step; `None` where it cannot tell, never a guess."""
        ...


class ProgressRewards:
    """State-based progress: the share of weighted checks that pass for the first time in a step.

    A check that fails again and passes again earns nothing the second time, so going in circles
    does not pay, and the sum over an Episode is at most 1.
    """

    name = PROGRESS

    def __init__(self, verdicts: Mapping[str, Sequence[Verdict]]) -> None:
        """Take the verdicts.

        Args:
            verdicts: By episode id: the judgement right after the reset, then after each step.
        """
        self._verdicts = verdicts

    def values(self, episode: Episode) -> StepValues:
        """Return each step's progress; `None` next to a moment that could not be judged.

        Raises:
            ConfigError: the Episode has no verdicts, or not one more than it has steps.
        """
        episode_id = episode.start.episode_id
        verdicts = self._verdicts.get(episode_id)
        if verdicts is None or len(verdicts) != len(episode.steps) + 1:
            raise ConfigError(
                f"progress of {episode_id} needs {len(episode.steps) + 1} verdicts (after the "
                f"reset and after each step), not {0 if verdicts is None else len(verdicts)}"
            )
        return progress(verdicts)


def progress(verdicts: Sequence[Verdict]) -> StepValues:
    """Return the share of weighted checks newly passing between one verdict and the next."""
    passed: set[int] = set()
    values: list[float | None] = []
    for index, verdict in enumerate(verdicts):
        now = {j for j, check in enumerate(verdict.checks) if check.passed}
        if index > 0:
            known = verdict.unscored is None and verdicts[index - 1].unscored is None
            total = sum(check.weight for check in verdict.checks)
            gained = sum(verdict.checks[j].weight for j in now - passed)
            values.append(gained / total if known and total > 0 else None)
        passed |= now
    return tuple(values)


def counts_progress(settings: RewardSettings) -> bool:
    """Tell whether each step must be judged, so that its progress can be rewarded.

    Raises:
        ConfigError: the settings weigh a source that no run has.
    """
    for name in settings.step_weights:
        if name not in SOURCES:
            raise unknown("source of step rewards", name, SOURCES)
    return settings.step_weights.get(PROGRESS, 0.0) > 0.0


def attempt_reward(
    episode: Episode, settings: RewardSettings, sources: Sequence[StepRewards] = ()
) -> AttemptReward | None:
    """Return what an Episode earned, or `None` when it is unscored or did not end.

    Raises:
        ConfigError: a weighted source is missing or gives another number of values than there are
            steps, or efficiency is weighed for a task whose shortest path is unknown.
    """
    verdict = episode.verdict
    if verdict is None or episode.end is None or verdict.unscored is not None:
        return None
    n_steps = len(episode.steps)
    step_rewards = [0.0] * n_steps
    components = {
        "outcome": settings.outcome_weight
        * (float(verdict.success) if settings.outcome == "success" else verdict.reward)
    }
    unknown: set[int] = set()
    values = _step_values(episode, settings, sources)
    for name in sorted(values):
        weight = settings.step_weights[name]
        unknown.update(t for t, value in enumerate(values[name]) if value is None)
        earned = [weight * (value or 0.0) for value in values[name]]
        components[f"step/{name}"] = sum(earned)
        step_rewards = [a + b for a, b in zip(step_rewards, earned, strict=True)]
    if settings.efficiency_weight:
        components["efficiency"] = settings.efficiency_weight * _efficiency(episode, verdict)
    costs = tuple(settings.invalid_cost * invalid for invalid in invalid_steps(episode))
    if settings.invalid_cost:
        components["invalid"] = -sum(costs)
    if n_steps:
        step_rewards[-1] += components["outcome"] + components.get("efficiency", 0.0)
    return AttemptReward(
        success=verdict.success,
        total=sum(components.values()),
        components=components,
        step_rewards=tuple(step_rewards),
        step_costs=costs,
        unknown_steps=len(unknown),
    )


def invalid_steps(episode: Episode) -> tuple[bool, ...]:
    """Return for each step whether its reply could not be read or an Action was refused.

    An Action that was carried out and changed nothing (a tap beside a button) is not invalid.
    """
    return tuple(
        step.parse_error is not None or any(effect.code in REFUSED for effect in step.effects)
        for step in episode.steps
    )


def _step_values(
    episode: Episode, settings: RewardSettings, sources: Sequence[StepRewards]
) -> dict[str, StepValues]:
    by_name = {source.name: source for source in sources}
    weighed = [name for name, weight in settings.step_weights.items() if weight]
    missing = sorted(set(weighed) - set(by_name))
    if missing:
        raise ConfigError(
            f"step rewards weigh {missing[0]!r}, but there is no such source; given: "
            f"{', '.join(sorted(by_name)) or 'none'}"
        )
    values = {name: by_name[name].values(episode) for name in weighed}
    for name, given in values.items():
        if len(given) != len(episode.steps):
            raise ConfigError(
                f"source {name!r} gave {len(given)} values for the {len(episode.steps)} steps of "
                f"{episode.start.episode_id}; it must give one a step"
            )
    return values


def _efficiency(episode: Episode, verdict: Verdict) -> float:
    optimal = episode.start.task.optimal_steps
    if optimal is None:
        raise ConfigError(
            f"efficiency is weighed, but task {episode.start.task.key} does not say its shortest "
            "path (optimal_steps); set efficiency_weight to 0 or train on other tasks"
        )
    if not verdict.success or not episode.steps:
        return 0.0
    return min(1.0, optimal / len(episode.steps))
