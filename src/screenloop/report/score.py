"""A Run's numbers, from the rows of its Episodes; pure.

Only scored Episodes count. The success interval is Wilson's over Episodes; with repeats it takes
repeats of one task as independent, which they are not quite, so read it as a lower bound of the
uncertainty about new tasks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from screenloop.models.usage import sum_usage
from screenloop.report.intervals import Interval, pass_at_k, wilson
from screenloop.store.runs import EpisodeRow, RunResult
from screenloop.types import EndReason, Struct

GROUPINGS = ("domain", "difficulty", "apps")
"""Tags by which a Run is broken down."""


class Rate(Struct, frozen=True, kw_only=True):
    """How often something succeeded."""

    scored: int
    successes: int
    rate: float | None
    """`None` when nothing was scored."""
    ci: Interval | None


class TagGroup(Struct, frozen=True, kw_only=True):
    """The Episodes that share a tag's value."""

    name: str
    rate: Rate
    reward_mean: float | None
    steps_mean: float | None


class PassAtK(Struct, frozen=True, kw_only=True):
    """The chance that one of k attempts succeeds, averaged over tasks with enough repeats."""

    k: int
    value: float
    tasks: int


class UnscoredCount(Struct, frozen=True, kw_only=True):
    """Episodes left unscored for one kind of reason."""

    blame: str
    stage: str
    count: int
    example: str
    """One reason, in words."""


class Tokens(Struct, frozen=True, kw_only=True):
    """What the model read and wrote, where the server said; `None` where it did not."""

    prompt: int | None
    cached: int | None
    completion: int | None
    cost_usd: float | None
    prefix_hit: float | None
    """Cached share of the prompt tokens, over Episodes where both are known."""


class Score(Struct, frozen=True, kw_only=True):
    """Everything a report says about a Run."""

    tasks: int
    episodes: int
    scored: int
    unscored: int
    success: Rate
    reward_mean: float | None
    pass_at_k: tuple[PassAtK, ...]
    steps_mean: float | None
    steps_vs_optimal: float | None
    """Mean of steps / optimal steps over solved Episodes whose task knows its optimum."""
    solved_with_optimum: int
    tokens: Tokens
    seconds_mean: float | None
    parse_errors: int
    side_effects: int
    """Scored Episodes that changed something nobody asked for."""
    retried: int
    """Episodes that needed more than one attempt."""
    reasons: dict[str, int]
    """How the scored Episodes ended."""
    unscored_by: tuple[UnscoredCount, ...]
    groups: dict[str, tuple[TagGroup, ...]]
    """By each tag of `GROUPINGS` that the tasks carry."""


def score(rows: Sequence[EpisodeRow]) -> Score:
    """Return the numbers of a Run."""
    scored = [row for row in rows if row.unscored is None]
    unscored = [row for row in rows if row.unscored is not None]
    ratios = [
        # Shortest paths do not count the step that says "finished".
        (row.steps - (row.reason == EndReason.FINISHED)) / row.optimal_steps
        for row in scored
        if row.success and row.optimal_steps
    ]
    return Score(
        tasks=len({row.task for row in rows}),
        episodes=len(rows),
        scored=len(scored),
        unscored=len(unscored),
        success=rate_of(scored),
        reward_mean=mean(row.reward for row in scored),
        pass_at_k=pass_table(scored),
        steps_mean=mean(row.steps for row in scored),
        steps_vs_optimal=mean(ratios),
        solved_with_optimum=len(ratios),
        tokens=_tokens(rows),
        seconds_mean=mean(row.seconds for row in scored),
        parse_errors=sum(row.parse_errors for row in scored),
        side_effects=sum(row.side_effects > 0 for row in scored),
        retried=sum(row.attempts > 1 for row in rows),
        reasons=dict(Counter(row.reason.value for row in scored).most_common()),
        unscored_by=_unscored_by(unscored),
        groups={tag: groups for tag in GROUPINGS if (groups := group_by(scored, tag_getter(tag)))},
    )


def rate_of(scored: Sequence[EpisodeRow]) -> Rate:
    """Return the success rate of scored Episodes with its interval."""
    successes, trials = sum(row.success for row in scored), len(scored)
    return Rate(
        scored=trials,
        successes=successes,
        rate=successes / trials if trials else None,
        ci=wilson(successes, trials),
    )


def pass_table(scored: Sequence[EpisodeRow]) -> tuple[PassAtK, ...]:
    """Return pass@k for k = 1, 2, 4, ... and the largest number of repeats."""
    outcomes = by_task(scored)
    most = max((len(rows) for rows in outcomes.values()), default=0)
    ks = [k for k in (1, 2, 4, 8, 16, 32, 64) if k < most] + ([most] if most else [])
    table = []
    for k in ks:
        values = [
            pass_at_k(sum(row.success for row in rows), len(rows), k)
            for rows in outcomes.values()
            if len(rows) >= k
        ]
        table.append(PassAtK(k=k, value=sum(values) / len(values), tasks=len(values)))
    return tuple(table)


def by_task(rows: Iterable[EpisodeRow]) -> dict[str, list[EpisodeRow]]:
    """Return the rows of each task, in order."""
    rows_of: dict[str, list[EpisodeRow]] = {}
    for row in rows:
        rows_of.setdefault(row.task, []).append(row)
    return rows_of


def tag_getter(tag: str) -> Callable[[EpisodeRow], str | None]:
    """Return a function that reads one tag of a row."""
    return lambda row: row.tags.get(tag)


def group_by(
    scored: Sequence[EpisodeRow], key: Callable[[EpisodeRow], str | None]
) -> tuple[TagGroup, ...]:
    """Return the groups of scored Episodes that share a key, by name; rows without one are out."""
    members: dict[str, list[EpisodeRow]] = {}
    for row in scored:
        name = key(row)
        if name:
            members.setdefault(name, []).append(row)
    return tuple(
        TagGroup(
            name=name,
            rate=rate_of(rows),
            reward_mean=mean(row.reward for row in rows),
            steps_mean=mean(row.steps for row in rows),
        )
        for name, rows in sorted(members.items())
    )


def mean(values: Iterable[float]) -> float | None:
    """Return the arithmetic mean; `None` of nothing."""
    kept = list(values)
    return sum(kept) / len(kept) if kept else None


def eval_json(result: RunResult, run_dir: str) -> dict[str, Any]:
    """Return what `eval --json` prints."""
    numbers, manifest = score(result.rows), result.manifest
    ci = numbers.success.ci
    return {
        "suite": manifest.config.harness.suite,
        "model": manifest.config.model,
        "tasks": numbers.tasks,
        "episodes": numbers.episodes,
        "scored": numbers.scored,
        "unscored": numbers.unscored,
        "success_rate": numbers.success.rate,
        "success_ci": [ci.low, ci.high] if ci else None,
        "reward_mean": numbers.reward_mean,
        "steps_mean": numbers.steps_mean,
        "steps_vs_optimal": numbers.steps_vs_optimal,
        "config_hash": manifest.config_hash,
        "run_dir": run_dir,
    }


def _tokens(rows: Sequence[EpisodeRow]) -> Tokens:
    usages = [row.usage for row in rows]
    total = sum_usage(usages)
    both = [(u.cached, u.prompt) for u in usages if u.cached is not None and u.prompt]
    read = sum(prompt for _, prompt in both)
    return Tokens(
        prompt=total.prompt,
        cached=total.cached,
        completion=total.completion,
        cost_usd=total.cost_usd,
        prefix_hit=sum(cached for cached, _ in both) / read if read else None,
    )


def _unscored_by(unscored: Sequence[EpisodeRow]) -> tuple[UnscoredCount, ...]:
    kinds: dict[tuple[str, str], list[str]] = {}
    for row in unscored:
        assert row.unscored is not None
        kind = (row.unscored.blame.value, row.unscored.stage)
        kinds.setdefault(kind, []).append(row.unscored.reason)
    return tuple(
        UnscoredCount(blame=blame, stage=stage, count=len(reasons), example=reasons[0])
        for (blame, stage), reasons in sorted(kinds.items(), key=lambda item: -len(item[1]))
    )
