"""Curves in other people's tools; those that are not installed are left out."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from run_lines import evaluation, update_line, whole_run, write_lines

from screenloop.errors import ConfigError
from screenloop.report.training.metrics import WarmUpLine
from screenloop.train.trackers import TRACKERS, require_trackers, scalars_of, tracking

CONFIG = {"recipe": "made up", "seed": 1}
PARTS = Path(__file__).parent


def needs(package: str) -> pytest.MarkDecorator:
    reason = f"{package} is not installed"
    return pytest.mark.skipif(find_spec(package) is None, reason=reason)


def test_the_numbers_of_an_update_are_named_by_what_they_are_part_of() -> None:
    told = scalars_of(update_line(7, success=0.5))
    assert (told.kind, told.at) == ("rl", 7)
    assert told.values["rl/success"] == 0.5
    assert told.values["rl/reward_components/outcome"] == 0.5
    assert told.values["rl/success_by_domain/tick"] == 0.5
    assert told.values["rl/seconds/update"] == 0.5
    assert told.values["rl/parity_max"] == 2e-6
    assert not {"rl/update", "rl/kind", "rl/held_out"} & told.values.keys()
    assert all(isinstance(value, float) for value in told.values.values())


def test_warm_up_and_measurements_have_axes_of_their_own() -> None:
    warm = scalars_of(WarmUpLine(step=3, loss=1.5, agreement=0.25))
    assert (warm.kind, warm.at) == ("warm_up", 3)
    assert warm.values == {"warm_up/loss": 1.5, "warm_up/agreement": 0.25}
    measured = scalars_of(evaluation("scheduled", "validation", 90, update=10, step=4))
    assert (measured.kind, measured.at) == ("evaluation", 14)
    assert measured.values == {
        "evaluation/validation/success": 0.9,
        "evaluation/validation/success/tick": 0.9,
        "evaluation/validation/unscored": 0.0,
    }


def test_an_unknown_tracker_is_told_the_valid_ones() -> None:
    with pytest.raises(ConfigError, match="Valid: tensorboard, trackio, wandb"):
        require_trackers(["tensorbord"])
    require_trackers([])


@pytest.mark.parametrize("name", TRACKERS)
def test_a_package_that_is_missing_is_said_with_the_command_that_installs_it(name: str) -> None:
    hide = f"import sys; sys.modules[{name!r}] = None\n"
    code = f"{hide}from screenloop.train.trackers import require_trackers as r; r([{name!r}])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert f"pip install 'screenloop[{name}]'" in ran.stderr


def play(names: list[str], folder: Path) -> None:
    """Tell a whole run to trackers, as a trainer does: written down first."""
    lines = whole_run()
    with tracking(names, folder, CONFIG) as watch:
        for number, line in enumerate(lines):
            write_lines(folder, lines[: number + 1])
            watch(line)


def played_apart(name: str, root: Path, **settings: str) -> str:
    """Play in a process of its own, which writes out all it holds; returns its standard output."""
    code = (
        f"import sys; sys.path.insert(0, {str(PARTS)!r})\n"
        "from pathlib import Path; from test_trackers import play\n"
        f"play([{name!r}], Path('run'))"
    )
    environment = {**settings, "PATH": "", "HOME": str(root), "PYTHONPATH": ":".join(sys.path)}
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=root,
        env=environment,
    )
    return ran.stdout


def test_a_run_that_never_begins_leaves_nothing_behind(tmp_path: Path) -> None:
    installed = [name for name in TRACKERS if find_spec(name)]
    with tracking(installed, tmp_path, CONFIG):
        pass
    assert list(tmp_path.iterdir()) == []


@needs("tensorboard")
def test_event_files_hold_every_curve_and_a_resumed_run_writes_each_point_once(
    tmp_path: Path,
) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    play(["tensorboard"], tmp_path)
    kept = whole_run()[:-8]
    with tracking(["tensorboard"], tmp_path, CONFIG) as watch:
        # Another process: the lines behind the checkpoint were taken back.
        write_lines(tmp_path, kept)
        watch(kept[-1])
    read = EventAccumulator(str(tmp_path / "tensorboard"))
    read.Reload()
    points = read.Scalars("rl/success")
    assert [point.step for point in points] == list(range(1, 6))
    assert [point.value for point in points] == pytest.approx([0.45, 0.5, 0.55, 0.6, 0.65])
    assert [p.step for p in read.Scalars("evaluation/test/success")] == [0, 4]
    assert "warm_up/loss" in read.Tags()["scalars"]


def log_records(data: bytes) -> list[bytes]:
    """Return the records of a write-ahead log: blocks of 32 KiB, parts with a head of 7 bytes."""
    at, records, whole = 7, [], True
    while at + 7 <= len(data):
        left = 32768 - at % 32768
        length, kind = int.from_bytes(data[at + 4 : at + 6], "little"), data[at + 6]
        if left < 7 or kind == 0:
            at += left
            continue
        part = data[at + 7 : at + 7 + length]
        records = [*records, part] if whole else [*records[:-1], records[-1] + part]
        whole, at = kind in (1, 4), at + 7 + length
    return records


@needs("wandb")
def test_weights_and_biases_gets_every_line(tmp_path: Path) -> None:
    from wandb.proto.wandb_internal_pb2 import Record

    played_apart("wandb", tmp_path, WANDB_MODE="offline")
    (path,) = tmp_path.glob("run/wandb/offline-run-*/run-*.wandb")
    rows = []
    for data in log_records(path.read_bytes()):
        record = Record()
        record.ParseFromString(data)
        if record.WhichOneof("record_type") == "history":
            rows.append(
                {
                    "/".join(i.nested_key) or i.key: json.loads(i.value_json)
                    for i in record.history.item
                }
            )
    assert len(rows) == len(whole_run())
    updates = [row for row in rows if "rl/update" in row]
    assert [row["rl/update"] for row in updates] == list(range(1, 11))
    assert updates[0]["rl/success"] == 0.45


@needs("trackio")
def test_trackio_keeps_every_line_and_leaves_standard_output_alone(tmp_path: Path) -> None:
    said = played_apart(
        "trackio", tmp_path, TRACKIO_DIR=str(tmp_path / "kept"), GRADIO_ANALYTICS_ENABLED="False"
    )
    assert said == ""
    with sqlite3.connect(tmp_path / "kept" / "screenloop.db") as database:
        kept = [json.loads(row[0]) for row in database.execute("select metrics from metrics")]
    database.close()
    updates = [row["rl/success"] for row in kept if "rl/success" in row]
    assert len(kept) == len(whole_run())
    assert len(updates) == 10
