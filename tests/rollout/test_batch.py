"""Many Episodes under one configuration."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest
from played import ONCE, Bench, PlayedAgent, a_config, fake_task

from screenloop.actions import Finish, Wait
from screenloop.agent.base import Decision, Turn
from screenloop.envs.fake import FakeFault
from screenloop.errors import Blame, ConfigError, InfraFault, ModelUnavailable, TaskError
from screenloop.rollout.batch import plan_episodes, run_batch
from screenloop.store.episodes import read_episode
from screenloop.store.runs import EpisodeRow, RunFolder
from screenloop.types import Budget

NAMES = ("add_note", "count_notes", "zero_counter")
TASKS = [fake_task(name, seed) for name in NAMES for seed in range(2)]


def finishing() -> PlayedAgent:
    return PlayedAgent(Wait(), Finish())


async def test_every_task_is_played_as_often_as_asked_in_the_order_of_the_plan(
    tmp_path: Path,
) -> None:
    config = a_config(TASKS, repeats=2)
    result = await run_batch(config, TASKS, Bench().setting(), finishing, tmp_path / "run")
    assert [(row.task, row.repeat) for row in result.rows] == [
        (key, repeat) for key in sorted(t.key for t in TASKS) for repeat in (0, 1)
    ]
    folder = RunFolder(tmp_path / "run")
    assert folder.rows() == result.rows
    assert folder.result() == result
    kept = msgspec.json.decode(folder.result_path.read_bytes(), type=type(result))
    assert kept.rows == result.rows


async def test_every_episode_carries_both_hashes(tmp_path: Path) -> None:
    result = await run_batch(a_config(TASKS), TASKS, Bench().setting(), finishing, tmp_path / "run")
    for row in result.rows:
        episode = read_episode(tmp_path / "run" / row.path)
        assert episode is not None
        assert episode.start.config_hash == result.manifest.config_hash
        assert episode.start.harness_hash == result.manifest.harness_hash


async def test_no_more_episodes_run_at_once_than_asked(tmp_path: Path) -> None:
    now, most = 0, 0

    class Counting(PlayedAgent):
        async def decide(self, turn: Turn, *, deadline_s: float) -> Decision:
            nonlocal now, most
            now += 1
            most = max(most, now)
            await asyncio.sleep(0)
            now -= 1
            return await super().decide(turn, deadline_s=deadline_s)

    bench = Bench()
    await run_batch(
        a_config(TASKS),
        TASKS,
        bench.setting(),
        lambda: Counting(Wait(), Finish()),
        tmp_path / "run",
        concurrency=2,
    )
    assert most <= 2
    assert len(bench.devices) == 2


async def test_a_fault_is_retried_on_another_instance_and_both_attempts_are_kept(
    tmp_path: Path,
) -> None:
    bench = Bench([FakeFault(operation="step", kind="crash")])
    task = TASKS[0]
    result = await run_batch(
        a_config([task]), [task], bench.setting(), finishing, tmp_path / "run", concurrency=1
    )
    (row,) = result.rows
    assert row.unscored is None
    assert row.attempts == 2
    assert len(bench.devices) == 2
    folder = RunFolder(tmp_path / "run")
    home = folder.episode_folder(0, task.key, 0)
    first = read_episode(folder.attempt_path(home, 0))
    assert first is not None
    assert first.verdict is not None
    assert first.verdict.unscored is not None
    second = read_episode(tmp_path / "run" / row.path)
    assert second is not None
    assert (first.start.attempt, second.start.attempt) == (0, 1)


async def test_the_retry_policy_gives_up_and_leaves_the_episode_unscored(tmp_path: Path) -> None:
    task = TASKS[0]
    result = await run_batch(
        a_config([task]),
        [task],
        Bench().setting(retry_pause_s=0.0),
        lambda: PlayedAgent(ModelUnavailable("refused")),
        tmp_path / "run",
    )
    (row,) = result.rows
    assert row.attempts == 3
    assert row.unscored is not None
    assert row.unscored.blame is Blame.INFRASTRUCTURE


async def test_a_task_fault_is_not_retried(tmp_path: Path) -> None:
    task = TASKS[0]
    result = await run_batch(
        a_config([task]),
        [task],
        Bench().setting(),
        lambda: PlayedAgent(TaskError("broken")),
        tmp_path / "run",
    )
    assert result.rows[0].attempts == 1
    assert result.rows[0].unscored is not None


async def test_an_unscored_episode_is_no_result_and_is_played_again(tmp_path: Path) -> None:
    config = a_config(TASKS, retry=ONCE)
    agents = iter([PlayedAgent(ModelUnavailable("refused")), *[finishing() for _ in range(20)]])
    out = tmp_path / "run"
    first = await run_batch(config, TASKS, Bench().setting(), lambda: next(agents), out)
    assert sum(row.unscored is not None for row in first.rows) == 1
    made = []

    def again() -> PlayedAgent:
        made.append(finishing())
        return made[-1]

    second = await run_batch(config, TASKS, Bench().setting(), again, out)
    assert len(made) == 1
    assert all(row.unscored is None for row in second.rows)
    (replayed,) = [row for row in second.rows if row.attempts == 2]
    assert replayed.path.endswith("attempt-1/episode.jsonl")


async def test_another_configuration_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "run"
    await run_batch(a_config(TASKS), TASKS, Bench().setting(), finishing, out)
    with pytest.raises(ConfigError, match=r"harness\.repeats was 1, is 2"):
        await run_batch(a_config(TASKS, repeats=2), TASKS, Bench().setting(), finishing, out)


async def test_tasks_that_are_not_the_configurations_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="first difference: fake/"):
        await run_batch(a_config(TASKS), TASKS[:3], Bench().setting(), finishing, tmp_path / "run")
    assert not (tmp_path / "run").exists()


async def test_the_runs_budget_overrides_the_tasks_own(tmp_path: Path) -> None:
    config = a_config(TASKS[:1], budget=Budget(steps=1))
    result = await run_batch(
        config, TASKS[:1], Bench().setting(), lambda: PlayedAgent(Wait()), tmp_path / "run"
    )
    assert result.rows[0].steps == 1


async def test_a_full_disk_stops_the_run_with_its_own_error(tmp_path: Path) -> None:
    out = tmp_path / "run"
    folder = RunFolder(out)
    out.mkdir()
    (out / "blobs").mkdir()
    home = folder.episode_folder(0, TASKS[0].key, 0)

    class Sabotage:
        def planned(self, total: int, kept: int) -> None:
            home.parent.mkdir(exist_ok=True)
            home.write_text("a file where a folder must be")

        def began(self, planned: object, attempt: int) -> None: ...

        def ended(self, row: EpisodeRow) -> None: ...

    with pytest.raises(InfraFault, match="cannot write episode file"):
        await run_batch(
            a_config(TASKS[:1]), TASKS[:1], Bench().setting(), finishing, out, progress=Sabotage()
        )


def test_seeds_depend_on_run_seed_task_and_repeat_and_fit_every_json_reader() -> None:
    plan = plan_episodes(a_config(TASKS, repeats=3), TASKS)
    seeds = [planned.seed for planned in plan]
    assert len(set(seeds)) == len(seeds) == 18
    assert all(0 <= seed < 2**48 for seed in seeds)
    assert seeds == [p.seed for p in plan_episodes(a_config(TASKS, repeats=3), TASKS[::-1])]
    other = plan_episodes(a_config(TASKS, repeats=3, seed=1), TASKS)
    assert not set(seeds) & {planned.seed for planned in other}


async def test_the_same_run_twice_takes_the_same_steps(tmp_path: Path) -> None:
    pair = []
    for name in ("a", "b"):
        result = await run_batch(
            a_config(TASKS), TASKS, Bench().setting(), finishing, tmp_path / name, concurrency=3
        )
        episodes = [read_episode(tmp_path / name / row.path) for row in result.rows]
        pair.append([e.steps for e in episodes if e is not None])
    assert pair[0] == pair[1]
