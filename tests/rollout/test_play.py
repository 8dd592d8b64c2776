from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from screenloop.agent.dialects import DIALECTS
from screenloop.config import config_hash, harness_hash
from screenloop.errors import ConfigError, ModelUnavailable
from screenloop.registry import find
from screenloop.rollout.play import RunRequest, play, read_prompt, resolve, run_folder
from screenloop.store.episodes import read_episode
from screenloop.suites.catalog import find_suite, select

REQUEST = RunRequest(suite="fake", model="oracle", limit=2)
TASKS = select(find_suite("fake"), limit=2)
PLAIN = find("dialect", "plain", DIALECTS)()


def test_a_run_without_a_folder_gets_a_new_one_by_time_suite_and_model() -> None:
    assert run_folder(REQUEST, 0.0) == Path("runs/19700101-000000-fake-oracle")
    long = replace(REQUEST, model="openai:org/a-model@http://127.0.0.1:8000/v1")
    assert "/" not in run_folder(long, 0.0).name
    assert run_folder(replace(REQUEST, out="here"), 0.0) == Path("here")


def test_the_order_of_tasks_is_no_part_of_the_configuration() -> None:
    assert resolve(REQUEST, TASKS, PLAIN) == resolve(REQUEST, TASKS[::-1], PLAIN)


def test_two_models_share_the_harness() -> None:
    one, two = (
        resolve(REQUEST, TASKS, PLAIN),
        resolve(replace(REQUEST, model="random"), TASKS, PLAIN),
    )
    assert harness_hash(one) == harness_hash(two)
    assert config_hash(one) != config_hash(two)


def test_an_authors_prompt_enters_the_configuration_by_its_text(tmp_path: Path) -> None:
    first, second, same = (tmp_path / name for name in ("a.txt", "b.txt", "c.txt"))
    first.write_text("Do it.")
    second.write_text("Do it well.")
    same.write_text("Do it.")
    hashes = [
        config_hash(resolve(replace(REQUEST, prompt_file=str(path)), TASKS, PLAIN))
        for path in (first, second, same)
    ]
    assert hashes[0] == hashes[2] != hashes[1]
    assert config_hash(resolve(REQUEST, TASKS, PLAIN)) not in hashes


def test_a_prompt_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "prompt.txt"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match=r"prompt\.txt"):
        read_prompt(str(path))
    assert read_prompt("") is None


async def test_nothing_is_written_when_the_model_cannot_be_reached(tmp_path: Path) -> None:
    out = tmp_path / "run"
    with pytest.raises(ModelUnavailable):
        await play(replace(REQUEST, model="openai:tiny@http://127.0.0.1:9/v1", out=str(out)))
    assert not out.exists()


async def test_a_dialect_that_reads_the_tree_is_shown_it_and_people_still_get_pictures(
    tmp_path: Path,
) -> None:
    out = tmp_path / "run"
    result = await play(replace(REQUEST, dialect="tinytree", out=str(out)))
    assert [row.success for row in result.rows] == [True, True]
    for path in out.glob("episodes/*/*/episode.jsonl"):
        episode = read_episode(path)
        assert episode is not None
        assert all(step.observation.tree and step.observation.frame for step in episode.steps)
        assert "<e0>" in episode.calls[0].messages[-1].text


async def test_a_folder_of_another_configuration_is_refused(tmp_path: Path) -> None:
    out = str(tmp_path / "run")
    await play(replace(REQUEST, out=out))
    with pytest.raises(ConfigError, match="another configuration"):
        await play(replace(REQUEST, model="random", out=out))


async def test_a_run_plays_each_task_as_often_as_asked(tmp_path: Path) -> None:
    result = await play(replace(REQUEST, repeats=3, out=str(tmp_path / "run")))
    assert [(row.task, row.repeat) for row in result.rows] == [
        (task.key, repeat) for task in TASKS for repeat in range(3)
    ]
    assert all(row.success for row in result.rows)
