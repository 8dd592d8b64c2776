"""What the warm-up gained and what reinforcement learning added, on held-out tasks; pure."""

from __future__ import annotations

from collections.abc import Iterable

from screenloop.report.training.metrics import EvaluationLine, Line, TaskSet
from screenloop.types import Struct

SET_WORDS: dict[TaskSet, str] = {
    "test": "held-out tasks, known apps",
    "unseen": "held-out tasks, apps not trained on",
    "validation": "validation tasks",
}
"""What each set of tasks says to a newcomer."""


class Gain(Struct, frozen=True, kw_only=True):
    """Greedy success on one set of tasks at the three ends of a run, as shares."""

    of: TaskSet
    tasks: int
    """Attempts that were scored, in the last of the measurements."""
    before: float | None = None
    after_sft: float | None = None
    after_rl: float | None = None

    @property
    def by_sft(self) -> float | None:
        """What the warm-up changed, as a share."""
        return _difference(self.after_sft, self.before)

    @property
    def by_rl(self) -> float | None:
        """What reinforcement learning changed on top, as a share."""
        return _difference(self.after_rl, self.after_sft)


def gains(lines: Iterable[Line]) -> tuple[Gain, ...]:
    """Return the gain on test and on unseen tasks, as far as they were measured."""
    by_set: dict[TaskSet, dict[str, EvaluationLine]] = {"test": {}, "unseen": {}}
    for line in lines:
        if isinstance(line, EvaluationLine) and line.of in by_set:
            by_set[line.of][line.when] = line
    return tuple(
        Gain(
            of=of,
            tasks=list(measured.values())[-1].scored,
            before=_success(measured.get("before")),
            after_sft=_success(measured.get("after_sft")),
            after_rl=_success(measured.get("after_rl")),
        )
        for of, measured in by_set.items()
        if measured
    )


def points(share: float | None) -> str:
    """Return a difference of shares as percentage points, `+41.2`, or a dash."""
    return "–" if share is None else f"{100 * share:+.1f}"


def _success(line: EvaluationLine | None) -> float | None:
    return None if line is None else line.success


def _difference(later: float | None, earlier: float | None) -> float | None:
    return None if later is None or earlier is None else later - earlier
