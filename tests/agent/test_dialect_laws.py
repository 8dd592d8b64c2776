"""What holds for every dialect: round trips, and parsers that fail in one way only."""

import json

import pytest
from agent_parts import TOOL, actions, spec
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from screenloop.actions import Action, Scroll, Swipe, Tap, Tool, encode_action, pin_frame
from screenloop.agent.dialects import DIALECTS
from screenloop.agent.dialects.base import DialectContext
from screenloop.errors import ConfigError, ParseFailure
from screenloop.registry import find

PICTURE = (392, 924)
FAMILIES = {name: find("dialect", name, DIALECTS)() for name in DIALECTS}
CASES = [(name, "mobile") for name in FAMILIES] + [
    (name, "desktop") for name in ("qwen25vl", "qwen3vl", "qwen35", "guiowl", "uitars")
]
QUICK = settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=50)


def _context(surface, tools=frozenset({TOOL.name})):
    return DialectContext(surface=surface, picture_px=PICTURE, tools=tools)


def _limits(dialect):
    space = getattr(dialect, "space", None)
    return space.limits(PICTURE) if space else (1000, 1000)


@pytest.mark.parametrize(("name", "surface"), CASES)
def test_what_a_dialect_writes_it_reads_back_unchanged(name, surface):
    dialect, context = FAMILIES[name], _context(surface)
    written = set()

    @settings(QUICK, max_examples=200)
    @given(actions(_limits(dialect)))
    @example(Tap(at=(0.0, 1.0)))
    @example(Swipe(path=((0.0, 0.0), (1.0, 1.0))))
    def check(action: Action):
        if dialect.expresses(action, context):
            written.add(type(action))
            assert dialect.parse(dialect.render(action, context), context) == (action,)
        else:
            with pytest.raises(ConfigError, match=name):
                dialect.render(action, context)

    check()
    assert {Tap, Swipe} <= written


@pytest.mark.parametrize(("name", "surface"), CASES)
def test_a_frame_or_a_thought_changes_nothing_in_what_is_read(name, surface):
    dialect, context = FAMILIES[name], _context(surface)
    tap = Tap(at=(0.0, 1.0))
    text = dialect.render(
        pin_frame(tap, "sha256-1.png"), context, "Step 2 of 10:\n press 40, 50 now"
    )
    assert "Step 2 of 10: press 40, 50 now" in text
    assert dialect.parse(text, context) == (tap,)


@pytest.mark.parametrize(("name", "surface"), CASES)
def test_arbitrary_text_is_read_or_refused_never_a_crash(name, surface):
    dialect, context = FAMILIES[name], _context(surface)
    pieces = st.sampled_from(
        """<tool_call> </tool_call> <think> </think> <thinking> </thinking> <answer> <action>
        Action: Action： Thought: { } [ ] ( ) " ' \\ , : = ``` ```json （ ） ｛ “ ” {"action":
        "click", "coordinate": [1, 2]} "name" "arguments" click( do( finish(
        Click(box=(1,2)) null 1e999
        99999999999999999999999 NaN -1 \\ud800 \x00 \u2028 \n""".split()
    )
    soup = st.lists(pieces | st.text(max_size=5), max_size=25).map(" ".join)

    @QUICK
    @given(soup | st.text() | st.binary().map(lambda b: b.decode("utf-8", "replace")))
    def check(text):
        try:
            for action in dialect.parse(text, context):
                encode_action(action)
        except ParseFailure as failure:
            said.append(len(str(failure)))

    said = []
    check()
    assert all(10 < length < 700 for length in said)


@pytest.mark.parametrize(("name", "surface"), CASES)
def test_a_damaged_reply_is_read_or_refused_never_a_crash(name, surface):
    dialect, context = FAMILIES[name], _context(surface)

    @QUICK
    @given(actions(_limits(dialect)), st.data())
    def check(action, data):
        assume(dialect.expresses(action, context))
        text = dialect.render(action, context)
        cut = data.draw(st.integers(0, len(text)))
        drop = data.draw(st.integers(0, 6))
        noise = data.draw(st.text(alphabet="{}[]()\"'\\,:=<>/ \n0x", max_size=4))
        damaged = text[:cut] + noise + text[cut + drop :]
        try:
            for read in dialect.parse(damaged, context):
                encode_action(read)
        except ParseFailure:
            pass

    check()


HEADS = ("", "<tool_call>", "Action: ", "<action>", "<answer>", "Action: click(point='")
UNITS = [
    "{",
    "[",
    "(",
    '"',
    "'",
    "\\",
    "<tool_call>",
    "<think>",
    "</think>",
    "Action:",
    "\nAction: ",
    '{"a":',
    "click(",
    "do(action=",
    "<action>Click(box=(",
    "<answer>do(action=[[",
    "```",
    "1 ",
    "9",
    " ",
    "\n",
    "\x00",
    "“",
    "<tool_call>{}",
    "-",
]


@pytest.mark.parametrize("name", DIALECTS)
def test_a_huge_or_deep_reply_is_refused(name):
    dialect, context = FAMILIES[name], _context("mobile")
    for unit in UNITS:
        for head in HEADS:
            with pytest.raises(ParseFailure):
                dialect.parse(head + unit * (100_000 // len(unit)), context)


@pytest.mark.parametrize("name", ["qwen25vl", "qwen3vl", "qwen35", "maiui", "guiowl"])
def test_a_tool_that_is_not_declared_is_refused(name):
    dialect = FAMILIES[name]
    reply = '<tool_call>{"name": "notes.add", "arguments": {"text": "x"}}</tool_call>'
    call = Tool(name="notes.add", args={"text": "x"})
    assert dialect.parse(reply, _context("mobile")) == (call,)
    bare = _context("mobile", tools=frozenset())
    with pytest.raises(ParseFailure, match=r"no function 'notes\.add'; expected one of mobile_use"):
        dialect.parse(reply, bare)
    assert not dialect.expresses(call, bare)


TOLD = [name for name in DIALECTS if not name.startswith("tiny")]


@pytest.mark.parametrize("name", TOLD)
def test_a_prompt_is_fixed_names_only_what_the_device_does_and_keeps_tools_to_hybrid(name):
    dialect = FAMILIES[name]
    for surface in ("mobile", "browser"):
        full = spec(surface=surface)
        text = dialect.system_prompt(full, "gui_only", PICTURE, "en")
        assert text == dialect.system_prompt(full, "gui_only", PICTURE, "en")
        assert "notes.add" not in text
        assert 300 < len(text) < 6000
        if dialect.calls_tools:
            hybrid = dialect.system_prompt(full, "hybrid", PICTURE, "en")
            assert "notes.add" in hybrid
            assert json.dumps(TOOL.parameters, separators=(",", ":")) in hybrid
    taps = dialect.system_prompt(spec(actions=frozenset({"tap"})), "gui_only", PICTURE, "en")
    everything = dialect.system_prompt(spec(), "gui_only", PICTURE, "en")
    for word in ("swipe", "Swipe", "open_app", "Launch"):
        assert taps.count(word) < everything.count(word) or word not in everything
    assert "'zh'" in dialect.system_prompt(spec(), "gui_only", PICTURE, "zh")


def test_scroll_directions_are_of_the_content_and_swipes_of_the_finger():
    context = _context("mobile")
    up = Swipe(path=((0.5, 0.75), (0.5, 0.25)))
    assert FAMILIES["qwen3vl"].parse(
        '<tool_call>{"name": "mobile_use", "arguments": {"action": "swipe", '
        '"coordinate": [500, 750], "coordinate2": [500, 250]}}</tool_call>',
        context,
    ) == (up,)
    assert FAMILIES["maiui"].parse(
        '<tool_call>{"name": "mobile_use", "arguments": {"action": "swipe", '
        '"direction": "down"}}</tool_call>',
        context,
    ) == (Scroll(direction="down"),)
    assert FAMILIES["uitars"].parse(
        "Action: scroll(point='<point>196 462</point>', direction='down')", context
    ) == (Scroll(direction="down", at=(0.5, 0.5)),)
    assert FAMILIES["uivenus"].parse(
        "<action>Scroll(start=(500, 750), end=(500, 250))</action>", context
    ) == (up,)
