"""Events, alarms and networks of a world that templates start from."""

from __future__ import annotations

from typing import Any

from screenloop.actions import Tool
from screenloop.criteria import Added, Check, Expected, Text, Value
from screenloop.phone.apps.calendar.state import Event, Occurrence, minute_of, occurrences
from screenloop.phone.apps.calendar.state import State as Calendar
from screenloop.phone.apps.clock.state import Alarm
from screenloop.phone.apps.clock.state import State as Clock
from screenloop.phone.apps.messages import actions as messages
from screenloop.phone.apps.messages.state import State as Chats
from screenloop.phone.apps.messages.state import thread_of
from screenloop.phone.apps.settings.state import Network
from screenloop.phone.apps.settings.state import State as Settings
from screenloop.suites.phone_core.template import WorldView, call, changed
from screenloop.suites.phone_core.worlds.records import quiet


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
    where = {"title": Text(title)}
    return tuple(
        Added(
            app="calendar",
            table="events",
            where={**where, name: value},
            says=f"{says}: {name.replace('_', ' ')}",
        )
        for name, value in fields.items()
    )


def alarm_labelled(w: WorldView, label: str) -> Alarm:
    """Return the alarm with a label."""
    (found,) = w.state(Clock).alarms.where(lambda a: a.label == label)
    return found


def network_named(w: WorldView, name: str) -> Network:
    """Return the Wi-Fi network with a name."""
    (found,) = w.state(Settings).networks.where(lambda n: n.name == name)
    return found


def joined(network: str, name: str) -> tuple[Check, ...]:
    """Return checks that the phone is in a Wi-Fi network that was not saved before."""
    return (
        changed(
            "settings.networks", network, f"The phone knows the password of {name}", saved=True
        ),
        Value(app="os", path="wifi_network", to=name, says=f"The phone is in {name}"),
    )


def said(w: WorldView, thread: str, text: str) -> dict[str, Any]:
    """Return the patch after which somebody has written a text an hour ago."""
    row = {"thread": thread, "mine": False, "text": text, "at_s": w.cast.at(0, "08:00")}
    return {"app": "messages", "table": "messages", "op": "add", "row": row}


def text_to(w: WorldView, phone: str, text: str) -> tuple[Tool, tuple[dict[str, Any], ...]]:
    """Return the call that texts a number, and patches after which nobody answers by themselves."""
    thread = thread_of(w.state(Chats), phone)
    if thread is None:
        return call(messages.start, phone=phone, text=text), ()
    return call(messages.send, thread=thread.id, text=text), quiet(thread)


def weekdays(days: str) -> str:
    """Return weekdays as people write them: `Tuesday and Thursday` of `2,4`."""
    names = ("Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays")
    *most, last = (names[int(day) - 1] for day in days.split(","))
    return f"{', '.join(most)} and {last}" if most else last
