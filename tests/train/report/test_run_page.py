from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_lines import evaluation, update_line, whole_run, write_lines

from screenloop.cli import main
from screenloop.errors import InfraFault
from screenloop.report.training.curves import MAX_POINTS, Axis, Series, chart
from screenloop.report.training.gains import gains, points
from screenloop.report.training.page import run_view, write_run_page

AXIS = Axis(low=0, high=10, ticks=((0, "0"), (10, "10")))
RESULT = {
    "result": {"recipe": "tiny", "seed": 4, "success_after_rl": 0.93, "wall_s": 70.5},
    "known_apps": {},
    "unseen_apps": {},
    "warm_up_steps": 4,
    "fingerprint": "abc",
}


def test_the_gain_is_split_into_warm_up_and_reinforcement_learning() -> None:
    test, unseen = gains(whole_run())
    assert (test.before, test.after_sft, test.after_rl) == (0.02, 0.42, 0.93)
    assert points(test.by_sft) == "+40.0"
    assert points(test.by_rl) == "+51.0"
    assert points(unseen.by_rl) == "+20.0"


def test_what_was_not_measured_is_a_dash_and_not_a_nought() -> None:
    (only,) = gains([evaluation("before", "test", 2)])
    assert only.after_sft is None
    assert points(only.by_rl) == "–"


def test_a_finished_run_has_all_of_its_curves_and_its_card(tmp_path: Path) -> None:
    write_lines(tmp_path, whole_run())
    (tmp_path / "result.json").write_text(json.dumps(RESULT))
    view = run_view(tmp_path)
    assert view.finished
    assert view.title == "tiny, seed 4"
    assert view.main is not None
    assert [curve.name for curve in view.main.curves] == [
        "sampled, training tasks",
        "greedy, validation",
        "greedy, test",
        "greedy, unseen apps",
    ]
    assert [len(curve.dots) for curve in view.main.curves] == [0, 2, 3, 3]
    assert [one.title for one in view.charts] == [
        "Success by domain",
        "Reward",
        "Groups",
        "KL",
        "Entropy",
        "Parity",
        "Prefix cache",
        "Seconds by stage",
        "Warm-up: loss",
        "Warm-up: agreement",
    ]
    assert ("fingerprint", "abc") in view.card


def test_the_page_fetches_nothing_and_shows_the_gain(tmp_path: Path) -> None:
    write_lines(tmp_path, whole_run())
    page = write_run_page(tmp_path).read_text("utf-8")
    assert "+51.0" in page
    assert "default-src &#39;none&#39;" in page
    assert not re.findall(r'(?:src|href)="(?!data:|#)', page)
    assert "has not ended" in page


def test_a_refused_update_is_told_until_training_goes_on(tmp_path: Path) -> None:
    write_lines(tmp_path, whole_run())
    told = {"update": 11, "reason": "parity 0.5", "samples": []}
    (tmp_path / "stopped-000011.json").write_text(json.dumps(told))
    assert "Update 11 was refused: parity 0.5" in run_view(tmp_path).stopped
    write_lines(tmp_path, [*whole_run(), update_line(11)])
    assert run_view(tmp_path).stopped == ""


@pytest.mark.parametrize("upto", range(len(whole_run())))
def test_a_run_has_a_page_at_any_time(tmp_path: Path, upto: int) -> None:
    write_lines(tmp_path, whole_run()[:upto])
    assert write_run_page(tmp_path).is_file()


def test_a_damaged_result_is_named(tmp_path: Path) -> None:
    write_lines(tmp_path, whole_run())
    (tmp_path / "result.json").write_text("{")
    with pytest.raises(InfraFault, match=r"result\.json"):
        run_view(tmp_path)


def test_report_writes_the_page_of_a_training_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_lines(tmp_path, whole_run())
    with pytest.raises(SystemExit) as end:
        main(["report", str(tmp_path), "--json"])
    assert not end.value.code
    found = json.loads(capsys.readouterr().out)
    assert Path(found["report"]).is_file()
    assert [gain["of"] for gain in found["gains"]] == ["test", "unseen"]


@given(
    st.lists(st.floats(-1e6, 1e6, allow_nan=False), min_size=1, max_size=30),
    st.sampled_from(["number", "count", "seconds", "power"]),
)
def test_every_value_lies_inside_its_chart(ys: list[float], unit: str) -> None:
    xs = tuple(float(i) for i in range(len(ys)))
    axis = Axis(low=0, high=len(ys), ticks=())
    drawn = chart("t", "s", [Series(name="a", xs=xs, ys=tuple(ys), dots=True)], axis, unit=unit)
    assert drawn is not None
    assert all(0 <= dot.bottom <= 100 and 0 <= dot.left <= 100 for dot in drawn.curves[0].dots)
    assert 2 <= len(drawn.y_ticks) <= 30
    assert drawn.y_ticks[0].at == 0
    assert drawn.y_ticks[-1].at == 100


def test_a_long_curve_is_averaged_and_not_cut() -> None:
    xs = tuple(i / 1000 for i in range(10_000))
    drawn = chart("t", "s", [Series(name="a", xs=xs, ys=xs)], AXIS)
    assert drawn is not None
    assert drawn.curves[0].path.count("L") < MAX_POINTS
    assert drawn.curves[0].path.split("L")[-1].startswith("99")


def test_stacked_series_stand_on_each_other() -> None:
    two = [Series(name=n, xs=(0.0, 10.0), ys=(1.0, 1.0), dots=True) for n in ("a", "b")]
    drawn = chart("t", "s", two, AXIS, stacked=True)
    assert drawn is not None
    assert [curve.dots[0].bottom for curve in drawn.curves] == [50, 100]


def test_without_values_there_is_no_chart() -> None:
    assert chart("t", "s", [Series(name="a", xs=(), ys=())], AXIS) is None
