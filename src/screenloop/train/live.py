"""A training run as it happens: one table that grows, one bar that moves."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from screenloop.train.metrics import EvaluationLine, Line, UpdateLine, WarmUpLine

ROWS = 12
"""Lines of the table that stay on the screen."""


class LiveCurve:
    """Shows the lines of a run; call it with each."""

    def __init__(self, console: Console, *, updates: int, warm_up_steps: int) -> None:
        self._console = console
        self._updates = updates
        self._progress = Progress(
            TextColumn("{task.description:<8}"), BarColumn(), MofNCompleteColumn(),
            TimeElapsedColumn(), console=console,
        )  # fmt: skip
        self._warm_up = self._progress.add_task("warm-up", total=warm_up_steps or None)
        self._learning = self._progress.add_task("updates", total=updates, start=False)
        self._rows: list[tuple[str, ...]] = []
        self._live = Live(console=console, auto_refresh=False)

    def __enter__(self) -> LiveCurve:
        """Begin to show."""
        self._live.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave the last state on the screen."""
        self._live.__exit__(kind, error, trace)

    def __call__(self, line: Line) -> None:
        """Show one line."""
        match line:
            case WarmUpLine():
                self._progress.update(self._warm_up, completed=line.step)
            case EvaluationLine():
                self._rows.append(
                    (f"{line.when}: {line.of}", "", _percent(line.success), "", "", "",
                     f"{line.cpu_s:.0f}")
                )  # fmt: skip
            case UpdateLine():
                self._progress.start_task(self._learning)
                self._progress.update(self._learning, completed=line.update)
                self._rows.append(
                    (
                        f"update {line.update}", _percent(line.success),
                        "" if line.held_out is None else _percent(line.held_out),
                        f"{line.groups_with_spread}/{line.groups}", f"{line.entropy:.2f}",
                        f"{line.parity_max:.0e}", f"{line.cpu_s:.0f}",
                    )
                )  # fmt: skip
        self._rows = self._rows[-ROWS:]
        self._live.update(Group(self._table(), self._progress), refresh=True)

    def _table(self) -> Table:
        table = Table(box=None)
        for name in ("", "sampled", "held-out", "groups", "entropy", "parity", "CPU s"):
            table.add_column(name, justify="left" if not name else "right", no_wrap=True)
        for row in self._rows:
            table.add_row(*row)
        return table


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
