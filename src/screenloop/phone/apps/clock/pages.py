"""Clock: alarms, world clock, countdowns, a stopwatch, bedtime."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from screenloop.phone import kit as k
from screenloop.phone.apps.clock import actions as act
from screenloop.phone.apps.clock import state as st
from screenloop.phone.apps.clock.state import EVERY_DAY, WEEKDAYS_ONLY, WEEKEND, State, app, span
from screenloop.phone.apps.clock.views import AlarmRow, CityRow, DayButton, DayButtons, Dial

__all__ = ["State", "app"]
QUICK_MIN = (1, 5, 10, 15, 30, 45)


def _tabs(shown: str) -> tuple[k.Tab, ...]:
    return k.tabs(
        shown,
        ("alarms", "alarm", ("Alarm", "闹钟"), alarms_page()),
        ("world", "globe", ("World", "世界"), world_page()),
        ("timer", "timer", ("Timer", "计时器"), timer_page()),
        ("stopwatch", "stopwatch", ("Stopwatch", "秒表"), stopwatch_page()),
    )


# ---- alarms --------------------------------------------------------------------------------


def _days_words(ui: k.Ui, days: str) -> str:
    known = {
        "": ("Once", "仅一次"),
        EVERY_DAY: ("Every day", "每天"),
        WEEKDAYS_ONLY: ("Weekdays", "工作日"),
        WEEKEND: ("Weekends", "周末"),
    }
    if days in known:
        return ui.t(*known[days])
    return ", ".join(ui.t(*k.WEEKDAYS[int(day) - 1]) for day in days.split(","))


def _length(ui: k.Ui, minutes: int) -> str:
    days, rest = divmod(minutes, 1440)
    hours, left = divmod(rest, 60)
    parts = [(days, ui.t("d", "天")), (hours, ui.t("h", "小时")), (left, ui.t("min", "分钟"))]
    return " ".join(f"{count} {unit}" for count, unit in parts if count) or ui.t("0 min", "0 分钟")


@app.page("/")
def alarms_page(s: State, ui: k.Ui) -> k.Page:
    """All alarms by time."""
    coming = st.next_alarm(s, ui.now_s)
    if coming is None:
        summary = ui.t("No alarm is on", "没有开启的闹钟")
    else:
        length = _length(ui, -(-(coming[1] - ui.now_s) // 60))
        summary = ui.t(f"Next alarm in {length}", f"{length}后响铃")
    body: list[k.Widget] = [k.Paragraph(summary, muted=True)]
    for alarm in sorted(s.alarms, key=lambda a: (a.time, a.id)):
        if alarm.ringing:
            words = ui.t(f"Ringing: {alarm.label or alarm.time}", f"正在响铃：{alarm.label}")
            body.append(k.Banner("bell", words, st.ring_go(alarm.id)))
        note = " · ".join(filter(None, (alarm.label, _days_words(ui, alarm.days))))
        if alarm.snoozed_until_s:
            note += ui.t(" · snoozed", " · 贪睡中")
        body.append(
            AlarmRow(
                time=alarm.time,
                note=note,
                on=alarm.enabled,
                alert=alarm.ringing,
                toggle=act.enable(alarm=alarm.id, on=not alarm.enabled),
                do=alarm_page(alarm=alarm.id),
            )
        )
    if not len(s.alarms):
        body.append(k.Empty("alarm", ("No alarms yet", "还没有闹钟")))
    return k.Page(
        ("Alarms", "闹钟"),
        body,
        large=True,
        tabs=_tabs("alarms"),
        fab=k.Fab("plus", ("New alarm", "新建闹钟"), new_page()),
        actions=(k.IconButton("moon", ("Bedtime", "就寝时间"), bedtime_page()),),
    )


def _toggled(days: str, day: str) -> str:
    return ",".join(sorted({*days.split(",")} - {""} ^ {day}))


def _form(ui: k.Ui, a: st.Alarm) -> tuple[list[k.Widget], dict[str, Any]]:
    time = ui.time("time", ("Time", "时间"), a.time)
    label = ui.field("label", ("Label", "标签"), a.label)
    days: str = ui.get("days", a.days)
    buttons = tuple(
        DayButton(
            words=words,
            selected=str(number) in days.split(","),
            do=ui.set(days=_toggled(days, str(number))),
        )
        for number, words in enumerate(k.WEEKDAYS, start=1)
    )
    presets = ("", WEEKDAYS_ONLY, WEEKEND, EVERY_DAY)
    chips = tuple(
        k.Chip(_days_words(ui, preset), ui.set(days=preset), selected=preset == days)
        for preset in presets
    )
    snoozes = ui.chips("snooze_min", st.SNOOZES, a.snooze_min, label=("Snooze", "贪睡"))
    sounds = ui.chips("sound", st.SOUNDS, a.sound, label=("Sound", "铃声"))
    vibrate = ui.switch("vibrate", ("Vibrate", "振动"), a.vibrate)
    args = {
        "time": time.value,
        "label": label.value,
        "days": days,
        "snooze_min": snoozes.value,
        "sound": sounds.value,
        "vibrate": vibrate.value,
    }
    body: list[k.Widget] = [
        k.Big(time.value, _days_words(ui, days)),
        time,
        label,
        k.Chips(chips, value=days, label=("Repeat", "重复")),
        DayButtons(days=buttons),
        snoozes,
        sounds,
        vibrate,
    ]
    return body, args


@app.page("/new")
def new_page(s: State, ui: k.Ui) -> k.Page:
    """The form for a new alarm."""
    body, args = _form(ui, st.Alarm(time="07:00"))
    save = k.Button(("Save", "保存"), act.add_alarm(**args))
    return k.Page(("New alarm", "新建闹钟"), body, footer=(save,))


@app.page("/a/{alarm}")
def alarm_page(s: State, ui: k.Ui, alarm: st.AlarmId) -> k.Page:
    """The form for an existing alarm."""
    row = s.alarms[alarm]
    body, args = _form(ui, row)
    save = k.Button(("Save", "保存"), act.edit_alarm(alarm=alarm, **args))
    text = " · ".join(filter(None, (row.time, row.label)))
    sure = ui.question(
        ("Delete alarm?", "删除闹钟？"), ("Delete", "删除"), act.delete_alarm(alarm=alarm), text
    )
    return k.Page(
        ("Edit alarm", "编辑闹钟"),
        body,
        footer=(save,),
        dialog=sure,
        actions=(k.IconButton("trash", ("Delete", "删除"), ui.set(sure=True)),),
    )


@app.page("/ring/{alarm}")
def ring_page(s: State, ui: k.Ui, alarm: st.AlarmId) -> k.Page:
    """An alarm that rings."""
    row = s.alarms[alarm]
    if row.ringing:
        state = ui.t("Ringing", "正在响铃")
    elif row.snoozed_until_s:
        clock = ui.clock(row.snoozed_until_s)
        state = ui.t(f"Rings again at {clock}", f"{clock} 再次响铃")
    else:
        state = ui.t("Stopped", "已停止")
    buttons: list[k.Widget] = []
    if row.ringing and row.snooze_min:
        words = (f"Snooze {row.snooze_min} min", f"贪睡 {row.snooze_min} 分钟")
        buttons.append(k.Button(words, act.snooze(alarm=alarm), kind="tonal", icon="moon"))
    if row.ringing or row.snoozed_until_s:
        buttons.append(k.Button(("Dismiss", "停止"), act.dismiss(alarm=alarm)))
    return k.Page(
        ("Alarm", "闹钟"),
        (
            k.Space(60),
            Dial(words=row.time, caption=state, share=float(row.ringing), done=row.ringing),
            k.Paragraph(row.label, size_px=24, bold=True, align="center"),
        ),
        footer=tuple(buttons),
    )


@app.page("/bedtime")
def bedtime_page(s: State, ui: k.Ui) -> k.Page:
    """When to sleep, and how long that is."""
    bedtime = ui.time("bedtime", ("Bedtime", "就寝"), s.bedtime)
    wake = ui.time("wake", ("Get up", "起床"), s.wake)
    length = _length(ui, st.minutes_between(bedtime.value, wake.value))
    changed = (bedtime.value, wake.value) != (s.bedtime, s.wake)
    return k.Page(
        ("Bedtime", "就寝时间"),
        (
            k.Big(length, ("of sleep", "睡眠时长")),
            k.card(
                k.Switch(
                    ("Bedtime schedule", "就寝计划"),
                    s.bedtime_on,
                    act.enable_bedtime(on=not s.bedtime_on),
                    icon="moon",
                    subtitle=f"{s.bedtime} - {s.wake}",
                )
            ),
            k.Line((bedtime, wake)),
            k.Button(
                ("Save times", "保存时间"),
                act.set_bedtime(bedtime=bedtime.value, wake=wake.value),
                enabled=changed,
            ),
        ),
    )


# ---- world clock ---------------------------------------------------------------------------


def _there(ui: k.Ui, zone: st.Zone, at_s: int) -> tuple[str, str]:
    """Return the time in a city, and how far it is ahead in words."""
    here = datetime.fromtimestamp(at_s, UTC)
    there = datetime.fromtimestamp(at_s + zone.offset_min * 60, UTC)
    days = (there.date() - here.date()).days
    day = {-1: ("Yesterday", "昨天"), 0: ("Today", "今天"), 1: ("Tomorrow", "明天")}[days]
    hours, minutes = divmod(abs(zone.offset_min), 60)
    sign = "+" if zone.offset_min > 0 else "-"
    if zone.offset_min == 0:
        ahead = ui.t("same time", "时间相同")
    else:
        ahead = sign + (f"{hours}:{minutes:02d} h" if minutes else f"{hours} h")
    return there.strftime("%H:%M"), f"{ui.t(*day)}, {ahead}"


def _city_row(ui: k.Ui, zone: st.Zone) -> CityRow:
    clock, note = _there(ui, zone, ui.now_s)
    return CityRow(
        name=(zone.name, zone.name_zh),
        note=note,
        clock=clock,
        do=city_page(zone=zone.id),
        by_day="06:00" <= clock < "18:00",
    )


@app.page("/world")
def world_page(s: State, ui: k.Ui) -> k.Page:
    """The time here and in the chosen cities."""
    rows: list[k.Widget] = [_city_row(ui, s.zones[city.zone]) for city in s.cities]
    if not rows:
        rows.append(k.Empty("globe", ("No cities yet", "还没有城市")))
    return k.Page(
        ("World clock", "世界时钟"),
        (k.Big(ui.clock(ui.now_s), ui.day(ui.now_s)), *rows),
        large=True,
        tabs=_tabs("world"),
        fab=k.Fab("plus", ("Add city", "添加城市"), cities_page()),
    )


@app.page("/cities")
def cities_page(s: State, ui: k.Ui) -> k.Page:
    """Choose a city to add."""
    text = ui.field("text", ("Search cities", "搜索城市"), kind="search")
    chosen = {city.zone for city in s.cities}
    rows: list[k.Widget] = []
    for zone in st.zones_with(s, text.value):
        clock, _ = _there(ui, zone, ui.now_s)
        rows.append(
            k.Row(
                (zone.name, zone.name_zh),
                zone.country,
                k.Glyph("check" if zone.id in chosen else "globe"),
                trailing=clock,
                do=city_page(zone=zone.id) if zone.id in chosen else act.add_city(zone=zone.id),
            )
        )
    if not rows:
        rows.append(k.Empty("globe", ("No city found", "没有找到城市")))
    return k.Page(("Add city", "添加城市"), (text, *rows))


@app.page("/city/{zone}")
def city_page(s: State, ui: k.Ui, zone: st.ZoneId) -> k.Page:
    """One city, and what time it is there at a time here."""
    row = s.zones[zone]
    clock, note = _there(ui, row, ui.now_s)
    here = ui.time("here", ("Time here", "本地时间"), "12:00")
    midnight_s = ui.now_s - ui.now_s % 86400
    hour, minute = map(int, here.value.split(":"))
    there, day = _there(ui, row, midnight_s + hour * 3600 + minute * 60)
    body: list[k.Widget] = [
        k.Big(clock, note),
        k.card(k.Row(row.country, ("Country", "国家"), k.Glyph("map"))),
        k.Heading(("Convert", "换算")),
        here,
        k.Row(there, day, k.Glyph("clock"), bold=True),
    ]
    if s.cities.first(lambda c: c.zone == zone):
        body.append(
            k.Button(("Remove from list", "从列表移除"), act.remove_city(zone=zone), kind="danger")
        )
    else:
        body.append(k.Button(("Add to list", "添加到列表"), act.add_city(zone=zone)))
    return k.Page((row.name, row.name_zh), body)


# ---- countdowns and stopwatch --------------------------------------------------------------


def _state_words(ui: k.Ui, row: st.Countdown) -> str:
    words = {
        "running": ("Running", "运行中"),
        "paused": ("Paused", "已暂停"),
        "done": ("Time is up", "时间到"),
    }
    return ui.t(*words[row.state])


@app.page("/timer")
def timer_page(s: State, ui: k.Ui) -> k.Page:
    """Running countdowns, and a new one."""
    hours = ui.stepper("hours", ("Hours", "小时"), 0, high=23)
    minutes = ui.stepper("minutes", ("Minutes", "分钟"), 0, high=59)
    seconds = ui.stepper("seconds", ("Seconds", "秒"), 0, high=55, step=5)
    label = ui.field("label", ("Label", "标签"))
    total_s = hours.value * 3600 + minutes.value * 60 + seconds.value
    quick = ui.chips(
        "minutes", tuple((count, (f"{count} min", f"{count} 分钟")) for count in QUICK_MIN), 0
    )
    running: list[k.Widget] = [
        k.Row(
            row.label or ui.t("Timer", "计时器"),
            _state_words(ui, row),
            k.Glyph("timer"),
            trailing=span(st.left_of(row, ui.now_s)),
            bold=True,
            do=countdown_page(countdown=row.id),
        )
        for row in s.countdowns
    ]
    start = act.start_countdown(
        hours=hours.value, minutes=minutes.value, seconds=seconds.value, label=label.value
    )
    return k.Page(
        ("Timer", "计时器"),
        (
            *([k.Card(tuple(running))] if running else []),
            k.Big(span(total_s), ("New timer", "新计时器")),
            quick,
            hours,
            minutes,
            seconds,
            label,
            k.Button(("Start", "开始"), start, icon="play"),
        ),
        large=True,
        tabs=_tabs("timer"),
    )


@app.page("/timer/{countdown}")
def countdown_page(s: State, ui: k.Ui, countdown: st.CountdownId) -> k.Page:
    """One countdown."""
    row = s.countdowns[countdown]
    left_s = st.left_of(row, ui.now_s)
    done = row.state == "done"
    go_on = {
        "running": k.ActionButton("pause", ("Pause", "暂停"), act.pause(countdown=countdown)),
        "paused": k.ActionButton("play", ("Resume", "继续"), act.resume(countdown=countdown)),
        "done": k.ActionButton("refresh", ("Again", "再来"), act.restart(countdown=countdown)),
    }[row.state]
    children = [
        go_on,
        k.ActionButton("plus", ("1 minute", "1 分钟"), act.extend(countdown=countdown)),
        k.ActionButton("close", ("Cancel", "取消"), act.cancel(countdown=countdown)),
    ]
    if not done:
        do = act.restart(countdown=countdown)
        children.insert(1, k.ActionButton("refresh", ("Restart", "重新开始"), do))
    share = 1.0 if done else min(1.0, left_s / max(1, row.total_s))
    return k.Page(
        row.label or ("Timer", "计时器"),
        (
            k.Space(40),
            Dial(words=span(left_s), caption=_state_words(ui, row), share=share, done=done),
            k.Paragraph(
                (f"of {span(row.total_s)}", f"共 {span(row.total_s)}"), muted=True, align="center"
            ),
            k.Space(20),
            k.Line(tuple(children), inset_px=24),
        ),
    )


@app.page("/stopwatch")
def stopwatch_page(s: State, ui: k.Ui) -> k.Page:
    """The stopwatch with its laps, the latest first."""
    shown_s = st.stopwatch_s(s, ui.now_s)
    running = bool(s.stopwatch_from_s)
    if running:
        buttons: tuple[k.Widget, ...] = (
            k.ActionButton("flag", ("Lap", "计次"), act.lap()),
            k.ActionButton("pause", ("Stop", "停止"), act.stop_stopwatch(), selected=True),
        )
    else:
        start_words = ("Go on", "继续") if shown_s else ("Start", "开始")
        start = k.ActionButton("play", start_words, act.start_stopwatch(), selected=True)
        reset = k.ActionButton("refresh", ("Reset", "重置"), act.reset_stopwatch())
        buttons = (reset, start) if shown_s or len(s.laps) else (start,)
    times = [row.took_s for row in s.laps]
    laps: list[k.Widget] = []
    for row in reversed(list(s.laps)):
        mark = ""
        if len(times) > 1 and min(times) != max(times):
            mark = {min(times): ui.t("fastest", "最快"), max(times): ui.t("slowest", "最慢")}.get(
                row.took_s, ""
            )
        laps.append(
            k.Row(
                (f"Lap {row.number}", f"第 {row.number} 圈"),
                mark,
                trailing=f"{span(row.took_s)}  /  {span(row.at_s)}",
            )
        )
    state = ("Running", "运行中") if running else ("Stopped", "已停止")
    return k.Page(
        ("Stopwatch", "秒表"),
        (
            Dial(words=span(shown_s), caption=state, share=shown_s % 60 / 60),
            k.Line(buttons, inset_px=80),
            *([k.Card(tuple(laps))] if laps else []),
        ),
        large=True,
        tabs=_tabs("stopwatch"),
    )


k.read_flows(app, __package__)
