"""A training run as it goes: a live display in a terminal, a line now and then in a pipe."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from screenloop.report import words
from screenloop.report.training.gains import SET_WORDS, Gain, points
from screenloop.report.training.metrics import (
    EvaluationLine,
    Line,
    StageSeconds,
    UpdateLine,
    WarmUpLine,
)

_BLOCKS = "▁▂▃▄▅▆▇█"
_SHOWN_UPDATES = 44
_WHEN_WORDS = {
    "before": "untrained",
    "warm_up": "in the warm-up",
    "after_sft": "after the warm-up",
    "scheduled": "on the way",
    "after_rl": "after RL",
}


@dataclass
class Board:
    """What is known of a run so far, and how it reads."""

    title: str
    updates: int
    """Planned; a run may stop earlier."""
    warm_up_steps: int
    """At most."""
    warm_up: WarmUpLine | None = None
    last: UpdateLine | None = None
    held_out: float | None = None
    sampled: deque[float] = field(default_factory=lambda: deque(maxlen=_SHOWN_UPDATES))
    measured: dict[tuple[str, str], float] = field(default_factory=dict)

    def take(self, line: Line) -> None:
        match line:
            case WarmUpLine():
                self.warm_up = line
            case EvaluationLine():
                self.measured[(line.when, line.of)] = line.success
                if line.of == "validation":
                    self.held_out = line.success
            case UpdateLine():
                self.last = line
                self.sampled.append(line.success)

    @property
    def phase(self) -> str:
        if ("after_rl", "test") in self.measured:
            return "measured"
        if ("after_sft", "test") in self.measured or self.last is not None:
            return "reinforcement learning"
        if self.warm_up is not None:
            return "warm-up on demonstrations"
        return "measuring the untrained policy"

    def render(self, elapsed_s: float) -> RenderableType:
        parts: list[RenderableType] = [
            Text.assemble((self.title, "bold"), "  ", (self.phase, "cyan")),
            self._bar(elapsed_s),
        ]
        if self.measured:
            parts.append(self._milestones())
        if self.last is not None:
            parts += [self._success(), _figures(self.last), _stages(self.last.seconds)]
        return Group(*parts)

    def _bar(self, elapsed_s: float) -> Table:
        done, total, unit = 0, max(1, self.warm_up_steps), "warm-up steps"
        if self.phase in ("reinforcement learning", "measured"):
            done, total, unit = self.last.update if self.last else 0, self.updates, "updates"
        elif self.warm_up is not None:
            done = self.warm_up.step
        row = Table.grid(padding=(0, 2))
        row.add_row(
            ProgressBar(total=max(1, total), completed=done, width=34),
            Text(f"{done}/{total} {unit}"),
            Text(words.seconds(elapsed_s), "dim"),
        )
        return row

    def _milestones(self) -> Table:
        table = Table.grid(padding=(0, 2))
        for of in ("test", "unseen"):
            parts = [
                f"{_WHEN_WORDS[when]} {words.percent(self.measured[(when, of)])}"
                for when in ("before", "after_sft", "after_rl")
                if (when, of) in self.measured
            ]
            if parts:
                table.add_row(Text(of, "dim"), Text("  ".join(parts)))
        return table

    def _success(self) -> Table:
        assert self.last is not None
        table = Table.grid(padding=(0, 2))
        strip = "".join(_block(share) for share in self.sampled)
        table.add_row(
            Text("sampled", "dim"), Text(strip, "green"), words.percent(self.last.success)
        )
        if self.held_out is not None:
            table.add_row(
                Text("held-out", "dim"), Text("greedy, validation"), words.percent(self.held_out)
            )
        return table


def _block(share: float) -> str:
    return _BLOCKS[min(len(_BLOCKS) - 1, int(share * len(_BLOCKS)))]


def _figures(line: UpdateLine) -> Table:
    table = Table.grid(padding=(0, 2))
    for number in range(6):
        table.add_column(style="dim" if number % 2 == 0 else "", justify="left")
    table.add_row(
        "reward",
        f"{line.reward:.3f}",
        "groups with spread",
        f"{line.groups_with_spread}/{line.groups}",
        "KL",
        f"{line.kl:.4f}",
    )
    table.add_row(
        "entropy",
        f"{line.entropy:.3f}",
        "parity, max",
        f"{line.parity_max:.1e}",
        "prefix hit",
        words.percent(line.prefix_hit_share),
    )
    return table


def _stages(seconds: StageSeconds) -> Text:
    parts = [
        f"{name} {getattr(seconds, name):.2f} s"
        for name in seconds.__struct_fields__
        if getattr(seconds, name) > 0
    ]
    return Text.assemble(("last update  ", "dim"), " · ".join(parts))


def line_words(line: Line) -> str:
    """Return one line of metrics as one line of words."""
    match line:
        case WarmUpLine():
            agreement = words.percent(line.agreement)
            return f"warm-up {line.step}: loss {line.loss:.3f}, replies as shown {agreement}"
        case EvaluationLine():
            share = words.percent(line.success)
            return f"{_WHEN_WORDS[line.when]}: {share} of {line.scored} {line.of} tasks, greedy"
    return (
        f"update {line.update}: sampled {words.percent(line.success)}, reward {line.reward:.3f}, "
        f"spread {line.groups_with_spread}/{line.groups}, KL {line.kl:.4f}, "
        f"entropy {line.entropy:.3f}, parity {line.parity_max:.1e}, "
        f"prefix hit {words.percent(line.prefix_hit_share)}"
    )


class LiveRun:
    """Shows a training run: use it as a context, and as the `watch` of `train`."""

    def __init__(
        self, console: Console, board: Board, clock: Callable[[], float], *, every_s: float = 5.0
    ) -> None:
        """Prepare.

        Args:
            console: Where to show; without a terminal, lines are printed.
            board: Of the run.
            clock: Gives seconds.
            every_s: How far apart printed lines of steps and updates are; measurements are always
                printed.
        """
        self._console = console
        self._board = board
        self._clock = clock
        self._every_s = every_s
        self._began_s = self._said_s = clock()
        self._live: Live | None = None

    def __enter__(self) -> LiveRun:
        if self._console.is_terminal:
            self._live = Live(
                console=self._console,
                get_renderable=lambda: self._board.render(self._clock() - self._began_s),
                transient=True,
            )
            self._live.start()
        else:
            self._print(self._board.title)
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, line: Line) -> None:
        self._board.take(line)
        if self._live is not None:
            return
        now_s = self._clock()
        if isinstance(line, EvaluationLine) or now_s - self._said_s >= self._every_s:
            self._said_s = now_s
            self._print(f"{now_s - self._began_s:6.0f} s  {line_words(line)}")

    def _print(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


def result_table(title: str, gains: tuple[Gain, ...], facts: tuple[tuple[str, str], ...]) -> Group:
    """Return what a person wants to see when a run is through.

    Args:
        title: Recipe and seed.
        gains: Success at the three ends.
        facts: Further names and values, in order.
    """
    table = Table(box=None, pad_edge=False)
    table.add_column("greedy success")
    for name in ("before", "after SFT", "after RL", "by SFT", "by RL"):
        table.add_column(name, justify="right", no_wrap=True)
    for gain in gains:
        table.add_row(
            SET_WORDS[gain.of],
            words.percent(gain.before),
            words.percent(gain.after_sft),
            Text(words.percent(gain.after_rl), "bold"),
            points(gain.by_sft),
            points(gain.by_rl),
        )
    figures = Table.grid(padding=(0, 3))
    for name, value in facts:
        figures.add_row(Text(name, "dim"), value)
    return Group(Text(title, "bold"), Text(), table, Text(), figures)
