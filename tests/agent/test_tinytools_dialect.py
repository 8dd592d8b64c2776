import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_tiny_dialect import CONTEXT, ELEMENTS

from screenloop.actions import Finish, Open, Tap, Tool, Type
from screenloop.agent.dialects.base import DialectContext
from screenloop.agent.dialects.tiny.tools import TinyTools
from screenloop.agent.dialects.tiny.touches import TinyTree
from screenloop.errors import ConfigError, ParseFailure

TOOLS = DialectContext(
    surface="mobile",
    picture_px=(112, 240),
    elements=ELEMENTS,
    quotes=("Milk", "7 pm"),
    tools=frozenset({"notes.items.add", "clock.timers.start", "notes.all"}),
)
"""`<t0>` starts timers, `<t1>` lists notes, `<t2>` adds an item."""
DIALECT = TinyTools()


@pytest.mark.parametrize(
    ("words", "action"),
    [
        ("open notes", Open(app="notes")),
        ("call <t1>", Tool(name="notes.all")),
        (
            "call <t2> note note1 text <q0>",
            Tool(name="notes.items.add", args={"note": "note1", "text": "Milk"}),
        ),
        (
            "call <t0> minutes 12 loud on again off label <q1>",
            Tool(
                name="clock.timers.start",
                args={"minutes": 12, "loud": True, "again": False, "label": "7 pm"},
            ),
        ),
        ("call <t0> ring_min 0", Tool(name="clock.timers.start", args={"ring_min": 0})),
        ("call <t0> ring _ min 0", Tool(name="clock.timers.start", args={"ring_min": 0})),
        ("<e1>", Tap(at=(0.31, 0.4))),
        ("type <q0>", Type(text="Milk")),
        ("done", Finish()),
    ],
)
def test_what_is_written_is_read_back(words, action):
    assert DIALECT.parse(words, TOOLS) == (action,)
    assert DIALECT.expresses(action, TOOLS)
    assert DIALECT.parse(DIALECT.render(action, TOOLS), TOOLS) == (action,)


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        ("call", "tool first, from <t0> to <t2>"),
        ("call <t3>", "from <t0> to <t2>, not '<t3>'"),
        ("call notes.all", "tool first"),
        ("call <t2> note", "'note' has no value"),
        ("call <t2> note note1 text", "'text' has no value"),
        ("call <t2> note note1 note note2", "'note' is no name of another"),
        ("call <t2> <q0> note", "'<q0>' is no name"),
        ("call <t2> text <q2>", "'<q2>' is no value"),
        ("call <t2> text <e0>", "no value"),
        ("call <t2> count 007", "no value"),
        ("call <t2> count -1", "no value"),
        ("call <t2> count 1.5", "no value"),
        ("call <t2> count 1000000000000000", "no value"),
        ("open", "name of one app"),
        ("open notes now", "name of one app"),
        ("open <e0>", "name of one app"),
        ("calls <t1>", "no action"),
    ],
)
def test_other_words_are_refused_with_a_reason(reply, says):
    with pytest.raises(ParseFailure, match=says):
        DIALECT.parse(reply, TOOLS)


def test_where_no_tools_are_declared_none_can_be_called():
    with pytest.raises(ParseFailure, match="no tools can be called"):
        DIALECT.parse("call <t0>", CONTEXT)
    assert not DIALECT.expresses(Tool(name="notes.all"), CONTEXT)
    with pytest.raises(ParseFailure, match="no action"):
        TinyTree().parse("call <t0>", TOOLS)


@pytest.mark.parametrize(
    "action",
    [
        Open(app="My Notes"),
        Open(app="a/b"),
        Tool(name="unknown"),
        Tool(name="notes.all", args={"text": "Bread"}),
        Tool(name="notes.all", args={"text": "on"}),
        Tool(name="notes.all", args={"text": "12"}),
        Tool(name="notes.all", args={"count": 1.5}),
        Tool(name="notes.all", args={"count": -1}),
        Tool(name="notes.all", args={"count": 10**15}),
        Tool(name="notes.all", args={"items": ["a"]}),
        Tool(name="notes.all", args={"none": None}),
        Tool(name="notes.all", args={"Note": "a"}),
    ],
)
def test_what_would_come_back_as_something_else_has_no_words(action):
    assert not DIALECT.expresses(action, TOOLS)
    with pytest.raises(ConfigError, match="'tinytools' cannot write"):
        DIALECT.render(action, TOOLS)


values = (
    st.booleans()
    | st.integers()
    | st.none()
    | st.floats(allow_nan=False)
    | st.sampled_from(["Milk", "7 pm", "on", "red", "a_b", "a__b", "Ä", "", "12"])
    | st.text()
)
names = st.sampled_from(["text", "note_id", "on", "x1", "X", "_a", "a_"]) | st.text(max_size=4)


@settings(deadline=None, max_examples=300)
@given(st.sampled_from([*sorted(TOOLS.tools), "other"]), st.dictionaries(names, values, max_size=3))
def test_any_call_is_read_back_as_it_was_or_has_no_words(name, args):
    call = Tool(name=name, args=args)
    if DIALECT.expresses(call, TOOLS):
        (read,) = DIALECT.parse(DIALECT.render(call, TOOLS), TOOLS)
        assert read == call
        assert [type(value) for value in read.args.values()] == [type(v) for v in args.values()]


@settings(deadline=None, max_examples=300)
@given(
    st.lists(
        st.sampled_from(
            "call open <t0> <t1> <t9> <q0> <q9> <e0> on off 3 03 a_b a _ - done".split()
        ),
        max_size=7,
    )
)
def test_any_words_of_the_dialect_are_read_or_refused(pieces):
    try:
        (action,) = DIALECT.parse(" ".join(pieces), TOOLS)
    except ParseFailure:
        return
    assert DIALECT.parse(DIALECT.render(action, TOOLS), TOOLS) == (action,)
