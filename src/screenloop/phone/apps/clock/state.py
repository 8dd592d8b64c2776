"""The clock's data: alarms, cities, countdowns, laps; when an alarm rings next. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, time, timedelta
from typing import Annotated, Literal

import msgspec

from screenloop.phone import kit as k

Sound = Literal["Dawn", "Ripple", "Chimes", "Marimba", "Rooster"]
SOUNDS: tuple[tuple[Sound, tuple[str, str]], ...] = (
    ("Dawn", ("Dawn", "黎明")),
    ("Ripple", ("Ripple", "涟漪")),
    ("Chimes", ("Chimes", "风铃")),
    ("Marimba", ("Marimba", "马林巴")),
    ("Rooster", ("Rooster", "公鸡")),
)
Snooze = Literal[0, 5, 10, 15]
"""Minutes; 0 is no snooze."""
SNOOZES: tuple[tuple[Snooze, tuple[str, str]], ...] = (
    (0, ("Off", "关闭")),
    (5, ("5 min", "5 分钟")),
    (10, ("10 min", "10 分钟")),
    (15, ("15 min", "15 分钟")),
)
AlarmId = Annotated[str, k.Refers("clock.alarms")]
ZoneId = Annotated[str, k.Refers("clock.zones")]
CountdownId = Annotated[str, k.Refers("clock.countdowns")]
Clock = Annotated[str, msgspec.Meta(pattern=r"^([01]\d|2[0-3]):[0-5][05]$")]
Days = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^([1-7](,[1-7])*)?$",
        description="Weekdays from 1 (Monday) to 7 in order, e.g. 1,3; empty rings once.",
    ),
]
Label = Annotated[str, msgspec.Meta(max_length=40)]
WEEKDAYS_ONLY = "1,2,3,4,5"
WEEKEND = "6,7"
EVERY_DAY = "1,2,3,4,5,6,7"


class Alarm(k.Record, frozen=True, kw_only=True):
    """One alarm."""

    time: str
    """`HH:MM`."""
    label: str = ""
    days: str = ""
    """Weekdays from 1 (Monday) to 7 with commas; empty rings once."""
    enabled: bool = True
    snooze_min: Snooze = 10
    sound: Sound = "Dawn"
    vibrate: bool = True
    ringing: bool = False
    snoozed_until_s: int = 0


class Zone(k.Record, frozen=True, kw_only=True):
    """A city of the world."""

    name: str
    name_zh: str
    country: str
    offset_min: int
    """Ahead of the phone's own time, which is UTC."""


class City(k.Record, frozen=True, kw_only=True):
    """A city on the world clock."""

    zone: str


class Countdown(k.Record, frozen=True, kw_only=True):
    """A timer that counts down."""

    label: str
    total_s: int
    state: Literal["running", "paused", "done"] = "running"
    ends_s: int = 0
    """When it rings, while running."""
    left_s: int = 0
    """What is left, while paused."""


class Lap(k.Record, frozen=True, kw_only=True):
    """One lap of the stopwatch."""

    number: int
    at_s: int
    """On the stopwatch."""
    took_s: int


ZONES = msgspec.convert(k.read_data(__package__)["zones"], tuple[tuple[str, str, str, int], ...])


def seed_zones(cast: k.Cast) -> Iterable[Zone]:
    """The cities that can be chosen, with their hours in early March."""
    for name, name_zh, country, offset_min in ZONES:
        zone = name.lower().replace(" ", "_")
        yield Zone(id=zone, name=name, name_zh=name_zh, country=country, offset_min=offset_min)


def seed_cities(cast: k.Cast) -> Iterable[City]:
    """Four cities in a world's own order."""
    chosen = cast.rng("clock cities").sample(["tokyo", "berlin", "new_york", "delhi", "sydney"], 4)
    return [City(zone=zone) for zone in chosen]


def seed_alarms(cast: k.Cast) -> Iterable[Alarm]:
    """A working week's alarms; the world's seed shifts the minutes."""
    rng = cast.rng("clock alarms")
    rows: tuple[tuple[int, str, str, bool, Snooze, Sound], ...] = (
        (6, "Work", WEEKDAYS_ONLY, True, 10, "Dawn"),
        (7, "School run", WEEKDAYS_ONLY, False, 5, "Chimes"),
        (9, "Weekend", WEEKEND, True, 15, "Ripple"),
        (13, "Lunch break", "", False, 0, "Marimba"),
        (18, "Gym", "2,4", True, 0, "Marimba"),
        (21, "Take medicine", EVERY_DAY, True, 10, "Chimes"),
        (5, "Airport", "", False, 5, "Rooster"),
    )
    for hour, label, days, enabled, snooze_min, sound in rows:
        yield Alarm(
            time=f"{hour:02d}:{rng.choice((0, 15, 30, 45)):02d}",
            label=label,
            days=days,
            enabled=enabled,
            snooze_min=snooze_min,
            sound=sound,
        )


class State(k.AppState):
    """The clock."""

    zones = k.Catalog(Zone, seed=seed_zones)
    alarms = k.Table(Alarm, prefix="alarm", seed=seed_alarms)
    cities = k.Table(City, prefix="city", seed=seed_cities)
    countdowns = k.Table(Countdown, prefix="timer")
    laps = k.Table(Lap, prefix="lap")
    stopwatch_from_s: int = 0
    """When it was started last; 0 while it stands."""
    stopwatch_kept_s: int = 0
    """What it showed when it was started last."""
    bedtime: str = "22:30"
    wake: str = "06:30"
    bedtime_on: bool = False


app = k.App("clock", State, title=("Clock", "时钟"), icon="clock", tint="#4f46e5")


def ring_go(alarm: str) -> k.Go:
    """Return the move to a ringing alarm."""
    return k.Go(app=app.id, path=f"/ring/{alarm}")


def countdown_go(countdown: str) -> k.Go:
    """Return the move to a countdown."""
    return k.Go(app=app.id, path=f"/timer/{countdown}")


def in_order(days: str) -> str:
    """Return weekdays sorted, each once."""
    return ",".join(sorted(set(days.split(",")) - {""}))


def next_ring_s(alarm: Alarm, now_s: int) -> int:
    """Return the first moment after `now_s` at which an alarm's time and weekday come together."""
    today = datetime.fromtimestamp(now_s, UTC).date()
    days = alarm.days or EVERY_DAY
    due = (
        datetime.combine(today + timedelta(days=n), time.fromisoformat(alarm.time), UTC)
        for n in range(8)
    )
    return next(
        int(at.timestamp())
        for at in due
        if at.timestamp() > now_s and str(at.isoweekday()) in days.split(",")
    )


def next_alarm(s: State, now_s: int) -> tuple[Alarm, int] | None:
    """Return the enabled alarm that rings first and when, or `None`."""
    due = [(next_ring_s(a, now_s), a.id, a) for a in s.alarms if a.enabled]
    if not due:
        return None
    at_s, _, alarm = min(due)
    return alarm, at_s


def left_of(countdown: Countdown, now_s: int) -> int:
    """Return the seconds that a countdown still has."""
    if countdown.state == "running":
        return max(0, countdown.ends_s - now_s)
    return countdown.left_s


def stopwatch_s(s: State, now_s: int) -> int:
    """Return what the stopwatch shows, in seconds."""
    running = now_s - s.stopwatch_from_s if s.stopwatch_from_s else 0
    return s.stopwatch_kept_s + running


def span(seconds: int) -> str:
    """Return `M:SS` or `H:MM:SS`."""
    hours, rest = divmod(seconds, 3600)
    if hours:
        return f"{hours}:{rest // 60:02d}:{rest % 60:02d}"
    return f"{rest // 60:02d}:{rest % 60:02d}"


def minutes_between(start: str, end: str) -> int:
    """Return the minutes from one time of day to the next other one."""
    first, last = (int(c[:2]) * 60 + int(c[3:]) for c in (start, end))
    return (last - first) % 1440


def zones_with(s: State, text: str) -> list[Zone]:
    """Return the cities that hold a text, by name."""
    wanted = text.casefold().strip()
    rows = s.zones.where(lambda z: wanted in f"{z.name} {z.name_zh} {z.country}".casefold())
    return sorted(rows, key=lambda z: z.name)
