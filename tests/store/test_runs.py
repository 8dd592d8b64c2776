"""The folder of a Run."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from screenloop.config import HarnessConfig, RunConfig
from screenloop.criteria import AnswerIs
from screenloop.errors import Blame, ConfigError, InfraFault
from screenloop.messages import Sampling
from screenloop.store.episodes import EndRecord, EpisodeWriter, StartRecord, VerdictRecord
from screenloop.store.runs import RunFolder, RunManifest, make_manifest, slug, write_whole
from screenloop.types import EndReason, EnvRef, Goal, Task, Unscored, Usage, Verdict

TASK = Task(
    id="s/odd name!@1",
    env=EnvRef(kind="fake", size_px=(1, 1)),
    goal=Goal(text="go"),
    checks=(AnswerIs(says="x", to="x"),),
)


def manifest(model: str = "m", **fields: object) -> RunManifest:
    config = RunConfig(
        harness=HarnessConfig(suite="s", suite_version="1", tasks=(TASK.key,)),
        model=model,
        **fields,  # type: ignore[arg-type]
    )
    return make_manifest(config, versions={}, machine={}, started_at=0.0)


def write_attempt(folder: RunFolder, number: int, *, end: bool = True, **verdict: object) -> Path:
    home = folder.episode_folder(0, TASK.key, 0)
    writer = EpisodeWriter(folder.attempt_path(home, number))
    writer.write(
        StartRecord(
            episode_id="e",
            run_id="r",
            task=TASK,
            attempt=number,
            mode="gui_only",
            config_hash="c",
            harness_hash="h",
            started_at=0.0,
        )
    )
    if end:
        writer.write(VerdictRecord(verdict=Verdict(**verdict)))  # type: ignore[arg-type]
        writer.write(EndRecord(reason=EndReason.FINISHED, steps=0, usage=Usage(), seconds=0.0))
    writer.close()
    return home


def test_a_manifest_is_written_once_and_read_back(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    begun = folder.open(manifest())
    assert folder.manifest() == begun
    assert RunFolder(tmp_path / "run").open(manifest()) == begun


def test_the_manifest_spells_out_defaults_so_that_later_ones_change_nothing(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.open(manifest())
    text = msgspec.json.decode(folder.manifest_path.read_bytes())
    assert text["config"]["harness"]["window"] == {"steps": 10, "overlap": 2}
    assert text["config"]["harness"]["package_version"]


def test_another_configuration_is_refused_and_what_differs_is_named(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.open(manifest())
    with pytest.raises(ConfigError, match=r"model was 'm', is 'n'.*sampling\.temperature"):
        folder.open(manifest("n", sampling=Sampling(temperature=0.5)))


def test_a_run_is_not_gone_on_with_under_other_versions(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    old = msgspec.structs.replace(manifest(), versions={"pytakumi": "0.1.5"})
    folder.open(old)
    assert folder.open(old) == old
    with pytest.raises(ConfigError, match=r"pytakumi was 0\.1\.5, is 0\.1\.6"):
        folder.open(msgspec.structs.replace(old, versions={"pytakumi": "0.1.6"}))


def test_a_folder_with_foreign_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(ConfigError, match=r"thesis\.tex"):
        RunFolder(tmp_path).open(manifest())


def test_a_run_killed_before_its_manifest_was_whole_is_begun_again(tmp_path: Path) -> None:
    (tmp_path / "run.lock").touch()
    (tmp_path / ".run.json.part").write_text('{"run_')
    assert RunFolder(tmp_path).open(manifest()) == manifest()


@pytest.mark.parametrize("data", [b"{", b'{"run_id": "\xff"}', b'{"x": ' + b"[" * 100_000])
def test_a_broken_manifest_is_refused_with_its_path(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "run.json").write_bytes(data)
    with pytest.raises(ConfigError, match=r"run\.json cannot be read"):
        RunFolder(tmp_path).manifest()


def test_two_processes_cannot_play_one_run(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    with folder.lock(), pytest.raises(ConfigError, match="another process"), folder.lock():
        pass
    with folder.lock():
        pass


def test_the_latest_attempt_counts_and_one_without_end_is_no_result(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    lost = Unscored(blame=Blame.INFRASTRUCTURE, stage="model", reason="gone")
    home = write_attempt(folder, 0, unscored=lost)
    row = folder.latest_row(0, home)
    assert row is not None
    assert row.unscored == lost
    write_attempt(folder, 1, end=False)
    assert folder.latest_row(0, home) is None
    write_attempt(folder, 2, success=True, reward=1.0)
    row = folder.latest_row(0, home)
    assert row is not None
    assert (row.success, row.attempts) == (True, 3)
    assert folder.attempts(home) == [0, 1, 2]


def test_attempts_are_ordered_by_number_not_by_name(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    for number in (2, 10, 1):
        home = write_attempt(folder, number)
    assert folder.attempts(home) == [1, 2, 10]


def test_folders_that_are_no_attempts_are_left_alone(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    home = write_attempt(folder, 0)
    for name in ("attempt-\u00b2", "attempt-", "attempt-1x"):
        (home / name).mkdir()
    (tmp_path / "episodes" / "\u00b2-x").mkdir()
    assert [row.attempts for row in folder.rows()] == [1]


@pytest.mark.parametrize("line", [b"{", b"\xff", b'{"kind": "start", "task": ' + b"[" * 100_000])
def test_a_damaged_line_says_where_it_is_and_how_to_go_on(tmp_path: Path, line: bytes) -> None:
    folder = RunFolder(tmp_path)
    path = folder.attempt_path(write_attempt(folder, 0), 0)
    path.write_bytes(line + b"\n" + path.read_bytes())
    with pytest.raises(InfraFault, match=r"episode\.jsonl:1 .* Remove .*attempt-0"):
        folder.rows()


def test_an_attempt_whose_file_was_never_begun_is_no_result(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    home = folder.episode_folder(0, TASK.key, 0)
    (home / "attempt-0").mkdir(parents=True)
    assert folder.latest_row(0, home) is None


def test_rows_come_in_the_order_of_the_plan_and_paths_from_the_folder(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    write_attempt(folder, 0)
    (row,) = folder.rows()
    assert row.path == "episodes/0000-s-odd-name-1-0-r0/attempt-0/episode.jsonl"


def test_the_run_around_a_file_is_found(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    folder.open(manifest())
    write_attempt(folder, 0)
    (row,) = folder.rows()
    assert RunFolder.around(folder.root / row.path).root == folder.root.resolve()
    with pytest.raises(ConfigError, match="belongs to no run"):
        RunFolder.around(tmp_path)


def test_slugs_are_safe_file_names() -> None:
    assert slug("openai:a/b@http://h:1/v1") == "openai-a-b-http-h-1-v1"
    assert slug("../..") == "x"
    assert "/" not in slug("日本/語")
    assert len(slug("a" * 500)) == 80


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "result.json"
    write_whole(path, b"first")
    write_whole(path, b"second")
    assert path.read_bytes() == b"second"
    assert [p.name for p in path.parent.iterdir()] == ["result.json"]
    blocked = tmp_path / "file"
    blocked.write_text("x")
    with pytest.raises(InfraFault, match="cannot write"):
        write_whole(blocked / "result.json", b"x")
