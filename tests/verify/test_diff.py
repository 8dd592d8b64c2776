from hypothesis import given
from hypothesis import strategies as st

from screenloop.types import DiffRow
from screenloop.verify.diff import diff

fields = st.dictionaries(st.sampled_from("abc"), st.integers(0, 2) | st.booleans(), max_size=3)
tables = st.dictionaries(st.sampled_from(["r1", "r2", "r3"]), fields, max_size=3)
values = tables | st.integers(0, 2) | st.lists(st.integers(0, 2), max_size=2) | fields
states = st.dictionaries(
    st.sampled_from(["app1", "app2"]),
    st.dictionaries(st.sampled_from(["t1", "t2"]), values, max_size=2),
    max_size=2,
)


def only(before: object, after: object) -> tuple[DiffRow, ...]:
    return diff({"app": {"table": before}}, {"app": {"table": after}})


def test_rows_are_added_removed_and_set_by_field():
    rows = only({"r1": {"x": 1, "y": 2}, "r2": {"x": 1}}, {"r1": {"x": 3, "y": 2}, "r3": {"x": 9}})
    assert rows == (
        DiffRow(app="app", table="table", id="r1", field="x", op="set", before=1, after=3),
        DiffRow(app="app", table="table", id="r2", op="remove", before={"x": 1}),
        DiffRow(app="app", table="table", id="r3", op="add", after={"x": 9}),
    )


def test_fields_of_a_record_and_scalars_have_no_row_id():
    assert only({"wifi": True, "size": 1}, {"wifi": False, "size": 1}) == (
        DiffRow(app="app", table="table", field="wifi", op="set", before=True, after=False),
    )
    assert only(3, 4) == (DiffRow(app="app", table="table", op="set", before=3, after=4),)
    assert only([1], [1, 2])[0].after == [1, 2]


def test_a_table_that_becomes_empty_loses_its_rows():
    assert [row.op for row in only({"r1": {"x": 1}}, {})] == ["remove"]
    assert [row.op for row in only({}, {"r1": {"x": 1}})] == ["add"]


def test_true_is_not_one():
    assert len(only({"r1": {"x": True}}, {"r1": {"x": 1}})) == 1


def test_missing_apps_and_fields_count_as_added_and_removed():
    assert diff({}, {"app": {"n": None}}) == (DiffRow(app="app", table="n", op="add"),)
    assert only({"r1": {"x": 1}}, {"r1": {}})[0].op == "remove"


def test_a_log_names_the_action_but_never_adds_a_difference():
    log = (
        DiffRow(app="app", table="t", id="r1", field="x", op="set", action_id="e/0/0"),
        DiffRow(
            app="app", table="t", id="r1", field="x", op="set", action_id="e/4/0", channel="tool"
        ),
        DiffRow(app="app", table="t", id="r9", op="add", action_id="e/5/0"),
    )
    before = {"app": {"t": {"r1": {"x": 1, "y": 1}}}}
    after = {"app": {"t": {"r1": {"x": 2, "y": 1}}}}
    (row,) = diff(before, after, log)
    assert (row.action_id, row.channel, row.after) == ("e/4/0", "tool", 2)


@given(states)
def test_a_state_does_not_differ_from_itself(state):
    assert diff(state, state) == ()


@given(states, states)
def test_going_back_reverses_every_difference(before, after):
    forth = {(r.app, r.table, r.id, r.field): (r.before, r.after) for r in diff(before, after)}
    back = {(r.app, r.table, r.id, r.field): (r.after, r.before) for r in diff(after, before)}
    assert forth == back


@given(states, states)
def test_the_order_of_keys_does_not_matter(before, after):
    def turned(value):
        if isinstance(value, dict):
            return {key: turned(value[key]) for key in reversed(value)}
        return value

    assert diff(before, after) == diff(turned(before), turned(after))
