"""A Run sealed into Parquet."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pyarrow.parquet as pq
import pytest

from screenloop.actions import Action, Finish, Tap
from screenloop.config import HarnessConfig, RunConfig
from screenloop.criteria import AnswerIs
from screenloop.errors import Blame
from screenloop.messages import Message, Sampling, TextPart
from screenloop.store.episodes import (
    CallRecord,
    EndRecord,
    EpisodeWriter,
    StartRecord,
    StepRecord,
    VerdictRecord,
)
from screenloop.store.runs import RunFolder, RunManifest, make_manifest
from screenloop.store.sealed import seal_run
from screenloop.types import (
    Effect,
    EndReason,
    EnvRef,
    Goal,
    Observation,
    Step,
    Task,
    Unscored,
    Usage,
    Verdict,
)

TASK = Task(
    id="s/t@1",
    env=EnvRef(kind="fake", size_px=(1, 1)),
    goal=Goal(text="go"),
    checks=(AnswerIs(says="x", to="x"),),
)
LOST = Verdict(unscored=Unscored(blame=Blame.INFRASTRUCTURE, stage="model", reason="gone"))


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    run = RunFolder(tmp_path / "run")
    config = RunConfig(
        harness=HarnessConfig(suite="s", suite_version="1", tasks=(TASK.key,), repeats=3), model="m"
    )
    run.open(make_manifest(config, versions={}, machine={}, started_at=0.0))
    verdicts = (Verdict(success=True, reward=1.0), Verdict(reward=0.25), LOST)
    for repeat, verdict in enumerate(verdicts):
        write(run, repeat, verdict)
    return run


def write(run: RunFolder, repeat: int, verdict: Verdict) -> None:
    writer = EpisodeWriter(run.attempt_path(run.episode_folder(repeat, TASK.key, repeat), 0))
    writer.write(
        StartRecord(
            episode_id=f"e{repeat}",
            run_id="r",
            task=TASK,
            repeat=repeat,
            mode="gui_only",
            config_hash="c",
            harness_hash="h",
            started_at=0.0,
        )
    )
    actions: tuple[Action, ...] = (Tap(at=(0.5, 0.5)), Finish())
    for index, action in enumerate(actions):
        if index == 0:
            writer.write(
                CallRecord(
                    call_id="c0",
                    window_index=0,
                    step_index=0,
                    sampling=Sampling(),
                    model="m",
                    messages=(Message(role="user", parts=(TextPart(text="look"),)),),
                    reply="tap",
                    finish_reason="stop",
                    usage=Usage(prompt=9, completion=3),
                    took_s=0.1,
                    token_ids=(5, 6, 7),
                    logprobs=(-0.5, -0.25, 0.0),
                    weights_version="w3",
                )
            )
        step = Step(
            index=index,
            observation=Observation(frame=f"sha256-{index}.png", size_px=(1, 1), app="home"),
            reply="tap",
            call_id="c0" if index == 0 else None,
            actions=(action,),
            effects=(Effect(ok=True),),
        )
        writer.write(StepRecord(step=step))
    writer.write(VerdictRecord(verdict=verdict))
    writer.write(EndRecord(reason=EndReason.FINISHED, steps=2, usage=Usage(), seconds=1.0))
    writer.close()


def test_each_step_of_a_scored_episode_is_one_row(folder: RunFolder) -> None:
    rows = pq.read_table(seal_run(folder)).to_pylist()
    assert [(row["episode_id"], row["step"]) for row in rows] == [
        ("e0", 0),
        ("e0", 1),
        ("e1", 0),
        ("e1", 1),
    ]
    first, second = rows[:2]
    assert (first["success"], first["reward"], first["end_reason"]) == (True, 1.0, "finished")
    assert first["token_ids"] == [5, 6, 7]
    assert first["logprobs"] == [-0.5, -0.25, 0.0]
    assert first["prompt_tokens"] == 9
    assert first["cached_tokens"] is None
    assert msgspec.json.decode(first["messages_json"])[0]["role"] == "user"
    assert second["call_id"] is None
    assert second["token_ids"] is None


def test_actions_come_back_from_their_column(folder: RunFolder) -> None:
    row = pq.read_table(seal_run(folder)).to_pylist()[0]
    actions = msgspec.json.decode(row["actions_json"], type=tuple[Action, ...])
    assert actions == (Tap(at=(0.5, 0.5)),)


def test_only_successes_are_kept_when_asked(folder: RunFolder) -> None:
    table = pq.read_table(seal_run(folder, only_success=True))
    assert set(table.column("episode_id").to_pylist()) == {"e0"}


def test_the_file_carries_the_runs_manifest(folder: RunFolder) -> None:
    metadata = pq.read_schema(seal_run(folder)).metadata
    manifest = msgspec.json.decode(metadata[b"screenloop.run"], type=RunManifest)
    assert manifest == folder.manifest()


def test_a_run_without_a_scored_episode_seals_to_an_empty_table(folder: RunFolder) -> None:
    for repeat in (0, 1):
        write(folder, repeat, LOST)
    assert pq.read_table(seal_run(folder)).num_rows == 0
