"""What can be done with the calendar, by touch and by tool."""

from __future__ import annotations

import datetime
from typing import Annotated, Literal

import msgspec
from msgspec.structs import replace

from screenloop.phone import kit as k
from screenloop.phone.apps.calendar import state
from screenloop.phone.apps.calendar.state import Clock, Day, EventId, State, app, event_go, is_day
from screenloop.phone.apps.contacts.pages import State as Contacts

PLANNED_DAYS = 63
"""How far ahead the next reminder of a repeated event is looked for."""


def _plan(ctx: k.Ctx, event: state.Event) -> None:
    """Set a timer for the next time that an event is to be reminded of, unless it is set."""
    if not event.reminder_min:
        return
    day = max(datetime.date.fromisoformat(event.date), datetime.date.fromisoformat(ctx.today()))
    for _ in range(PLANNED_DAYS):
        due_s = state.due_s_of(event, day)
        if state.falls_on(event, day) and due_s > ctx.now_s:
            call = remind(event=event.id, date=day.isoformat(), due_s=due_s)
            timers = ctx.of(k.SystemState).timers
            if not any(t.app == app.id and t.args == call.args for t in timers):
                ctx.after(due_s - ctx.now_s, call)
            return
        day += datetime.timedelta(days=1)


def _hours(ctx: k.Ctx, date: str, start: str, end: str, all_day: bool) -> tuple[str, str]:
    """Return start and end as they are kept; refuse a day or an order that cannot be."""
    if not is_day(date):
        ctx.refuse(ctx.t(f"{date} is not a day of the calendar", f"{date} 不是有效日期"))
    if all_day:
        return "", ""
    if end <= start:
        ctx.refuse(ctx.t("The end must be after the start", "结束时间必须晚于开始时间"))
    return start, end


# ---- actions -------------------------------------------------------------------------------


@app.action(
    "events.add",
    tool=True,
    writes=["events"],
    check=lambda before, after, a: (
        len(after.events) == len(before.events) + 1
        and after.events.first(lambda e: e.id not in before.events).title == a.title.strip()
    ),
)
def add(
    s: State,
    ctx: k.Ctx,
    title: state.Title,
    date: Day,
    start: Clock = "09:00",
    end: Clock = "10:00",
    all_day: bool = False,
    location: str = "",
    note: str = "",
    calendar: state.Layer = "personal",
    repeat: state.Repeat = "none",
    reminder_min: state.Minutes = 0,
) -> None:
    """Put a new event into the calendar."""
    start, end = _hours(ctx, date, start, end, all_day)
    event = s.events.add(
        state.Event(
            title=title.strip(),
            date=date,
            start=start,
            end=end,
            all_day=all_day,
            repeat=repeat,
            location=location.strip(),
            note=note.strip(),
            calendar=calendar,
            reminder_min=reminder_min,
        )
    )
    _plan(ctx, event)
    ctx.toast(ctx.t("Event saved", "日程已保存"))
    ctx.move(k.Back())
    ctx.move(event_go(event=event.id, date=date))


@app.action(
    "events.edit",
    tool=True,
    writes=["events"],
    check=lambda before, after, a: (
        after.events[a.event].title == a.title.strip() and after.events[a.event].date == a.date
    ),
)
def edit(
    s: State,
    ctx: k.Ctx,
    event: EventId,
    title: state.Title,
    date: Day,
    start: Clock,
    end: Clock,
    all_day: bool,
    location: str,
    note: str,
    calendar: state.Layer,
    repeat: state.Repeat,
    reminder_min: state.Minutes,
) -> None:
    """Change all details of an event."""
    start, end = _hours(ctx, date, start, end, all_day)
    row = s.events.update(
        event,
        title=title.strip(),
        date=date,
        start=start,
        end=end,
        all_day=all_day,
        location=location.strip(),
        note=note.strip(),
        calendar=calendar,
        repeat=repeat,
        reminder_min=reminder_min,
    )
    _plan(ctx, row)
    ctx.toast(ctx.t("Event updated", "日程已更新"))
    ctx.move(k.Back())
    ctx.move(k.Back())
    ctx.move(event_go(event=event, date=date))


@app.action(
    "events.move",
    tool="Move an event to another day and time.",
    writes=["events"],
    check=k.row_has("events", "event", date="date"),
)
def move(s: State, ctx: k.Ctx, event: EventId, date: Day, start: Clock, end: Clock) -> None:
    """Move an event to another day and time; an all-day event keeps its whole day."""
    start, end = _hours(ctx, date, start, end, s.events[event].all_day)
    row = s.events.update(event, date=date, start=start, end=end)
    _plan(ctx, row)
    ctx.toast(ctx.t("Event moved", "日程已移动"))
    ctx.move(k.Back())
    ctx.move(k.Back())
    ctx.move(event_go(event=event, date=date))


@app.action(
    "events.duplicate",
    tool="Copy an event to a day.",
    writes=["events"],
    check=k.one_more("events"),
)
def duplicate(s: State, ctx: k.Ctx, event: EventId, date: Day) -> None:
    """Copy an event to a day; the copy does not repeat and asks for no reply."""
    if not is_day(date):
        ctx.refuse(ctx.t(f"{date} is not a day of the calendar", f"{date} 不是有效日期"))
    row = s.events.add(
        replace(s.events[event], date=date, repeat="none", skips=[], organiser="", reply="")
    )
    _plan(ctx, row)
    ctx.toast(ctx.t("Event copied", "日程已复制"))
    ctx.move(k.Back())
    ctx.move(event_go(event=row.id, date=date))


@app.action("events.delete", tool=True, writes=["events"], check=k.gone("events", "event"))
def delete(s: State, ctx: k.Ctx, event: EventId) -> None:
    """Delete an event with all its repeats."""
    s.events.remove(event)
    ctx.toast(ctx.t("Event deleted", "日程已删除"))
    ctx.move(k.Back())


@app.action(
    "events.skip",
    tool=True,
    writes=["events"],
    check=lambda before, after, a: a.date in after.events[a.event].skips,
)
def skip(s: State, ctx: k.Ctx, event: EventId, date: Day) -> None:
    """Leave out one day of a repeated event."""
    row = s.events[event]
    if row.repeat == "none" or not is_day(date):
        ctx.refuse(ctx.t("This event does not repeat", "此日程不重复"))
    if not state.falls_on(row, datetime.date.fromisoformat(date)):
        ctx.refuse(ctx.t("The event is not on that day", "当天没有此日程"))
    s.events.update(event, skips=sorted([*row.skips, date]))
    ctx.toast(ctx.t("Removed on this day only", "仅删除当天"))
    ctx.move(k.Back())


@app.action(
    "events.remind_before",
    tool=True,
    writes=["events"],
    check=k.row_has("events", "event", reminder_min="reminder_min"),
)
def remind_before(s: State, ctx: k.Ctx, event: EventId, reminder_min: state.Minutes) -> None:
    """Set how many minutes before an event to remind, 0 for never."""
    _plan(ctx, s.events.update(event, reminder_min=reminder_min))


@app.action(
    "events.reply", tool=True, writes=["events"], check=k.row_has("events", "event", reply="reply")
)
def answer(s: State, ctx: k.Ctx, event: EventId, reply: Literal["yes", "maybe", "no"]) -> None:
    """Answer an invitation: yes, maybe or no."""
    organiser = s.events[event].organiser
    if not organiser:
        ctx.refuse(ctx.t("Nobody asked for a reply", "无需回复"))
    s.events.update(event, reply=reply)
    ctx.toast(ctx.t(f"Reply sent to {organiser}", f"已回复{organiser}"))


@app.action(
    "guests.invite",
    tool=True,
    writes=["events"],
    check=lambda before, after, a: a.name in after.events[a.event].guests,
)
def invite(s: State, ctx: k.Ctx, event: EventId, name: str) -> None:
    """Invite a contact to an event."""
    row = s.events[event]
    if not ctx.of(Contacts).people.first(lambda p: p.name == name):
        ctx.refuse(ctx.t(f"{name} is not in your contacts", f"通讯录里没有{name}"))
    if name in row.guests:
        ctx.refuse(ctx.t(f"{name} is invited already", f"已邀请{name}"))
    s.events.update(event, guests=[*row.guests, name])


@app.action(
    "guests.remove",
    tool=True,
    writes=["events"],
    check=lambda before, after, a: a.name not in after.events[a.event].guests,
)
def uninvite(s: State, ctx: k.Ctx, event: EventId, name: str) -> None:
    """Take a guest off an event."""
    row = s.events[event]
    if name not in row.guests:
        ctx.refuse(ctx.t(f"{name} is not invited", f"未邀请{name}"))
    s.events.update(event, guests=[guest for guest in row.guests if guest != name])


@app.action(
    "layers.show", tool=True, writes=["layers"], check=k.row_has("layers", "calendar", shown="on")
)
def show(s: State, ctx: k.Ctx, calendar: state.LayerId, on: bool) -> None:
    """Show or hide one of the calendars."""
    s.layers.update(calendar, shown=on)


@app.action(
    "options.reminder",
    tool=True,
    writes=["default_reminder_min"],
    check=k.value_is("default_reminder_min", "reminder_min"),
)
def set_default_reminder(s: State, ctx: k.Ctx, reminder_min: state.Minutes) -> None:
    """Set the reminder that new events start with, in minutes."""
    s.default_reminder_min = reminder_min


@app.action(
    "options.week_start",
    tool=True,
    writes=["sunday_first"],
    check=k.value_is("sunday_first", "sunday"),
)
def set_week_start(s: State, ctx: k.Ctx, sunday: bool) -> None:
    """Begin weeks on Sunday, or on Monday."""
    s.sunday_first = sunday


@app.action("events.remind", writes=[])
def remind(s: State, ctx: k.Ctx, event: str, date: str, due_s: int) -> None:
    """Post the reminder, if the event still is when it was, and plan the next one."""
    row = s.events.get(event)
    day = datetime.date.fromisoformat(date)
    if (
        row is None
        or not row.reminder_min
        or not state.falls_on(row, day)
        or state.due_s_of(row, day) != due_s
    ):
        return
    text = " · ".join(filter(None, (row.start or ctx.t("All day", "全天"), row.location)))
    ctx.notify(row.title, text, event_go(event=event, date=date))
    _plan(ctx, row)


# ---- queries -------------------------------------------------------------------------------


@app.query("events.list")
def list_events(
    s: State, ctx: k.Ctx, first: Day, days: Annotated[int, msgspec.Meta(ge=1, le=62)] = 1
) -> list[state.Occurrence]:
    """List what takes place from a day on, for up to 62 days."""
    if not is_day(first):
        return []
    return state.occurrences(s.events, first, days)


@app.query("events.day", shows="/")
def day_events(s: State, ctx: k.Ctx, day: Day) -> list[state.Occurrence]:
    """List what takes place on one day."""
    return state.occurrences(s.events, day, 1) if is_day(day) else []


@app.query("events.search", shows="/search")
def search(s: State, ctx: k.Ctx, text: str) -> list[state.Event]:
    """Find events by part of a title, place, note or guest."""
    return state.found_in(s, text)


@app.query(
    "events.get",
    tool="Read one event, on its first day or another one of its days.",
    shows="/e/{event}/{date}",
)
def get(s: State, ctx: k.Ctx, event: EventId, date: state.SomeDay = "") -> state.Occurrence:
    """Return one event with the day that it is looked at on."""
    row = s.events[event]
    return state.Occurrence(date=date or row.date, event=row)
