"""Notes: flows, checklists, folders, reminders, archive and trash."""

from __future__ import annotations

from typing import Any

import pytest

from screenloop.phone.apps.notes import seed as notes_seed
from screenloop.phone.apps.notes.pages import app
from screenloop.phone.commands import Go
from screenloop.phone.declare.app import Flow
from screenloop.phone.declare.cast import cast
from screenloop.phone.declare.document import business_hash, state_hash
from screenloop.phone.declare.flow_steps import FlowStep, enter, hold, press, tap
from screenloop.phone.device.boot import new_device
from screenloop.phone.device.device import Device
from screenloop.phone.prove.flows import run_step
from screenloop.types import Effect

DARK_CHINESE = (
    {"app": "os", "field": "dark", "op": "set", "value": True},
    {"app": "os", "field": "language", "op": "set", "value": "zh"},
)
AS_LIST = ({"app": "notes", "field": "grid", "op": "set", "value": False},)
ROUTES = (
    "/",
    "/folders",
    "/folders/folder1",
    "/archive",
    "/trash",
    "/new",
    "/new/folder2",
    "/share/Hello%20there",
    "/n/note1",
    "/n/note4",
    "/n/note18",
    "/n/note4/edit",
    "/n/note4/organise",
    "/n/note4/remind",
    "/i/item3",
)


def phone(*patches: dict[str, Any], seed: int = 0) -> Device:
    device = new_device("default", seed, patches, strict=True)
    device.open("notes")
    return device


def walk(device: Device, *steps: FlowStep) -> Effect:
    effect = Effect(ok=True, executed="")
    for step in steps:
        device.begin()
        effect = run_step(device, step)
        device.end()
        assert effect.ok, f"{step}: {effect}"
    return effect


def tool(device: Device, tool_name: str, /, **args: Any) -> Effect:
    device.begin(channel="tool")
    effect = device.call_tool(f"notes.{tool_name}", args)
    device.end()
    return effect


def titles(device: Device, **where: Any) -> list[str]:
    return [note["title"] for note in tool(device, "notes.list", **where).result]


def note(device: Device, note_id: str) -> Any:
    return tool(device, "notes.get", note=note_id).result


@pytest.mark.parametrize("flow", app.flows, ids=lambda flow: flow.name)
def test_each_flow_runs_and_a_restored_phone_is_as_before(flow: Flow) -> None:
    device = phone()
    kept, was, business = device.snapshot(), state_hash(device.doc), business_hash(device.doc)
    walk(device, *flow.steps)
    assert business_hash(device.doc) != business
    device.restore(kept)
    assert state_hash(device.doc) == was


def test_every_tool_is_touched_by_a_flow() -> None:
    touched = {getattr(step, "target", "") for flow in app.flows for step in flow.steps}
    assert {a.tool_name for a in app.actions.values() if a.tool} <= touched


@pytest.mark.parametrize(
    "patches", [(), DARK_CHINESE, AS_LIST], ids=["light English", "dark Chinese", "list"]
)
@pytest.mark.parametrize("path", ROUTES)
def test_each_page_draws(path: str, patches: tuple[dict[str, Any], ...]) -> None:
    device = phone(*patches)
    device.perform(Go(app="notes", path=path))
    painted = device.painted()
    assert painted.html
    assert len(painted.nodes) > 5


def test_a_checklist_is_written_one_item_a_line() -> None:
    device = phone()
    walk(device, tap("New note"), enter("title", "Picnic"), enter("items", "Bread\n\n Cheese "))
    walk(device, tap("Save"))
    found = tool(device, "notes.search", text="picnic").result
    assert [i["text"] for i in note(device, found[0]["id"])["items"]] == ["Bread", "Cheese"]


def test_blank_words_are_refused() -> None:
    device = phone()
    assert tool(device, "notes.add", title="   ").code == "refused"
    assert tool(device, "items.add", note="note1", text="  ").code == "refused"
    assert tool(device, "folders.add", name=" ").code == "refused"


def test_a_second_folder_of_the_same_name_is_refused() -> None:
    effect = tool(phone(), "folders.add", name="home")
    assert effect.code == "refused"
    assert "already" in effect.message


def test_deleting_a_folder_keeps_its_notes() -> None:
    device = phone()
    inside = titles(device, folder="folder3")
    assert inside
    assert tool(device, "folders.delete", folder="folder3").ok
    assert set(inside) <= set(titles(device))
    assert note(device, "note5")["folder"] == ""


def test_a_trashed_note_cannot_be_changed_until_it_is_restored() -> None:
    device = phone()
    assert tool(device, "notes.trash", note="note1").ok
    assert tool(device, "items.add", note="note1", text="Lemons").code == "refused"
    assert tool(device, "notes.pin", note="note1", on=True).code == "refused"
    assert tool(device, "notes.restore", note="note1").ok
    assert tool(device, "items.add", note="note1", text="Lemons").ok


def test_only_a_trashed_note_can_be_deleted_for_ever() -> None:
    device = phone()
    assert tool(device, "notes.purge", note="note1").code == "refused"
    assert tool(device, "notes.trash", note="note1").ok
    assert tool(device, "notes.purge", note="note1").ok
    assert not [
        i for i in device.doc.apps["notes"].data.fields["items"].values() if i.note == "note1"
    ]


def test_a_reminder_notifies_once_and_is_used_up() -> None:
    device = phone()
    assert tool(device, "notes.remind", note="note9", date="2026-03-02", time="09:30").ok
    device.advance(31 * 60_000)
    assert [n.title for n in device.system.notifications] == ["Car"]
    assert note(device, "note9")["remind_s"] == 0


def test_a_changed_reminder_fires_at_the_new_time_only() -> None:
    device = phone()
    assert tool(device, "notes.remind", note="note9", date="2026-03-02", time="09:30").ok
    assert tool(device, "notes.remind", note="note9", date="2026-03-02", time="11:00").ok
    device.advance(60 * 60_000)
    assert len(device.system.notifications) == 0
    device.advance(60 * 60_000)
    assert len(device.system.notifications) == 1


@pytest.mark.parametrize("gone", ["notes.unremind", "notes.trash"])
def test_a_dropped_reminder_stays_silent(gone: str) -> None:
    device = phone()
    assert tool(device, "notes.remind", note="note9", date="2026-03-02", time="09:30").ok
    assert tool(device, gone, note="note9").ok
    device.advance(60 * 60_000)
    assert len(device.system.notifications) == 0


def test_a_reminder_of_a_deleted_note_does_no_harm() -> None:
    device = phone()
    assert tool(device, "notes.remind", note="note9", date="2026-03-02", time="09:30").ok
    assert tool(device, "notes.trash", note="note9").ok
    assert tool(device, "notes.empty_trash").ok
    device.advance(60 * 60_000)
    assert len(device.system.notifications) == 0


@pytest.mark.parametrize(
    ("date", "time", "words"),
    [("2026-03-02", "08:00", "future"), ("2026-02-31", "08:00", "no day")],
)
def test_reminders_refuse_days_that_cannot_be(date: str, time: str, words: str) -> None:
    effect = tool(phone(), "notes.remind", note="note9", date=date, time=time)
    assert effect.code == "refused"
    assert words in effect.message


def test_archived_notes_leave_the_list_and_the_search() -> None:
    device = phone()
    assert "Car" in titles(device)
    assert tool(device, "notes.archive", note="note9", on=True).ok
    assert "Car" not in titles(device)
    assert "Car" in titles(device, archived=True)
    assert tool(device, "notes.search", text="plate").result == []


def test_notes_sort_by_title() -> None:
    device = phone()
    assert tool(device, "settings.sort", by="title").ok
    shown = titles(device)
    assert shown == sorted(shown, key=str.casefold)


def test_a_note_thrown_away_on_its_page_leads_back_to_the_list() -> None:
    device = phone()
    walk(device, tap("Health"), tap("More"), tap("Trash"), tap("Move"))
    assert device.screen.route == "notes/"
    assert "Health" in titles(device, trashed=True)


def test_a_copied_checklist_shows_what_is_ticked() -> None:
    device = phone()
    walk(device, hold("Groceries"), tap("Copy text"))
    lines = device.system.clipboard.splitlines()
    assert lines[0] == "Groceries"
    assert any(line.startswith("[x] ") for line in lines)
    assert any(line.startswith("[ ] ") for line in lines)


def test_shared_words_arrive_in_a_new_note() -> None:
    device = phone()
    device.perform(Go(app="notes", path="/share/50%25%20off%20%2F%20today"))
    walk(device, enter("title", "Offer"), press("back"), tap("Save"))
    assert tool(device, "notes.search", text="50% off / today").result[0]["title"] == "Offer"


def test_search_reads_titles_texts_and_checklists() -> None:
    f = notes_seed.facts(cast("default", 0))
    device = phone()
    for text, title in (
        ("packing", "Packing list"),
        (f.plate, "Car"),
        (f.gifts[0].idea.upper(), "Gift ideas"),
    ):
        walk(device, enter("text", text))
        assert any(n.label.startswith(f"{title} · ") for n in device.screen.nodes), text


@pytest.mark.parametrize("seed", range(4))
def test_notes_tell_the_facts_of_every_world(seed: int) -> None:
    f = notes_seed.facts(cast("default", seed))
    device = phone(seed=seed)
    for told in (
        f.groceries[2],
        f.packing[3],
        f.gifts[1].person.name,
        f.wifi_password,
        f.locker_code,
        f.plate,
        f.flight,
        f.hotel_address,
        f.passport,
        f.library_card,
        f.tips[2].title,
        f.meeting_owner.name,
    ):
        assert tool(device, "notes.search", text=told).result, told
