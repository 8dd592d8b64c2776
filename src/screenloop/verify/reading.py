"""Finding numbers, amounts, dates, times, durations and lists in free text; pure.

Each function returns every distinct value that the text states, so that a matcher can refuse an
answer that states several. `None` among them stands for something that looks like a value and is
none, such as the 30th of February.
"""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from collections.abc import Iterable, Iterator
from decimal import Decimal

MAX_ANSWER_CHARS = 10_000
"""Longer answers match nothing; it bounds the cost of reading one."""

_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_.])(?<![0-9],)"
    r"(?P<sign>[-+\u2212]?)(?P<digits>[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?P<part>\.[0-9]+)?"
    r"(?![0-9]|[.,][0-9]|[A-Za-z_]+[0-9])"
)
_NUMBER_WORDS = {
    word: Decimal(value)
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen twenty".split()
    )
}
_CURRENCY_CODE = re.compile(r"\b(us\$|usd|eur|gbp|cny|rmb)(?=[0-9])", re.IGNORECASE)
_MARK_BEFORE = re.compile(
    r"(?P<sign>[-\u2212]?)\s*(?:us\$|[$€£¥]|\b(?:usd|eur|gbp|cny|rmb))\s*$", re.IGNORECASE
)
_UNIT_AFTER = re.compile(
    r"\s*(?:(?P<cents>¢|cents?\b)|(?:[$€£¥]|(?:dollars?|usd|euros?|eur|pounds?|gbp|yuan|rmb|cny)\b"
    r"|元|块))",
    re.IGNORECASE,
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAY = r"(?<![0-9])(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?(?![0-9])"
_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?<![0-9])(?P<year>[0-9]{4})(?P<mark>[-/.])(?P<month>[0-9]{1,2})(?P=mark)"
        r"(?P<day>[0-9]{1,2})(?![0-9])",
        r"(?:(?P<year>[0-9]{4})\s?年\s?)?(?<![0-9])(?P<month>[0-9]{1,2})\s?月\s?"
        r"(?P<day>[0-9]{1,2})\s?[日号]",
        rf"(?<![a-z]){_MONTH}\s*{_DAY}(?:\s*,?\s*(?P<year>[0-9]{{4}})(?![0-9]))?",
        rf"{_DAY}\s+(?:of\s+)?{_MONTH}(?:\s*,?\s*(?P<year>[0-9]{{4}})(?![0-9]))?",
    )
)
_NUMERIC_DATE = re.compile(r"(?<![0-9/])([0-9]{1,2})/([0-9]{1,2})/([0-9]{4})(?![0-9])")
_CLOCK = re.compile(
    r"(?<![0-9:.])(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?::[0-9]{2})?(?![0-9:])"
    r"(?:\s*(?P<half>[ap])\.?m\b)?"
    r"|(?<![0-9:.])(?P<hour_only>[0-9]{1,2})\s*(?P<half_only>[ap])\.?m\b",
    re.IGNORECASE,
)
_CLOCK_ZH = re.compile(
    r"(?P<half>凌晨|早上|上午|中午|下午|晚上)?\s?(?<![0-9])(?P<hour>[0-9]{1,2})\s?[点时]"
    r"(?!间)(?:(?P<minute>[0-9]{1,2})分?|(?P<half_hour>半))?"
)
_CLOCK_WORD = re.compile(r"\b(noon|midnight)\b", re.IGNORECASE)
_UNIT_S = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_LENGTH = re.compile(
    r"(?<![0-9_.,:])(?:(?<![A-Za-z])|(?<=[0-9][dhm]))(?P<count>[0-9]+(?:\.[0-9]+)?)\s*"
    r"(?:(?P<d>days?|d|天)|(?P<h>hours?|hrs?|h|小时)|(?P<m>minutes?|mins?|m|分钟?)"
    r"|(?P<s>seconds?|secs?|s|秒))(?![A-Za-z])\.?",
    re.IGNORECASE,
)
_LENGTH_CLOCK = re.compile(r"(?<![0-9:.])([0-9]{1,4}):([0-5][0-9]):([0-5][0-9])(?![0-9:])")
_LENGTH_JOINT = re.compile(r"[\s,]*(?:and|&)?\s*", re.IGNORECASE)
_SEPARATOR = re.compile(r"\s*(?:[,;、，；\n]|\band\b|&|和)\s*", re.IGNORECASE)
_BULLET = re.compile(r"^\s*(?:[-*•]|[0-9]{1,3}[.)])\s+")


def plain(text: str) -> str:
    """Return the text in compatibility form (full-width digits and signs become ASCII)."""
    return unicodedata.normalize("NFKC", text)


def normal(text: str) -> str:
    """Fold case and spaces, and drop punctuation at both ends."""
    folded = " ".join(plain(text).casefold().split())
    start, end = 0, len(folded)
    while start < end and _is_edge(folded[start]):
        start += 1
    while end > start and _is_edge(folded[end - 1]):
        end -= 1
    return folded[start:end]


def digits(text: str) -> str:
    """Return the decimal digits of the text, in order."""
    return "".join(re.findall(r"[0-9]", plain(text)))


def numbers(text: str) -> frozenset[Decimal | None]:
    """Return the numbers that the text states; number words only where it has no digits."""
    said = plain(text)
    found = frozenset(_decimal(match) for match in _NUMBER.finditer(said))
    if found or digits(said):
        return found
    if normal(said) in _NUMBER_WORDS:
        return frozenset({_NUMBER_WORDS[normal(said)]})
    # "one" inside a sentence is more often a pronoun than a count.
    words = [word for word in re.findall(r"[a-z]+", said.casefold()) if word != "one"]
    return frozenset(_NUMBER_WORDS[word] for word in words if word in _NUMBER_WORDS)


def amounts(text: str) -> frozenset[int | None]:
    """Return the amounts of money in cents; where some carry a currency, only those."""
    said = _CURRENCY_CODE.sub(r"\1 ", plain(text))
    marked: set[int | None] = set()
    bare: set[int | None] = set()
    for match in _NUMBER.finditer(said):
        before = _MARK_BEFORE.search(said[max(0, match.start() - 12) : match.start()])
        after = _UNIT_AFTER.match(said, match.end())
        value = _decimal(match)
        if before is not None and before["sign"]:
            value = -value
        is_cents = before is None and after is not None and bool(after["cents"])
        cents = value if is_cents else value * 100
        whole = int(cents) if cents == cents.to_integral_value() else None
        (marked if before or after else bare).add(whole)
    return frozenset(marked or bare)


def dates(text: str, year: int) -> frozenset[dt.date | None]:
    """Return the calendar days; one without a year is in `year`.

    `03/04/2026` is read only where day and month cannot be confused.
    """
    said = plain(text)
    found: set[dt.date | None] = set()
    for pattern in _DATES:
        for match in pattern.finditer(said):
            stated = int(match["year"]) if match["year"] else year
            found.add(_day(stated, _month(match["month"]), int(match["day"])))
    for match in _NUMERIC_DATE.finditer(said):
        first, second, stated = (int(part) for part in match.groups())
        if first > 12 or first == second:
            found.add(_day(stated, second, first))
        elif second > 12:
            found.add(_day(stated, first, second))
        else:
            found.add(None)
    return frozenset(found)


def times(text: str) -> frozenset[int | None]:
    """Return the times of day in minutes since midnight."""
    said = plain(text)
    found: set[int | None] = set()
    for match in _CLOCK.finditer(said):
        half = (match["half"] or match["half_only"] or "").casefold()
        found.add(
            _minutes(int(match["hour"] or match["hour_only"]), int(match["minute"] or 0), half)
        )
    for match in _CLOCK_ZH.finditer(said):
        hour, minute = int(match["hour"]), 30 if match["half_hour"] else int(match["minute"] or 0)
        found.add(_minutes(hour, minute, _half_zh(match["half"], hour)))
    for match in _CLOCK_WORD.finditer(said):
        found.add(720 if match[1].casefold() == "noon" else 0)
    return frozenset(found)


def durations(text: str) -> frozenset[Decimal | None]:
    """Return the lengths of time in seconds; parts that follow each other are one length."""
    said = plain(text)
    found: set[Decimal | None] = {
        Decimal(int(hours) * 3600 + int(minutes) * 60 + int(seconds))
        for hours, minutes, seconds in _LENGTH_CLOCK.findall(said)
    }
    for group in _length_groups(said):
        found.add(sum((Decimal(part["count"]) * _unit_s(part) for part in group), Decimal(0)))
    return frozenset(found)


def items(text: str, keep: Iterable[str] = ()) -> tuple[str, ...]:
    """Split a list in words: at commas, semicolons, `and` and new lines; bullets are dropped.

    Words up to a first colon introduce the list. `keep` holds items that contain such separators
    themselves and stay whole.
    """
    said = "\n".join(_BULLET.sub("", line) for line in plain(text).splitlines())
    head, colon, tail = said.partition(":")
    if colon and not any(":" in item for item in keep) and not _SEPARATOR.search(head):
        said = "\n".join(_BULLET.sub("", line) for line in tail.splitlines())
    kept = sorted((plain(item) for item in keep if _SEPARATOR.search(plain(item))), key=len)[::-1]
    for index, item in enumerate(kept):
        said = re.sub(re.escape(item), f"\0{index}\0", said, flags=re.IGNORECASE)
    parts = (part for part in _SEPARATOR.split(said) if normal(part) or "\0" in part)
    return tuple(re.sub("\0([0-9]+)\0", lambda m: kept[int(m[1])], part) for part in parts)


def _is_edge(char: str) -> bool:
    return char.isspace() or unicodedata.category(char).startswith("P")


def _decimal(match: re.Match[str]) -> Decimal:
    value = Decimal(match["digits"].replace(",", "") + (match["part"] or ""))
    return -value if match["sign"] in ("-", "\u2212") else value


def _month(name: str) -> int:
    return int(name) if name.isdigit() else _MONTHS.index(name[:3].casefold()) + 1


def _day(year: int, month: int, day: int) -> dt.date | None:
    try:
        return dt.date(year, month, day)
    except ValueError:
        return None


def _minutes(hour: int, minute: int, half: str) -> int | None:
    if half == "p" and hour < 12:
        hour += 12
    elif half == "a" and hour == 12:
        hour = 0
    elif half == "a" and hour > 12:
        return None
    return hour * 60 + minute if hour < 24 and minute < 60 else None


def _half_zh(word: str | None, hour: int) -> str:
    if word in ("下午", "晚上") or (word == "中午" and hour < 3):
        return "p"
    return "a" if word in ("凌晨", "早上", "上午") and hour <= 12 else ""


def _unit_s(match: re.Match[str]) -> int:
    return next(seconds for unit, seconds in _UNIT_S.items() if match[unit])


def _length_groups(said: str) -> Iterator[list[re.Match[str]]]:
    group: list[re.Match[str]] = []
    for match in _LENGTH.finditer(said):
        if group and not (
            _LENGTH_JOINT.fullmatch(said, group[-1].end(), match.start())
            and _unit_s(match) < _unit_s(group[-1])
        ):
            yield group
            group = []
        group.append(match)
    if group:
        yield group
