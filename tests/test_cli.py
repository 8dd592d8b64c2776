from __future__ import annotations

import ast
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from screenloop import cli
from screenloop.agent.dialects import DIALECTS
from screenloop.bench.phone.run import PhoneBench
from screenloop.bench.prefix.run import PrefixBench
from screenloop.bench.web.run import WebBench
from screenloop.cli import main
from screenloop.models.catalog import FORMS
from screenloop.phone.prove.stats import AppsStats
from screenloop.suites.catalog import SUITES

MAIN = "from screenloop.cli import main; main()"
EVAL_KEYS = [
    "suite",
    "model",
    "tasks",
    "episodes",
    "scored",
    "unscored",
    "success_rate",
    "success_ci",
    "reward_mean",
    "steps_mean",
    "steps_vs_optimal",
    "config_hash",
    "run_dir",
]
COMMANDS = {
    "apps",
    "bench",
    "collect",
    "compare",
    "demo",
    "doctor",
    "eval",
    "phone",
    "proof",
    "report",
    "serve",
    "serve-model",
    "show",
    "suites",
    "tasks",
    "top",
    "train",
}


class Ran:
    """What a command came to."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status = status
        self.out = out
        self.err = err

    @property
    def complaint(self) -> str:
        """The one line on stderr, and nothing on stdout."""
        lines = self.err.strip().splitlines()
        assert len(lines) == 1, self.err
        assert self.out.strip() == ""
        assert lines[0].startswith("screenloop: ")
        return lines[0]

    @property
    def json(self) -> dict[str, Any]:
        """The one JSON object on stdout."""
        assert self.status == 0, self.err
        assert self.out.count("\n") == 1
        found: dict[str, Any] = json.loads(self.out)
        assert isinstance(found, dict)
        return found


class Shell:
    """Runs commands in a folder of their own, in this process or in another."""

    def __init__(
        self, root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.root = root
        self.capsys = capsys
        self.monkeypatch = monkeypatch
        monkeypatch.chdir(root)

    def __call__(self, line: str) -> Ran:
        self.capsys.readouterr()
        status: object = 0
        try:
            main(line.split())
        except SystemExit as end:
            status = end.code or 0
        assert isinstance(status, int)
        shown = self.capsys.readouterr()
        return Ran(status, shown.out, shown.err)

    def start(self, line: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", MAIN, *line.split()],
            cwd=self.root,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )


@pytest.fixture
def shell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Shell:
    return Shell(tmp_path, capsys, monkeypatch)


# ---- names ---------------------------------------------------------------------------------


def test_the_commands_have_the_promised_names(shell: Shell) -> None:
    ran = shell("no-such-command")
    assert ran.status == 2
    assert set(ran.complaint.partition("Valid: ")[2].rstrip(".").split(", ")) == COMMANDS


@pytest.mark.parametrize(
    ("command", "flags"),
    [
        (
            "eval --suite fake --model oracle",
            "suite model agent tasks limit repeats seed concurrency mode out json dialect prompt",
        ),
        (
            "collect --suite fake --model oracle",
            "suite model agent tasks limit repeats seed concurrency mode out json dialect prompt",
        ),
        ("suites", "json"),
        ("tasks fake", "suite json"),
        ("doctor", "json"),
        ("report x", "json"),
        ("compare x y", "json"),
        ("show x", "json"),
        ("phone", "port host"),
        ("proof --suite fake", "suite json"),
        ("apps stats", "json"),
        ("bench phone", "json"),
        ("bench web", "json"),
        ("bench prefix", "json"),
    ],
)
def test_an_unknown_flag_is_told_the_valid_ones(shell: Shell, command: str, flags: str) -> None:
    ran = shell(f"{command} --no-such-flag")
    assert ran.status == 2
    named = set(ran.complaint.partition("Valid: ")[2].rstrip(".").split(", "))
    assert named >= {f"--{flag}" for flag in flags.split()}


def test_a_command_without_flags_says_so(shell: Shell) -> None:
    assert "It takes no flags." in shell("demo --no-such-flag").complaint


@pytest.mark.parametrize("command", ["eval", "collect"])
def test_both_run_commands_have_the_same_flags(shell: Shell, command: str) -> None:
    def flags(name: str) -> set[str]:
        line = shell(f"{name} --suite fake --model oracle --no-such-flag").complaint
        return set(line.partition("Valid: ")[2].rstrip(".").split(", "))

    assert flags("collect") - flags("eval") == {"--only-success"}
    assert flags("eval") <= flags("collect")


def test_without_a_command_the_help_is_shown(shell: Shell) -> None:
    ran = shell("")
    assert ran.status == 0
    for name in COMMANDS:
        assert re.search(rf"\b{name}\b", ran.out)


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("eval --suite nope --model oracle", SUITES),
        ("tasks nope", SUITES),
        ("proof --suite nope", SUITES),
        ("eval --suite fake --model nope", FORMS),
        ("eval --suite fake --model oracle:x", FORMS),
        ("eval --suite fake --model random:", FORMS),
        ("eval --suite fake --model scripted", FORMS),
        ("eval --suite fake --model oracle --dialect nope", DIALECTS),
        ("eval --suite fake --model oracle --mode nope", ("gui_only", "hybrid")),
        ("bench nope", ("phone", "web", "prefix")),
        ("apps nope", ("stats",)),
        ("evla", ("eval",)),
    ],
)
def test_an_unknown_name_is_told_the_valid_ones(
    shell: Shell, line: str, names: tuple[str, ...]
) -> None:
    ran = shell(line)
    assert ran.status == 2
    for name in names:
        assert name in ran.complaint


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("eval --suite fake --model oracle --tasks zzz*", "screenloop tasks fake"),
        ("eval --suite fake --model oracle --limit 0", "--limit must be at least 1"),
        ("eval --suite fake --model oracle --repeats 0", "--repeats must be at least 1"),
        ("eval --suite fake --model oracle --concurrency 0", "--concurrency must be at least 1"),
        ("eval --suite fake --model oracle --limit many", "--limit"),
        ("eval --suite fake --model oracle --overlap 10", "--overlap"),
        ("eval --suite fake --model oracle --overlap -1", "--overlap"),
        ("eval --suite fake --model oracle --max-tokens 0", "--max-tokens must be at least 1"),
        ("eval --suite fake --model oracle --temperature nan", "--temperature must be"),
        ("eval --suite fake --model oracle --out /dev/null", "/dev/null cannot hold a run"),
        ("eval --suite fake --model oracle --out /dev/null/x", "/dev/null/x cannot hold a run"),
        ("eval --suite fake --model oracle --out bad\udcff", "is not UTF-8"),
        ("eval --suite fake --model oracle --price free", "price"),
        ("eval --suite fake --model oracle --prompt no-file", "no-file"),
        ("eval --suite fake --model scripted:no-file", "no-file"),
        ("eval --suite fake --model replay:no-run", "no-run"),
        ("eval --suite fake --model openai:tiny", "BASE_URL"),
        ("eval --suite fake", "--agent package.module:Class"),
        ("eval --suite fake --agent no_such_module:Agent", "no_such_module"),
        ("eval --suite fake --agent os:getcwd", "no agent"),
        ("collect --suite fake --agent screenloop.models.oracle:OracleModel", "no method begin"),
        ("eval --suite os:getcwd --model oracle", "no suite"),
        ("eval --suite :x --model oracle", "dotted path"),
        ("eval --suite miniwob --model oracle --tasks click-button", "no solution"),
        ("eval --suite phone-core --model oracle --mode hybrid --dialect uitars", "gui_only"),
        ("eval --model oracle", "--suite"),
        ("proof --suite miniwob --tasks click-button", "golden"),
        ("report no-run", "no-run"),
        ("compare no-a no-b", "no-a"),
        ("show no-episode", "no-episode is no episode"),
        ("show .", "RUN/episodes/EPISODE/attempt-N"),
        ("phone --port 70000", "70000"),
        ("phone --host 203.0.113.9 --port 0", "203.0.113.9"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(shell: Shell, line: str, words: str) -> None:
    ran = shell(line)
    assert ran.status == 2, ran.err
    assert words in ran.complaint
    assert not list(shell.root.iterdir()), "nothing may have been begun"


def test_a_port_that_is_taken_is_named(shell: Shell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = shell(f"phone --port {port}")
    assert ran.status == 2
    assert f"127.0.0.1:{port}" in ran.complaint
    assert "--port" in ran.complaint


# ---- how it is written ----


def test_commands_stay_thin() -> None:
    """Command lines rot first: what a command does belongs into the rooms below."""
    files = sorted(Path(cli.__file__).parent.glob("*.py"))
    assert [file.name for file in files if len(file.read_text("utf-8").splitlines()) > 320] == []
    fat = []
    for file in files:
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = len(node.body) and node.body[-1].end_lineno - node.lineno
                if lines > 55:
                    fat.append(f"{file.name}: {node.name}")
    assert fat == []


def test_every_flag_says_what_it_is_for() -> None:
    silent = []
    waiting = [cli.app]
    while waiting:
        command = waiting.pop()
        waiting += [command[name] for name in command if not name.startswith("-")]
        if command.default_command is not None:
            flags = command.assemble_argument_collection(parse_docstring=True)
            silent += [
                f"{command.name[0]} {a.name}"
                for a in flags
                if "-" in a.name and not a.parameter.help
            ]
    assert silent == []


# ---- what is printed -------------------------------------------------------------------------


def test_eval_prints_exactly_the_promised_keys(shell: Shell) -> None:
    found = shell("eval --suite fake --model oracle --limit 2 --json").json
    assert list(found) == EVAL_KEYS
    assert (found["suite"], found["model"]) == ("fake", "oracle")
    assert (found["episodes"], found["scored"], found["unscored"]) == (2, 2, 0)
    assert (found["success_rate"], found["reward_mean"]) == (1.0, 1.0)
    assert (shell.root / found["run_dir"] / "run.json").is_file()


def test_the_same_flags_go_on_where_an_earlier_run_stopped(shell: Shell) -> None:
    line = "eval --suite fake --model oracle --limit 3 --out again --json"
    first = shell(line).json
    files = {path: path.stat().st_mtime_ns for path in shell.root.rglob("episode.jsonl")}
    assert shell(line).json == first
    assert files == {path: path.stat().st_mtime_ns for path in shell.root.rglob("episode.jsonl")}


def test_collect_adds_the_file_with_the_steps(shell: Shell) -> None:
    found = shell("collect --suite fake --model oracle --limit 2 --json").json
    assert list(found) == [*EVAL_KEYS, "parquet"]
    assert (shell.root / found["parquet"]).stat().st_size > 0


def test_eval_and_collect_play_under_one_configuration(shell: Shell) -> None:
    flags = "--suite fake --model random --limit 2 --steps 3 --json"
    hashes = [
        shell(f"{name} {flags} --out {name}").json["config_hash"] for name in ("eval", "collect")
    ]
    assert hashes[0] == hashes[1]


def test_proof_prints_exactly_the_promised_keys(shell: Shell) -> None:
    found = shell("proof --suite fake --json").json
    assert list(found) == ["suite", "tasks", "accepted", "rejected", "mutants", "mutants_killed"]
    assert found["accepted"] == found["tasks"] > 0
    assert found["mutants_killed"] == found["mutants"] > 0


@pytest.mark.parametrize(
    ("kind", "keys"),
    [
        (
            AppsStats,
            "apps tools routes_median actions_median transitions_median depth_median "
            "uncovered_actions replay_failures",
        ),
        (
            PhoneBench,
            "reset_ms_p50 step_frame_ms_p50 step_frame_cpu_ms frame_1080x2400_ms_p50 phones_live "
            "rss_mb bytes_per_phone",
        ),
        (WebBench, "reset_ms_p50 step_ms_p50 cpu_ms_per_step rss_mb"),
        (PrefixBench, "hit_windowed hit_last_k recompute_ratio train_tokens_ratio"),
    ],
)
def test_figures_have_the_promised_names(kind: Any, keys: str) -> None:
    assert set(keys.split()) <= set(kind.__struct_fields__)


def test_suites_and_tasks_are_listed(shell: Shell) -> None:
    rows = shell("suites --json").json["suites"]
    assert {row["suite"] for row in rows} == set(SUITES)
    found = shell("tasks fake --json").json
    assert [task["id"].partition("/")[0] for task in found["tasks"]] == ["fake"] * 8
    table = shell("tasks fake --tasks *note*").out
    assert "add_note" in table
    assert "zero_counter" not in table


def test_a_table_for_people_says_where_the_run_lies_and_what_is_next(shell: Shell) -> None:
    ran = shell("eval --suite fake --model oracle --limit 1 --out here")
    assert ran.status == 0
    assert "here" in ran.out
    assert "screenloop report" in ran.out


def test_report_compare_and_show_read_a_run(shell: Shell) -> None:
    for name in ("a", "b"):
        shell(f"eval --suite fake --model oracle --limit 2 --out {name} --json")
    report = shell("report a --json").json
    assert list(report) == [*EVAL_KEYS, "report"]
    assert (shell.root / report["report"]).is_file()
    assert shell("compare a b --json").json
    episode = next((shell.root / "a").rglob("episode.jsonl"))
    page = shell(f"show {episode} --json").json["page"]
    assert (shell.root / page).is_file()


def test_runs_under_another_harness_are_not_compared_unless_told(shell: Shell) -> None:
    shell("eval --suite fake --model oracle --limit 2 --out a --json")
    shell("eval --suite fake --model oracle --limit 2 --out b --window 5 --json")
    refused = shell("compare a b --json")
    assert refused.status == 2
    assert "harness" in refused.complaint
    assert shell("compare a b --force --json").json


# ---- what is missing ---------------------------------------------------------------------------


def test_an_unreachable_model_ends_before_any_episode(shell: Shell) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        url = f"http://127.0.0.1:{port}/v1"
        ran = shell(f"eval --suite fake --model openai:tiny@{url} --out run --json")
    assert ran.status == 1
    assert url in ran.complaint
    assert not (shell.root / "run" / "episodes").exists()


def test_without_a_browser_phones_run_and_web_suites_name_the_package(shell: Shell) -> None:
    shell.monkeypatch.setenv("SCREENLOOP_CHROMIUM", str(shell.root / "no-such-browser"))
    phone = shell("eval --suite phone-core --model random --limit 1 --steps 2 --out phone --json")
    assert phone.json["episodes"] == 1
    web = shell("eval --suite miniwob --model random --limit 1 --steps 2 --out web --json")
    assert web.status == 2
    assert "chromium-headless-shell" in web.complaint
    assert not (shell.root / "web" / "episodes").exists()


def test_the_doctor_takes_a_missing_browser_for_optional(shell: Shell) -> None:
    shell.monkeypatch.setenv("SCREENLOOP_CHROMIUM", str(shell.root / "no-such-browser"))
    found = shell("doctor --json").json
    assert found["ok"] is True
    states = {finding["name"]: finding["ok"] for finding in found["findings"]}
    assert states == {
        "python": True,
        "mocked phone": True,
        "run folder": True,
        "browser": False,
        "web page": False,
    }
    assert "chromium-headless-shell" in shell("doctor").out


def test_the_doctor_fails_where_no_run_could_be_kept(shell: Shell) -> None:
    shell.monkeypatch.setenv("SCREENLOOP_CHROMIUM", str(shell.root / "no-such-browser"))
    (shell.root / "runs").write_text("a file in the way")
    ran = shell("doctor --json")
    assert ran.status == 1
    assert json.loads(ran.out)["ok"] is False


# ---- the end -----------------------------------------------------------------------------------


@pytest.mark.parametrize("options", ["", "--json"])
def test_an_interrupt_says_how_to_go_on(shell: Shell, options: str) -> None:
    process = shell.start(
        f"eval --suite phone-core --model random --limit 2 --repeats 500 --out long {options}"
    )
    deadline = time.monotonic() + 240
    while not list((shell.root / "long").glob("episodes/*")):
        assert time.monotonic() < deadline
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=240)
    assert process.returncode == 130
    assert "--out long" in err
    assert "Traceback" not in err
    assert "{" not in out


def test_a_command_of_its_own_process_ends_with_its_status(shell: Shell) -> None:
    process = shell.start("tasks nope")
    out, err = process.communicate(timeout=240)
    assert (process.returncode, out) == (2, "")
    assert err.startswith("screenloop: Unknown suite 'nope'.")


def test_a_reader_that_goes_away_is_no_crash(shell: Shell) -> None:
    process = shell.start("tasks miniwob --json")
    assert process.stdout is not None
    assert process.stderr is not None
    os.close(os.dup(process.stdout.fileno()))
    process.stdout.close()
    assert process.wait(timeout=240) == 1
    assert "Traceback" not in process.stderr.read()
    process.stderr.close()
