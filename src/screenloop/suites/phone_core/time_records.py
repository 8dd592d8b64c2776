"""Events, alarms and networks of a world that templates start from."""

from __future__ import annotations

from screenloop.criteria import Added, Check, Expected, Text
from screenloop.phone.apps.calendar_model import Event, Occurrence, minute_of, occurrences
from screenloop.phone.apps.calendar_model import State as Calendar
from screenloop.phone.apps.clock_model import Alarm
from screenloop.phone.apps.clock_model import State as Clock
from screenloop.phone.apps.settings_model import Network
from screenloop.phone.apps.settings_model import State as Settings
from screenloop.suites.phone_core.template import WorldView

COLLISION_DAY = 3
"""Day of the world, from its start, on which two meetings overlap."""


def event_titled(w: WorldView, title: str) -> Event:
    """Return the event with a title."""
    (found,) = w.state(Calendar).events.where(lambda e: e.title == title)
    return found


def on_day(w: WorldView, day: str) -> list[Occurrence]:
    """Return what takes place on an ISO date, in order."""
    return occurrences(w.state(Calendar).events, day, 1)


def length_min(event: Event) -> int:
    """Return the minutes that a timed event takes."""
    return minute_of(event.end) - minute_of(event.start)


def planned(title: str, says: str, **fields: Expected) -> tuple[Check, ...]:
    """Return checks that one event was added, one for each of its fields that matters."""
    where = {"title": Text(value=title)}
    return tuple(
        Added(app="calendar", table="events", where={**where, name: value},
              says=f"{says}: {name.replace('_', ' ')}")
        for name, value in fields.items()
    )  # fmt: skip


def alarm_labelled(w: WorldView, label: str) -> Alarm:
    """Return the alarm with a label."""
    (found,) = w.state(Clock).alarms.where(lambda a: a.label == label)
    return found


def network_named(w: WorldView, name: str) -> Network:
    """Return the Wi-Fi network with a name."""
    (found,) = w.state(Settings).networks.where(lambda n: n.name == name)
    return found


def weekdays(days: str) -> str:
    """Return weekdays as people write them: `Tuesday and Thursday` of `2,4`."""
    names = ("Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays")
    *most, last = (names[int(day) - 1] for day in days.split(","))
    return f"{', '.join(most)} and {last}" if most else last
