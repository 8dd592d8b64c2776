"""A Run's numbers."""

from __future__ import annotations

from pathlib import Path

from screenloop.config import HarnessConfig, RunConfig
from screenloop.errors import Blame
from screenloop.report.score import eval_json, score
from screenloop.store.runs import EpisodeRow, RunResult, make_manifest
from screenloop.types import EndReason, Unscored, Usage


def row(index: int, task: str = "s/a@1#0", **fields: object) -> EpisodeRow:
    base = {
        "index": index,
        "episode_id": f"e{index}",
        "task": task,
        "repeat": 0,
        "attempts": 1,
        "path": f"episodes/{index}/attempt-0/episode.jsonl",
        "reason": EndReason.FINISHED,
        "steps": 4,
        "seconds": 2.0,
    }
    return EpisodeRow(**{**base, **fields})  # type: ignore[arg-type]


LOST = Unscored(blame=Blame.INFRASTRUCTURE, stage="model", reason="gone")
STUCK = Unscored(blame=Blame.ENVIRONMENT, stage="reset", reason="screen black")


def test_unscored_episodes_enter_no_mean_and_are_counted_by_blame_and_stage() -> None:
    numbers = score(
        [
            row(0, success=True, reward=1.0),
            row(1, reward=0.5),
            row(2, unscored=LOST, reason=EndReason.FAULT, steps=99),
            row(3, unscored=LOST, reason=EndReason.FAULT),
            row(4, unscored=STUCK, reason=EndReason.FAULT),
        ]
    )
    assert (numbers.episodes, numbers.scored, numbers.unscored) == (5, 2, 3)
    assert numbers.success.rate == 0.5
    assert numbers.reward_mean == 0.75
    assert numbers.steps_mean == 4
    assert [(u.blame, u.stage, u.count) for u in numbers.unscored_by] == [
        ("infrastructure", "model", 2),
        ("environment", "reset", 1),
    ]
    assert numbers.reasons == {"finished": 2}


def test_nothing_scored_gives_no_rate_rather_than_zero() -> None:
    numbers = score([row(0, unscored=LOST, reason=EndReason.FAULT)])
    assert numbers.success.rate is None
    assert numbers.success.ci is None
    assert numbers.reward_mean is None
    assert numbers.pass_at_k == ()
    assert score([]).success.rate is None


def test_steps_are_compared_with_the_optimum_only_where_solved_and_known() -> None:
    numbers = score(
        [
            row(0, success=True, optimal_steps=2, steps=5),
            row(1, success=True, optimal_steps=4, steps=5),
            row(2, success=False, optimal_steps=1, steps=30),
            row(3, success=True, steps=30),
        ]
    )
    assert numbers.steps_vs_optimal == 1.5
    assert numbers.solved_with_optimum == 2


def test_pass_at_k_averages_over_tasks_with_enough_scored_repeats() -> None:
    rows = [
        row(0, "s/a@1#0", success=True),
        row(1, "s/a@1#0"),
        row(2, "s/b@1#0"),
        row(3, "s/b@1#0"),
        row(4, "s/c@1#0", success=True),
        row(5, "s/c@1#0", unscored=LOST, reason=EndReason.FAULT),
    ]
    table = {p.k: (p.value, p.tasks) for p in score(rows).pass_at_k}
    assert table == {1: (0.5, 3), 2: (0.5, 2)}


def test_prefix_hit_counts_only_episodes_whose_server_said_both() -> None:
    numbers = score(
        [
            row(0, usage=Usage(prompt=100, cached=90, completion=5)),
            row(1, usage=Usage(prompt=900, completion=5)),
            row(2),
        ]
    )
    assert numbers.tokens.prefix_hit == 0.9
    assert numbers.tokens.prompt == 1000
    assert numbers.tokens.cost_usd is None


def test_groups_follow_the_tags() -> None:
    numbers = score(
        [
            row(0, success=True, tags={"domain": "time", "apps": "clock"}),
            row(1, tags={"domain": "time", "apps": "clock+notes"}),
            row(2, tags={"domain": "money"}),
        ]
    )
    assert [(g.name, g.rate.rate) for g in numbers.groups["domain"]] == [
        ("money", 0),
        ("time", 0.5),
    ]
    assert [g.name for g in numbers.groups["apps"]] == ["clock", "clock+notes"]
    assert "difficulty" not in numbers.groups


def test_eval_json_has_the_promised_keys_in_order(tmp_path: Path) -> None:
    config = RunConfig(
        harness=HarnessConfig(suite="s", suite_version="1", tasks=("s/a@1#0",)), model="m"
    )
    manifest = make_manifest(config, versions={}, machine={}, started_at=0.0)
    printed = eval_json(RunResult(manifest=manifest, rows=(row(0, success=True),)), str(tmp_path))
    assert list(printed) == [
        "suite",
        "model",
        "tasks",
        "episodes",
        "scored",
        "unscored",
        "success_rate",
        "success_ci",
        "reward_mean",
        "steps_mean",
        "steps_vs_optimal",
        "config_hash",
        "run_dir",
    ]
    assert printed["success_rate"] == 1.0
    assert printed["success_ci"][1] == 1.0
