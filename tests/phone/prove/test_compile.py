"""From tool calls to touches."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from screenloop.actions import Action, Answer, Finish, Key, Open, Tap, Tool, Type, Wait
from screenloop.errors import ConfigError, TaskError
from screenloop.phone.declare.document import business_data
from screenloop.phone.device.boot import installed, new_device
from screenloop.phone.device.device import Device
from screenloop.phone.device.gestures import layout_px, run_action
from screenloop.phone.prove.compile import Plan, permission_asked, plan, prove, run_golden, run_plan
from screenloop.phone.prove.replay import fresh_hash, replay
from screenloop.phone.prove.search_goal import call_goal
from screenloop.types import DiffRow


def usual(row: DiffRow) -> bool:
    """Whether a change is one that using a phone normally makes."""
    return row.app == "os" or (row.app, row.field) == ("messages", "unread")


def nothing(row: DiffRow) -> bool:
    """Tolerate no other change."""
    return False


def call(tool: str, /, **args: Any) -> Tool:
    return Tool(name=tool, args=args)


def end_of(made: Plan, device: Device) -> Device:
    """Return the phone after a plan."""
    twin = device.fork()
    assert run_plan(twin, made) == ()
    return twin


@pytest.fixture
def device() -> Device:
    return new_device(quantum_ms=0)


ADD = call("contacts.people.add", name="Zoe Young", phone="555-0101", city="Sunvale", group="work")


# ---- what a plan does ----------------------------------------------------------------------


def test_a_form_is_opened_filled_and_saved(device: Device) -> None:
    made = plan(device, (ADD,), tolerate=nothing)
    assert prove(device, (ADD,), made).same
    texts = {action.text for action in made.actions if isinstance(action, Type)}
    assert texts == {"Zoe Young", "555-0101", "Sunvale"}
    assert all(a.clear and a.at is not None for a in made.actions if isinstance(a, Type))
    # Open, new contact, three texts, a chip, save: seven, and what the keyboard is in the way of.
    assert 7 <= made.steps <= 9


def test_planning_leaves_the_device_alone_and_is_the_same_each_time(device: Device) -> None:
    before = fresh_hash(device.doc)
    assert plan(device, (ADD,)) == plan(device, (ADD,))
    assert fresh_hash(device.doc) == before


def test_a_short_way_is_as_short_as_it_can_be(device: Device) -> None:
    first = sorted(
        business_data(device.doc)["contacts"]["people"].values(), key=lambda p: p["name"]
    )[0]
    made = plan(device, (call("contacts.people.block", person=first["id"], on=True),))
    assert [type(action) for action in made.actions[:2]] == [Open, Tap]
    assert made.steps == 3


def test_every_touch_of_a_plan_lies_on_what_it_means(device: Device) -> None:
    made = plan(device, (ADD,))
    twin = device.fork()
    for action in made.actions:
        if isinstance(action, Tap | Type) and action.at is not None:
            node = twin.screen.hit(*layout_px(action.at))
            assert node is not None
            assert node.box.holds(*layout_px(action.at))
        run_action(twin, action)


def test_calls_are_planned_one_after_the_other(device: Device) -> None:
    golden = (
        call("contacts.people.block", person="person3", on=True),
        call("contacts.people.note", person="person3", note="Met at the fair"),
    )
    both = plan(device, golden)
    assert prove(device, golden, both).same
    alone = sum(plan(device, (one,)).steps for one in golden)
    assert both.steps < alone


def test_days_and_times_are_chosen_in_their_choosers(device: Device) -> None:
    golden = (
        call("calendar.events.add", title="Haircut", date="2026-04-09", start="15:15", end="16:40"),
    )
    made = plan(device, golden, tolerate=usual)
    assert prove(device, golden, made).same


def test_a_number_on_a_plus_button_is_pressed_up_to(device: Device) -> None:
    golden = (call("shop.cart.set", line="line2", quantity=4),)
    made = plan(device, golden, tolerate=usual)
    assert prove(device, golden, made).same


def test_a_look_up_is_planned_as_the_way_to_its_page(device: Device) -> None:
    golden = (call("contacts.people.get", person="person7"), Answer(text="555"))
    made = plan(device, golden)
    assert made.actions[-1] == Answer(text="555")
    after = end_of(made, device)
    assert (after.doc.front, after.doc.page.path) == ("contacts", "/p/person7")
    assert after.changes() == ()
    searched = plan(device, (call("contacts.people.search", text="Fel"),))
    assert end_of(searched, device).doc.page.locals["text"] == "Fel"


def test_what_is_no_tool_call_stays_as_it_is(device: Device) -> None:
    golden: tuple[Action, ...] = (
        Open(app="contacts"),
        call("contacts.people.block", person="person3", on=True),
        Wait(seconds=5),
        Key(name="home"),
        Finish(status="success"),
    )
    made = plan(device, golden)
    assert made.actions[-3:] == golden[-3:]
    assert sum(isinstance(action, Open) for action in made.actions) == 1
    assert end_of(made, device).doc.front == "os"


def test_a_plan_holds_while_the_clock_runs() -> None:
    device = new_device(quantum_ms=1000)
    made = plan(device, (ADD,))
    after = end_of(made, device)
    assert after.doc.clock_ms == device.doc.clock_ms + 1000 * made.steps
    people = business_data(after.doc)["contacts"]["people"].values()
    assert any(person["name"] == "Zoe Young" for person in people)


def test_other_changes_are_made_only_where_they_are_tolerated(device: Device) -> None:
    threads = business_data(device.doc)["messages"]["threads"].values()
    unread = next(t["id"] for t in threads if t["unread"] and not t.get("blocked"))
    golden = (call("messages.messages.send", thread=unread, text="On my way"),)
    made = plan(device, golden, tolerate=usual)
    rows = end_of(made, device).changes()
    assert any(row.field == "unread" for row in rows)
    with pytest.raises(TaskError, match="no way by touch"):
        plan(device, golden, tolerate=nothing, budget=200)


def test_a_permission_prompt_is_tolerated_by_default() -> None:
    row = DiffRow(app="os", table="permissions", id="perm1", op="add")
    assert permission_asked(row)
    assert not permission_asked(DiffRow(app="os", table="dark", op="set"))


# ---- what cannot be planned ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("action", "why"),
    [
        (call("contacts.people.fly"), "no app offers the tool contacts.people.fly"),
        (call("nowhere.people.add"), "no app offers the tool"),
        (call("contacts.people.add", name="Zoe"), "does not take"),
        (call("contacts.people.get"), "does not take"),
        (
            call("contacts.people.delete", person="person99"),
            "is refused: contacts.people has no row",
        ),
        (Open(app="Banana"), r"step 0 of the solution \(open\) does nothing: no app is called"),
    ],
)
def test_a_solution_that_cannot_be_done_at_all_is_told(
    device: Device, action: Action, why: str
) -> None:
    with pytest.raises(TaskError, match=why):
        plan(device, (action,))


def test_a_call_that_is_not_found_is_told_with_the_closest_page(device: Device) -> None:
    why = r"to contacts\.people\.add .* within \d touches; the closest page was contacts/new"
    with pytest.raises(TaskError, match=why):
        plan(device, (ADD,), budget=5)


def test_a_call_that_changes_nothing_takes_no_touch(device: Device) -> None:
    golden = (call("contacts.people.block", person="person3", on=False),)
    assert plan(device, golden) == Plan(actions=())


def test_a_look_up_that_shows_nowhere_is_told(device: Device) -> None:
    queries = [q for app in installed().values() for q in app.queries.values() if not q.shows]
    for query in queries[:1]:
        if not query.signature.required:
            with pytest.raises(ConfigError, match="shows="):
                plan(device, (call(query.tool_name),))


def test_failures_of_a_plan_or_a_solution_are_sentences(device: Device) -> None:
    broken = Plan(actions=(Tap(at=(0.5, 0.45)), Key(name="enter")))
    proof = prove(device, (call("contacts.people.delete", person="person99"),), broken)
    assert proof.same
    assert [failure.partition(":")[0] for failure in proof.failures] == [
        "plan step 0 (tap)",
        "plan step 1 (key)",
        "golden step 0 (tool)",
    ]


# ---- all of it -----------------------------------------------------------------------------


@pytest.mark.parametrize("app_id", [app_id for app_id in installed() if app_id != "os"])
def test_what_the_flows_do_can_be_planned_from_its_tool_calls(app_id: str) -> None:
    app = installed()[app_id]
    for walk in app.flows:
        report = replay(app, walk)
        golden = tuple(
            Tool(name=f"{c.app}.{c.action}", args=c.args)
            for c in report.calls
            if installed()[c.app].actions[c.action].tool
        )
        if not golden or any(outcome.seconds for outcome in report.outcomes):
            continue
        device = new_device(quantum_ms=0)
        made = plan(device, golden, tolerate=usual, budget=4000)
        proof = prove(device, golden, made)
        assert (walk.name, proof.failures) == (walk.name, ())
        assert made.steps <= 3 * (len(walk.steps) + 1)


@given(
    seed=st.integers(0, 30),
    number=st.integers(1, 20),
    action=st.sampled_from(["favourite", "block", "delete", "note", "edit"]),
)
@settings(max_examples=15, deadline=None)
def test_any_person_of_any_world_is_reached(seed: int, number: int, action: str) -> None:
    device = new_device(seed=seed, quantum_ms=0)
    person = business_data(device.doc)["contacts"]["people"][f"person{number}"]
    args: dict[str, Any] = {"person": person["id"]}
    match action:
        case "favourite":
            args["on"] = not person["favourite"]
        case "block":
            args["on"] = True
        case "note":
            args["note"] = "Call back"
        case "edit":
            kept = ("name", "phone", "email", "group")
            args.update({name: person[name] for name in kept}, city="Port Alma")
    golden = (call(f"contacts.people.{action}", **args),)
    made = plan(device, golden, tolerate=nothing)
    proof = prove(device, golden, made)
    assert proof.same
    assert proof.failures == ()


def test_arguments_are_compared_with_defaults_filled_in(device: Device) -> None:
    from screenloop.phone.commands import Call

    args = {"name": "Zoe", "phone": "1"}
    wanted = call_goal(device, Call(app="contacts", action="people.add", args=args))
    full = Call(app="contacts", action="people.add", args={**args, "group": "other", "city": ""})
    assert wanted.missing(device, full) == []
    other = Call(app="contacts", action="people.add", args={**args, "group": "work"})
    assert wanted.missing(device, other) == ["group"]
    assert run_golden(device.fork(), (ADD,)) == ()
