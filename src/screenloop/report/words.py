"""How numbers read, in the terminal and in pages alike; pure."""

from __future__ import annotations

from screenloop.report.intervals import Interval
from screenloop.types import EndReason

END_WORDS: dict[EndReason, str] = {
    EndReason.FINISHED: "agent finished",
    EndReason.DONE: "environment ended",
    EndReason.STEP_LIMIT: "step limit",
    EndReason.TOKEN_LIMIT: "token limit",
    EndReason.COST_LIMIT: "cost limit",
    EndReason.TIME_LIMIT: "time limit",
    EndReason.LOOP: "went in circles",
    EndReason.PARSE_ERRORS: "unreadable replies",
    EndReason.AGENT_ERROR: "agent gave up",
    EndReason.FAULT: "fault, unscored",
}
"""What each end reason says to a newcomer."""


def end_words(reason: str) -> str:
    """Return the words for an end reason; a reason without words reads as it is spelt."""
    return END_WORDS.get(EndReason(reason), reason.replace("_", " "))


def percent(share: float | None) -> str:
    """Return a share as `41.7 %`, or a dash when it is not known."""
    return "–" if share is None else f"{100 * share:.1f} %"


def interval(ci: Interval | None) -> str:
    """Return an interval as `35.2–48.1 %`, or a dash."""
    return "–" if ci is None else f"{100 * ci.low:.1f}–{100 * ci.high:.1f} %"


def decimal(value: float | None, digits: int = 2) -> str:
    """Return a number with a fixed count of digits, or a dash."""
    return "–" if value is None else f"{value:.{digits}f}"


def count(value: int | None) -> str:
    """Return a count with thin groups of three, or a dash when nobody counted."""
    return "–" if value is None else f"{value:,}".replace(",", " ")


def money(value: float | None) -> str:
    """Return an amount in US dollars, or a dash."""
    return "–" if value is None else f"${value:,.2f}" if value >= 1 else f"${value:.4f}"


def seconds(value: float | None) -> str:
    """Return a duration as `0.4 s`, `12 s` or `3 min 05 s`, or a dash."""
    if value is None:
        return "–"
    if value < 10:
        return f"{value:.1f} s"
    if value < 60:
        return f"{value:.0f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest:02d} s"


def plural(number: int, noun: str) -> str:
    """Return `1 task` or `3 tasks`."""
    return f"{count(number)} {noun}" + ("" if number == 1 else "s")
