"""State of apps: tables, drafts, digests, differences."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_app import Item, State

from screenloop.phone.declare.cast import Cast
from screenloop.phone.declare.state import AppData, NoSuchRow, Rows, UndeclaredWrite, diff_data
from screenloop.phone.prove.fuzz import replayed

CAST = Cast("default", 0)
ALL = frozenset({*State.tables, *State.scalars})
STEPS = st.lists(
    st.tuples(st.sampled_from(["add", "update", "remove", "level"]), st.integers(0, 40)),
    max_size=30,
)


@pytest.fixture
def first() -> AppData:
    return State.initial(CAST)


def test_seeded_rows_are_numbered_and_scalars_have_their_initial_values(first: AppData) -> None:
    state = State(first, CAST)
    assert [item.id for item in state.items][:3] == ["item1", "item2", "item3"]
    assert state.level == 50
    assert len(state.items) == 30


def test_a_new_row_gets_a_fresh_id_even_after_removals(first: AppData) -> None:
    draft = State(first, CAST, ALL)
    draft.items.remove("item30")
    assert draft.items.add(Item(name="Kite")).id == "item31"
    again = State(draft.commit(), CAST, ALL)
    again.items.remove("item31")
    assert again.items.add(Item(name="Kite")).id == "item32"


def test_rows_are_found_updated_and_taken_out(first: AppData) -> None:
    draft = State(first, CAST, ALL)
    assert draft.items.update("item1", count=9).count == 9
    assert draft.items.remove("item2").name == "Thing 2"
    assert "item2" not in draft.items
    assert draft.items.get("item2") is None
    found = draft.items.first(lambda i: i.count == 9)
    assert found is not None
    assert found.id == "item1"
    assert [i.id for i in draft.items.where(lambda i: i.count > 29)] == ["item30"]


TOUCHES: dict[str, Callable[[Rows[Item]], object]] = {
    "read": lambda items: items["item99"],
    "update": lambda items: items.update("item99", count=1),
    "remove": lambda items: items.remove("item99"),
}


@pytest.mark.parametrize("verb", TOUCHES)
def test_a_row_that_is_not_there_is_named(first: AppData, verb: str) -> None:
    items = State(first, CAST, ALL).items
    with pytest.raises(NoSuchRow, match=r"toy\.items has no row 'item99'"):
        TOUCHES[verb](items)


def test_a_write_outside_what_is_allowed_is_refused(first: AppData) -> None:
    draft = State(first, CAST, frozenset({"items"}))
    with pytest.raises(UndeclaredWrite, match="wrote 'level'"):
        draft.level = 3


def test_a_view_cannot_be_written(first: AppData) -> None:
    with pytest.raises(UndeclaredWrite):
        State(first, CAST).items.add(Item(name="Kite"))


def test_a_catalogue_is_shared_and_read_only(first: AppData) -> None:
    view = State(first, CAST)
    assert [kind.name for kind in view.kinds] == ["round", "flat"]
    assert view.read("kinds") is State(State.initial(CAST), CAST).read("kinds")
    assert "kinds" not in first.fields
    with pytest.raises(UndeclaredWrite):
        State(first, CAST, ALL).kinds.remove("kind1")


def test_a_commit_shares_what_it_did_not_touch_and_leaves_the_old_data_alone(
    first: AppData,
) -> None:
    draft = State(first, CAST, ALL)
    draft.level = 7
    after = draft.commit()
    assert after.fields["items"] is first.fields["items"]
    assert first.fields["level"] == 50
    assert after.digest != first.digest


def test_a_draft_without_writes_commits_the_same_object(first: AppData) -> None:
    assert State(first, CAST, ALL).commit() is first


def test_the_business_digest_leaves_the_row_counters_out(first: AppData) -> None:
    draft = State(first, CAST, ALL)
    draft.items.remove(draft.items.add(Item(name="Kite")).id)
    after = draft.commit()
    assert after.business_digest == first.business_digest
    assert after.digest != first.digest


def test_derived_values_are_made_once_for_the_same_data(first: AppData) -> None:
    made = [State(first, CAST).memo("names", lambda: object()) for _ in range(2)]
    assert made[0] is made[1]
    other = State(State.initial(CAST), CAST).memo("names", lambda: object())
    assert other is not made[0]


def test_differences_name_row_field_and_both_values(first: AppData) -> None:
    draft = State(first, CAST, ALL)
    draft.items.update("item1", count=9, done=True)
    draft.items.remove("item2")
    draft.items.add(Item(name="Kite"))
    draft.level = 7
    rows = {
        (r.table, r.id, r.field, r.op): (r.before, r.after)
        for r in diff_data("toy", first, draft.commit())
    }
    assert rows["items", "item1", "count", "set"] == (1, 9)
    assert rows["items", "item1", "done", "set"] == (False, True)
    assert rows["items", "item2", "", "remove"][0]["name"] == "Thing 2"
    assert rows["items", "item31", "", "add"][1]["name"] == "Kite"
    assert rows["level", "", "", "set"] == (50, 7)
    assert len(rows) == 5


@given(STEPS)
def test_the_difference_turns_the_old_data_into_the_new(steps: list[tuple[str, int]]) -> None:
    first = State.initial(CAST)
    draft = State(first, CAST, ALL)
    for verb, number in steps:
        row_id = f"item{number}"
        if verb == "add":
            draft.items.add(Item(name=f"New {number}", count=number))
        elif verb == "level":
            draft.level = number
        elif row_id in draft.items and verb == "update":
            draft.items.update(row_id, count=number * 2)
        elif row_id in draft.items:
            draft.items.remove(row_id)
    after = draft.commit()
    rows = diff_data("toy", first, after)
    assert replayed({"toy": first.builtins()}, rows) == {"toy": after.builtins()}
    assert (rows == ()) == (first.builtins() == after.builtins())
