"""Two Runs side by side, paired by task and repeat: a test, an interval, every difference."""

from __future__ import annotations

import random
from collections.abc import Sequence

from screenloop.errors import ConfigError
from screenloop.report.intervals import Interval, bootstrap_difference, mcnemar_exact
from screenloop.report.score import Rate, rate_of
from screenloop.store.runs import (
    ConfigDifference,
    EpisodeRow,
    RunManifest,
    RunResult,
    config_differences,
)
from screenloop.types import Struct


class Side(Struct, frozen=True, kw_only=True):
    """One of the two Runs."""

    run_id: str
    model: str
    config_hash: str
    harness_hash: str
    rate: Rate
    """Over all its scored Episodes, paired or not."""
    unscored: int


class Flip(Struct, frozen=True, kw_only=True):
    """A task that one Run solved more often than the other."""

    task: str
    a: str
    """Successes of pairs in A, as `2/3`."""
    b: str
    gained: int
    """Pairs that only B solved, less those that only A solved."""


class Comparison(Struct, frozen=True, kw_only=True):
    """What differs between two Runs."""

    a: Side
    b: Side
    differences: tuple[ConfigDifference, ...]
    """Every field of the configuration that differs."""
    versions: tuple[ConfigDifference, ...]
    """Every package or program whose version differs."""
    same_harness: bool
    """Whether the two numbers may be compared as they are."""
    pairs: int
    unpaired: int
    """Scored Episodes without a scored partner; left out of everything below."""
    both: int
    only_a: int
    only_b: int
    neither: int
    difference: float | None
    """Success rate of B less that of A, over the pairs."""
    difference_ci: Interval | None
    p_value: float
    """McNemar, exact, two-sided: pairs count as independent."""
    flips: tuple[Flip, ...]


def compare(a: RunResult, b: RunResult, *, force: bool = False, seed: int = 0) -> Comparison:
    """Compare two Runs over the Episodes that both scored.

    Raises:
        ConfigError: the harness differs, and `force` is off; names what differs.
    """
    differences = config_differences(a.manifest.config, b.manifest.config)
    same_harness = a.manifest.harness_hash == b.manifest.harness_hash
    if not same_harness and not force:
        raise ConfigError(_refusal(a.manifest, b.manifest, differences))
    left, right = _scored(a), _scored(b)
    shared = sorted(left.keys() & right.keys())
    pairs = [(left[key], right[key]) for key in shared]
    only_a = sum(x.success and not y.success for x, y in pairs)
    only_b = sum(y.success and not x.success for x, y in pairs)
    both = sum(x.success and y.success for x, y in pairs)
    groups: dict[str, list[float]] = {}
    for x, y in pairs:
        groups.setdefault(x.task, []).append(float(y.success) - float(x.success))
    return Comparison(
        a=_side(a),
        b=_side(b),
        differences=differences,
        versions=_version_differences(a.manifest, b.manifest),
        same_harness=same_harness,
        pairs=len(pairs),
        unpaired=len(left) + len(right) - 2 * len(pairs),
        both=both,
        only_a=only_a,
        only_b=only_b,
        neither=len(pairs) - both - only_a - only_b,
        difference=(only_b - only_a) / len(pairs) if pairs else None,
        difference_ci=bootstrap_difference(list(groups.values()), random.Random(seed)),
        p_value=mcnemar_exact(only_a, only_b),
        flips=_flips(pairs),
    )


def _scored(run: RunResult) -> dict[tuple[str, int], EpisodeRow]:
    return {(row.task, row.repeat): row for row in run.rows if row.unscored is None}


def _side(run: RunResult) -> Side:
    scored = [row for row in run.rows if row.unscored is None]
    return Side(
        run_id=run.manifest.run_id,
        model=run.manifest.config.model,
        config_hash=run.manifest.config_hash,
        harness_hash=run.manifest.harness_hash,
        rate=rate_of(scored),
        unscored=len(run.rows) - len(scored),
    )


def _version_differences(a: RunManifest, b: RunManifest) -> tuple[ConfigDifference, ...]:
    names = sorted(a.versions.keys() | b.versions.keys())
    return tuple(
        ConfigDifference(path=name, before=a.versions.get(name), after=b.versions.get(name))
        for name in names
        if a.versions.get(name) != b.versions.get(name)
    )


def _flips(pairs: Sequence[tuple[EpisodeRow, EpisodeRow]]) -> tuple[Flip, ...]:
    tasks: dict[str, list[tuple[EpisodeRow, EpisodeRow]]] = {}
    for pair in pairs:
        tasks.setdefault(pair[0].task, []).append(pair)
    flips = []
    for task, members in tasks.items():
        solved_a = sum(x.success for x, _ in members)
        solved_b = sum(y.success for _, y in members)
        if any(x.success != y.success for x, y in members):
            flips.append(
                Flip(
                    task=task,
                    a=f"{solved_a}/{len(members)}",
                    b=f"{solved_b}/{len(members)}",
                    gained=solved_b - solved_a,
                )
            )
    return tuple(sorted(flips, key=lambda flip: (flip.gained, flip.task)))


def _refusal(a: RunManifest, b: RunManifest, differences: Sequence[ConfigDifference]) -> str:
    harness = [
        d.path.removeprefix("harness.") for d in differences if d.path.startswith("harness.")
    ]
    return (
        f"these runs are not comparable: their harness hashes differ ({a.harness_hash} and "
        f"{b.harness_hash}) in {', '.join(harness) or 'fields that this version does not know'}. "
        "Run both under the same harness, or use --force to compare all the same."
    )
