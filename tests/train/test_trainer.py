"""The trainer's mechanics on a run of seconds; whether it learns is another, slow test."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest
import torch
from msgspec.structs import replace
from trainer_parts import UPDATES, few_tasks, micro, micro_settings

from screenloop.errors import ConfigError
from screenloop.report.training.metrics import EvaluationLine, UpdateLine, WarmUpLine, read_metrics
from screenloop.train.guard.stops import TrainingStopped
from screenloop.train.recipe import Recipe, TaskSets, require_trainable
from screenloop.train.recipes import find_recipe
from screenloop.train.run import RESULT, train, train_recipe


def told(folder):
    """Return what the updates came to, without seconds."""
    return [
        (
            line.update,
            line.success,
            line.reward,
            line.loss,
            line.entropy,
            line.grad_norm,
            line.kl,
            line.parity_max,
            line.held_out,
            line.attempts,
            line.cached_tokens,
        )
        for line in read_metrics(folder)
        if isinstance(line, UpdateLine)
    ]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """One uninterrupted run."""
    folder = tmp_path_factory.mktemp("run") / "whole"
    return folder, asyncio.run(train(micro(), 3, folder))


def test_a_run_tells_every_update_once_and_in_order(finished):
    folder, result = finished
    lines = read_metrics(folder)
    assert [row[0] for row in told(folder)] == list(range(1, UPDATES + 1))
    assert any(isinstance(line, WarmUpLine) for line in lines)
    evaluations = [line for line in lines if isinstance(line, EvaluationLine)]
    assert [(e.when, e.of) for e in evaluations[:2]] == [("before", "test"), ("before", "unseen")]
    assert evaluations[-1].when == "after_rl"
    assert result.updates == UPDATES
    assert result.episodes == sum(row[9] for row in told(folder))
    assert 0 < result.parity_max <= 1e-4


def test_the_result_is_in_the_folder_with_the_gain_of_both_kinds_of_tasks(finished):
    folder, result = finished
    card = msgspec.json.decode((folder / RESULT).read_bytes())
    assert card["result"]["run_dir"] == result.run_dir
    assert (
        set(card["known_apps"]) == set(card["unseen_apps"]) == {"before", "after_sft", "after_rl"}
    )


def test_only_the_newest_updates_keep_their_episodes(finished):
    folder, _ = finished
    kept = sorted(path.name for path in (folder / "episodes").glob("update-*.jsonl"))
    assert kept == [f"update-{UPDATES - 1:06d}.jsonl", f"update-{UPDATES:06d}.jsonl"]


async def test_the_same_seed_gives_the_same_curve_and_another_seed_another(finished, tmp_path):
    folder, _ = finished
    await train(micro(), 3, tmp_path / "again")
    assert told(tmp_path / "again") == told(folder)
    await train(micro(updates=2), 4, tmp_path / "other")
    assert told(tmp_path / "other") != told(folder)[:2]


def test_a_killed_run_goes_on_to_the_very_same_curve(finished, tmp_path):
    folder, _ = finished
    command = [sys.executable, str(Path(__file__).with_name("trainer_parts.py"))]
    out = tmp_path / "killed"
    child = subprocess.Popen([*command, str(out)])
    metrics = out / "metrics.jsonl"
    until = time.monotonic() + 600
    while not (metrics.exists() and b'"update":2' in metrics.read_bytes()):
        assert child.poll() is None
        assert time.monotonic() < until
        time.sleep(0.01)
    os.kill(child.pid, signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    assert len(told(out)) < UPDATES
    subprocess.run([*command, str(out), "--resume"], check=True)
    assert told(out) == told(folder)


async def test_attempts_on_older_weights_are_never_older_than_allowed(tmp_path):
    settings = micro_settings()
    rollout = replace(settings.rollout, max_staleness=1)
    await train(micro(rollout=rollout), 3, tmp_path / "run")
    updates = [line for line in read_metrics(tmp_path / "run") if isinstance(line, UpdateLine)]
    assert [line.update for line in updates] == list(range(1, UPDATES + 1))
    assert all(0 <= line.staleness <= 1 for line in updates)


async def test_weights_that_differ_are_caught_in_the_first_batch(tmp_path):
    spoilt = micro()

    def spoil(line):
        # Between the hand-over and the next attempts: one weight of the learner moves.
        if isinstance(line, UpdateLine) and line.update == 1:
            with torch.no_grad():
                next(policies[0].model.parameters()).add_(0.01)

    policies = []

    def policy(sets, seed):
        policies.append(spoilt.policy(sets, seed))
        return policies[0]

    recipe = Recipe(**{**vars(spoilt), "policy": policy})
    with pytest.raises(TrainingStopped, match="update 2 is refused: engine and trainer disagree"):
        await train(recipe, 3, tmp_path / "run", watch=spoil)
    evidence = msgspec.json.decode((tmp_path / "run" / "stopped-000002.json").read_bytes())
    assert evidence["parity"]["parity"]["max_abs"] > 1e-4
    assert evidence["samples"]
    assert [row[0] for row in told(tmp_path / "run")] == [1]


def test_unknown_recipes_name_the_valid_ones():
    with pytest.raises(ConfigError, match="tiny_text"):
        find_recipe("tiny_txt")


async def test_a_folder_that_holds_a_run_is_not_written_over(finished):
    folder, _ = finished
    with pytest.raises(ConfigError, match="--resume"):
        await train(micro(), 3, folder)


async def test_another_run_is_not_resumed(finished):
    folder, _ = finished
    with pytest.raises(ConfigError, match="another run"):
        await train(micro(), 5, folder, resume=True)


async def test_an_unknown_recipe_makes_no_folder(tmp_path):
    with pytest.raises(ConfigError):
        await train_recipe("nothing", out=str(tmp_path / "x"))
    assert not (tmp_path / "x").exists()


def test_overlapping_tasks_are_refused_before_anything_runs():
    sets = few_tasks()
    twice = TaskSets(train=sets.train, validation=sets.train[:2], test=sets.test)
    with pytest.raises(ConfigError, match="training tasks"):
        require_trainable(micro_settings(), twice)


def test_groups_of_one_are_refused():
    settings = micro_settings()
    curriculum = replace(settings.learning.curriculum, attempts=1, adaptive=False)
    settings = replace(settings, learning=replace(settings.learning, curriculum=curriculum))
    with pytest.raises(ConfigError, match="compares the attempts of a group"):
        require_trainable(settings, few_tasks())


def test_a_share_for_a_domain_that_no_task_has_is_refused_before_anything_runs():
    settings = micro_settings()
    curriculum = replace(settings.learning.curriculum, shares={"no such domain": 1.0})
    learning = replace(settings.learning, curriculum=curriculum)
    with pytest.raises(ConfigError, match="Unknown domain in the shares 'no such domain'"):
        require_trainable(replace(settings, learning=learning), few_tasks())
