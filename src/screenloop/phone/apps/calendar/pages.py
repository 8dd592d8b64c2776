"""Calendar: a month, an agenda, the hours of a day; events with repeats, reminders and guests."""

from __future__ import annotations

import datetime
from typing import Any

from screenloop.phone import kit as k
from screenloop.phone.apps.calendar import actions as act
from screenloop.phone.apps.calendar import state
from screenloop.phone.apps.calendar.state import REMINDERS, Event, EventId, State, app, occurrences
from screenloop.phone.apps.calendar.views import Block, EventRow, Hours, MonthGrid, month_at
from screenloop.phone.apps.contacts.pages import State as Contacts

__all__ = ["State", "app"]
AGENDA_DAYS = 35


# ---- pages ---------------------------------------------------------------------------------


def _shown(s: State) -> list[Event]:
    return s.events.where(lambda e: s.layers[e.calendar].shown)


def _day_words(ui: k.Ui, date: str) -> str:
    day = datetime.datetime.fromisoformat(date).replace(tzinfo=datetime.UTC)
    words = ui.day(int(day.timestamp()))
    return words if date[:4] == ui.today()[:4] else f"{words} {date[:4]}"


def _event_row(event: Event, date: str, subtitle: str = "") -> EventRow:
    icon = "refresh" if event.repeat != "none" else "bell" if event.reminder_min else ""
    return EventRow(
        start=event.start or ("All day", "全天"),
        end=event.end,
        title=event.title,
        icon=icon,
        subtitle=subtitle or event.location,
        color=state.COLORS[event.calendar],
        do=event_page(event=event.id, date=date),
    )


def _tabs(shown: str) -> tuple[k.Tab, ...]:
    return k.tabs(
        shown,
        ("month", "calendar", ("Month", "月"), month_page()),
        ("agenda", "list", ("Agenda", "日程"), agenda_page()),
        ("layers", "sliders", ("Calendars", "日历"), layers_page()),
    )


def _fab(date: str) -> k.Fab:
    return k.Fab("plus", ("New event", "新建日程"), new_page(date=date))


@app.page("/")
def month_page(s: State, ui: k.Ui) -> k.Page:
    """A month, and the events of the chosen day."""
    day = ui.get("day", ui.today())
    month = ui.get("month", day[:7])
    dots: dict[str, tuple[str, ...]] = {}
    for o in occurrences(_shown(s), f"{month_at(month, -1)}-20", 60):
        dots[o.date] = (*dots.get(o.date, ()), state.COLORS[o.event.calendar])
    rows: list[k.Widget] = [_event_row(o.event, o.date) for o in occurrences(_shown(s), day, 1)]
    if not rows:
        rows.append(
            k.Paragraph(("Nothing planned", "没有日程"), muted=True, align="center", pad_px=24)
        )
    return k.Page(
        ("Calendar", "日历"),
        (
            MonthGrid(
                month=month, today=ui.today(), chosen=day, dots=dots, sunday_first=s.sunday_first
            ),
            k.Heading(_day_words(ui, day), ("Day view", "日视图"), day_page(date=day)),
            *rows,
        ),
        large=True,
        tabs=_tabs("month"),
        fab=_fab(day),
        actions=(
            k.IconButton("search", ("Search", "搜索"), search_page()),
            k.IconButton(
                "calendar", ("Today", "今天"), ui.set(day=ui.today(), month=ui.today()[:7])
            ),
        ),
    )


@app.page("/agenda")
def agenda_page(s: State, ui: k.Ui) -> k.Page:
    """What comes, day by day."""
    body: list[k.Widget] = []
    date = ""
    for o in occurrences(_shown(s), ui.today(), AGENDA_DAYS):
        if o.date != date:
            date = o.date
            words = ui.t("Today", "今天") if date == ui.today() else _day_words(ui, date)
            body.append(k.Heading(words))
        body.append(_event_row(o.event, o.date))
    if not body:
        body.append(k.Empty("calendar", ("Nothing planned", "没有日程")))
    return k.Page(
        ("Agenda", "日程"),
        body,
        large=True,
        tabs=_tabs("agenda"),
        fab=_fab(ui.today()),
        actions=(k.IconButton("search", ("Search", "搜索"), search_page()),),
    )


@app.page("/search")
def search_page(s: State, ui: k.Ui) -> k.Page:
    """Look for events, past ones too."""
    text = ui.field("text", ("Search events", "搜索日程"), kind="search")
    found = state.found_in(s, text.value) if text.value.strip() else []
    rows: list[k.Widget] = [
        _event_row(e, e.date, " · ".join(filter(None, (_day_words(ui, e.date), e.location))))
        for e in found
    ]
    if not rows:
        words = (
            ("No events found", "没有找到日程") if text.value else ("Type to search", "输入以搜索")
        )
        rows.append(k.Empty("search", words))
    return k.Page(("Search", "搜索"), (text, *rows))


@app.page("/d/{date}")
def day_page(s: State, ui: k.Ui, date: state.Day) -> k.Page:
    """The hours of one day."""
    found = [o.event for o in occurrences(_shown(s), date, 1)]
    timed = [e for e in found if e.start]
    blocks = tuple(
        Block(
            title=e.title,
            start_min=state.minute_of(e.start),
            end_min=state.minute_of(e.end),
            lane=lane,
            note=" · ".join(filter(None, (f"{e.start} - {e.end}", e.location))),
            lanes=lanes,
            color=state.COLORS[e.calendar],
            do=event_page(event=e.id, date=date),
        )
        for e, lane, lanes in state.lanes_of(timed)
    )
    now_min = ui.now_s // 60 % 1440 if date == ui.today() else -1
    day = datetime.date.fromisoformat(date)

    def beside(days: int) -> k.Do:
        other = (day + datetime.timedelta(days=days)).isoformat()
        return day_page(date=other)

    return k.Page(
        _day_words(ui, date),
        (
            *(_event_row(e, date) for e in found if not e.start),
            k.Space(8),
            Hours(
                blocks=blocks,
                now_min=now_min,
                first_hour=min([7, *(b.start_min // 60 for b in blocks)]),
                last_hour=max([21, *(-(-b.end_min // 60) for b in blocks)]),
            ),
        ),
        fab=_fab(date),
        subtitle=ui.t(f"{len(found)} event{'s' * (len(found) != 1)}", f"{len(found)} 个日程"),
        actions=(
            k.IconButton("chevron_left", ("Previous day", "前一天"), beside(-1)),
            k.IconButton("chevron_right", ("Next day", "后一天"), beside(1)),
        ),
    )


def _facts_card(ui: k.Ui, e: Event) -> k.Card:
    repeats = ui.t(*dict(state.REPEATS)[e.repeat]) if e.repeat != "none" else ""
    facts: tuple[tuple[str, tuple[str, str], str], ...] = (
        (e.location, ("Place", "地点"), "location"),
        (ui.t(*dict(state.LAYERS)[e.calendar]), ("Calendar", "日历"), "calendar"),
        (repeats, ("Repeats", "重复"), "refresh"),
        (e.organiser, ("Invited by", "邀请人"), "user"),
    )
    return k.Card(
        tuple(k.Row(value, words, k.Glyph(icon)) for value, words, icon in facts if value)
    )


@app.page("/e/{event}/{date}")
def event_page(s: State, ui: k.Ui, event: EventId, date: state.Day) -> k.Page:
    """One event on one of its days."""
    e = s.events[event]
    when = _day_words(ui, date)
    hours = f"{e.start} - {e.end}" if e.start else ui.t("All day", "全天")
    told = " · ".join(filter(None, (e.title, when, hours, e.location)))
    actions: tuple[tuple[str, tuple[str, str], k.Do], ...] = (
        ("calendar", ("Move", "移动"), move_page(event=event)),
        ("copy", ("Duplicate", "复制"), copy_page(event=event)),
        ("user_plus", ("Invite", "邀请"), guests_page(event=event)),
        ("share", ("Share", "分享"), k.Share(text=told)),
    )
    body: list[k.Widget] = [
        k.Paragraph(e.title, size_px=26, bold=True),
        k.Paragraph(f"{when} · {hours}", size_px=16),
        k.Line(tuple(k.ActionButton(i, words, do) for i, words, do in actions), inset_px=12),
    ]
    for other in state.overlapping(s.events, date, e.start, e.end, e.id) if e.start else ():
        words = ui.t(
            f"Overlaps with {other.title} ({other.start} - {other.end})",
            f"与{other.title}冲突（{other.start} - {other.end}）",
        )
        body.append(k.Banner("warning", words, event_page(event=other.id, date=date)))
    if e.organiser:
        replies = tuple(
            k.Chip(words, act.answer(event=event, reply=reply), selected=e.reply == reply)
            for reply, words in state.REPLIES
            if reply
        )
        body.append(k.Chips(replies, label=("Will you come?", "是否参加？")))
    body.append(_facts_card(ui, e))
    if e.note:
        body += [k.Heading(("Note", "备注")), k.Paragraph(e.note)]
    reminders = tuple(
        k.Chip(
            words,
            act.remind_before(event=event, reminder_min=minutes),
            selected=e.reminder_min == minutes,
        )
        for minutes, words in REMINDERS
    )
    body.append(k.Chips(reminders, label=("Remind me before", "提前提醒")))
    if e.guests:
        body.append(k.Heading(ui.t(f"Guests ({len(e.guests)})", f"嘉宾（{len(e.guests)}）")))
        body += [k.Row(guest, lead=k.Avatar(guest, size_px=36)) for guest in e.guests]
    return k.Page(
        "",
        body,
        dialog=_sure(ui, e, date) if ui.get("sure", False) else None,
        actions=(
            k.IconButton("edit", ("Edit", "编辑"), edit_page(event=event)),
            k.IconButton("trash", ("Delete", "删除"), ui.set(sure=True)),
        ),
    )


def _sure(ui: k.Ui, e: Event, date: str) -> k.Dialog:
    close = ui.set(sure=False)
    buttons = [k.DialogButton(k.CANCEL, close)]
    words: tuple[str, str] = ("Delete", "删除")
    text = e.title
    if e.repeat != "none":
        buttons.append(k.DialogButton(("This day", "仅当天"), act.skip(event=e.id, date=date)))
        words = ("All days", "所有")
        text = ui.t(f"{e.title} repeats. Delete which?", f"{e.title}会重复。要删除哪些？")
    buttons.append(k.DialogButton(words, act.delete(event=e.id), danger=True))
    return k.Dialog(
        title=("Delete event?", "删除日程？"), text=text, buttons=tuple(buttons), dismiss=close
    )


@app.page("/guests/{event}")
def guests_page(s: State, ui: k.Ui, event: EventId) -> k.Page:
    """Choose guests among the contacts."""
    e = s.events[event]
    text = ui.field("text", ("Search contacts", "搜索联系人"), kind="search")
    wanted = text.value.casefold().strip()
    names = sorted({p.name for p in ui.of(Contacts).people} | {*e.guests})
    rows: list[k.Widget] = []
    for name in (n for n in names if wanted in n.casefold()):
        chosen = name in e.guests
        toggle = act.uninvite if chosen else act.invite
        rows.append(
            k.Row(
                name,
                lead=k.Avatar(name),
                trailing_icon="check" if chosen else "plus",
                do=toggle(event=event, name=name),
                selected=chosen,
            )
        )
    if not rows:
        rows.append(k.Empty("users", ("Nobody found", "没有找到联系人")))
    return k.Page(
        ("Invite guests", "邀请嘉宾"), (text, *rows), subtitle=f"{e.title} · {len(e.guests)}"
    )


def _form(s: State, ui: k.Ui, e: Event) -> tuple[list[k.Widget], dict[str, Any]]:
    title = ui.field("title", ("Title", "标题"), e.title)
    all_day = ui.switch("all_day", ("All day", "全天"), e.all_day)
    date = ui.date("date", ("Date", "日期"), e.date)
    start = ui.time("start", ("Start", "开始"), e.start or "09:00")
    end = ui.time("end", ("End", "结束"), e.end or "10:00")
    location = ui.field("location", ("Place", "地点"), e.location)
    calendar = ui.chips("calendar", state.LAYERS, e.calendar, label=("Calendar", "日历"))
    repeat = ui.chips("repeat", state.REPEATS, e.repeat, label=("Repeat", "重复"))
    reminder = ui.chips(
        "reminder_min", REMINDERS, e.reminder_min, label=("Remind me before", "提前提醒")
    )
    note = ui.field("note", ("Note", "备注"), e.note, lines=2)
    args = {
        "title": title.value,
        "date": date.value,
        "start": start.value,
        "end": end.value,
        "all_day": all_day.value,
        "location": location.value,
        "note": note.value,
        "calendar": calendar.value,
        "repeat": repeat.value,
        "reminder_min": reminder.value,
    }
    hours: list[k.Widget] = [] if all_day.value else [k.Line((start, end))]
    if not all_day.value:
        hours += _warnings(s, date.value, start.value, end.value, e.id)
    return [title, date, all_day, *hours, location, calendar, repeat, reminder, note], args


def _warnings(s: State, date: str, start: str, end: str, but: str) -> list[k.Widget]:
    if end <= start:
        words = ("The end must be after the start", "结束时间必须晚于开始时间")
        return [k.Banner("warning", words)]
    titles = ", ".join(e.title for e in state.overlapping(s.events, date, start, end, but))
    words = (f"Overlaps with {titles}", f"与{titles}冲突")
    return [k.Banner("info", words)] if titles else []


@app.page("/new/{date}")
def new_page(s: State, ui: k.Ui, date: state.Day) -> k.Page:
    """The form for a new event."""
    reminder = next(m for m, _ in REMINDERS if m == s.default_reminder_min)
    fields, args = _form(s, ui, Event(title="", date=date, reminder_min=reminder))
    save = k.Button(("Save", "保存"), act.add(**args), enabled=bool(args["title"].strip()))
    return k.Page(("New event", "新建日程"), fields, footer=(save,))


@app.page("/edit/{event}")
def edit_page(s: State, ui: k.Ui, event: EventId) -> k.Page:
    """The form for an existing event."""
    fields, args = _form(s, ui, s.events[event])
    do = act.edit(event=event, **args)
    save = k.Button(("Save", "保存"), do, enabled=bool(args["title"].strip()))
    return k.Page(("Edit event", "编辑日程"), fields, footer=(save,))


@app.page("/move/{event}")
def move_page(s: State, ui: k.Ui, event: EventId) -> k.Page:
    """Choose another day and time."""
    e = s.events[event]
    date = ui.date("date", ("Date", "日期"), e.date)
    start = ui.time("start", ("Start", "开始"), e.start or "09:00")
    end = ui.time("end", ("End", "结束"), e.end or "10:00")
    body: list[k.Widget] = [k.Paragraph(e.title, size_px=20, bold=True), date]
    if not e.all_day:
        body.append(k.Line((start, end)))
        body += _warnings(s, date.value, start.value, end.value, e.id)
    if e.repeat != "none":
        body.append(k.Banner("refresh", ("All its days move", "所有重复都会移动")))
    do = act.move(event=event, date=date.value, start=start.value, end=end.value)
    return k.Page(
        ("Move event", "移动日程"), body, footer=(k.Button(("Move here", "移动到此处"), do),)
    )


@app.page("/copy/{event}")
def copy_page(s: State, ui: k.Ui, event: EventId) -> k.Page:
    """Choose the day of a copy."""
    e = s.events[event]
    date = ui.date("date", ("Date of the copy", "复制到日期"), e.date)
    hours = f"{e.start} - {e.end}" if e.start else ui.t("All day", "全天")
    return k.Page(
        ("Duplicate event", "复制日程"),
        (k.Paragraph(e.title, size_px=20, bold=True), k.Paragraph(hours, muted=True), date),
        footer=(
            k.Button(("Make a copy", "创建副本"), act.duplicate(event=event, date=date.value)),
        ),
    )


@app.page("/calendars")
def layers_page(s: State, ui: k.Ui) -> k.Page:
    """Which calendars are shown, and how new events and weeks begin."""
    switches = []
    for layer, words in state.LAYERS:
        count = len(s.events.where(lambda e, layer=layer: e.calendar == layer))  # type: ignore[misc]
        on = s.layers[layer].shown
        switches.append(
            k.Switch(
                words,
                on,
                act.show(calendar=layer, on=not on),
                icon="calendar",
                subtitle=(f"{count} event{'s' * (count != 1)}", f"{count} 个日程"),
            )
        )
    reminders = tuple(
        k.Chip(
            words,
            act.set_default_reminder(reminder_min=minutes),
            selected=s.default_reminder_min == minutes,
        )
        for minutes, words in REMINDERS
    )
    return k.Page(
        ("Calendars", "日历"),
        (
            k.Heading(("Shown", "显示")),
            k.Card(tuple(switches)),
            k.Heading(("New events", "新日程")),
            k.Chips(reminders, label=("Remind me before", "提前提醒")),
            k.Heading(("Weeks", "周")),
            k.card(
                k.Switch(
                    ("Start on Sunday", "从周日开始"),
                    s.sunday_first,
                    act.set_week_start(sunday=not s.sunday_first),
                )
            ),
        ),
        large=True,
        tabs=_tabs("layers"),
    )


k.read_flows(app, __package__)
