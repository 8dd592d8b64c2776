"""The one function that changes business state."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from toy_app import add, app, find, later, mark, remove, rename, ring, set_level, swap, toy_device

from screenloop.errors import EnvironmentFault
from screenloop.phone.commands import Back, Call
from screenloop.phone.declare.app import App
from screenloop.phone.declare.context import Ctx
from screenloop.phone.declare.document import state_hash
from screenloop.phone.declare.state import AppState, UndeclaredWrite
from screenloop.phone.declare.system import SystemState
from screenloop.phone.device.dispatch import CheckFailed, Outcome, dispatch, query


class OddState(AppState):
    """Of an app whose actions break the rules."""

    number: int = 0
    other: int = 0


odd = App("odd", OddState, title=("Odd", "怪"), icon="star", tint="#2563eb")


@odd.action("number.sneak", writes=["number"])
def sneak(s: OddState, ctx: Ctx) -> None:
    s.number = 1
    s.other = 1


@odd.action("number.abroad", writes=["number"])
def abroad(s: OddState, ctx: Ctx) -> None:
    ctx.of(SystemState).dark = True


@odd.action("number.inner", writes=["number"])
def inner(s: OddState, ctx: Ctx) -> None:
    s.number = 5


@odd.action("number.outer", writes=["other"])
def outer(s: OddState, ctx: Ctx, after: bool = False) -> None:
    s.other = 1
    ctx.call(inner())
    if after:
        s.number = 9


@odd.action("number.wrong", writes=["number"], check=lambda before, after, a: after.number == 2)
def wrong(s: OddState, ctx: Ctx) -> None:
    s.number = 1


@odd.action("number.circle", writes=[])
def circle(s: OddState, ctx: Ctx) -> None:
    ctx.call(circle())


@odd.action("number.draw", writes=["number"])
def draw(s: OddState, ctx: Ctx) -> None:
    s.number = ctx.rng("draw").randrange(1_000_000)


@odd.query("number.peek", tool="Look, and touch.", shows="/")
def peek(s: OddState, ctx: Ctx) -> int:
    s.number = 3
    return s.number


def run(call: Call, *, strict: bool = False) -> Outcome:
    device = toy_device(odd)
    return dispatch(device.doc, device.apps, call, strict=strict)


def rows(outcome: Outcome) -> list[tuple[str, str, str]]:
    return [(row.table, row.id, row.op) for row in outcome.rows]


def test_an_action_returns_a_new_document_and_what_changed() -> None:
    device = toy_device()
    before = state_hash(device.doc)
    outcome = dispatch(device.doc, device.apps, add(name="Kite", count=3))
    assert outcome.ok
    assert rows(outcome) == [("items", "item31", "add")]
    assert outcome.toast == "Added"
    assert outcome.navigation == (Back(),)
    assert state_hash(device.doc) == before
    assert outcome.doc.apps["toy"].data.builtins()["items"]["item31"]["count"] == 3


def test_defaults_are_filled_in_and_ranges_are_held() -> None:
    assert run(add(name="Kite")).doc.apps["toy"].data.builtins()["items"]["item31"]["count"] == 1
    for args in ({}, {"name": ""}, {"name": "K", "count": 99}, {"name": "K", "sort": 1}):
        outcome = run(Call(app="toy", action="items.add", args=args))
        assert (outcome.ok, outcome.code, outcome.rows) == (False, "bad_args", ())
        assert outcome.message


def test_a_missing_row_and_a_refusal_change_nothing_and_say_why() -> None:
    device = toy_device()
    gone = dispatch(device.doc, device.apps, remove(item="item99"))
    assert (gone.ok, gone.code, gone.doc) == (False, "no_such_row", device.doc)
    assert "item99" in gone.message
    refused = dispatch(device.doc, device.apps, swap(item="item1", name="Other", fail=True))
    assert (refused.ok, refused.code, refused.doc) == (False, "refused", device.doc)
    assert refused.message == "not today"


def test_actions_inside_an_action_happen_together_and_are_named() -> None:
    outcome = run(swap(item="item1", name="Other"))
    assert outcome.inner == ("toy.items.remove", "toy.items.add")
    assert rows(outcome) == [("items", "item31", "add"), ("items", "item1", "remove")]
    assert run(rename(item="item1", name="Ball")).inner == ()


@pytest.mark.parametrize("call", [sneak(), abroad(), outer(after=True)])
def test_a_write_that_is_not_declared_is_a_fault(call: Call) -> None:
    with pytest.raises(UndeclaredWrite) as caught:
        run(call)
    assert not caught.value.retry


def test_an_inner_action_writes_by_its_own_declaration() -> None:
    outcome = run(outer())
    assert outcome.doc.apps["odd"].data.builtins() == {"number": 5, "other": 1}


def test_a_check_is_held_only_when_strict() -> None:
    assert run(wrong()).ok
    with pytest.raises(CheckFailed, match=r"odd\.number\.wrong"):
        run(wrong(), strict=True)
    assert run(set_level(level=3), strict=True).ok


def test_actions_that_call_each_other_in_circles_are_a_fault() -> None:
    with pytest.raises(EnvironmentFault, match="circles"):
        run(circle())


@pytest.mark.parametrize(
    "call",
    [
        Call(app="nowhere", action="items.add"),
        Call(app="toy", action="items.fly"),
    ],
)
def test_an_action_that_is_not_installed_is_a_fault(call: Call) -> None:
    with pytest.raises(EnvironmentFault, match="no action"):
        run(call)


def test_random_draws_depend_on_seed_and_clock_only() -> None:
    device = toy_device(odd)
    first = dispatch(device.doc, device.apps, draw()).rows
    assert dispatch(device.doc, device.apps, draw()).rows == first
    later_doc = msgspec.structs.replace(device.doc, clock_ms=device.doc.clock_ms + 1000)
    assert dispatch(later_doc, device.apps, draw()).rows != first


def test_an_action_can_be_put_off_and_the_system_keeps_it() -> None:
    outcome = run(later(item="item2", seconds=60))
    (row,) = outcome.rows
    assert (row.app, row.table, row.op) == ("os", "timers", "add")
    assert row.after["action"] == "items.ring"
    assert row.after["due_s"] == outcome.doc.now_s + 60


def test_a_notification_opens_the_page_it_names() -> None:
    outcome = run(ring(item="item2"))
    posted = [row for row in outcome.rows if row.table == "notifications"]
    assert posted[0].after["path"] == "/i/item2"
    assert posted[0].after["target"] == "toy"


def test_an_idle_write_leaves_no_row() -> None:
    assert run(mark(item="item1", done=False)).rows == ()


def test_a_query_answers_in_json_and_cannot_write() -> None:
    device = toy_device(odd)
    found: Any = query(device.doc, device.apps, "toy", find.name, {"text": "Thing 3"})
    assert [row["id"] for row in found] == ["item3", "item30"]
    with pytest.raises(UndeclaredWrite):
        query(device.doc, device.apps, "odd", "number.peek", {})


def test_tools_are_the_actions_with_a_sentence_and_the_queries() -> None:
    tools = {tool.name: tool for tool in app.tools()}
    assert "toy.items.ring" not in tools
    assert {"toy.items.add", "toy.items.find"} <= set(tools)
    schema = tools["toy.items.add"].parameters
    assert schema["required"] == ["name"]
    assert schema["properties"]["count"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 20,
        "default": 1,
    }
    assert schema["additionalProperties"] is False
