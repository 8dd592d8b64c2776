"""The whole loop: harness, models, manager, fake device, verdicts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from played import Bench, a_config

from screenloop.actions import Action
from screenloop.agent.dialects.base import context_of
from screenloop.agent.dialects.plain import Plain
from screenloop.agent.harness import Harness
from screenloop.agent.screen import smart_resize
from screenloop.config import ImageRule
from screenloop.models.base import Model
from screenloop.models.oracle import OracleModel
from screenloop.models.scripted import ScriptedModel
from screenloop.rollout.batch import run_batch
from screenloop.rollout.plans import prepare_for
from screenloop.store.blobs import FolderBlobs
from screenloop.store.episodes import read_episode
from screenloop.store.runs import RunResult
from screenloop.suites.fake import FakeSuite
from screenloop.types import EndReason, Mode, Task

SUITE = FakeSuite()
TASKS = [SUITE.task(name, seed) for name in SUITE.names() for seed in range(2)]


async def golden(task: Task, mode: Mode) -> tuple[Action, ...]:
    return task.golden


async def writer_of_replies() -> Callable[[Action], str]:
    spec = await Bench().manager.spec(TASKS[0].env)
    context = context_of(spec, "gui_only", smart_resize(spec.size_px, ImageRule()))
    return lambda action: Plain().render(action, context)


async def an_oracle() -> OracleModel:
    return OracleModel(await writer_of_replies())


async def run(model: Model, out: Path, *, concurrency: int = 4, **fields: object) -> RunResult:
    blobs = FolderBlobs(out / "blobs")
    bench = Bench(blobs=blobs)
    setting = bench.setting(prepare=prepare_for(model, golden))
    return await run_batch(
        a_config(TASKS, **fields),
        TASKS,
        setting,
        lambda: Harness(model, blobs, dialect=Plain()),
        out,
        concurrency=concurrency,
    )


async def test_the_oracle_solves_every_task_in_the_shortest_number_of_steps(
    tmp_path: Path,
) -> None:
    result = await run(await an_oracle(), tmp_path / "run")
    assert [row.task for row in result.rows if not row.success] == []
    assert all(row.steps - 1 == row.optimal_steps for row in result.rows)


async def test_runs_send_byte_identical_requests_whatever_the_concurrency(tmp_path: Path) -> None:
    sent = []
    for name, concurrency in (("one", 1), ("many", 6)):
        result = await run(await an_oracle(), tmp_path / name, concurrency=concurrency)
        episodes = [read_episode(tmp_path / name / row.path) for row in result.rows]
        sent.append([(c.call_id, c.messages, c.reply) for e in episodes if e for c in e.calls])
    assert sent[0] == sent[1]
    assert len(sent[0]) > 30


async def test_garbage_replies_are_counted_scored_and_never_a_crash(tmp_path: Path) -> None:
    garbage = ["", "{", '{"type": "tap"}', "\udce4\x00", "x" * 200_000]
    result = await run(ScriptedModel(garbage * 10), tmp_path / "run")
    assert all(row.unscored is None for row in result.rows)
    assert {row.reason for row in result.rows} == {EndReason.PARSE_ERRORS}
    assert all(row.parse_errors == 5 for row in result.rows)


async def test_a_script_for_one_task_is_played_on_that_task_only(tmp_path: Path) -> None:
    right = TASKS[0]
    write = await writer_of_replies()
    replies = [write(action) for action in right.golden]
    model = ScriptedModel(['{"type": "finish"}'], by_task={right.id: replies})
    result = await run(model, tmp_path / "run")
    solved = {row.task for row in result.rows if row.success}
    assert right.key in solved
    assert all(task.split("@")[0] == right.id.split("@")[0] for task in solved)
