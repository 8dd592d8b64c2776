"""The learning curve of a run as lines of text, for a terminal or a pipe; pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.text import Text

from screenloop.report.training.metrics import EvaluationLine, Line, UpdateLine

WIDTH = 64
"""Columns of the plot itself."""
HEIGHT = 10
"""Rows; one is a tenth of all tasks."""
_SAMPLED, _GREEDY = "·", "●"


def learning_curve(lines: Iterable[Line], *, width: int = WIDTH) -> Text:
    """Return success over updates: what was sampled, and greedily on validation tasks.

    Args:
        lines: Of a run's metrics.
        width: Columns of the plot; updates beyond it are averaged.
    """
    known = list(lines)
    sampled = [(line.update, line.success) for line in known if isinstance(line, UpdateLine)]
    greedy = [
        (line.update, line.success)
        for line in known
        if isinstance(line, EvaluationLine) and line.of == "validation"
    ]
    # Several measurements of the warm-up share update 0: the last is where learning begins.
    greedy = sorted(dict(greedy).items())
    last = max((update for update, _ in (*sampled, *greedy)), default=0)
    if not last:
        return Text("no update yet")
    cells = [[" "] * width for _ in range(HEIGHT)]
    for column, share in _columns(sampled, last, width):
        cells[_row(share)][column] = _SAMPLED
    for update, share in greedy:
        cells[_row(share)][_column(update, last, width)] = _GREEDY
    plot = Text("success\n", "dim")
    for number, row in enumerate(reversed(cells)):
        top = HEIGHT - number
        plot.append(f"{f'{10 * top} %' if top % 5 == 0 else '':>6} │", "dim")
        for cell in row:
            plot.append(cell, "bold green" if cell == _GREEDY else "cyan")
        plot.append("\n")
    plot.append(f"{'':>6} └{'─' * width}\n", "dim")
    plot.append(f"{'':>8}0{f'update {last}':>{width - 1}}\n", "dim")
    plot.append(f"{'':>8}")
    plot.append(_GREEDY, "bold green")
    plot.append(" greedy, validation tasks   ")
    plot.append(_SAMPLED, "cyan")
    plot.append(" sampled, training tasks")
    return plot


def _columns(
    sampled: Sequence[tuple[int, float]], last: int, width: int
) -> list[tuple[int, float]]:
    """Return the mean of each column that has updates."""
    by_column: dict[int, list[float]] = {}
    for update, share in sampled:
        by_column.setdefault(_column(update, last, width), []).append(share)
    return [(column, sum(some) / len(some)) for column, some in by_column.items()]


def _column(update: int, last: int, width: int) -> int:
    return round(update / last * (width - 1))


def _row(share: float) -> int:
    return min(HEIGHT - 1, int(share * HEIGHT))
