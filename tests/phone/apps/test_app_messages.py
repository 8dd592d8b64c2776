"""Messages: flows, sending and its refusals, answers, receiving, scheduling."""

from __future__ import annotations

from typing import Any

import pytest

from screenloop.phone.apps.messages import seed as messages_seed
from screenloop.phone.apps.messages.pages import app
from screenloop.phone.commands import Call, Go
from screenloop.phone.declare.app import Flow
from screenloop.phone.declare.cast import cast
from screenloop.phone.declare.document import business_hash, state_hash
from screenloop.phone.declare.flow_steps import FlowStep, enter, hold, tap
from screenloop.phone.device.boot import new_device
from screenloop.phone.device.device import Device
from screenloop.phone.prove.flows import run_step
from screenloop.types import Effect

DARK_CHINESE = (
    {"app": "os", "field": "dark", "op": "set", "value": True},
    {"app": "os", "field": "language", "op": "set", "value": "zh"},
)
ROUTES = (
    "/",
    "/archive",
    "/starred",
    "/scheduled",
    "/search",
    "/settings",
    "/t/thread1",
    "/t/thread4",
    "/t/thread1/info",
    "/t/thread9/info",
    "/t/thread1/schedule",
    "/new",
    "/new/555-010-2030",
    "/share/Hello%20there/-",
    "/share/-/photo1",
    "/forward/message3",
)


def phone(*patches: dict[str, Any], seed: int = 0) -> Device:
    device = new_device("default", seed, patches, strict=True)
    device.open("messages")
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
    effect = device.call_tool(f"messages.{tool_name}", args)
    device.end()
    return effect


def threads(device: Device) -> dict[str, Any]:
    return {t["id"]: t for t in tool(device, "threads.list").result}


def last(device: Device, thread: str) -> Any:
    return tool(device, "threads.get", thread=thread).result["messages"][-1]


def notes_of(device: Device) -> list[tuple[str, str]]:
    return [(n.title, n.text) for n in device.system.notifications]


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


@pytest.mark.parametrize("patches", [(), DARK_CHINESE], ids=["light English", "dark Chinese"])
@pytest.mark.parametrize("path", ROUTES)
def test_each_page_draws(path: str, patches: tuple[dict[str, Any], ...]) -> None:
    device = phone(*patches)
    device.perform(Go(app="messages", path=path))
    painted = device.painted()
    assert painted.html
    assert len(painted.nodes) > 5


def test_a_message_without_words_is_refused() -> None:
    effect = tool(phone(), "messages.send", thread="thread1", text="  ")
    assert effect.code == "refused"
    assert "Write something" in effect.message


def test_airplane_mode_refuses_to_send_and_says_why() -> None:
    device = phone({"app": "os", "field": "airplane", "op": "set", "value": True})
    effect = tool(device, "messages.send", thread="thread1", text="Hi")
    assert effect.code == "refused"
    assert "Airplane mode" in effect.message


def test_a_service_takes_no_messages() -> None:
    effect = tool(phone(), "messages.send", thread="thread4", text="Hi")
    assert effect.code == "refused"
    assert "full phone number" in effect.message


def test_a_blocked_contact_takes_no_messages_until_unblocked() -> None:
    device = phone()
    assert tool(device, "threads.block", thread="thread1", on=True).ok
    assert tool(device, "messages.send", thread="thread1", text="Hi").code == "refused"
    assert tool(device, "threads.block", thread="thread1", on=False).ok
    assert tool(device, "messages.send", thread="thread1", text="Hi").ok


def test_starting_with_a_known_number_goes_into_its_conversation() -> None:
    device = phone()
    digits = "".join(c for c in messages_seed.facts(cast("default", 0)).dinner.phone if c.isdigit())
    assert tool(device, "messages.start", phone=digits, text="Hello").ok
    assert last(device, "thread1")["text"] == "Hello"
    assert len(threads(device)) == 13


def test_a_friend_answers_the_first_two_messages_and_then_no_more() -> None:
    device = phone()
    told = messages_seed.facts(cast("default", 0)).dinner_dish
    for number in range(3):
        assert tool(device, "messages.send", thread="thread1", text=f"Message {number}").ok
        device.advance(60_000)
    texts = [m["text"] for m in tool(device, "threads.get", thread="thread1").result["messages"]]
    assert told in texts[-4]
    assert texts[-1] == "Message 2"
    assert len(notes_of(device)) == 2


def test_an_answer_to_a_deleted_conversation_opens_a_new_one() -> None:
    device = phone()
    assert tool(device, "messages.send", thread="thread1", text="Hi").ok
    assert tool(device, "threads.delete", thread="thread1").ok
    device.advance(60_000)
    fresh = set(threads(device)) - {f"thread{n}" for n in range(1, 15)}
    assert len(fresh) == 1


def receive(device: Device, sender: str, text: str) -> None:
    device.begin()
    device.perform(
        Call(app="messages", action="messages.receive", args={"sender": sender, "text": text})
    )
    device.end()


def test_a_received_code_is_unread_and_notified() -> None:
    device = phone()
    receive(device, messages_seed.BANK, "Your code is 111222")
    row = threads(device)["thread6"]
    assert row["unread"] == 1
    assert row["last_text"] == "Your code is 111222"
    assert notes_of(device) == [(messages_seed.BANK, "Your code is 111222")]


def test_without_previews_a_notification_hides_the_text() -> None:
    device = phone()
    assert tool(device, "settings.previews", on=False).ok
    receive(device, messages_seed.BANK, "Your code is 111222")
    assert notes_of(device) == [(messages_seed.BANK, "New message")]


@pytest.mark.parametrize("quieting", ["threads.mute", "threads.block"])
def test_muted_and_blocked_senders_are_kept_but_not_notified(quieting: str) -> None:
    device = phone()
    assert tool(device, quieting, thread="thread1", on=True).ok
    receive(device, messages_seed.facts(cast("default", 0)).dinner.phone, "Psst")
    assert last(device, "thread1")["text"] == "Psst"
    assert notes_of(device) == []


def test_a_new_message_takes_a_conversation_out_of_the_archive() -> None:
    device = phone()
    assert "thread14" not in threads(device)
    receive(device, messages_seed.facts(cast("default", 0)).cabin.phone, "Hello again")
    assert threads(device)["thread14"]["unread"] == 1


def test_a_scheduled_text_is_sent_when_its_time_comes() -> None:
    device = phone()
    args = {"thread": "thread7", "text": "Ready?", "date": "2026-03-02", "time": "09:30"}
    assert tool(device, "scheduled.add", **args).ok
    device.advance(29 * 60_000)
    assert last(device, "thread7")["text"] != "Ready?"
    device.advance(60_000)
    sent = [m["text"] for m in tool(device, "threads.get", thread="thread7").result["messages"]]
    assert "Ready?" in sent
    assert tool(device, "scheduled.list").result == []


def test_a_scheduled_text_waits_for_the_end_of_airplane_mode() -> None:
    device = phone()
    args = {"thread": "thread7", "text": "Ready?", "date": "2026-03-02", "time": "09:30"}
    assert tool(device, "scheduled.add", **args).ok
    flight = {"name": "airplane", "on": True}
    device.perform(Call(app="os", action="switch.set", args=flight))
    device.advance(40 * 60_000)
    assert len(tool(device, "scheduled.list").result) == 1
    device.perform(Call(app="os", action="switch.set", args={**flight, "on": False}))
    device.advance(6 * 60_000)
    assert tool(device, "scheduled.list").result == []


@pytest.mark.parametrize(
    ("date", "time", "words"),
    [("2026-03-02", "08:00", "future"), ("2026-02-31", "08:00", "no day")],
)
def test_scheduling_refuses_days_that_cannot_be(date: str, time: str, words: str) -> None:
    effect = tool(phone(), "scheduled.add", thread="thread7", text="Hi", date=date, time=time)
    assert effect.code == "refused"
    assert words in effect.message


def test_a_picture_is_sent_with_what_the_gallery_shows() -> None:
    device = phone()
    assert tool(device, "messages.send", thread="thread1", photo="photo2").ok
    photo = device.doc.apps["gallery"].data.fields["photos"]["photo2"]
    sent = last(device, "thread1")
    assert (sent["picture_kind"], sent["picture_seed"]) == (photo.kind, photo.seed)


def test_a_picture_is_chosen_from_the_gallery_once_that_is_allowed() -> None:
    device = phone()
    walk(device, tap("Maya Silva"), tap("Attach picture"), tap("Allow"))
    picture = next(n for n in device.screen.reachable() if n.role == "image")
    walk(device, tap(picture.label), tap("Send"))
    assert last(device, "thread7")["photo"].startswith("photo")
    assert last(device, "thread7")["text"] == ""


def test_shared_words_arrive_in_a_new_message() -> None:
    device = phone()
    device.perform(Go(app="messages", path="/share/50%25%20off%20%2F%20today/-"))
    walk(device, tap("Chloe Fischer"), tap("Send"))
    found = tool(device, "messages.search", text="50% off / today").result
    assert [m["mine"] for m in found] == [True]


def test_saving_a_known_number_again_is_refused() -> None:
    device = phone()
    assert tool(device, "threads.save_contact", thread="thread9", name="Somebody").ok
    assert threads(device)["thread9"]["name"] == "Somebody"
    again = tool(device, "threads.save_contact", thread="thread9", name="Other")
    assert again.code == "refused"


def test_search_finds_people_and_messages() -> None:
    device = phone()
    walk(device, tap("Search"), enter("text", "room"))
    labels = [n.label for n in device.screen.nodes if n.role == "row"]
    assert any("Which room?" in label for label in labels)
    assert len(tool(device, "messages.search", text="ROOM").result) == len(labels)


def test_a_page_is_left_when_its_conversation_is_deleted_from_it() -> None:
    device = phone()
    walk(device, tap("Harbor Dental"), tap("Details"), tap("Delete"), tap("Delete"))
    assert device.screen.route == "messages/"


@pytest.mark.parametrize("seed", range(4))
def test_conversations_tell_the_facts_of_every_world(seed: int) -> None:
    f = messages_seed.facts(cast("default", seed))
    device = phone(seed=seed)
    for told in (
        f.dinner_time,
        f.wifi_password,
        f.review_room,
        f.clinic_address,
        f.hotel_code,
        f.parcel_code,
        f.pickup_code,
        f.club_book,
        f.party_address,
        f.cabin_code,
        f.card_end,
    ):
        assert tool(device, "messages.search", text=told).result, told


def test_a_long_press_offers_what_can_be_done_with_a_message() -> None:
    device = phone()
    walk(device, tap("Dmitri Silva"), hold("Ok, will do"))
    labels = {n.label for n in device.screen.nodes}
    assert {"Copy text", "Forward", "Star", "Share", "Delete", "Cancel"} <= labels
    walk(device, tap("Copy text"))
    assert device.system.clipboard == "Ok, will do"
