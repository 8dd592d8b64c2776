"""Every example runs on its own and shows what it is there to show."""

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "examples"
SHOWS = {
    "01_evaluate_a_scripted_agent": "Bring the counter to 3. -> solved",
    "02_drive_a_phone": "after 'Favourite': reward 1",
    "03_write_an_environment": "reset is exact: True",
    "04_write_a_dialect": "fake/add_note@1#0 solved",
    "05_write_a_task": "accepted: True",
    "06_replay_and_report": "the replay saw the same screens: True",
}
"""Words on stdout, by example."""


def test_each_example_is_numbered_and_short():
    files = sorted(FOLDER.glob("*.py"))
    assert [file.stem for file in files] == sorted(SHOWS)
    assert [file.name for file in files if len(file.read_text("utf-8").splitlines()) > 60] == []


@pytest.mark.parametrize("name", SHOWS)
def test_an_example_runs_and_shows_its_point(name, tmp_path):
    run = subprocess.run(
        [sys.executable, FOLDER / f"{name}.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    assert SHOWS[name] in run.stdout
