"""Which tasks an update tries, and how often each: adaptive attempts, learnability, mix; pure.

Mastery counts successes, never rewards. A task's success rate is an exponential moving average over
its groups, so a mastered task that is checked again can fall back.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from math import floor, inf

from msgspec.structs import replace

from screenloop.errors import ConfigError
from screenloop.registry import unknown
from screenloop.train.settings import CurriculumSettings
from screenloop.types import Struct

_UNTRIED = 0.25
"""Learnability of a task that nobody tried: that of a success rate of one half."""


class TaskProgress(Struct, frozen=True, kw_only=True):
    """What is known of one training task."""

    key: str
    domain: str
    """What shares and curves go by; usually the environment kind."""
    scored: int = 0
    """Scored attempts so far."""
    successes: int = 0
    rate: float | None = None
    """Moving average of the success rate; `None` before the first scored attempt."""
    last_update: int | None = None


def attempts_for(task: TaskProgress, settings: CurriculumSettings) -> int:
    """Return how often to try a task in one update."""
    if not settings.adaptive:
        return settings.attempts
    if is_mastered(task, settings):
        return settings.attempts_mastered
    if task.successes == 0 and task.scored >= settings.attempts:
        return settings.attempts_unsolved
    return settings.attempts


def is_mastered(task: TaskProgress, settings: CurriculumSettings) -> bool:
    """Whether the success rate is above the limit."""
    return task.rate is not None and task.rate > settings.mastered_above


def after_group(
    task: TaskProgress,
    successes: Sequence[bool | None],
    *,
    update: int,
    settings: CurriculumSettings,
) -> TaskProgress:
    """Return what is known after a group; `None` among the successes is an unscored attempt.

    A group without a scored attempt says nothing: the task counts as not tried.
    """
    scored = [success for success in successes if success is not None]
    if not scored:
        return task
    solved = sum(scored)
    share = solved / len(scored)
    rate = share if task.rate is None else task.rate + settings.rate_step * (share - task.rate)
    return replace(
        task,
        scored=task.scored + len(scored),
        successes=task.successes + solved,
        rate=rate,
        last_update=update,
    )


def learnability(task: TaskProgress) -> float:
    """Return p (1 - p), the variance of the outcome: groups without variance teach nothing."""
    return _UNTRIED if task.rate is None else task.rate * (1 - task.rate)


def choose_tasks(
    tasks: Sequence[TaskProgress],
    count: int,
    *,
    update: int,
    settings: CurriculumSettings,
    stream: random.Random,
) -> tuple[str, ...]:
    """Return the keys of `count` different tasks for an update.

    Each domain gets its share of the places, rounded down or up at random so that it is met on
    average. Inside a domain, mastered tasks that are due for a check come first, on at most half of
    its places; the others are drawn without repetition in proportion to their learnability.

    Raises:
        ConfigError: there are too few tasks, or a share names a domain without tasks.
    """
    if len({task.key for task in tasks}) < count:
        raise ConfigError(
            f"an update wants {count} different tasks but there are {len(tasks)}; lower the number "
            "of groups an update, or add tasks"
        )
    by_domain: dict[str, list[TaskProgress]] = {}
    for task in sorted(tasks, key=lambda task: task.key):
        by_domain.setdefault(task.domain, []).append(task)
    chosen: list[str] = []
    for domain, places in _places(by_domain, count, settings.shares, stream).items():
        chosen += _choose(by_domain[domain], places, update, settings, stream)
    return tuple(chosen)


def _places(
    by_domain: Mapping[str, Sequence[TaskProgress]],
    count: int,
    shares: Mapping[str, float],
    stream: random.Random,
) -> dict[str, int]:
    """Share places out by systematic sampling; what a small domain cannot fill goes to others."""
    odd = sorted(set(shares) - set(by_domain))
    if odd:
        raise unknown("domain in the shares", odd[0], by_domain)
    weights = {domain: shares.get(domain, 0.0) for domain in by_domain}
    if not shares:
        weights = dict.fromkeys(by_domain, 1.0)
    places = dict.fromkeys(by_domain, 0)
    while (left := count - sum(places.values())) > 0:
        # Domains outside of the shares help out only when the others have no tasks left.
        open_to = {d: w for d, w in weights.items() if w and places[d] < len(by_domain[d])}
        if not open_to:
            open_to = {d: 1.0 for d in by_domain if places[d] < len(by_domain[d])}
        unit = left / sum(open_to.values())
        edge = stream.random()
        for domain in sorted(open_to):
            before, edge = edge, edge + open_to[domain] * unit
            wanted = floor(edge + 1e-9) - floor(before + 1e-9)
            places[domain] = min(places[domain] + wanted, len(by_domain[domain]))
    return places


def _choose(
    tasks: Sequence[TaskProgress],
    places: int,
    update: int,
    settings: CurriculumSettings,
    stream: random.Random,
) -> list[str]:
    due = sorted(
        (task for task in tasks if _is_due(task, update, settings)),
        key=lambda task: (-_age(task, update), task.key),
    )[: -(-places // 2)]
    checked = {task.key for task in due}
    # Largest u^(1/w) is a draw without repetition in proportion to w (Efraimidis, Spirakis 2006).
    drawn = sorted(
        (
            (stream.random() ** (1 / max(learnability(task), settings.least_weight)), task.key)
            for task in tasks
            if task.key not in checked
        ),
        reverse=True,
    )
    return ([task.key for task in due] + [key for _, key in drawn])[:places]


def _is_due(task: TaskProgress, update: int, settings: CurriculumSettings) -> bool:
    return is_mastered(task, settings) and _age(task, update) >= settings.recheck_updates


def _age(task: TaskProgress, update: int) -> float:
    return inf if task.last_update is None else update - task.last_update
