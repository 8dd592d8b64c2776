from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screenloop.phone.apps.clock.pages import State, app
from screenloop.phone.apps.clock.state import Alarm, minutes_between, next_ring_s, span
from screenloop.phone.commands import Call, Go
from screenloop.phone.declare.cast import START, cast
from screenloop.phone.declare.document import business_hash, state_hash
from screenloop.phone.device.boot import new_device
from screenloop.phone.device.device import Device
from screenloop.phone.prove.flows import run_step
from screenloop.types import Effect

PATHS = (
    "/",
    "/new",
    "/a/alarm1",
    "/ring/alarm1",
    "/bedtime",
    "/world",
    "/cities",
    "/city/tokyo",
    "/city/honolulu",
    "/timer",
    "/timer/timer1",
    "/stopwatch",
)


def opened() -> Device:
    device = new_device(strict=True)
    device.open(app.id)
    return device


def state_of(device: Device) -> State:
    doc = device.doc
    return State(doc.apps[app.id].data, cast(doc.world, doc.seed))


def tool(device: Device, name: str, /, **args: object) -> Effect:
    device.begin("", "tool")
    effect = device.call_tool(f"{app.id}.{name}", args)
    device.end()
    return effect


def test_every_page_is_shown_by_its_path_in_both_languages_and_dark() -> None:
    for lang in ("en", "zh"):
        patches: tuple[dict[str, object], ...] = (
            {"app": "os", "field": "language", "value": lang},
            {"app": "os", "field": "dark", "value": lang == "zh"},
        )
        device = new_device(patches=patches)
        device.open(app.id)
        tool(device, "timers.start", minutes=3)
        for path in PATHS:
            device.perform(Go(app=app.id, path=path))
            assert len(device.painted().nodes) > 5
    assert {app.resolve(path)[0].template for path in PATHS} == set(app.routes)


@pytest.mark.parametrize("flow", app.flows, ids=lambda flow: flow.name)
def test_each_flow_runs_and_resets_exactly(flow) -> None:  # type: ignore[no-untyped-def]
    device = opened()
    first, kept = state_hash(device.doc), device.snapshot()
    business = business_hash(device.doc)
    for step in flow.steps:
        device.begin()
        effect = run_step(device, step)
        device.end()
        assert effect.ok, (step, effect)
    assert business_hash(device.doc) != business or flow.name == "drop a timer"
    device.restore(kept)
    assert state_hash(device.doc) == first


def test_an_alarm_rings_at_its_time_and_one_without_days_switches_off() -> None:
    device = opened()
    tool(device, "alarms.add", time="10:00", label="Oven")
    device.advance(3_600_000)
    alarm = state_of(device).alarms["alarm8"]
    assert (alarm.ringing, alarm.enabled) == (True, False)
    (note,) = device.system.notifications
    assert (note.title, note.text, note.path) == ("Oven", "10:00", "/ring/alarm8")


def test_an_alarm_with_weekdays_rings_on_each_of_them() -> None:
    device = opened()
    tool(device, "alarms.add", time="10:00", label="Oven", days="3,1")
    assert state_of(device).alarms["alarm8"].days == "1,3"
    device.advance(8 * 86_400_000)
    assert sum(n.title == "Oven" for n in device.system.notifications) == 3


def test_an_alarm_that_was_switched_off_or_moved_does_not_ring_at_its_old_time() -> None:
    device = opened()
    tool(device, "alarms.add", time="10:00", label="Oven")
    tool(device, "alarms.enable", alarm="alarm8", on=False)
    tool(device, "alarms.enable", alarm="alarm8", on=True)
    tool(
        device,
        "alarms.edit",
        alarm="alarm8",
        time="11:00",
        label="Oven",
        days="",
        snooze_min=5,
        sound="Dawn",
        vibrate=True,
    )
    device.advance(5_400_000)
    assert not len(device.system.notifications)
    device.advance(5_400_000)
    assert len(device.system.notifications) == 1


def test_a_snoozed_alarm_rings_again_and_a_dismissed_one_does_not() -> None:
    device = opened()
    tool(device, "alarms.add", time="09:30", snooze_min=5)
    device.advance(1_800_000)
    assert tool(device, "alarms.snooze", alarm="alarm8").ok
    device.advance(300_000)
    assert state_of(device).alarms["alarm8"].ringing
    tool(device, "alarms.snooze", alarm="alarm8")
    tool(device, "alarms.dismiss", alarm="alarm8")
    device.advance(3_600_000)
    assert not state_of(device).alarms["alarm8"].ringing


def test_only_a_ringing_alarm_can_be_snoozed() -> None:
    assert tool(opened(), "alarms.snooze", alarm="alarm1").code == "refused"


@given(
    now_s=st.integers(int(START.timestamp()), int(START.timestamp()) + 30 * 86_400),
    days=st.sets(st.sampled_from("1234567")),
    minute=st.integers(0, 1439),
)
def test_the_next_ring_is_later_at_the_right_time_and_day(
    now_s: int, days: set[str], minute: int
) -> None:
    clock = f"{minute // 60:02d}:{minute % 60:02d}"
    at_s = next_ring_s(Alarm(time=clock, days=",".join(sorted(days))), now_s)
    at = datetime.fromtimestamp(at_s, UTC)
    assert now_s < at_s <= now_s + 7 * 86_400
    assert at.strftime("%H:%M") == clock
    assert not days or str(at.isoweekday()) in days


def test_a_countdown_ends_with_a_notification() -> None:
    device = opened()
    tool(device, "timers.start", minutes=2, seconds=30, label="Tea")
    device.advance(148_000)
    assert not len(device.system.notifications)
    device.advance(2_000)
    assert [n.title for n in device.system.notifications] == ["Tea"]
    assert state_of(device).countdowns["timer1"].state == "done"


def test_a_paused_countdown_keeps_what_is_left() -> None:
    device = opened()
    tool(device, "timers.start", minutes=1)
    tool(device, "timers.pause", countdown="timer1")
    left_s = state_of(device).countdowns["timer1"].left_s
    device.advance(600_000)
    assert not len(device.system.notifications)
    tool(device, "timers.resume", countdown="timer1")
    assert 55 <= left_s < 60
    assert state_of(device).countdowns["timer1"].ends_s - device.doc.now_s == left_s - 1


def test_an_extended_countdown_rings_once_and_later() -> None:
    device = opened()
    tool(device, "timers.start", minutes=1)
    tool(device, "timers.extend", countdown="timer1")
    device.advance(70_000)
    assert not len(device.system.notifications)
    device.advance(60_000)
    assert len(device.system.notifications) == 1


def test_a_countdown_of_nothing_is_refused() -> None:
    device = opened()
    assert tool(device, "timers.start").code == "refused"
    tool(device, "timers.start", minutes=1)
    assert tool(device, "timers.resume", countdown="timer1").code == "refused"


def test_the_stopwatch_runs_on_the_clock_of_the_phone() -> None:
    device = opened()
    tool(device, "stopwatch.start")
    device.advance(59_000)
    tool(device, "stopwatch.lap")
    device.advance(29_000)
    tool(device, "stopwatch.lap")
    tool(device, "stopwatch.stop")
    device.advance(60_000)
    found = tool(device, "stopwatch.read").result
    assert (found["seconds"], found["running"]) == (91, False)
    assert [lap["took_s"] for lap in found["laps"]] == [60, 30]


def test_a_running_stopwatch_cannot_be_reset() -> None:
    device = opened()
    tool(device, "stopwatch.start")
    assert tool(device, "stopwatch.reset").code == "refused"
    assert tool(device, "stopwatch.start").code == "refused"


def test_a_city_is_on_the_list_once() -> None:
    device = opened()
    zone = next(iter(state_of(device).cities)).zone
    assert tool(device, "world.add", zone=zone).code == "refused"
    assert tool(device, "world.add", zone="atlantis").code == "no_such_row"
    assert tool(device, "world.remove", zone=zone).ok


def test_the_city_page_converts_a_time_across_midnight() -> None:
    device = opened()
    device.perform(Go(app=app.id, path="/city/auckland"))
    labels = [n.label for n in device.screen.nodes]
    assert any(label.startswith("01:00 · Tomorrow, +13 h") for label in labels)


def test_sleep_runs_over_midnight() -> None:
    assert minutes_between("22:30", "06:30") == 480
    assert tool(opened(), "bedtime.set", bedtime="07:00", wake="07:00").code == "refused"


def test_spans_show_hours_only_where_there_are_any() -> None:
    assert (span(65), span(3605)) == ("01:05", "1:00:05")


def test_the_touch_does_what_the_tool_does() -> None:
    by_tool, by_touch = opened(), opened()
    args = {"time": "06:00", "days": "6,7"}
    tool(by_tool, "alarms.add", **args)
    by_touch.perform(Call(app=app.id, action="alarms.add", args=args))
    by_touch.end()
    assert business_hash(by_tool.doc) == business_hash(by_touch.doc)
