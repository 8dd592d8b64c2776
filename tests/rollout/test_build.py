"""Evaluating, collecting and training play the same Episode: equal start records and requests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from played import Bench

from screenloop.agent.dialects.plain import Plain
from screenloop.agent.harness import reconstruct
from screenloop.cli import main
from screenloop.config import RetryPolicy, RunConfig, Window, config_hash, harness_hash
from screenloop.messages import Sampling
from screenloop.models.scripted import ScriptedModel
from screenloop.rollout.build import build_attempt
from screenloop.rollout.play import RunRequest, play, resolve
from screenloop.store.blobs import FolderBlobs
from screenloop.store.episodes import Episode, read_episode
from screenloop.store.runs import RunFolder
from screenloop.suites.catalog import find_suite, select
from screenloop.types import Budget

REPLIES = (
    'Thought: The counter.\nAction: {"type": "open", "app": "counter"}',
    "Action: this is none",
    'Thought: One.\nAction: {"type": "tap", "at": [500, 667]}',
    'Thought: One too many.\nAction: {"type": "tap", "at": [500, 667]}',
    'Action: {"type": "finish", "status": "success"}',
)
WINDOW, SAMPLING = Window(steps=3, overlap=1), Sampling(max_tokens=77)
(TASK,) = select(find_suite("fake"), glob="add_to_counter")
OWN_OF_A_START = {"episode_id", "run_id", "started_at"}
"""Fields of a start record that tell one Episode from another; all others must be equal."""
DRAWN = {"temperature", "seed"}
"""Fields of the sampling that training sets attempt by attempt."""


def start_of(episode: Episode) -> dict[str, Any]:
    fields = msgspec.structs.asdict(episode.start)
    return {name: value for name, value in fields.items() if name not in OWN_OF_A_START}


def requests_of(episode: Episode) -> list[dict[str, Any]]:
    """Every request, put together again from what the Episode keeps, but for its own names."""
    found = []
    for call, messages in zip(episode.calls, reconstruct(episode.calls), strict=True):
        sampling = msgspec.structs.asdict(call.sampling)
        assert call.call_id == f"{episode.start.episode_id}/c{call.step_index}"
        found.append(
            {
                "messages": messages,
                "window": call.window_index,
                "parent": (call.parent_call_id or "").rpartition("/")[2],
                "sampling": {k: v for k, v in sampling.items() if k not in DRAWN},
            }
        )
    return found


def only_episode(folder: Path) -> Episode:
    (path,) = folder.rglob("episode.jsonl")
    episode = read_episode(path)
    assert episode is not None
    return episode


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.jsonl"
    path.write_text("".join(json.dumps({"reply": reply}) + "\n" for reply in REPLIES))
    return path


def request_for(script: Path, out: Path) -> RunRequest:
    return RunRequest(
        suite="fake",
        model=f"scripted:{script}",
        tasks="add_to_counter",
        window=WINDOW,
        sampling=SAMPLING,
        out=str(out),
    )


async def trained(config: RunConfig, folder: Path) -> Episode:
    pytest.importorskip("torch")
    from screenloop.train.rollouts import Rollouts, one_each

    blobs = FolderBlobs(folder / "blobs")
    rollouts = Rollouts(
        Bench(blobs=blobs).setting(), blobs, config=config, dialect=Plain(), run_id="training"
    )
    model = ScriptedModel(REPLIES, name=config.model)
    (played,) = await rollouts.play(one_each("u1", [TASK], seed=5), model, temperature=1.0)
    return played.episode


async def test_all_three_uses_record_and_ask_the_same(tmp_path: Path, script: Path) -> None:
    request = request_for(script, tmp_path / "eval")
    await play(request)
    evaluated = only_episode(tmp_path / "eval")
    config = RunFolder(tmp_path / "eval").manifest().config
    in_training = await trained(config, tmp_path / "train")

    assert start_of(in_training) == start_of(evaluated)
    assert evaluated.start.config_hash == config_hash(config)
    assert evaluated.start.harness_hash == harness_hash(config)
    assert requests_of(in_training) == requests_of(evaluated)
    assert len(evaluated.calls) == len(REPLIES) > WINDOW.steps
    assert {call.sampling.temperature for call in in_training.calls} == {1.0}
    assert {call.sampling.seed for call in in_training.calls} == {5}


def test_collecting_is_evaluating_with_a_file_at_the_end(tmp_path: Path, script: Path) -> None:
    flags = "--suite fake --tasks add_to_counter --window 3 --overlap 1 --max-tokens 77"
    for name in ("eval", "collect"):
        out = str(tmp_path / name)
        with pytest.raises(SystemExit) as end:
            main([name, *flags.split(), "--model", f"scripted:{script}", "--out", out])
        assert not end.value.code
    one, two = (only_episode(tmp_path / name) for name in ("eval", "collect"))
    assert start_of(one) == start_of(two)
    assert requests_of(one) == requests_of(two)
    assert [replace(call, took_s=0.0) for call in one.calls] == [
        replace(call, took_s=0.0) for call in two.calls
    ]


def test_an_attempt_takes_everything_from_the_configuration(tmp_path: Path, script: Path) -> None:
    config = resolve(request_for(script, tmp_path), (TASK,), Plain())
    retry = RetryPolicy(parse_errors_in_row=2, loop_repeats=3)
    harness = replace(config.harness, retry=retry, mode="hybrid", budget=Budget(steps=4))
    changed = replace(config, harness=harness)
    attempt = build_attempt(changed, TASK, episode_id="e", run_id="r", seed=9)
    assert (attempt.retry, attempt.mode, attempt.budget.steps) == (retry, "hybrid", 4)
    assert attempt.config_hash == config_hash(changed) != config_hash(config)
    assert attempt.harness_hash == harness_hash(changed) != harness_hash(config)
    own = build_attempt(config, TASK, episode_id="e", run_id="r", mode="hybrid")
    assert (own.mode, own.budget) == ("hybrid", TASK.budget)


async def test_a_training_run_names_its_configuration_in_every_episode() -> None:
    pytest.importorskip("torch")
    from screenloop.train.recipes import tiny_text
    from screenloop.train.run import run_config

    recipe = tiny_text.recipe()
    tasks = recipe.tasks()
    config = run_config(recipe, tasks, Plain(), seed=3)
    assert (config.harness.suite, config.model) == ("touches", "tiny_text-3")
    assert config.harness.window == recipe.window
    assert config.sampling == recipe.settings.sampling()
    assert {task.key for task in (*tasks.train, *tasks.unseen)} <= set(config.harness.tasks)
    kept = RetryPolicy(attempts=config.harness.retry.attempts)
    assert config.harness.retry == kept, "the limits of an Episode are those of `eval`"
