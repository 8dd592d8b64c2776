"""Which attempts an update learns from: unscored ones leave before any mean is taken; pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite

from screenloop.errors import ConfigError
from screenloop.train.types import GroupCounts, TrainAttempt
from screenloop.types import Struct


class GroupSelection(Struct, frozen=True, kw_only=True):
    """The attempts to train on, group by group, and the counts."""

    attempts: tuple[TrainAttempt, ...]
    groups_A: tuple[int, ...]
    """Index of each attempt's group, from 0."""
    counts: GroupCounts

    @property
    def rewards_A(self) -> tuple[float, ...]:
        return tuple(a.reward.total for a in self.attempts if a.reward is not None)


def select_groups(
    attempts: Iterable[TrainAttempt], *, relative: bool = True, min_spread: float = 1e-9
) -> GroupSelection:
    """Leave out unscored attempts, then groups that cannot teach anything.

    Groups keep the order of their first attempt, and attempts the order in which they are given.

    Args:
        attempts: All attempts of an update.
        relative: Whether the estimator compares inside a group; if not (PPO, REINFORCE++), every
            scored attempt is kept.
        min_spread: Largest difference of rewards that counts as none.

    Raises:
        ConfigError: an attempt is there twice, or a reward is not a finite number.
    """
    by_group: dict[str, list[TrainAttempt]] = {}
    seen: set[str] = set()
    for attempt in attempts:
        if attempt.attempt_id in seen:
            raise ConfigError(
                f"attempt {attempt.attempt_id!r} is there twice; it would count twice in its "
                "group's mean. Give each attempt its own id."
            )
        if attempt.reward is not None and not isfinite(attempt.reward.total):
            raise ConfigError(
                f"the reward of attempt {attempt.attempt_id!r} is {attempt.reward.total}; an "
                "attempt without a score has the reward None."
            )
        seen.add(attempt.attempt_id)
        by_group.setdefault(attempt.group_id, []).append(attempt)
    scored = [[a for a in group if a.reward is not None] for group in by_group.values()]
    kept: list[list[TrainAttempt]] = []
    too_few = no_spread = 0
    for group in scored:
        if len(group) < (2 if relative else 1):
            too_few += 1
        elif relative and not _spread(group, min_spread):
            no_spread += 1
        else:
            kept.append(group)
    chosen = [attempt for group in kept for attempt in group]
    return GroupSelection(
        attempts=tuple(chosen),
        groups_A=tuple(index for index, group in enumerate(kept) for _ in group),
        counts=GroupCounts(
            groups=len(by_group),
            kept=len(kept),
            too_few=too_few,
            no_spread=no_spread,
            attempts=len(seen),
            unscored=len(seen) - sum(len(group) for group in scored),
            trained=len(chosen),
        ),
    )


def _spread(group: Sequence[TrainAttempt], min_spread: float) -> bool:
    rewards = [a.reward.total for a in group if a.reward is not None]
    return max(rewards) - min(rewards) > min_spread
