"""Two Runs side by side."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from screenloop.config import HarnessConfig, RunConfig, Window
from screenloop.errors import Blame, ConfigError
from screenloop.report.compare import compare
from screenloop.store.runs import EpisodeRow, RunResult, make_manifest
from screenloop.types import EndReason, Unscored

LOST = Unscored(blame=Blame.ENVIRONMENT, stage="step", reason="gone")


def run(
    outcomes: dict[tuple[str, int], bool | None], model: str = "m", **harness: Any
) -> RunResult:
    tasks = tuple(sorted({task for task, _ in outcomes}))
    config = RunConfig(
        harness=HarnessConfig(suite="s", suite_version="1", tasks=tasks, **harness), model=model
    )
    rows = tuple(
        EpisodeRow(
            index=index,
            episode_id=f"e{index}",
            task=task,
            repeat=repeat,
            attempts=1,
            path="p",
            reason=EndReason.FINISHED,
            success=bool(solved),
            reward=float(bool(solved)),
            steps=3,
            seconds=1.0,
            unscored=LOST if solved is None else None,
        )
        for index, ((task, repeat), solved) in enumerate(outcomes.items())
    )
    manifest = make_manifest(config, versions={"pytakumi": "0.1.5"}, machine={}, started_at=0.0)
    return RunResult(manifest=manifest, rows=rows)


def test_pairs_are_formed_by_task_and_repeat_and_counted() -> None:
    a = run({("t1", 0): True, ("t1", 1): False, ("t2", 0): True, ("t3", 0): False})
    b = run({("t3", 0): True, ("t2", 0): True, ("t1", 1): True, ("t1", 0): False}, model="n")
    found = compare(a, b)
    assert (found.pairs, found.both, found.only_a, found.only_b, found.neither) == (4, 1, 1, 2, 0)
    assert found.difference == 0.25
    assert found.p_value == 1.0
    assert [(f.task, f.a, f.b) for f in found.flips] == [("t1", "1/2", "1/2"), ("t3", "0/1", "1/1")]


def test_an_unscored_partner_leaves_a_pair_out() -> None:
    found = compare(
        run({("t1", 0): True, ("t2", 0): None}), run({("t1", 0): True, ("t2", 0): True})
    )
    assert (found.pairs, found.unpaired) == (1, 1)
    assert found.a.unscored == 1


def test_runs_without_a_common_scored_episode_have_no_difference() -> None:
    found = compare(run({("t1", 0): None}), run({("t1", 0): True}))
    assert found.pairs == 0
    assert found.difference is None
    assert found.difference_ci is None


def test_different_harnesses_are_refused_by_name_unless_forced() -> None:
    a = run({("t1", 0): True})
    b = run({("t1", 0): True}, window=Window(steps=6, overlap=1))
    with pytest.raises(ConfigError, match=r"window\.overlap, window\.steps.*--force"):
        compare(a, b)
    forced = compare(a, b, force=True)
    assert not forced.same_harness
    assert [(d.path, d.before, d.after) for d in forced.differences] == [
        ("harness.window.overlap", 2, 1),
        ("harness.window.steps", 10, 6),
    ]


def test_every_difference_of_configuration_and_versions_is_listed() -> None:
    a, b = run({("t1", 0): True}), run({("t1", 0): True}, model="other")
    manifest = msgspec.structs.replace(b.manifest, versions={"pytakumi": "0.1.6"})
    found = compare(a, msgspec.structs.replace(b, manifest=manifest))
    assert [(d.path, d.before, d.after) for d in found.differences] == [("model", "m", "other")]
    assert [(d.path, d.before, d.after) for d in found.versions] == [("pytakumi", "0.1.5", "0.1.6")]


def test_a_clear_gain_shows_in_the_interval_and_the_p_value() -> None:
    keys = [(f"t{n}", 0) for n in range(20)]
    found = compare(run(dict.fromkeys(keys, False)), run(dict.fromkeys(keys, True)))
    assert found.p_value < 1e-5
    assert found.difference_ci is not None
    assert found.difference_ci.low == 1.0
