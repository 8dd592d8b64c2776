"""The calendar's data: events, on which days they are, which of them overlap. Pure."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from typing import Annotated, Any, Literal

import msgspec

from screenloop.phone import kit as k

Layer = Literal["work", "personal", "family", "health"]
LAYERS: tuple[tuple[Layer, tuple[str, str]], ...] = (
    ("work", ("Work", "工作")),
    ("personal", ("Personal", "个人")),
    ("family", ("Family", "家庭")),
    ("health", ("Health", "健康")),
)
COLORS: dict[Layer, str] = {
    "work": "#2f6fde",
    "personal": "#0f8a6d",
    "family": "#b4538a",
    "health": "#c98a12",
}
Repeat = Literal["none", "daily", "weekly", "monthly"]
REPEATS: tuple[tuple[Repeat, tuple[str, str]], ...] = (
    ("none", ("Never", "不重复")),
    ("daily", ("Daily", "每天")),
    ("weekly", ("Weekly", "每周")),
    ("monthly", ("Monthly", "每月")),
)
Minutes = Literal[0, 5, 10, 30, 60, 1440]
"""How long before an event it is reminded of; 0 is never."""
REMINDERS: tuple[tuple[Minutes, tuple[str, str]], ...] = (
    (0, ("None", "无")),
    (5, ("5 min", "5 分钟")),
    (10, ("10 min", "10 分钟")),
    (30, ("30 min", "30 分钟")),
    (60, ("1 hour", "1 小时")),
    (1440, ("1 day", "1 天")),
)
Reply = Literal["", "yes", "maybe", "no"]
REPLIES: tuple[tuple[Reply, tuple[str, str]], ...] = (
    ("yes", ("Accept", "接受")),
    ("maybe", ("Maybe", "待定")),
    ("no", ("Decline", "拒绝")),
)
EventId = Annotated[str, k.Refers("calendar.events")]
LayerId = Annotated[Layer, k.Refers("calendar.layers")]
Title = Annotated[str, msgspec.Meta(min_length=1, max_length=80)]
Day = Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d{2}-\d{2}$")]
SomeDay = Annotated[str, msgspec.Meta(pattern=r"^(\d{4}-\d{2}-\d{2})?$")]
"""An ISO day, or none."""
Clock = Annotated[str, msgspec.Meta(pattern=r"^([01]\d|2[0-3]):[0-5][05]$")]


class Event(k.Record, frozen=True, kw_only=True):
    """One event; a repeated one is one row."""

    title: str
    date: str
    """ISO day of the first time."""
    start: str = ""
    """`HH:MM`, empty all day."""
    end: str = ""
    all_day: bool = False
    location: str = ""
    note: str = ""
    calendar: Layer = "personal"
    repeat: Repeat = "none"
    reminder_min: Minutes = 0
    guests: list[str] = []
    """Names of contacts."""
    organiser: str = ""
    """Who invited the owner of the phone; empty for the owner's events."""
    reply: Reply = ""
    skips: list[str] = []
    """ISO days on which a repeated event is left out."""


class Shown(k.Record, frozen=True, kw_only=True):
    """One calendar and whether its events are shown."""

    shown: bool = True


class Occurrence(k.Struct, frozen=True, kw_only=True):
    """An event on one of its days."""

    date: str
    event: Event


SEEDS = msgspec.convert(
    k.read_data(__package__)["seeds"], tuple[tuple[str, int, str, Layer, str, dict[str, Any]], ...]
)
FIXED = ("Budget meeting", "Supplier call")
"""Two events that overlap in every world."""


def seed_events(cast: k.Cast) -> Iterable[Event]:
    """Some weeks of a busy person; the world's seed shifts the hours."""
    rng = cast.rng("calendar")
    names = [member.name for member in cast.people]
    firsts = [name.split()[0] for name in names]
    for title, days, hours, layer, place, more in SEEDS:
        start, _, end = hours.partition("-")
        shift = 0 if title in FIXED else rng.choice((0, 0, 0, 15, 30))
        yield Event(
            title=title.format(*firsts),
            date=cast.day(days),
            all_day=not hours,
            start=later(start, shift),
            end=later(end, shift),
            calendar=layer,
            location=place.format(*firsts),
            note=more.get("note", ""),
            repeat=more.get("repeat", "none"),
            reminder_min=more.get("reminder_min", 0),
            guests=[names[i] for i in more.get("guests", ())],
            organiser=names[more["by"]] if "by" in more else "",
        )


def seed_layers(cast: k.Cast) -> Iterable[Shown]:
    """All calendars, all shown."""
    return [Shown(id=layer) for layer, _ in LAYERS]


class State(k.AppState):
    """The calendar."""

    events = k.Table(Event, prefix="event", seed=seed_events)
    layers = k.Table(Shown, prefix="layer", seed=seed_layers)
    default_reminder_min: int = 0
    sunday_first: bool = False


app = k.App("calendar", State, title=("Calendar", "日历"), icon="calendar", tint="#c2410c")


def event_go(event: str, date: str) -> k.Go:
    """Return the move to an event on one of its days."""
    return k.Go(app=app.id, path=f"/e/{event}/{date}")


# ---- when events are -----------------------------------------------------------------------


def later(clock: str, minutes: int) -> str:
    """Return a time of day some minutes later; none stays none."""
    if not clock:
        return ""
    total = minute_of(clock) + minutes
    return f"{total // 60:02d}:{total % 60:02d}"


def minute_of(clock: str) -> int:
    """Return the minutes since midnight of `HH:MM`."""
    hour, minute = clock.split(":")
    return int(hour) * 60 + int(minute)


def falls_on(event: Event, day: datetime.date) -> bool:
    """Whether an event, repeated or not, takes place on a day."""
    first = datetime.date.fromisoformat(event.date)
    if day < first or day.isoformat() in event.skips:
        return False
    match event.repeat:
        case "none":
            return day == first
        case "daily":
            return True
        case "weekly":
            return (day - first).days % 7 == 0
        case "monthly":
            return day.day == first.day


def occurrences(events: Iterable[Event], first: str, days: int) -> list[Occurrence]:
    """Return what takes place on some days, in order; all-day events come first on their day."""
    rows = sorted(events, key=lambda e: (e.start, e.end, e.title))
    start = datetime.date.fromisoformat(first)
    found = []
    for day in (start + datetime.timedelta(days=n) for n in range(days)):
        found += [Occurrence(date=day.isoformat(), event=e) for e in rows if falls_on(e, day)]
    return found


def overlapping(
    events: Iterable[Event], date: str, start: str, end: str, but: str = ""
) -> list[Event]:
    """Return the timed events of a day that overlap a stretch of it, except one by its id."""
    return [
        o.event
        for o in occurrences(events, date, 1)
        if o.event.start and o.event.id != but and o.event.start < end and start < o.event.end
    ]


def due_s_of(event: Event, day: datetime.date) -> int:
    """Return when to remind of an event on a day, in epoch seconds; all-day ones begin at 9."""
    clock = datetime.time.fromisoformat(event.start or "09:00")
    begins = datetime.datetime.combine(day, clock, datetime.UTC)
    return int(begins.timestamp()) - 60 * event.reminder_min


def lanes_of(events: list[Event]) -> list[tuple[Event, int, int]]:
    """Return timed events with their lane and the number of lanes of their cluster."""
    placed: list[tuple[Event, int, int]] = []
    cluster: list[tuple[Event, int]] = []
    ends: list[str] = []
    for event in [*events, None]:
        if event is None or (ends and event.start >= max(ends)):
            placed += [(member, lane, len(ends)) for member, lane in cluster]
            cluster, ends = [], []
        if event is None:
            break
        lane = next((n for n, end in enumerate(ends) if end <= event.start), len(ends))
        ends[lane : lane + 1] = [event.end]
        cluster.append((event, lane))
    return placed


def found_in(s: State, text: str) -> list[Event]:
    """Return the events that hold a text, by date."""
    wanted = text.casefold().strip()
    rows = s.events.where(
        lambda e: (
            wanted
            in f"{e.title} {e.location} {e.note} {' '.join(e.guests)} {e.organiser}".casefold()
        )
    )
    return sorted(rows, key=lambda e: (e.date, e.start))


def is_day(text: str) -> bool:
    """Whether a text is an ISO date."""
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return True
