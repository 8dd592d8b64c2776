"""Tables for the terminal, at most 80 columns wide, and the progress bar of a Run."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.table import Table
from rich.text import Text

from screenloop.report import words
from screenloop.report.compare import Comparison, Side
from screenloop.report.score import Score, score
from screenloop.rollout.batch import Planned
from screenloop.store.differences import ConfigDifference
from screenloop.store.runs import EpisodeRow, RunResult
from screenloop.types import Struct

WIDTH = 80
_MAX_GROUPS = 12
_MAX_FAILURES = 8


def run_table(result: RunResult, run_dir: str) -> RenderableType:
    """Return what a person wants to see when a Run is through."""
    numbers, config = score(result.rows), result.manifest.config
    parts: list[RenderableType] = [
        Text.assemble(
            (f"{config.harness.suite} ", "bold"), config.model, "  ", (_scope(numbers), "dim")
        ),
        _headline(numbers),
        _details(numbers),
    ]
    if numbers.groups:
        parts.append(_groups_table(numbers))
    if numbers.unscored:
        parts.append(_unscored_table(numbers))
    failures = [row for row in result.rows if row.unscored is None and not row.success]
    if failures:
        parts.append(_failures_table(failures))
    parts.append(_next(run_dir, failures))
    return Group(*parts)


def print_fitted(console: Console, what: RenderableType) -> None:
    """Print within `WIDTH` columns, also where the terminal is wider or is a file."""
    console.print(what, width=min(console.width, WIDTH), crop=False)


def _scope(numbers: Score) -> str:
    text = f"{words.plural(numbers.tasks, 'task')}, {words.plural(numbers.episodes, 'episode')}"
    return f"{text}, {numbers.unscored} unscored" if numbers.unscored else text


def _headline(numbers: Score) -> Text:
    rate = numbers.success
    if rate.rate is None:
        return Text("No episode was scored: there is no success rate.", "bold red")
    return Text.assemble(
        ("success ", "bold"),
        (words.percent(rate.rate), "bold green" if rate.rate >= 0.5 else "bold yellow"),
        f"  95 % interval {words.interval(rate.ci)}",
        (f"  ({rate.successes} of {rate.scored})", "dim"),
    )


def _details(numbers: Score) -> Table:
    tokens = numbers.tokens
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    table.add_column(justify="right")
    table.add_column(style="dim")
    table.add_column(justify="right")
    cells = [
        ("reward, mean", words.decimal(numbers.reward_mean)),
        ("steps, mean", words.decimal(numbers.steps_mean, 1)),
        ("steps / shortest", words.decimal(numbers.steps_vs_optimal)),
        ("time an episode", words.seconds(numbers.seconds_mean)),
        ("prompt tokens", words.count(tokens.prompt)),
        ("reply tokens", words.count(tokens.completion)),
        ("prefix-cache hit", words.percent(tokens.prefix_hit)),
        ("cost", words.money(tokens.cost_usd)),
        ("unreadable replies", words.count(numbers.parse_errors)),
        ("with side effects", words.count(numbers.side_effects)),
    ]
    cells += [("needed a retry", words.count(numbers.retried))] if numbers.retried else []
    cells += [(f"pass@{p.k}", words.percent(p.value)) for p in numbers.pass_at_k if p.k > 1]
    cells += [
        (f"ended: {words.end_words(reason)}", words.count(number))
        for reason, number in numbers.reasons.items()
    ]
    half = (len(cells) + 1) // 2
    for left, right in zip(cells[:half], [*cells[half:], ("", "")], strict=False):
        table.add_row(*left, *right)
    return table


def _table(title: str) -> Table:
    return Table(
        title=f"\n{title}" if title else None,
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        pad_edge=False,
    )


def _groups_table(numbers: Score) -> Table:
    table = _table("where it succeeds")
    table.add_column("", max_width=30, no_wrap=True, overflow="ellipsis")
    for name in ("success", "95 % interval", "reward", "steps", "scored"):
        table.add_column(name, justify="right", no_wrap=True)
    for tag, groups in numbers.groups.items():
        table.add_row(f"by {tag}", style="dim")
        for group in groups[:_MAX_GROUPS]:
            table.add_row(
                f"  {escape(group.name)}",
                words.percent(group.rate.rate),
                words.interval(group.rate.ci),
                words.decimal(group.reward_mean),
                words.decimal(group.steps_mean, 1),
                words.count(group.rate.scored),
            )
        if len(groups) > _MAX_GROUPS:
            table.add_row(f"  and {len(groups) - _MAX_GROUPS} more in the report", style="dim")
    return table


def _unscored_table(numbers: Score) -> Table:
    table = _table("unscored: not the agent's failures, left out of the numbers")
    table.add_column("blame", no_wrap=True)
    table.add_column("stage", no_wrap=True)
    table.add_column("count", justify="right")
    table.add_column("for example", max_width=44, overflow="ellipsis", no_wrap=True)
    for row in numbers.unscored_by:
        table.add_row(row.blame, row.stage, str(row.count), escape(row.example))
    return table


def _failures_table(failures: Sequence[EpisodeRow]) -> Table:
    table = _table("not solved")
    table.add_column("task", max_width=40, overflow="ellipsis", no_wrap=True)
    table.add_column("reward", justify="right")
    table.add_column("steps", justify="right")
    table.add_column("ended", no_wrap=True)
    for row in failures[:_MAX_FAILURES]:
        table.add_row(
            escape(f"{row.task} r{row.repeat}"),
            words.decimal(row.reward),
            str(row.steps),
            words.end_words(row.reason),
        )
    if len(failures) > _MAX_FAILURES:
        table.caption = f"and {len(failures) - _MAX_FAILURES} more in the report"
    return table


def _next(run_dir: str, failures: Sequence[EpisodeRow]) -> Text:
    # A path broken over two lines cannot be copied.
    text = Text("\n", no_wrap=True, overflow="ignore")
    text.append(f"result   {run_dir}\n")
    text.append(f"pages    screenloop report {run_dir}")
    if failures:
        text.append(f"\nlook at  screenloop show {run_dir}/{failures[0].path}")
    return text


def compare_table(comparison: Comparison) -> RenderableType:
    """Return two Runs side by side."""
    sides = _table("")
    for name in ("", "model", "success", "95 % interval", "unscored"):
        sides.add_column(name, justify="left" if name in ("", "model") else "right")
    for name, side in (("A", comparison.a), ("B", comparison.b)):
        sides.add_row(*_side_cells(name, side))
    parts: list[RenderableType] = []
    if not comparison.same_harness:
        parts.append(Text("The harness differs: these numbers are not comparable.", "bold red"))
    parts += [sides, _verdict(comparison)]
    differences = (*comparison.differences, *comparison.versions)
    if differences:
        parts.append(_differences_table(differences))
    if comparison.flips:
        parts.append(_flips_table(comparison))
    return Group(*parts)


def _side_cells(name: str, side: Side) -> tuple[str, ...]:
    rate = side.rate
    return (
        name,
        escape(side.model),
        words.percent(rate.rate),
        words.interval(rate.ci),
        words.count(side.unscored),
    )


def _verdict(comparison: Comparison) -> Text:
    c = comparison
    if c.difference is None:
        return Text("No episode was scored in both runs: nothing to compare.", "bold red")
    ci = c.difference_ci
    spread = f"{100 * ci.low:+.1f} to {100 * ci.high:+.1f}" if ci else "–"
    return Text(
        f"B - A  {100 * c.difference:+.1f} points, 95 % interval {spread} (bootstrap over tasks)\n"
        f"{words.plural(c.pairs, 'pair')}: {c.both} both, {c.only_a} only A, {c.only_b} only B, "
        f"{c.neither} neither; {c.unpaired} unpaired\n"
        f"McNemar, exact: p = {c.p_value:.3g}"
    )


def _differences_table(differences: Sequence[ConfigDifference]) -> Table:
    table = _table("what differs")
    table.add_column("field", overflow="fold")
    table.add_column("A", max_width=24, overflow="ellipsis", no_wrap=True)
    table.add_column("B", max_width=24, overflow="ellipsis", no_wrap=True)
    for row in differences:
        table.add_row(escape(row.path), escape(str(row.before)), escape(str(row.after)))
    return table


def _flips_table(comparison: Comparison) -> Table:
    table = _table("tasks that flipped")
    table.add_column("task", max_width=52, overflow="ellipsis", no_wrap=True)
    table.add_column("A", justify="right")
    table.add_column("B", justify="right")
    for flip in comparison.flips:
        table.add_row(escape(flip.task), flip.a, flip.b)
    return table


class ProgressBar:
    """Shows how far a Run is: use it as a context around `run_batch`."""

    def __init__(self, console: Console) -> None:
        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[tally]}", style="dim"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
        )
        self._id: TaskID | None = None
        self._solved = 0
        self._unscored = 0

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def planned(self, total: int, kept: int) -> None:
        """Begin to show; what an earlier process played counts as done."""
        self._bar.start()
        self._id = self._bar.add_task("episodes", total=total, completed=kept, tally="")

    def began(self, planned: Planned, attempt: int) -> None:
        """Show nothing: an Episode shows when it ends."""

    def ended(self, row: EpisodeRow) -> None:
        assert self._id is not None
        self._solved += row.success and row.unscored is None
        self._unscored += row.unscored is not None
        tally = f"{self._solved} solved"
        if self._unscored:
            tally += f", {self._unscored} unscored"
        self._bar.update(self._id, advance=1, tally=tally)


def struct_table(value: Struct) -> RenderableType:
    """Return a struct of figures as names and values; rows inside it become tables of their own."""
    figures = Table.grid(padding=(0, 3))
    parts: list[RenderableType] = [figures]
    for name in value.__struct_fields__:
        field = getattr(value, name)
        if isinstance(field, tuple) and field and isinstance(field[0], Struct):
            parts.append(_rows_table(name, field))
        else:
            figures.add_row(Text(name, "dim"), _figure(field))
    return Group(*parts)


def _rows_table(name: str, rows: Sequence[Struct]) -> Table:
    table = _table(name)
    for field in rows[0].__struct_fields__:
        table.add_column(field, justify="right", overflow="fold")
    for row in rows:
        table.add_row(*(_figure(getattr(row, field)) for field in row.__struct_fields__))
    return table


def _figure(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 100 else f"{value:,.0f}"
    return "–" if value is None else escape(str(value))
