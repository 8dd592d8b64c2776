from __future__ import annotations

import datetime

import pytest

from screenloop.phone.apps.calendar.pages import State, app
from screenloop.phone.apps.calendar.state import falls_on, overlapping
from screenloop.phone.commands import Call, Go
from screenloop.phone.declare.cast import cast
from screenloop.phone.declare.document import business_hash, state_hash
from screenloop.phone.device.boot import new_device
from screenloop.phone.device.device import Device
from screenloop.phone.prove.flows import run_step
from screenloop.types import Effect

PATHS = (
    "/",
    "/agenda",
    "/search",
    "/d/2026-03-05",
    "/d/2026-03-06",
    "/e/event6/2026-03-05",
    "/e/event1/2026-03-09",
    "/e/event9/2026-03-06",
    "/guests/event4",
    "/new/2026-03-02",
    "/edit/event14",
    "/move/event1",
    "/copy/event10",
    "/calendars",
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
        for path in PATHS:
            device.perform(Go(app=app.id, path=path))
            assert len(device.painted().nodes) > 5
    shown = {app.resolve(path)[0].template for path in PATHS}
    assert shown == set(app.routes)


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
    assert business_hash(device.doc) != business
    device.restore(kept)
    assert state_hash(device.doc) == first


def test_every_action_is_used_by_a_flow_or_fires_by_itself() -> None:
    used = set()
    for flow in app.flows:
        device = opened()
        for step in flow.steps:
            run_step(device, step)
        used |= {row.table for row in device.changes()}
    assert {"events", "layers", "default_reminder_min", "sunday_first"} <= used


def test_an_end_before_the_start_is_refused() -> None:
    device = opened()
    effect = tool(device, "events.add", title="Nap", date="2026-03-02", start="14:00", end="14:00")
    assert (effect.ok, effect.code) == (False, "refused")
    assert not state_of(device).events.first(lambda e: e.title == "Nap")


def test_a_day_that_does_not_exist_is_refused() -> None:
    assert tool(opened(), "events.add", title="Nap", date="2026-02-30").code == "refused"


def test_times_are_given_in_steps_of_five_minutes() -> None:
    effect = tool(opened(), "events.add", title="Nap", date="2026-03-02", start="14:02")
    assert effect.code == "bad_args"


def test_an_all_day_event_has_no_hours() -> None:
    device = opened()
    tool(device, "events.add", title="Holiday", date="2026-03-20", all_day=True)
    event = state_of(device).events.first(lambda e: e.title == "Holiday")
    assert event is not None
    assert (event.start, event.end) == ("", "")


def test_a_reminder_comes_as_a_notification_that_opens_the_event() -> None:
    device = opened()
    tool(
        device,
        "events.add",
        title="Call home",
        date="2026-03-02",
        start="09:30",
        end="09:45",
        reminder_min=10,
    )
    device.advance(19 * 60_000)
    assert not len(device.system.notifications)
    device.advance(2 * 60_000)
    (note,) = device.system.notifications
    event = state_of(device).events.first(lambda e: e.title == "Call home")
    assert event is not None
    assert (note.title, note.path) == ("Call home", f"/e/{event.id}/2026-03-02")


def test_a_moved_event_reminds_at_its_new_time_only() -> None:
    device = opened()
    tool(
        device,
        "events.add",
        title="Call home",
        date="2026-03-02",
        start="10:00",
        end="10:30",
        reminder_min=10,
    )
    event = state_of(device).events.first(lambda e: e.title == "Call home")
    assert event is not None
    tool(device, "events.move", event=event.id, date="2026-03-02", start="12:00", end="12:30")
    device.advance(2 * 3_600_000)
    assert not len(device.system.notifications)
    device.advance(3_600_000)
    assert len(device.system.notifications) == 1


def test_a_deleted_event_does_not_remind() -> None:
    device = opened()
    tool(device, "events.remind_before", event="event1", reminder_min=5)
    tool(device, "events.delete", event="event1")
    device.advance(3 * 3_600_000)
    assert not len(device.system.notifications)


def test_a_weekly_event_reminds_each_week_except_on_skipped_days() -> None:
    device = opened()
    tool(device, "events.remind_before", event="event1", reminder_min=5)
    tool(device, "events.remind_before", event="event1", reminder_min=5)
    tool(device, "events.skip", event="event1", date="2026-03-09")
    device.advance(15 * 24 * 3_600_000)
    paths = [n.path for n in device.system.notifications if n.title == "Team sync"]
    assert paths == ["/e/event1/2026-03-02", "/e/event1/2026-03-16"]


def test_a_single_event_has_no_day_to_skip() -> None:
    assert tool(opened(), "events.skip", event="event3", date="2026-03-03").code == "refused"


def test_guests_come_from_the_contacts_once_each() -> None:
    device = opened()
    guest = state_of(device).events["event4"].guests[0]
    assert tool(device, "guests.invite", event="event4", name=guest).code == "refused"
    assert tool(device, "guests.invite", event="event4", name="Nobody Known").code == "refused"
    assert tool(device, "guests.remove", event="event4", name=guest).ok
    assert guest not in state_of(device).events["event4"].guests


def test_only_invitations_are_answered() -> None:
    device = opened()
    assert tool(device, "events.reply", event="event3", reply="no").code == "refused"
    assert tool(device, "events.reply", event="event6", reply="no").ok
    assert state_of(device).events["event6"].reply == "no"


def test_hidden_calendars_leave_the_month_but_not_the_search() -> None:
    device = opened()
    tool(device, "layers.show", calendar="health", on=False)
    device.perform(Go(app=app.id, path="/d/2026-03-03"))
    assert not any(n.label.startswith("Dentist") for n in device.screen.nodes)
    found = tool(device, "events.search", text="dentist").result
    assert [row["title"] for row in found] == ["Dentist"]


def test_a_notification_of_a_deleted_event_leads_to_the_page_before() -> None:
    device = opened()
    device.perform(Go(app=app.id, path="/e/event7/2026-03-05"))
    tool(device, "events.delete", event="event7")
    assert device.screen.route == "calendar/"


def test_two_seeded_events_overlap_in_every_world() -> None:
    for seed in range(4):
        device = new_device(seed=seed)
        events = state_of(device).events
        budget = events["event6"]
        found = overlapping(events, budget.date, budget.start, budget.end, budget.id)
        assert "Supplier call" in [e.title for e in found]


def test_a_monthly_event_falls_on_the_same_day_of_each_month() -> None:
    rent = state_of(new_device()).events["event16"]
    assert falls_on(rent, datetime.date(2026, 5, 1))
    assert not falls_on(rent, datetime.date(2026, 5, 2))
    assert not falls_on(rent, datetime.date(2026, 2, 1))


def test_a_seeded_reminder_is_still_in_the_future() -> None:
    device = new_device()
    assert all(e.date > "2026-03-09" for e in state_of(device).events if e.reminder_min)


def test_the_touch_does_what_the_tool_does() -> None:
    by_tool, by_touch = opened(), opened()
    args = {"event": "event6", "reply": "maybe"}
    tool(by_tool, "events.reply", **args)
    by_touch.perform(Call(app=app.id, action="events.reply", args=args))
    assert business_hash(by_tool.doc) == business_hash(by_touch.doc)
