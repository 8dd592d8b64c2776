"""Tables in the terminal."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace
from rich.console import Console
from written_runs import HOST_LOST

from screenloop.report.compare import compare
from screenloop.report.terminal import ProgressBar, compare_table, print_fitted, run_table

Maker = Callable[..., Any]


def printed(what: Any, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    print_fitted(console, what)
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def a_full_run(new_run: Maker, name: str = "run", model: str = "openai:tiny") -> Any:
    run = new_run(name, tasks=6, repeats=2, model=model)
    for number in range(6):
        for repeat in range(2):
            run.episode(
                number, repeat, solved=number % 2 == 0, unscored=HOST_LOST if number == 5 else None
            )
    return run


def test_a_run_fits_80_columns_and_says_what_to_do_next(new_run: Maker) -> None:
    run = a_full_run(new_run)
    text = printed(run_table(run.folder.result(), "runs/first"), width=200)
    assert max(len(line) for line in text.splitlines()[:-3]) <= 80
    assert "success 60.0 %" in text
    assert "2 unscored" in text
    assert "infrastructure" in text
    assert "pass@2" in text
    last = [line for line in text.splitlines() if line.strip()][-3:]
    assert last[0].split() == ["result", "runs/first"]
    assert "screenloop report runs/first" in last[1]
    assert "screenloop show runs/first/episodes/" in last[2]


def test_episodes_that_needed_a_retry_are_counted(new_run: Maker) -> None:
    result = a_full_run(new_run).folder.result()
    assert "needed a retry" not in printed(run_table(result, "runs/first"))
    rows = tuple(replace(row, attempts=row.index + 1) for row in result.rows[:3])
    retried = printed(run_table(replace(result, rows=rows), "runs/first"))
    assert " ".join(retried.split()).count("needed a retry 2") == 1


def test_square_brackets_in_names_are_shown_and_never_read_as_markup(new_run: Maker) -> None:
    run = new_run(model="openai:[bold]odd[/bold]@http://x")
    run.episode(0, solved=False)
    other = new_run("other", model="[red]b")
    other.episode(0)
    assert "[bold]odd[/bold]" in printed(run_table(run.folder.result(), "r"))
    table = printed(compare_table(compare(run.folder.result(), other.folder.result())))
    assert "[red]b" in table


def test_a_run_without_a_scored_episode_says_so(new_run: Maker) -> None:
    run = new_run()
    run.episode(0, unscored=HOST_LOST)
    assert "no success rate" in printed(run_table(run.folder.result(), "r"))


def test_a_comparison_shows_test_interval_differences_and_flips(new_run: Maker) -> None:
    a = a_full_run(new_run, "a")
    b = new_run("b", tasks=6, repeats=2, model="openai:large")
    for number in range(6):
        b.episode(number, 0)
        b.episode(number, 1)
    text = printed(compare_table(compare(a.folder.result(), b.folder.result())))
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "McNemar, exact: p =" in text
    assert "openai:large" in text
    assert "tasks that flipped" in text
    assert "+40.0 points" in text


def test_the_progress_bar_counts_what_was_kept_and_what_ends(new_run: Maker) -> None:
    run = new_run()
    run.episode(0)
    (row,) = run.folder.rows()
    console = Console(file=io.StringIO(), width=100, force_terminal=True)
    with ProgressBar(console) as bar:
        bar.planned(3, 1)
        bar.ended(row)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "2/3" in text
    assert "1 solved" in text
