from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from screenloop.cli import main
from screenloop.report.training.metrics import UpdateLine, read_metrics
from screenloop.train.recipes import RECIPES

MAIN = "from screenloop.cli import main; main()"
BARE = "import sys; sys.modules['torch'] = None; " + MAIN
KEYS = [
    "recipe",
    "seed",
    "success_before",
    "success_after_sft",
    "success_after_rl",
    "heldout_after_rl",
    "updates",
    "episodes",
    "cpu_s",
    "wall_s",
    "parity_max",
    "groups_with_spread",
    "run_dir",
]
PARTS = Path(__file__).parent / "train"


def start(code: str, line: str, root: Path) -> subprocess.Popen[str]:
    setup = f"import sys; sys.path.insert(0, {str(PARTS)!r}); "
    return subprocess.Popen(
        [sys.executable, "-c", setup + code, *line.split()],
        cwd=root,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def refused(line: str, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as end:
        main(line.split())
    assert end.value.code == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert len(shown.err.strip().splitlines()) == 1
    return shown.err


def test_an_unknown_recipe_is_told_the_valid_ones(capsys: pytest.CaptureFixture[str]) -> None:
    complaint = refused("train --recipe nope", capsys)
    for name in ("01_grpo_in_one_file", *RECIPES):
        assert name in complaint


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("train", "--recipe"),
        ("train --recipe tiny_text --resume", "--out"),
        ("train --recipe tiny_text --out a --resume", "no training run"),
        ("train --recipe os:getcwd", "no recipe"),
        ("train --recipe tiny_text --track tensorbord", "Did you mean 'tensorboard'?"),
        ("train --recipe 01_grpo_in_one_file --out a --resume", "keeps no checkpoint"),
        ("serve-model no-folder", "no config.json"),
        ("serve-model x --port 70000", "--port"),
        ("serve-model x --threads -1", "--threads"),
        ("serve-model x --dtype float8", "--dtype"),
    ],
)
def test_what_cannot_be_trained_or_served_is_refused_in_one_line(
    line: str,
    words: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert words in refused(line, capsys)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("line", ["train --recipe tiny_text", "serve-model x"])
def test_without_the_train_extra_the_command_that_installs_it_is_named(
    line: str, tmp_path: Path
) -> None:
    process = start(BARE, line, tmp_path)
    out, err = process.communicate(timeout=240)
    assert (process.returncode, out) == (2, "")
    assert "pip install 'screenloop[train]'" in err
    assert "torch" in err


def test_train_prints_exactly_the_promised_keys(tmp_path: Path) -> None:
    process = start(MAIN, "train --recipe short_recipe:recipe --out a --json", tmp_path)
    out, err = process.communicate(timeout=240)
    assert process.returncode == 0, err
    found = json.loads(out)
    assert list(found) == KEYS
    assert (found["recipe"], found["run_dir"]) == ("short", "a")
    assert 1 <= found["updates"] <= 2
    assert (tmp_path / "a" / "run.html").is_file()


def test_the_recipe_in_one_file_prints_the_same_keys(tmp_path: Path) -> None:
    process = start(MAIN, "train --recipe 01_grpo_in_one_file --out a --json", tmp_path)
    out, err = process.communicate(timeout=240)
    assert process.returncode == 0, err
    found = json.loads(out)
    assert list(found) == KEYS
    assert found["success_before"] < 0.2
    assert found["success_after_rl"] > 0.9
    assert (tmp_path / "a" / "result.json").is_file()


@pytest.mark.slow
def test_in_a_pipe_a_run_tells_its_measurements_and_its_gain(tmp_path: Path) -> None:
    process = start(MAIN, "train --recipe short_recipe:recipe --out a", tmp_path)
    out, err = process.communicate(timeout=240)
    assert process.returncode == 0, err
    assert "untrained: " in err
    assert "after the warm-up: " in err
    assert "by RL" in out
    assert "result   a" in out


def wait_for(ready: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 240
    while not ready():
        assert time.monotonic() < deadline
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)


def updates_of(folder: Path) -> list[int]:
    return [line.update for line in read_metrics(folder) if isinstance(line, UpdateLine)]


@pytest.mark.slow
def test_an_interrupt_says_how_to_resume_and_the_run_goes_on(tmp_path: Path) -> None:
    line, folder = "train --recipe short_recipe:long_recipe --seed 3 --out a", tmp_path / "a"
    process = start(MAIN, line, tmp_path)
    wait_for(lambda: (folder / "checkpoint.pt").exists() and len(updates_of(folder)) > 1, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=240)
    assert process.returncode == 130
    assert f"screenloop {line} --resume" in err
    assert "Traceback" not in err
    assert out == ""

    done = len(updates_of(folder))
    process = start(MAIN, line + " --resume", tmp_path)
    wait_for(lambda: len(updates_of(folder)) > done + 1, process)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=240)
    updates = updates_of(folder)
    assert updates == list(range(1, len(updates) + 1))


@pytest.mark.slow
def test_a_served_model_says_where_it_is_and_answers(tmp_path: Path) -> None:
    from screenloop.engine.tiny import tiny_text
    from screenloop.engine.tokenizer import TinyWords

    tiny_text(TinyWords(words=("soap",))).save(tmp_path / "small")
    process = start(MAIN, "serve-model small --port 0", tmp_path)
    assert process.stdout is not None
    said = process.stdout.readline()
    base_url = said.split()[-1]
    with urllib.request.urlopen(f"{base_url}/models", timeout=30) as answer:
        listed = json.load(answer)
    assert listed["data"][0]["id"] == "tiny-text"
    assert f"openai:tiny-text@{base_url}" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=240)
    assert process.returncode == 130
    assert "Traceback" not in err
