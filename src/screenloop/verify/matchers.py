"""Comparing what a Task expects with a stored value, or with an answer in words; pure.

Matching is strict: an answer that states two different numbers, dates or amounts matches neither.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence as Items
from decimal import Decimal
from typing import Any

from screenloop import criteria
from screenloop.criteria import Expected
from screenloop.errors import TaskError
from screenloop.verify import reading

_DAY_MIN = 24 * 60
_MAX_SHOWN_CHARS = 80
_STAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}")


def matches(expected: Expected, stored: Any) -> bool:
    """Whether a stored value is as expected; a bare scalar means exact equality.

    Numbers may be stored as numbers or text, amounts as whole cents or text, days and times as
    ISO text or seconds since 1970 (UTC), times also as `HH:MM`, durations as seconds or text.

    Raises:
        TaskError: the expectation is malformed.
    """
    return explain(expected, stored) == ""


def answer_matches(expected: Expected, answer: str) -> bool:
    """Whether an answer in words is as expected.

    Raises:
        TaskError: the expectation is malformed.
    """
    return explain_answer(expected, answer) == ""


def explain(expected: Expected, stored: Any) -> str:
    """Return why a stored value does not match, or an empty text when it does."""
    match expected:
        case criteria.Number():
            return _of_number(expected, _stored_numbers(stored), stored)
        case criteria.Money():
            return _only(expected.cents, _stored_amounts(stored), stored)
        case criteria.Date():
            return _only(_iso_date(expected.value), _stored_dates(stored, expected), stored)
        case criteria.Time():
            return _of_time(expected, _stored_times(stored), stored)
        case criteria.Duration():
            return _of_duration(expected, _stored_durations(stored), stored)
        case criteria.Text():
            is_text = isinstance(stored, str | int) and not isinstance(stored, bool)
            return _of_text(expected, str(stored)) if is_text else _differs(expected.value, stored)
        case criteria.Set() | criteria.Sequence():
            if isinstance(stored, str):
                stored = reading.items(stored, _texts(expected.values))
            if not isinstance(stored, list | tuple):
                return _differs(list(expected.values), stored)
            return _of_items(expected, stored)
        case _:
            return "" if same(expected, stored) else _differs(expected, stored)


def explain_answer(expected: Expected, answer: str) -> str:
    """Return why an answer does not match, or an empty text when it does."""
    if len(answer) > reading.MAX_ANSWER_CHARS:
        return f"the answer is longer than {reading.MAX_ANSWER_CHARS} characters"
    match expected:
        case bool():
            said = reading.normal(answer)
            yes, no = said in ("yes", "true", "是"), said in ("no", "false", "否")
            return "" if (yes if expected else no) else _differs(expected, answer)
        case int() | float():
            number = criteria.Number(value=expected)
            return _of_number(number, reading.numbers(answer), answer)
        case None:
            raise TaskError("an answer cannot be expected to be null; expect a text or a matcher.")
        case _:
            return explain(expected, answer)


def require_wellformed(expected: Expected) -> None:
    """Refuse an expectation that nothing, or everything, would match.

    Raises:
        TaskError: says what is wrong with it.
    """
    match expected:
        case criteria.Number():
            bounds = (expected.value, expected.min, expected.max)
            if all(bound is None for bound in bounds):
                raise TaskError("a number matcher needs value, min or max.")
            if any(bound is not None and _decimal(bound) is None for bound in bounds):
                raise TaskError(f"a number matcher holds a number that is not finite: {expected}.")
            _tolerance(expected.tol)
        case criteria.Date():
            _iso_date(expected.value)
        case criteria.Time():
            _clock(expected.value)
        case criteria.Duration():
            if _decimal(expected.seconds) is None:
                raise TaskError(f"a duration of {expected.seconds} seconds is not finite.")
            _tolerance(expected.tol_s)
        case criteria.Text(mode="contains"):
            for value in (expected.value, *expected.others):
                if not reading.normal(value):
                    raise TaskError(f"every text contains {value!r} once normalised.")
        case criteria.Text(others=others) if others:
            raise TaskError(f"a text matcher of mode {expected.mode!r} takes no `others`.")
        case criteria.Text(mode="digits") if not reading.digits(expected.value):
            raise TaskError(f"{expected.value!r} holds no digits to compare.")


def same(left: Any, right: Any) -> bool:
    """Whether two JSON values are equal; unlike in Python, `true` is not 1."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[k], right[k]) for k in left)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


# ---- comparing -----------------------------------------------------------------------------


def _only(wanted: object, found: frozenset[Any], shown: object) -> str:
    """Match when the one value found is the wanted one."""
    if found == {wanted}:
        return ""
    if len(found) > 1:
        return f"expected {wanted}, but {_show(shown)} states {len(found)} values"
    return _differs(wanted, shown)


def _of_number(expected: criteria.Number, found: frozenset[Decimal | None], shown: object) -> str:
    require_wellformed(expected)
    wanted = " ".join(
        f"{name} {bound:g}"
        for name, bound in (
            ("", expected.value),
            ("at least", expected.min),
            ("at most", expected.max),
        )
        if bound is not None
    ).strip()
    if len(found) != 1:
        return f"expected {wanted}, but {_show(shown)} states {len(found)} numbers"
    (number,) = found
    low, high = _decimal(expected.min), _decimal(expected.max)
    fits = (
        number is not None
        and _is_near(expected.value, number, expected.tol)
        and (low is None or low <= number)
        and (high is None or number <= high)
    )
    return "" if fits else _differs(wanted, shown)


def _of_time(expected: criteria.Time, found: frozenset[int | None], shown: object) -> str:
    wanted = _clock(expected.value)
    if len(found) != 1:
        return f"expected {expected.value}, but {_show(shown)} states {len(found)} times"
    (minutes,) = found
    apart = None if minutes is None else abs(minutes - wanted)
    if apart is not None and min(apart, _DAY_MIN - apart) <= expected.tol_min:
        return ""
    return _differs(expected.value, shown)


def _of_duration(
    expected: criteria.Duration, found: frozenset[Decimal | None], shown: object
) -> str:
    require_wellformed(expected)
    if len(found) != 1:
        return f"expected {expected.seconds:g} s, but {_show(shown)} states {len(found)} durations"
    (seconds,) = found
    if seconds is not None and _is_near(expected.seconds, seconds, expected.tol_s):
        return ""
    return _differs(f"{expected.seconds:g} s", shown)


def _of_text(expected: criteria.Text, text: str) -> str:
    require_wellformed(expected)
    guess = ""
    match expected.mode:
        case "exact":
            fits = text == expected.value
        case "normal":
            fits = reading.normal(text) == reading.normal(expected.value)
        case "contains":
            said, value = reading.normal(text), reading.normal(expected.value)
            fits = _holds_words(said, value)
            rest = said.replace(value, "\n")
            guess = next((o for o in expected.others if _holds_words(rest, reading.normal(o))), "")
        case "digits":
            fits = reading.digits(text) == reading.digits(expected.value)
    if fits and guess:
        return f"expected {_show(expected.value)} alone, but {_show(guess)} stands there, too"
    return "" if fits else f"expected {_show(expected.value)} ({expected.mode}), not {_show(text)}"


def _of_items(expected: criteria.Set | criteria.Sequence, found: Items[Any]) -> str:
    wanted = expected.values
    if len(found) != len(wanted):
        return f"expected {len(wanted)} items, not {len(found)}: {_show(list(found))}"
    if isinstance(expected, criteria.Sequence):
        fits = all(map(_is_item, wanted, found))
    else:
        left = list(found)
        for value in wanted:
            index = next((i for i, item in enumerate(left) if _is_item(value, item)), None)
            if index is None:
                break
            left.pop(index)
        fits = not left
    return "" if fits else _differs(list(wanted), list(found))


def _is_item(wanted: str | int | float, found: object) -> bool:
    if isinstance(wanted, str):
        is_text = isinstance(found, str | int) and not isinstance(found, bool)
        return is_text and reading.normal(str(found)) == reading.normal(wanted)
    numbers = _stored_numbers(found)
    return numbers == {_decimal(wanted)}


def _holds_words(text: str, words: str) -> bool:
    """Whether the words stand in the text, not as part of longer words.

    Chinese and Japanese write no spaces, so only letters of other scripts and digits bound a word.
    """
    letter = r"[^\W\u3040-\u30ff\u3400-\u9fff]"
    before = rf"(?<!{letter})" if re.match(letter, words) else ""
    after = rf"(?!{letter})" if re.match(letter, words[-1]) else ""
    return re.search(before + re.escape(words) + after, text) is not None


def _is_near(wanted: float | None, number: Decimal, tolerance: float) -> bool:
    """Compare in decimal, so that 1.1 is within 0.1 of 1.0."""
    if wanted is None:
        return True
    exact = _decimal(wanted)
    return exact is not None and abs(exact - number) <= _tolerance(tolerance)


# ---- stored values -------------------------------------------------------------------------


def _stored_numbers(stored: object) -> frozenset[Decimal | None]:
    if isinstance(stored, str):
        return reading.numbers(stored)
    number = _decimal(stored)
    return frozenset() if number is None else frozenset({number})


def _stored_amounts(stored: object) -> frozenset[int | None]:
    if isinstance(stored, str):
        return reading.amounts(stored)
    is_cents = isinstance(stored, int) and not isinstance(stored, bool)
    return frozenset({stored}) if isinstance(stored, int) and is_cents else frozenset()


def _stored_dates(stored: object, expected: criteria.Date) -> frozenset[dt.date | None]:
    moment = _moment(stored)
    if moment is not None:
        return frozenset({moment.date()})
    if isinstance(stored, str):
        return reading.dates(stored, _iso_date(expected.value).year)
    return frozenset()


def _stored_times(stored: object) -> frozenset[int | None]:
    moment = _moment(stored)
    if moment is not None:
        return frozenset({moment.hour * 60 + moment.minute})
    return reading.times(stored) if isinstance(stored, str) else frozenset()


def _stored_durations(stored: object) -> frozenset[Decimal | None]:
    if isinstance(stored, str):
        return reading.durations(stored)
    number = _decimal(stored)
    return frozenset() if number is None else frozenset({number})


def _moment(stored: object) -> dt.datetime | None:
    """Read seconds since 1970 (UTC), or an ISO date with a time."""
    if isinstance(stored, bool) or not isinstance(stored, int | float | str):
        return None
    try:
        if isinstance(stored, str):
            return dt.datetime.fromisoformat(stored) if _STAMP.match(stored) else None
        return dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(seconds=stored)
    except (OverflowError, ValueError):
        return None


# ---- small parts ---------------------------------------------------------------------------


def _iso_date(value: str) -> dt.date:
    try:
        if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
            return dt.date.fromisoformat(value)
    except ValueError:
        pass
    raise TaskError(f"{value!r} is no calendar day of the form YYYY-MM-DD.")


def _clock(value: str) -> int:
    match = re.fullmatch(r"([01][0-9]|2[0-3]):([0-5][0-9])", value)
    if match is None:
        raise TaskError(f"{value!r} is no time of day of the form HH:MM.")
    return int(match[1]) * 60 + int(match[2])


def _tolerance(value: float) -> Decimal:
    exact = _decimal(value)
    if exact is None or exact < 0:
        raise TaskError(f"a tolerance is a number of at least 0, not {value}.")
    return exact


def _decimal(value: object) -> Decimal | None:
    """Return the shortest decimal form of a finite number, else `None`."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    exact = Decimal(str(value))
    return exact if exact.is_finite() else None


def _texts(values: Items[str | int | float]) -> tuple[str, ...]:
    return tuple(value for value in values if isinstance(value, str))


def _differs(wanted: object, shown: object) -> str:
    return f"expected {_show(wanted)}, not {_show(shown)}"


def _show(value: object) -> str:
    text = value if isinstance(value, dt.date | Decimal) else repr(value)
    shown = str(text)
    return shown if len(shown) <= _MAX_SHOWN_CHARS else shown[: _MAX_SHOWN_CHARS - 3] + "..."
