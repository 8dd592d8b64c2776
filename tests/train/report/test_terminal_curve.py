from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from run_lines import evaluation, update_line, whole_run

from screenloop.report.training.terminal_curve import HEIGHT, learning_curve


def test_a_measurement_stands_at_the_height_of_its_success() -> None:
    rows = learning_curve(whole_run()).plain.splitlines()[1 : HEIGHT + 1]
    # 40 % in the warm-up, 90 % after ten updates.
    assert rows[HEIGHT - 1 - 4].index("●") < 12
    assert rows[HEIGHT - 1 - 9].rstrip().endswith("●")


def test_a_run_without_updates_says_so() -> None:
    assert learning_curve([evaluation("before", "test", 2)]).plain == "no update yet"


def test_the_last_measurement_of_the_warm_up_is_where_learning_begins() -> None:
    lines = [evaluation("warm_up", "validation", share) for share in (10, 40)]
    plot = learning_curve([*lines, update_line(1, 0.5)]).plain
    assert plot.splitlines()[1 + HEIGHT - 1 - 4].count("●") == 1
    assert "●" not in plot.splitlines()[1 + HEIGHT - 1 - 1]


@given(
    shares=st.lists(st.floats(0, 1), min_size=1, max_size=300),
    width=st.integers(min_value=30, max_value=120),
)
def test_no_line_is_wider_than_asked_for(shares: list[float], width: int) -> None:
    lines = [update_line(number, share) for number, share in enumerate(shares, start=1)]
    plot = learning_curve(lines, width=width).plain.splitlines()
    assert max(len(row) for row in plot[:-1]) <= width + 8
    assert len(plot) == HEIGHT + 4
