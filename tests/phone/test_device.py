"""A phone under touch: hits, gestures, keyboard, back, time, tools, kept states."""

from __future__ import annotations

import random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_app import item_page, later, level_page, toy_device

from screenloop.actions import Action, Open, Scroll, Tap, Tool, Type, Wait
from screenloop.errors import UnsupportedAction
from screenloop.phone.commands import Go
from screenloop.phone.declare.document import business_hash, state_hash
from screenloop.phone.device.boot import new_device
from screenloop.phone.device.device import MAX_TEXT, Device
from screenloop.phone.device.gestures import act, run_action, unit
from screenloop.phone.draw.canvas import Node
from screenloop.phone.prove.fuzz import choose
from screenloop.phone.prove.replay import fresh_hash
from screenloop.types import DiffRow, Effect


def node(device: Device, label: str) -> Node:
    """Return what has a label and can be touched."""
    return next(n for n in device.screen.reachable() if n.label.split(" · ")[0] == label)


def tap(device: Device, label: str, *, hold_ms: int = 0) -> Effect:
    """Tap something by its label, from begin to end."""
    device.begin("step/1")
    effect = device.tap(*node(device, label).box.center, hold_ms=hold_ms)
    device.end()
    return effect


def show(device: Device, go: Go) -> None:
    """Go to a page."""
    device.begin()
    device.perform(go)
    device.end()


def item(device: Device, row_id: str) -> dict[str, object]:
    """Return a row of the toy as JSON."""
    found: dict[str, object] = device.doc.apps["toy"].data.builtins()["items"][row_id]
    return found


@pytest.fixture
def device() -> Device:
    return toy_device()


@pytest.fixture
def on_item(device: Device) -> Device:
    show(device, item_page(item="item2"))
    return device


# ---- touches -------------------------------------------------------------------------------


def test_a_tap_opens_the_page_of_a_row(device: Device) -> None:
    effect = tap(device, "Thing 2")
    assert effect.ok
    assert "on 'Thing 2'" in effect.executed
    assert device.screen.route == "toy/i/{item}"


def test_a_tap_on_nothing_changes_nothing_and_says_so(on_item: Device) -> None:
    before = state_hash(on_item.doc)
    words = next(n for n in on_item.screen.nodes if n.label == "side none")
    on_item.begin()
    effect = on_item.tap(*words.box.center)
    on_item.end()
    assert (effect.ok, effect.code) == (False, "nothing_here")
    assert effect.message
    assert state_hash(on_item.doc) == before


def test_a_tap_on_something_disabled_says_so(device: Device) -> None:
    tap(device, "New thing")
    save = next(n for n in device.screen.nodes if n.label == "Save")
    effect = device.tap(*save.box.center)
    assert (effect.ok, effect.code) == (False, "disabled")


def test_a_long_press_is_told_from_a_tap_by_its_length(device: Device) -> None:
    tap(device, "Thing 1", hold_ms=600)
    assert device.doc.page.locals["chosen"] == "item1"
    assert device.screen.route == "toy/"
    tap(device, "Thing 1", hold_ms=100)
    assert device.screen.route == "toy/i/{item}"


def test_a_long_press_where_none_waits_says_so(on_item: Device) -> None:
    effect = tap(on_item, "Done", hold_ms=600)
    assert (effect.ok, effect.code) == (False, "nothing_here")
    assert item(on_item, "item2")["done"] is False


def test_a_double_tap_is_one_gesture_where_it_waits_and_else_two_taps(on_item: Device) -> None:
    on_item.double_tap(*node(on_item, "Picture").box.center)
    assert item(on_item, "item2")["done"] is True
    on_item.double_tap(*node(on_item, "Done").box.center)
    assert item(on_item, "item2")["done"] is True


def test_the_second_tap_of_two_lands_on_what_is_there_by_then(on_item: Device) -> None:
    tap(on_item, "Remove")
    on_item.begin()
    on_item.double_tap(*node(on_item, "Remove it").box.center)
    on_item.end()
    assert "item2" not in on_item.doc.apps["toy"].data.builtins()["items"]
    assert on_item.screen.route.startswith("toy/")


def test_removing_a_row_and_going_back_leaves_its_page_once(device: Device) -> None:
    tap(device, "Thing 2")
    assert tap(device, "Remove and leave").ok
    assert device.screen.route == "toy/"
    assert len(device.doc.apps["toy"].stack) == 1


def test_sideways_swipes_reach_what_lies_under_the_finger(on_item: Device) -> None:
    x, y = node(on_item, "Picture").box.center
    assert on_item.swipe(x, y, x - 120, y + 5).ok
    assert on_item.doc.page.locals["side"] == "left"
    assert on_item.swipe(x, y, x + 120, y).ok
    assert on_item.doc.page.locals["side"] == "right"
    assert on_item.swipe(x, 600, x - 120, 600).code == "nothing_here"


def test_a_row_can_be_swiped_away(device: Device) -> None:
    x, y = node(device, "Thing 3").box.center
    device.begin("step/7")
    assert device.swipe(x, y, x - 150, y).ok
    (row,) = device.end()
    assert (row.op, row.id, row.action_id, row.channel) == ("remove", "item3", "step/7", "gui")


def test_a_slider_is_set_by_tap_and_by_drag(device: Device) -> None:
    show(device, level_page())
    box = node(device, "Level").box
    assert device.tap(box.x, box.center[1]).ok
    assert device.doc.apps["toy"].data.builtins()["level"] == 0
    assert device.swipe(box.x + 4, box.center[1], box.x + box.w - 1, box.center[1]).ok
    assert device.doc.apps["toy"].data.builtins()["level"] == 100


def test_scrolling_moves_the_list_and_stops_at_its_ends(device: Device) -> None:
    assert device.scroll("up", 1.0).code == "nothing_here"
    assert device.scroll("down", 0.5).ok
    middle = device.screen.region.offset_px
    assert 0 < middle < device.screen.region.max_px
    while device.scroll("down", 1.0).ok:
        pass
    assert device.screen.region.offset_px == device.screen.region.max_px
    assert any(n.label.startswith("Thing 30") for n in device.screen.reachable())
    device.swipe(200, 300, 200, 400)
    assert device.screen.region.offset_px == device.screen.region.max_px - 100


def test_the_shade_is_pulled_from_the_status_bar(device: Device) -> None:
    assert device.swipe(200, 5, 200, 300).ok
    assert device.screen.route == "os/shade"
    assert device.press("back").ok
    assert device.screen.route == "toy/"


def test_what_an_overlay_covers_cannot_be_touched(device: Device) -> None:
    hidden = node(device, "Thing 2").box.center
    device.press("recents")
    assert device.screen.route == "os/recents"
    assert not any(n.label.startswith("Thing") for n in device.screen.nodes)
    assert device.tap(*hidden).code == "nothing_here"


def test_a_dialog_takes_the_touches_of_what_it_covers(on_item: Device) -> None:
    rename = node(on_item, "Rename").box.center
    tap(on_item, "Remove")
    assert on_item.tap(*rename).ok
    assert on_item.doc.page.locals["sure"] is False
    assert on_item.tap(*rename).ok
    assert on_item.screen.route == "toy/i/{item}"


# ---- text and keys -------------------------------------------------------------------------


def test_touching_a_field_raises_the_keyboard_and_its_keys_type(device: Device) -> None:
    tap(device, "New thing")
    tap(device, "Name")
    assert device.doc.focus == "name"
    for key in ("Shift", "K", "i", "t", "e", "e", "Backspace", "Space", "b"):
        assert tap(device, key).ok
    assert device.doc.page.locals["name"] == "Kite b"
    assert device.doc.keyboard == "letters"
    tap(device, "Symbols")
    tap(device, "7")
    assert device.doc.page.locals["name"] == "Kite b7"


def test_typed_text_is_appended_or_takes_the_place_of_what_is_there(on_item: Device) -> None:
    tap(on_item, "Name")
    on_item.type_text(" blue")
    assert on_item.doc.page.locals["name"] == "Thing 2 blue"
    on_item.type_text("Kite\nand string", clear=True)
    assert on_item.doc.page.locals["name"] == "Kite and string"


def test_enter_submits_a_line_and_breaks_a_paragraph(on_item: Device) -> None:
    tap(on_item, "Name")
    on_item.type_text("Kite", clear=True, submit=True)
    assert item(on_item, "item2")["name"] == "Kite"
    assert on_item.doc.focus == ""
    show(on_item, Go(app="toy", path="/new"))
    tap(on_item, "Note")
    on_item.type_text("one")
    on_item.press("enter")
    on_item.type_text("two")
    assert on_item.doc.page.locals["note"] == "one\ntwo"


def test_typing_without_a_focused_field_says_so(device: Device) -> None:
    for effect in (device.type_text("hello"), device.press("enter"), device.press("backspace")):
        assert (effect.ok, effect.code) == (False, "no_focus")
        assert "field" in effect.message


def test_a_field_does_not_hold_more_than_it_can(device: Device) -> None:
    tap(device, "Find")
    assert device.type_text("x" * (MAX_TEXT + 1)).code == "too_long"
    assert device.type_text("x" * MAX_TEXT).ok


def test_a_field_at_the_bottom_is_moved_above_the_keyboard(on_item: Device) -> None:
    show(on_item, Go(app="toy", path="/new"))
    tap(on_item, "Note")
    field = on_item.screen.field("note")
    assert field is not None
    assert field in on_item.screen.reachable()


def test_back_lowers_the_keyboard_then_the_dialog_then_leaves_then_goes_home(
    on_item: Device,
) -> None:
    tap(on_item, "Remove")
    tap_back = [on_item.press("back") for _ in range(1)]
    assert on_item.doc.page.locals["sure"] is False
    tap(on_item, "Name")
    tap_back.append(on_item.press("back"))
    assert (on_item.doc.focus, on_item.screen.route) == ("", "toy/i/{item}")
    tap_back.append(on_item.press("back"))
    assert on_item.screen.route == "toy/"
    tap_back.append(on_item.press("back"))
    assert on_item.screen.route == "os/"
    assert all(effect.ok for effect in tap_back)


def test_an_app_is_found_as_it_was_left(on_item: Device) -> None:
    on_item.press("home")
    assert on_item.doc.front == "os"
    assert on_item.open("TOY").ok
    assert on_item.screen.route == "toy/i/{item}"
    assert on_item.doc.recents == ("toy",)


def test_an_app_that_is_not_there_is_refused_with_those_that_are(device: Device) -> None:
    effect = device.open("Banana")
    assert (effect.ok, effect.code) == (False, "unknown_app")
    assert "Toy" in effect.message


def test_volume_keys_change_the_volume(device: Device) -> None:
    before = device.system.media_volume
    device.press("volume_up")
    assert device.system.media_volume == before + 10


def test_copied_text_lands_on_the_clipboard(on_item: Device) -> None:
    assert tap(on_item, "Copy name").ok
    assert on_item.system.clipboard == "Thing 2"
    assert on_item.doc.toast == "Copied"


# ---- time and the log ----------------------------------------------------------------------


def test_the_clock_moves_by_the_quantum_and_by_what_is_waited() -> None:
    device = toy_device(quantum_ms=1000)
    start = device.doc.clock_ms
    run_action(device, Tap(at=unit(5, 5)))
    assert device.doc.clock_ms == start + 1000
    run_action(device, Wait(seconds=2.5))
    assert device.doc.clock_ms == start + 4500


def test_timers_fire_inside_the_wait_in_order_at_their_own_time(device: Device) -> None:
    for row_id, seconds in (("item1", 50), ("item2", 20), ("item3", 500)):
        device.perform(later(item=row_id, seconds=seconds))
    start = device.doc.now_s
    device.begin("step/3")
    rows = device.end(extra_ms=60_000)
    posted = [r.after for r in rows if r.table == "notifications"]
    assert [(p["path"], p["at_s"] - start) for p in posted] == [("/i/item2", 20), ("/i/item1", 50)]
    assert {r.channel for r in rows} == {"system"}
    assert {r.action_id for r in rows} == {"step/3"}
    assert [t.due_s - start for t in device.system.timers] == [500]
    assert [r.id for r in rows if r.table == "timers"] == ["timer2", "timer1"]
    assert device.doc.now_s == start + 60


def test_the_log_holds_every_row_with_its_action_and_channel(device: Device) -> None:
    run_action(device, Tap(at=unit(*node(device, "Thing 1").box.center)), "step/1")
    run_action(device, Tap(at=unit(*node(device, "Done").box.center)), "step/2")
    run_action(device, Tool(name="toy.level.set", args={"level": 9}), "step/3")
    assert [(r.table, r.action_id, r.channel) for r in device.changes()] == [
        ("items", "step/2", "gui"),
        ("level", "step/3", "tool"),
    ]


def test_a_toast_is_shown_until_the_next_action(device: Device) -> None:
    show(device, item_page(item="item1"))
    tap(device, "Swap")
    assert device.doc.toast
    tap(device, "Thing 4")
    assert device.doc.toast == ""


def test_a_refusal_is_shown_and_changes_no_data(on_item: Device) -> None:
    tap(on_item, "Done")
    before = business_hash(on_item.doc)
    effect = tap(on_item, "Swap")
    assert (effect.ok, effect.code, effect.message) == (False, "refused", "not today")
    assert on_item.doc.toast == "not today"
    assert business_hash(on_item.doc) == before


def test_a_listener_hears_each_action_of_the_device_and_its_forks(device: Device) -> None:
    heard: list[tuple[str, str]] = []
    device.on_call = lambda call, channel, outcome: heard.append((call.action, channel))
    twin = device.fork()
    twin.perform(later(item="item1"))
    twin.advance(60_000)
    device.call_tool("toy.level.set", {"level": 5})
    device.call_tool("toy.level.set", {"level": 500})
    assert heard == [("items.later", "gui"), ("items.ring", "system"), ("level.set", "tool")]


# ---- tools ---------------------------------------------------------------------------------


def test_a_tool_does_what_the_touch_does_but_does_not_move_the_screen(device: Device) -> None:
    show(device, Go(app="toy", path="/new"))
    effect = run_action(device, Tool(name="toy.items.add", args={"name": "Kite"})).effect
    assert effect.ok
    assert effect.result == "Added"
    assert device.screen.route == "toy/new"


def test_a_tool_that_removes_the_row_in_front_closes_its_page(on_item: Device) -> None:
    run_action(on_item, Tool(name="toy.items.remove", args={"item": "item2"}))
    assert on_item.screen.route == "toy/"


def test_only_tools_of_the_app_in_front_can_be_called(device: Device) -> None:
    run_action(device, Open(app="os"))
    effect = device.call_tool("toy.level.set", {"level": 3})
    assert (effect.ok, effect.code) == (False, "no_such_tool")
    assert device.tool_names() == ()


def test_a_query_answers_and_a_wrong_call_says_why(device: Device) -> None:
    found = device.call_tool("toy.items.get", {"item": "item3"})
    assert found.ok
    assert found.result["name"] == "Thing 3"
    assert device.call_tool("toy.items.get", {"item": "item99"}).code == "no_such_row"
    assert device.call_tool("toy.items.get", {}).code == "bad_args"
    assert device.call_tool("toy.level.set", {"level": "high"}).code == "bad_args"


def test_what_a_phone_cannot_do_is_refused(device: Device) -> None:
    from screenloop.actions import Hotkey, Key

    with pytest.raises(UnsupportedAction, match="hotkey"):
        act(device, Hotkey(keys=("ctrl", "c")))
    assert act(device, Key(name="page_down")).code == "no_such_key"


# ---- kept states ---------------------------------------------------------------------------


def test_a_snapshot_holds_focus_scroll_and_half_typed_text(device: Device) -> None:
    device.scroll("down", 0.4)
    tap(device, "Thing 8")
    run_action(device, Type(text="half", at=unit(*node(device, "Name").box.center)))
    kept, kept_hash, log = device.snapshot(), state_hash(device.doc), device.changes()
    tap(device, "Rename")
    assert state_hash(device.doc) != kept_hash
    device.restore(kept)
    assert state_hash(device.doc) == kept_hash
    assert device.changes() == log
    assert device.doc.focus == "name"
    assert device.doc.page.locals["name"] == "Thing 8half"


def test_a_fork_goes_its_own_way(device: Device) -> None:
    twin = device.fork()
    run_action(twin, Tool(name="toy.level.set", args={"level": 1}))
    assert device.changes() == ()
    assert business_hash(device.doc) != business_hash(twin.doc)
    run_action(device, Tool(name="toy.level.set", args={"level": 1}))
    assert business_hash(device.doc) == business_hash(twin.doc)


def _walk(device: Device, seed: int, steps: int) -> list[Action]:
    rng = random.Random(seed)
    actions = []
    for _ in range(steps):
        actions.append(choose(device, rng))
        run_action(device, actions[-1])
    return actions


@given(seed=st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_the_same_actions_give_the_same_state(seed: int) -> None:
    one, other = toy_device(quantum_ms=1000), toy_device(quantum_ms=1000)
    actions = _walk(one, seed, 25)
    rows: list[DiffRow] = []
    for action in actions:
        rows.extend(run_action(other, action).rows)
    assert fresh_hash(one.doc) == fresh_hash(other.doc)
    assert [(r.table, r.id, r.field, r.op) for r in one.changes()] == [
        (r.table, r.id, r.field, r.op) for r in rows
    ]


@given(before=st.integers(0, 10_000), after=st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_restoring_and_forking_half_way_are_exact(before: int, after: int) -> None:
    device = toy_device(quantum_ms=1000)
    _walk(device, before, 15)
    kept, middle = device.snapshot(), fresh_hash(device.doc)
    twin = device.fork()
    _walk(device, after, 15)
    end = fresh_hash(device.doc)
    assert fresh_hash(twin.doc) == middle
    _walk(twin, after, 15)
    assert fresh_hash(twin.doc) == end
    device.restore(kept)
    assert fresh_hash(device.doc) == middle


@given(seed=st.integers(0, 10_000))
@settings(max_examples=15, deadline=None)
def test_every_refusal_has_a_reason_and_changes_no_business_state(seed: int) -> None:
    device = toy_device()
    rng = random.Random(seed)
    for _ in range(25):
        before = business_hash(device.doc)
        action = choose(device, rng)
        if isinstance(action, Wait | Type) or (isinstance(action, Tap) and action.count == 2):
            continue
        effect = run_action(device, action).effect
        if not effect.ok:
            assert effect.message
            assert business_hash(device.doc) == before


@given(x=st.floats(0, 1), y=st.floats(0, 1))
@settings(max_examples=40, deadline=None)
def test_every_point_of_the_launcher_can_be_touched(x: float, y: float) -> None:
    device = new_device()
    effect = run_action(device, Tap(at=(x, y))).effect
    assert effect.ok or effect.message
    assert msgspec.json.encode(effect)


def test_scroll_actions_are_measured_in_heights_of_the_list(device: Device) -> None:
    run_action(device, Scroll(direction="down", screens=0.5))
    assert device.screen.region.offset_px == round(device.screen.region.box.h * 0.5)
