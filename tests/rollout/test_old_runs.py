"""Run folders of version 0.1 open in `report`, `show` and `compare`, or are refused in a sentence.

`fixtures/run-0.1` was written by that version: one Episode of a suite, without its pictures.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from screenloop.cli import main
from screenloop.store.runs import RunFolder

OLD = Path(__file__).parent / "fixtures" / "run-0.1"


@pytest.fixture(params=["fake", "phone"])
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return Path(shutil.copytree(OLD / request.param, tmp_path / request.param))


def said(line: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as end:
        main(line)
    shown = capsys.readouterr()
    return int(end.value.code or 0), shown.out, shown.err


def test_its_report_and_replay_are_written(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = said(["report", str(old), "--json"], capsys)
    assert status == 0, err
    assert (old / "report.html").is_file()
    assert json.loads(out)["config_hash"] == RunFolder(old).manifest().config_hash
    (attempt,) = old.glob("episodes/*/attempt-0")
    status, out, err = said(["show", str(attempt), "--json"], capsys)
    assert status == 0, err
    assert Path(json.loads(out)["page"]).is_file()


def test_it_is_compared_with_itself(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = said(["compare", str(old), str(old), "--json"], capsys)
    assert status == 0, err
    assert json.loads(out)["pairs"] == 1


@pytest.mark.parametrize("command", ["report", "compare"])
def test_a_run_with_fields_that_are_not_known_is_refused_in_one_sentence(
    old: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = json.loads((old / "run.json").read_text())
    (old / "run.json").write_text(json.dumps({**manifest, "colour": "red"}))
    status, out, err = said(
        [command, str(old), *([str(old)] if command == "compare" else [])], capsys
    )
    assert (status, out) == (2, "")
    assert len(err.strip().splitlines()) == 1
    assert "run.json cannot be read" in err
