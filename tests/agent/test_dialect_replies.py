"""Replies as the families really write them: what is tolerated, and what is refused and why."""

import pytest

from screenloop.actions import (
    Answer,
    Ask,
    Batch,
    Finish,
    Hotkey,
    Hover,
    Key,
    Noop,
    Open,
    Scroll,
    Swipe,
    Tap,
    Tool,
    Type,
    Wait,
)
from screenloop.agent.dialects import DIALECTS
from screenloop.agent.dialects.base import DialectContext
from screenloop.errors import ConfigError, ParseFailure
from screenloop.registry import find

MOBILE = DialectContext(surface="mobile", picture_px=(392, 924), tools=frozenset({"notes.add"}))
COMPUTER = DialectContext(surface="desktop", picture_px=(1000, 800))
AT = (0.5, 0.25)


def _read(name, text, context=MOBILE):
    return find("dialect", name, DIALECTS)().parse(text, context)


def _refusal(name, text, context=MOBILE):
    with pytest.raises(ParseFailure) as caught:
        _read(name, text, context)
    return str(caught.value)


CLICK = '{"name": "mobile_use", "arguments": {"action": "click", "coordinate": [500, 250]}}'


@pytest.mark.parametrize(
    "text",
    [
        f"Thought: tap 1 2 3.\nAction: tap\n<tool_call>\n{CLICK}\n</tool_call>",
        f"<tool_call>{CLICK}",
        f"<tool_call>\n```json\n{CLICK}\n```\n</tool_call>",
        f"<think>first <tool_call> then</think>\n<tool_call>{CLICK}</tool_call>",
        f"I think [1, 2]</thinking><tool_call>{CLICK}</tool_call>",
        f"Here it is:\n```json\n{CLICK}\n```",
        CLICK,
        '<tool_call>{"arguments": {"coordinate": [500, 250], "action": "click"}}</tool_call>',
        '<tool_call>{"action": "click", "coordinate": [500, 250]}</tool_call>',
        '<tool_call>{"name": "mobile_use", "arguments": '
        '"{\\"action\\": \\"click\\", \\"coordinate\\": [500, 250]}"}</tool_call>',
        "<tool_call>｛“name”：“mobile_use”，“arguments”：｛“action”：“click”，"
        "“coordinate”：［500，250］｝｝</tool_call>",
    ],
)
def test_tagged_calls_are_read_through_harmless_wrapping(text):
    assert _read("qwen3vl", text) == (Tap(at=AT),)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "the reply is empty; expected <tool_call>"),
        ("I click at [500, 250].", "holds no action; expected <tool_call>"),
        ("click(500, 250)", "holds no action"),
        ('<tool_call>{"name": "mobile_use"}</tool_call>', "has no arguments"),
        ('<tool_call>{"name": "mobile_use", "arguments": {"action": "cl', "cut off"),
        ("<tool_call>[500, 250]</tool_call>", "must be a JSON object"),
        ('<tool_call>{"name": "tap", "arguments": {}}</tool_call>', "no function 'tap'"),
        ('<tool_call>{"name": 3, "arguments": {}}</tool_call>', "name must be a string"),
        ('<tool_call>{"action": "press"}</tool_call>', "no action 'press'; expected one of click"),
        ('<tool_call>{"action": ["click"]}</tool_call>', "no action"),
        ('<tool_call>{"action": "click"}</tool_call>', "click needs 'coordinate'"),
        ('<tool_call>{"action": "click", "coordinate": [500]}</tool_call>', "two numbers"),
        ('<tool_call>{"action": "click", "coordinate": "500, 250"}</tool_call>', "two numbers"),
        ('<tool_call>{"action": "click", "coordinate": [1, 2, 3, 4]}</tool_call>', "two numbers"),
        (
            '<tool_call>{"action": "click", "coordinate": [1001, 2]}</tool_call>',
            "outside 0 to 1000",
        ),
        ('<tool_call>{"action": "click", "coordinate": [5, -1]}</tool_call>', "y is -1, outside"),
        ('<tool_call>{"action": "click", "coordinate": [true, 2]}</tool_call>', "must be a number"),
        ('<tool_call>{"action": "click", "coordinate": ["5", 2]}</tool_call>', "must be a number"),
        ('<tool_call>{"action": "click", "coordinate": [NaN, 2]}</tool_call>', "no JSON number"),
        (
            '<tool_call>{"action": "click", "coordinate": [1, 2], "coordinate": [3, 4]}',
            "given twice",
        ),
        ('<tool_call>{"action": "type", "text": 5}</tool_call>', "text must be a string"),
        ('<tool_call>{"action": "type", "text": "\\ud800"}</tool_call>', "half a character"),
        ('<tool_call>{"action": "wait", "time": "soon"}</tool_call>', "time must be a number"),
        ('<tool_call>{"action": "wait", "time": -1}</tool_call>', "outside 0 to 3600"),
        ('<tool_call>{"action": "open", "text": ""}</tool_call>', "must not be empty"),
        (
            '<tool_call>{"action": "system_button", "button": "Power"}</tool_call>',
            "expected one of back, home, menu, enter",
        ),
        ('<tool_call>{"action": "key", "text": "any"}</tool_call>', "expected one of back"),
        (
            f'<tool_call>{{"action": "type", "text": "{"x" * 20_001}"}}</tool_call>',
            "action 'type' is not valid",
        ),
        (f"<tool_call>{CLICK}</tool_call>" * 33, "more than 32 tool calls"),
    ],
)
def test_a_tagged_call_that_cannot_be_read_says_why(text, says):
    assert says in _refusal("qwen3vl", text)


def test_several_tool_calls_come_back_in_order():
    text = f"<tool_call>{CLICK}</tool_call>\n<tool_call>" + (
        '{"name": "mobile_use", "arguments": {"action": "type", "text": "</tool_call>"}}'
        "</tool_call>"
    )
    assert _read("qwen3vl", text) == (Tap(at=AT), Type(text="</tool_call>"))


@pytest.mark.parametrize(
    ("name", "coordinate", "at"),
    [
        ("qwen25vl", [196, 231], AT),
        ("qwen3vl", [1000, 250], (1.0, 0.25)),
        ("qwen35", [999, 0], (1.0, 0.0)),
        ("guiowl", [500.0, 250.0], AT),
        ("maiui", [999, 999], (1.0, 1.0)),
    ],
)
def test_each_family_has_its_own_coordinate_space(name, coordinate, at):
    text = f'<tool_call>{{"action": "click", "coordinate": {coordinate}}}</tool_call>'
    assert _read(name, text) == (Tap(at=at),)


def test_a_pixel_answer_is_never_taken_for_a_share_or_a_thousandth():
    text = '<tool_call>{"action": "click", "coordinate": [1, 1]}</tool_call>'
    assert _read("qwen25vl", text) == (Tap(at=(1 / 392, 1 / 924)),)
    far = '<tool_call>{"action": "click", "coordinate": [393, 1]}</tool_call>'
    assert "outside 0 to 392" in _refusal("qwen25vl", far)
    assert "outside 0 to 999" in _refusal(
        "qwen35", '<tool_call>{"action": "click", "coordinate": [1000, 1]}</tool_call>'
    )


@pytest.mark.parametrize(
    ("name", "arguments", "action"),
    [
        ("qwen3vl", '"long_press", "coordinate": [500, 250], "time": 2', Tap(at=AT, hold_ms=2000)),
        ("qwen3vl", '"system_button", "button": "Back"', Key(name="back")),
        ("qwen3vl", '"open_app", "app_name": "notes"', Open(app="notes")),
        ("qwen25vl", '"open", "text": "notes"', Open(app="notes")),
        ("qwen25vl", '"key", "text": "volume_up"', Key(name="volume_up")),
        ("qwen25vl", '"key", "text": "app_switch"', Key(name="recents")),
        ("qwen3vl", '"wait", "time": 2.5', Wait(seconds=2.5)),
        ("qwen3vl", '"answer", "text": "42"', Answer(text="42")),
        ("qwen3vl", '"terminate", "status": "failure"', Finish(status="failure")),
        ("guiowl", '"interact", "text": "Which one?"', Ask(text="Which one?")),
        ("maiui", '"terminate", "status": "fail"', Finish(status="failure")),
        ("maiui", '"ask_user", "text": "Which one?"', Ask(text="Which one?")),
        ("maiui", '"double_tap", "coordinate": [0, 0]', Tap(at=(0.0, 0.0), count=2)),
        (
            "maiui",
            '"drag", "start_coordinate": [0, 0], "end_coordinate": [999, 999]',
            Swipe(path=((0.0, 0.0), (1.0, 1.0))),
        ),
        (
            "maiui",
            '"swipe", "direction": "UP", "coordinate": [0, 0]',
            Scroll(direction="up", at=(0.0, 0.0)),
        ),
    ],
)
def test_mobile_calls_stand_for_these_actions(name, arguments, action):
    assert _read(name, f'<tool_call>{{"action": {arguments}}}</tool_call>') == (action,)


def test_only_gui_owl_can_interact():
    text = '<tool_call>{"action": "interact", "text": "Which one?"}</tool_call>'
    assert "no action 'interact'" in _refusal("qwen3vl", text)


@pytest.mark.parametrize(
    ("arguments", "action"),
    [
        ('"left_click", "coordinate": [500, 250]', Tap(at=AT)),
        ('"right_click", "coordinate": [500, 250]', Tap(at=AT, button="right")),
        ('"triple_click", "coordinate": [500, 250]', Tap(at=AT, count=3)),
        ('"mouse_move", "coordinate": [500, 250]', Hover(at=AT)),
        ('"scroll", "pixels": -500', Scroll(direction="down", screens=0.5)),
        (
            '"scroll", "pixels": 250, "coordinate": [500, 250]',
            Scroll(direction="up", screens=0.25, at=AT),
        ),
        ('"hscroll", "pixels": 100', Scroll(direction="right", screens=0.1)),
        ('"key", "keys": ["Return"]', Key(name="enter")),
        ('"key", "keys": ["ctrl", "c"]', Hotkey(keys=("ctrl", "c"))),
        (
            '"left_click_drag", "start_coordinate": [0, 0], "coordinate": [500, 250]',
            Swipe(path=((0.0, 0.0), AT)),
        ),
    ],
)
def test_computer_calls_stand_for_these_actions(arguments, action):
    text = f'<tool_call>{{"name": "computer_use", "arguments": {{"action": {arguments}}}}}'
    assert _read("qwen3vl", text, COMPUTER) == (action,)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ('"left_click"', "left_click needs 'coordinate'"),
        ('"left_click_drag", "coordinate": [500, 250]', "needs 'start_coordinate'"),
        ('"scroll", "pixels": 0', "scrolls nowhere"),
        ('"key", "keys": []', "list of strings"),
        ('"key", "keys": ["a", "b", "c", "d", "e", "f"]', "'hotkey' is not valid"),
        ('"click", "coordinate": [500, 250]', "no action 'click'"),
    ],
)
def test_a_computer_call_that_cannot_be_read_says_why(arguments, says):
    assert says in _refusal("qwen3vl", f'<tool_call>{{"action": {arguments}}}', COMPUTER)


@pytest.mark.parametrize(
    ("text", "actions"),
    [
        ("Thought: 3 of 10.\nAction: click(point='<point>196 231</point>')", (Tap(at=AT),)),
        ("Action: click(start_box='(196,231)')", (Tap(at=AT),)),
        ("Action: click(start_box='<|box_start|>(196,231)<|box_end|>')", (Tap(at=AT),)),
        ("Action: click(start_box='[186, 221, 206, 241]')", (Tap(at=AT),)),
        ("Action：click（point＝‘<point>196 231</point>’）", (Tap(at=AT),)),
        ("<think>a</think>\nThought: b\nAction: ```\nclick(point='196 231')\n```", (Tap(at=AT),)),
        ("click(point='<point>196 231</point>')", (Tap(at=AT),)),
        ("Action: long_press(point='<point>196 231</point>')", (Tap(at=AT, hold_ms=1000),)),
        (r"Action: type(content='it\'s\n')", (Type(text="it's", submit=True),)),
        ("Action: press_back()", (Key(name="back"),)),
        ("Action: open_app(app_name='notes')", (Open(app="notes"),)),
        ("Action: wait()", (Wait(seconds=5.0),)),
        ("Action: finished(content='42')", (Answer(text="42"), Finish())),
        ("Action: finished()", (Finish(),)),
        ("Action: call_user(content='Which?')", (Ask(text="Which?"),)),
        ("Action: call_user()", (Finish(status="infeasible"),)),
        (
            "Action: click(point='<point>196 231</point>')\n\ntype(content='a')",
            (Tap(at=AT), Type(text="a")),
        ),
    ],
)
def test_ui_tars_calls_stand_for_these_actions(text, actions):
    assert _read("uitars", text) == actions


def test_ui_tars_has_another_set_on_computers():
    double = "Action: left_double(point='<point>500 200</point>')"
    assert _read("uitars", double, COMPUTER) == (Tap(at=AT, count=2),)
    assert _read("uitars", "Action: hotkey(key='ctrl c')", COMPUTER) == (
        Hotkey(keys=("ctrl", "c")),
    )
    assert "no action 'left_double'" in _refusal("uitars", double)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Action: click(500, 500)", "malformed: expected a name"),
        ("Action: click()", "click needs 'point'"),
        ("Action: click(point='here')", "point must be '<point>x y</point>'"),
        ("Action: click(point='<point>1 2 3</point>')", "point must be"),
        ("Action: click(point='<point>393 2</point>')", "outside 0 to 392"),
        ("Action: click(point='<point>1 2</point>'", "the end of the reply"),
        ("Action: type(content='abc", "not closed"),
        ("Action: type(content='a', content='b')", "given twice"),
        ("Action: scroll(point='<point>1 2</point>', direction='in')", "expected one of up, down"),
        ("Action: tap(point='<point>1 2</point>')", "no action 'tap'; expected one of click"),
        ("Thought: I should click 500 500", "holds no action; expected Action: click"),
        ("Action: wait()\nThought: next\nAction: wait()", "2 lines that begin with 'Action:'"),
        ("Action: " + "wait() " * 33, "more than 32 calls"),
    ],
)
def test_a_ui_tars_reply_that_cannot_be_read_says_why(text, says):
    assert says in _refusal("uitars", text)


@pytest.mark.parametrize(
    ("text", "actions"),
    [
        ("<think>a</think><action>Click(box=(500, 250))</action>", (Tap(at=AT),)),
        ("<action>Click(box=[500, 250])", (Tap(at=AT),)),
        ("<think>Click(box=(1, 1))</think>Click(box=(500, 250))", (Tap(at=AT),)),
        (
            "<action>Drag(start=(0, 0), end=(500, 250))</action>",
            (Swipe(path=((0.0, 0.0), AT), hold_ms=1000),),
        ),
        (
            "<action>Scroll(end=(500, 250), start=(0, 0), direction='down')</action>",
            (Swipe(path=((0.0, 0.0), AT)),),
        ),
        ("<action>PressRecent()</action>", (Key(name="recents"),)),
        ("<action>Hotkey(keys=['ctrl', 'c'])</action>", (Hotkey(keys=("ctrl", "c")),)),
        ("<action>CallUser(content='42')</action>", (Answer(text="42"),)),
        ("<action>Finished(content='done')</action>", (Finish(message="done"),)),
        ("<action>Finished()</action>", (Finish(),)),
    ],
)
def test_ui_venus_calls_stand_for_these_actions(text, actions):
    assert _read("uivenus", text) == actions


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Click at 500, 250", "holds no action; expected <action>Click"),
        ("<action>Click(box=(1001, 2))</action>", "outside 0 to 1000"),
        ("<action>Click(box='(1, 2)')</action>", "two numbers"),
        ("<action>Scroll(direction='down')</action>", "Scroll needs 'start'"),
        ("<action>Zoom(box=(1, 2))</action>", "no action 'Zoom'"),
    ],
)
def test_a_ui_venus_reply_that_cannot_be_read_says_why(text, says):
    assert says in _refusal("uivenus", text)


@pytest.mark.parametrize(
    ("text", "actions"),
    [
        (
            '<think>a</think><answer>do(action="Tap", element=[0, 999])</answer>',
            (Tap(at=(0.0, 1.0)),),
        ),
        ('do(action="Tap", element=[0,999], message="pays")', (Tap(at=(0.0, 1.0)),)),
        ('<answer>do(element=[0, 999], action="Double Tap")', (Tap(at=(0.0, 1.0), count=2),)),
        ('<answer>do(action="Type_Name", text="Ada")</answer>', (Type(text="Ada", clear=True),)),
        ('<answer>do(action="Wait", duration="3 seconds")</answer>', (Wait(seconds=3.0),)),
        ('<answer>do(action="Take_over", message="Log in")</answer>', (Ask(text="Log in"),)),
        ('<answer>do(action="Note", message="True")</answer>', (Noop(note="True"),)),
        ('<answer>finish(message="42")</answer>', (Answer(text="42"), Finish())),
        ("<answer>finish()</answer>", (Finish(),)),
    ],
)
def test_autoglm_calls_stand_for_these_actions(text, actions):
    assert _read("autoglm", text) == actions


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('<answer>do(action="Call_API", instruction="sum up")</answer>', "no action 'Call_API'"),
        ('<answer>do(action="Wait", duration="a while")</answer>', 'must be like "2 seconds"'),
        ('<answer>do(action="Tap", element=[1000, 0])</answer>', "outside 0 to 999"),
        ("<answer>tap(element=[1, 0])</answer>", "no action 'tap'"),
        ('<answer>do(action="Type", text="he said "hi"")</answer>', "malformed"),
        ("Tap [500, 500]", "holds no action; expected <answer>do("),
    ],
)
def test_an_autoglm_reply_that_cannot_be_read_says_why(text, says):
    assert says in _refusal("autoglm", text)


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ('Thought: step 1 of 2\nAction: {"type": "tap", "at": [500, 250]}', Tap(at=AT)),
        ('**Action:** ```json\n{"at": [500, 250], "type": "tap"}\n```', Tap(at=AT)),
        ('{"type": "tap", "at": [500, 250]}', Tap(at=AT)),
        ('```\n{"type": "tap", "at": [500, 250]}\n```', Tap(at=AT)),
        ('<think>Action: no</think>Action: {"type": "tap", "at": [500, 250]}', Tap(at=AT)),
        ('action：｛"type"：“tap”，"at"：［500，250］｝', Tap(at=AT)),
        ('Action: {"type": "tap", "at": [500, 250]}\nI hope so.', Tap(at=AT)),
        ('Action: {"type": "type", "text": "a\nb", "at": null}', Type(text="a\nb")),
        (
            'Action: {"type": "tool", "name": "notes.add", "args": {"at": [5, 5]}}',
            Tool(name="notes.add", args={"at": [5, 5]}),
        ),
        (
            'Action: {"type": "batch", "actions": [{"type": "tap", "at": [500, 250]}]}',
            Batch(actions=(Tap(at=AT),)),
        ),
    ],
)
def test_plain_replies_stand_for_these_actions(text, action):
    assert _read("plain", text) == (action,)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "the reply is empty"),
        ("I tap 500 250", "holds no action"),
        ('Action: {"at": [500, 250]}', 'has no "type"'),
        ('Action: {"type": "tap"}', "missing required field `at`"),
        ('Action: {"type": "press", "at": [1, 2]}', "Invalid value 'press'"),
        ('Action: {"type": "tap", "at": [500, 250], "colour": 1}', "unknown field `colour`"),
        ('Action: {"type": "tap", "at": [0.5, 2000]}', "outside 0 to 1000"),
        ('Action: {"type": "tap", "at": 500}', "two numbers [x, y]"),
        ('Action: {"type": "tap", "at": [500, 250], "count": "2"}', "Expected `int`"),
        ('Action: {"type": "wait"}\nAction: {"type": "wait"}', "2 lines that begin with 'Action:'"),
        ('Action: {"type": "wait", "seconds": 1e999}', "a number is too large"),
        ('Action: {"type": "finish", "status": "done"}', "Invalid enum value 'done'"),
    ],
)
def test_a_plain_reply_that_cannot_be_read_says_why(text, says):
    assert says in _refusal("plain", text)


def test_an_action_without_words_is_refused_with_the_way_out():
    dialect = find("dialect", "qwen3vl", DIALECTS)()
    with pytest.raises(ConfigError, match=r"'qwen3vl' cannot write Noop\(.*use dialect 'plain'"):
        dialect.render(Noop(note="x"), MOBILE)


def test_an_unknown_dialect_names_the_valid_ones():
    with pytest.raises(ConfigError, match="Valid: autoglm, guiowl, maiui, plain"):
        find("dialect", "qwen9", DIALECTS)
