"""What can be done with the clock, by touch, by tool, and by the passing of time."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from screenloop.phone import kit as k
from screenloop.phone.apps.clock import state
from screenloop.phone.apps.clock.state import State, app

# ---- alarms --------------------------------------------------------------------------------


def _plan(ctx: k.Ctx, alarm: state.Alarm) -> None:
    """Set a timer for the next ring of an enabled alarm, unless it is set."""
    if not alarm.enabled:
        return
    at_s = state.next_ring_s(alarm, ctx.now_s)
    call = ring(alarm=alarm.id, at_s=at_s)
    if not any(t.app == app.id and t.args == call.args for t in ctx.of(k.SystemState).timers):
        ctx.after(at_s - ctx.now_s, call)


@app.action("alarms.add", tool=True, writes=["alarms"], check=k.one_more("alarms"))
def add_alarm(
    s: State,
    ctx: k.Ctx,
    time: state.Clock,
    label: state.Label = "",
    days: state.Days = "",
    snooze_min: state.Snooze = 10,
    sound: state.Sound = "Dawn",
    vibrate: bool = True,
) -> None:
    """Set a new alarm."""
    alarm = s.alarms.add(
        state.Alarm(
            time=time,
            label=label.strip(),
            days=state.in_order(days),
            snooze_min=snooze_min,
            sound=sound,
            vibrate=vibrate,
        )
    )
    _plan(ctx, alarm)
    ctx.toast(ctx.t(f"Alarm set for {time}", f"闹钟已设为 {time}"))
    ctx.move(k.Back())


@app.action(
    "alarms.edit",
    tool="Change all details of an alarm.",
    writes=["alarms"],
    check=k.row_has("alarms", "alarm", time="time"),
)
def edit_alarm(
    s: State,
    ctx: k.Ctx,
    alarm: state.AlarmId,
    time: state.Clock,
    label: state.Label,
    days: state.Days,
    snooze_min: state.Snooze,
    sound: state.Sound,
    vibrate: bool,
) -> None:
    """Change all details of an alarm, and switch it on."""
    row = s.alarms.update(
        alarm,
        time=time,
        label=label.strip(),
        days=state.in_order(days),
        snooze_min=snooze_min,
        sound=sound,
        vibrate=vibrate,
        enabled=True,
        ringing=False,
        snoozed_until_s=0,
    )
    _plan(ctx, row)
    ctx.toast(ctx.t("Alarm updated", "闹钟已更新"))
    ctx.move(k.Back())


@app.action(
    "alarms.enable", tool=True, writes=["alarms"], check=k.row_has("alarms", "alarm", enabled="on")
)
def enable(s: State, ctx: k.Ctx, alarm: state.AlarmId, on: bool) -> None:
    """Switch an alarm on or off."""
    _plan(ctx, s.alarms.update(alarm, enabled=on, ringing=False, snoozed_until_s=0))


@app.action("alarms.delete", tool=True, writes=["alarms"], check=k.gone("alarms", "alarm"))
def delete_alarm(s: State, ctx: k.Ctx, alarm: state.AlarmId) -> None:
    """Delete an alarm."""
    s.alarms.remove(alarm)
    ctx.toast(ctx.t("Alarm deleted", "闹钟已删除"))
    ctx.move(k.Back())


@app.action(
    "alarms.snooze",
    tool="Let a ringing alarm ring again later.",
    writes=["alarms"],
    check=lambda before, after, a: after.alarms[a.alarm].snoozed_until_s > 0,
)
def snooze(s: State, ctx: k.Ctx, alarm: state.AlarmId) -> None:
    """Let a ringing alarm ring again after its snooze time."""
    row = s.alarms[alarm]
    if not row.ringing:
        ctx.refuse(ctx.t("This alarm is not ringing", "闹钟没有响铃"))
    if not row.snooze_min:
        ctx.refuse(ctx.t("This alarm has no snooze", "此闹钟没有贪睡"))
    at_s = ctx.now_s + 60 * row.snooze_min
    s.alarms.update(alarm, ringing=False, snoozed_until_s=at_s)
    ctx.after(60 * row.snooze_min, ring_again(alarm=alarm, at_s=at_s))
    ctx.toast(ctx.t(f"Snoozed for {row.snooze_min} min", f"{row.snooze_min} 分钟后再响"))
    ctx.move(k.Back())


@app.action(
    "alarms.dismiss",
    tool=True,
    writes=["alarms"],
    check=k.row_has("alarms", "alarm", ringing=False),
)
def dismiss(s: State, ctx: k.Ctx, alarm: state.AlarmId) -> None:
    """Stop an alarm that rings or is snoozed."""
    row = s.alarms[alarm]
    if not row.ringing and not row.snoozed_until_s:
        ctx.refuse(ctx.t("This alarm is not ringing", "闹钟没有响铃"))
    s.alarms.update(alarm, ringing=False, snoozed_until_s=0)
    ctx.move(k.Back())


@app.action("alarms.ring", writes=["alarms"])
def ring(s: State, ctx: k.Ctx, alarm: str, at_s: int) -> None:
    """Ring, if the alarm still is set for this moment; one without weekdays switches itself off."""
    row = s.alarms.get(alarm)
    if row is None or not row.enabled or state.next_ring_s(row, at_s - 1) != at_s:
        return
    row = s.alarms.update(alarm, ringing=True, enabled=bool(row.days))
    ctx.notify(row.label or ctx.t("Alarm", "闹钟"), row.time, state.ring_go(alarm))
    _plan(ctx, row)


@app.action("alarms.ring_again", writes=["alarms"])
def ring_again(s: State, ctx: k.Ctx, alarm: str, at_s: int) -> None:
    """Ring after a snooze that was not ended."""
    row = s.alarms.get(alarm)
    if row is None or row.snoozed_until_s != at_s:
        return
    s.alarms.update(alarm, ringing=True, snoozed_until_s=0)
    text = ctx.t("Snoozed alarm", "贪睡闹钟")
    ctx.notify(row.label or ctx.t("Alarm", "闹钟"), text, state.ring_go(alarm))


# ---- world clock ---------------------------------------------------------------------------


@app.action(
    "world.add",
    tool=True,
    writes=["cities"],
    check=lambda before, after, a: after.cities.first(lambda c: c.zone == a.zone) is not None,
)
def add_city(s: State, ctx: k.Ctx, zone: state.ZoneId) -> None:
    """Put a city on the world clock."""
    name = s.zones[zone].name
    if s.cities.first(lambda c: c.zone == zone):
        ctx.refuse(ctx.t(f"{name} is on the list already", f"{s.zones[zone].name_zh}已在列表中"))
    s.cities.add(state.City(zone=zone))
    ctx.toast(ctx.t(f"{name} added", f"已添加{s.zones[zone].name_zh}"))
    ctx.move(k.Back())


@app.action(
    "world.remove",
    tool=True,
    writes=["cities"],
    check=lambda before, after, a: after.cities.first(lambda c: c.zone == a.zone) is None,
)
def remove_city(s: State, ctx: k.Ctx, zone: state.ZoneId) -> None:
    """Take a city off the world clock."""
    row = s.cities.first(lambda c: c.zone == zone)
    if row is None:
        ctx.refuse(ctx.t("This city is not on the list", "此城市不在列表中"))
    else:
        s.cities.remove(row.id)
    ctx.move(k.Back())


# ---- countdowns ----------------------------------------------------------------------------


def _run(s: State, ctx: k.Ctx, countdown: str, seconds: int) -> None:
    ends_s = ctx.now_s + seconds
    s.countdowns.update(countdown, state="running", ends_s=ends_s, left_s=0)
    ctx.after(seconds, finish(countdown=countdown, ends_s=ends_s))


@app.action("timers.start", tool=True, writes=["countdowns"], check=k.one_more("countdowns"))
def start_countdown(
    s: State,
    ctx: k.Ctx,
    hours: Annotated[int, msgspec.Meta(ge=0, le=23)] = 0,
    minutes: Annotated[int, msgspec.Meta(ge=0, le=59)] = 0,
    seconds: Annotated[int, msgspec.Meta(ge=0, le=55, multiple_of=5)] = 0,
    label: state.Label = "",
) -> None:
    """Start a new countdown."""
    total_s = hours * 3600 + minutes * 60 + seconds
    if not total_s:
        ctx.refuse(ctx.t("Choose a time first", "请先选择时间"))
    row = s.countdowns.add(state.Countdown(label=label.strip(), total_s=total_s))
    _run(s, ctx, row.id, total_s)
    ctx.move(state.countdown_go(row.id))


@app.action(
    "timers.pause",
    tool=True,
    writes=["countdowns"],
    check=lambda before, after, a: after.countdowns[a.countdown].state == "paused",
)
def pause(s: State, ctx: k.Ctx, countdown: state.CountdownId) -> None:
    """Pause a running countdown."""
    row = s.countdowns[countdown]
    if row.state != "running":
        ctx.refuse(ctx.t("This timer is not running", "计时器没有运行"))
    left_s = state.left_of(row, ctx.now_s)
    s.countdowns.update(countdown, state="paused", left_s=left_s, ends_s=0)


@app.action(
    "timers.resume",
    tool=True,
    writes=["countdowns"],
    check=lambda before, after, a: after.countdowns[a.countdown].state == "running",
)
def resume(s: State, ctx: k.Ctx, countdown: state.CountdownId) -> None:
    """Let a paused countdown go on."""
    row = s.countdowns[countdown]
    if row.state != "paused":
        ctx.refuse(ctx.t("This timer is not paused", "计时器没有暂停"))
    _run(s, ctx, countdown, row.left_s)


@app.action(
    "timers.extend",
    tool="Give a countdown one more minute.",
    writes=["countdowns"],
    check=lambda before, after, a: after.countdowns[a.countdown].state != "done",
)
def extend(s: State, ctx: k.Ctx, countdown: state.CountdownId) -> None:
    """Give a countdown one more minute; one that is done starts again with it."""
    row = s.countdowns[countdown]
    if row.state == "paused":
        s.countdowns.update(countdown, left_s=row.left_s + 60)
    else:
        _run(s, ctx, countdown, state.left_of(row, ctx.now_s) + 60)


@app.action(
    "timers.restart",
    tool=True,
    writes=["countdowns"],
    check=lambda before, after, a: after.countdowns[a.countdown].state == "running",
)
def restart(s: State, ctx: k.Ctx, countdown: state.CountdownId) -> None:
    """Start a countdown again from its full time."""
    _run(s, ctx, countdown, s.countdowns[countdown].total_s)


@app.action(
    "timers.cancel", tool=True, writes=["countdowns"], check=k.gone("countdowns", "countdown")
)
def cancel(s: State, ctx: k.Ctx, countdown: state.CountdownId) -> None:
    """Remove a countdown."""
    s.countdowns.remove(countdown)
    ctx.move(k.Back())


@app.action("timers.finish", writes=["countdowns"])
def finish(s: State, ctx: k.Ctx, countdown: str, ends_s: int) -> None:
    """Ring, if the countdown still ends at this moment."""
    row = s.countdowns.get(countdown)
    if row is None or row.state != "running" or row.ends_s != ends_s:
        return
    s.countdowns.update(countdown, state="done", ends_s=0)
    name = row.label or ctx.t("Timer", "计时器")
    ctx.notify(name, ctx.t("Time is up", "时间到"), state.countdown_go(countdown))


# ---- stopwatch -----------------------------------------------------------------------------


@app.action(
    "stopwatch.start",
    tool=True,
    writes=["stopwatch_from_s"],
    check=lambda before, after, a: after.stopwatch_from_s > 0,
)
def start_stopwatch(s: State, ctx: k.Ctx) -> None:
    """Start the stopwatch, or let it go on."""
    if s.stopwatch_from_s:
        ctx.refuse(ctx.t("It is running already", "已在运行"))
    s.stopwatch_from_s = ctx.now_s


@app.action(
    "stopwatch.stop",
    tool="Stop the stopwatch.",
    writes=["stopwatch_from_s", "stopwatch_kept_s"],
    check=lambda before, after, a: after.stopwatch_from_s == 0,
)
def stop_stopwatch(s: State, ctx: k.Ctx) -> None:
    """Stop the stopwatch and keep what it shows."""
    if not s.stopwatch_from_s:
        ctx.refuse(ctx.t("It is not running", "没有运行"))
    s.stopwatch_kept_s = state.stopwatch_s(s, ctx.now_s)
    s.stopwatch_from_s = 0


@app.action("stopwatch.lap", tool=True, writes=["laps"], check=k.one_more("laps"))
def lap(s: State, ctx: k.Ctx) -> None:
    """Take a lap time."""
    if not s.stopwatch_from_s:
        ctx.refuse(ctx.t("It is not running", "没有运行"))
    at_s = state.stopwatch_s(s, ctx.now_s)
    last_s = max((row.at_s for row in s.laps), default=0)
    s.laps.add(state.Lap(number=len(s.laps) + 1, at_s=at_s, took_s=at_s - last_s))


@app.action(
    "stopwatch.reset",
    tool="Set the stopwatch back to zero.",
    writes=["stopwatch_kept_s", "laps"],
    check=lambda before, after, a: after.stopwatch_kept_s == 0 and len(after.laps) == 0,
)
def reset_stopwatch(s: State, ctx: k.Ctx) -> None:
    """Set the stopwatch back to zero and forget the laps."""
    if s.stopwatch_from_s:
        ctx.refuse(ctx.t("Stop it first", "请先停止"))
    s.stopwatch_kept_s = 0
    for row in list(s.laps):
        s.laps.remove(row.id)


# ---- bedtime -------------------------------------------------------------------------------


@app.action(
    "bedtime.set",
    tool=True,
    writes=["bedtime", "wake"],
    check=lambda before, after, a: (after.bedtime, after.wake) == (a.bedtime, a.wake),
)
def set_bedtime(s: State, ctx: k.Ctx, bedtime: state.Clock, wake: state.Clock) -> None:
    """Set when to go to bed and when to get up."""
    if state.minutes_between(bedtime, wake) == 0:
        ctx.refuse(ctx.t("That leaves no sleep", "没有睡眠时间"))
    s.bedtime, s.wake = bedtime, wake
    ctx.toast(ctx.t("Bedtime saved", "就寝时间已保存"))


@app.action(
    "bedtime.enable", tool=True, writes=["bedtime_on"], check=k.value_is("bedtime_on", "on")
)
def enable_bedtime(s: State, ctx: k.Ctx, on: bool) -> None:
    """Switch the bedtime schedule on or off."""
    s.bedtime_on = on


# ---- queries -------------------------------------------------------------------------------


@app.query("alarms.list", tool="List all alarms.", shows="/")
def list_alarms(s: State, ctx: k.Ctx) -> list[state.Alarm]:
    """Return all alarms by time."""
    return sorted(s.alarms, key=lambda a: (a.time, a.id))


@app.query("alarms.get", shows="/a/{alarm}")
def get_alarm(s: State, ctx: k.Ctx, alarm: state.AlarmId) -> state.Alarm:
    """Read one alarm."""
    return s.alarms[alarm]


@app.query("world.list", tool="List the cities on the world clock.", shows="/world")
def list_cities(s: State, ctx: k.Ctx) -> list[state.Zone]:
    """Return the cities on the world clock with their offsets."""
    return [s.zones[city.zone] for city in s.cities]


@app.query(
    "world.convert",
    tool="Tell what time it is in a city when it is a time of day here.",
    shows="/city/{zone}",
)
def convert(s: State, ctx: k.Ctx, zone: state.ZoneId, here: state.Clock) -> dict[str, Any]:
    """Return the time in a city, and how many days it is ahead."""
    hour, minute = map(int, here.split(":"))
    days, rest = divmod(hour * 60 + minute + s.zones[zone].offset_min, 1440)
    return {"there": f"{rest // 60:02d}:{rest % 60:02d}", "days_ahead": days}


@app.query("world.search", shows="/cities")
def search_cities(s: State, ctx: k.Ctx, text: str = "") -> list[state.Zone]:
    """Find cities that can be put on the world clock."""
    return state.zones_with(s, text)


@app.query("timers.list", shows="/timer")
def list_countdowns(s: State, ctx: k.Ctx) -> list[dict[str, Any]]:
    """List the countdowns with the seconds they have left."""
    return [
        {
            "countdown": c.id,
            "label": c.label,
            "state": c.state,
            "left_s": state.left_of(c, ctx.now_s),
        }
        for c in s.countdowns
    ]


@app.query("stopwatch.read", shows="/stopwatch")
def read_stopwatch(s: State, ctx: k.Ctx) -> dict[str, Any]:
    """Read the stopwatch and its laps."""
    return {
        "seconds": state.stopwatch_s(s, ctx.now_s),
        "running": bool(s.stopwatch_from_s),
        "laps": list(s.laps),
    }
