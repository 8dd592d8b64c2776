from __future__ import annotations

import io

from rich.console import Console
from run_lines import evaluation, update_line, whole_run

from screenloop.report.training.display import Board, LiveRun, result_table
from screenloop.report.training.gains import gains


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def board() -> Board:
    return Board(title="tiny, seed 0", updates=10, warm_up_steps=4)


def shown(what: object, *, terminal: bool = False) -> str:
    out = io.StringIO()
    Console(file=out, width=80, force_terminal=terminal, color_system=None).print(what)
    return out.getvalue()


def test_the_board_goes_through_its_phases() -> None:
    one = board()
    phases = []
    for line in whole_run():
        one.take(line)
        if not phases or phases[-1] != one.phase:
            phases.append(one.phase)
    assert phases == [
        "measuring the untrained policy",
        "warm-up on demonstrations",
        "reinforcement learning",
        "measured",
    ]


def test_the_display_holds_what_a_person_watches() -> None:
    one = board()
    for line in whole_run():
        one.take(line)
    text = shown(one.render(65.0))
    for words in (
        "10/10 updates",
        "1 min 05 s",
        "reward",
        "groups with spread",
        "3/4",
        "KL",
        "entropy",
        "parity",
        "2.0e-06",
        "prefix hit",
        "80.0 %",
        "held-out",
        "90.0 %",
        "rollout 1.00 s",
        "after the warm-up 42.0 %",
    ):
        assert words in text
    assert all(len(row) <= 80 for row in text.splitlines())


def test_a_resumed_run_is_in_its_updates_at_once() -> None:
    one = board()
    one.take(update_line(7))
    assert one.phase == "reinforcement learning"
    assert "7/10 updates" in shown(one.render(0.0))


def test_in_a_pipe_measurements_are_always_told_and_updates_now_and_then() -> None:
    out, clock = io.StringIO(), Clock()
    with LiveRun(Console(file=out, width=200), board(), clock, every_s=10) as live:
        for number in range(1, 31):
            clock.now_s += 1
            live(update_line(number))
        live(evaluation("after_rl", "test", 93, update=30))
    told = out.getvalue().splitlines()
    assert told[0] == "tiny, seed 0"
    assert [line.split()[3] for line in told[1:-1]] == ["10:", "20:", "30:"]
    assert "93.0 % of 100 test tasks" in told[-1]


def test_in_a_terminal_the_display_is_drawn_and_then_gone() -> None:
    out, clock = io.StringIO(), Clock()
    console = Console(file=out, width=80, force_terminal=True)
    with LiveRun(console, board(), clock) as live:
        for line in whole_run():
            live(line)
    assert "tiny, seed 0" in out.getvalue()


def test_the_result_shows_the_gain_of_each_phase() -> None:
    text = shown(result_table("tiny, seed 0", gains(whole_run()), (("updates", "10"),)))
    assert "+40.0" in text
    assert "+51.0" in text
    assert all(len(row) <= 80 for row in text.splitlines())
