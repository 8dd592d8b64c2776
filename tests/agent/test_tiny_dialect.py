import msgspec
import pytest
from agent_parts import ListedModel, frame, spec
from hypothesis import given, settings
from hypothesis import strategies as st

from screenloop.actions import Answer, Finish, Key, Scroll, Swipe, Tap, Type, Wait
from screenloop.agent.base import Assignment, Turn
from screenloop.agent.dialects.base import DialectContext
from screenloop.agent.dialects.tiny.touches import MARKS, Tiny, TinyThumbnail, TinyTree
from screenloop.agent.elements import Element
from screenloop.agent.harness import Harness
from screenloop.agent.history import PLACEHOLDER
from screenloop.agent.prompt import quotes
from screenloop.agent.screen import image_tokens, smart_resize
from screenloop.config import Window
from screenloop.errors import ConfigError, EnvironmentFault, ParseFailure
from screenloop.messages import ImagePart
from screenloop.models.oracle import OracleModel
from screenloop.store.blobs import MemoryBlobs
from screenloop.types import Effect, Goal, Observation

ELEMENTS = (
    Element(role="text", label="Alarms", at=(0.5, 0.1)),
    Element(role="button", label="Add an alarm for tomorrow", at=(0.9, 0.83), taps=True),
    Element(role="switch", label="07:30", at=(0.31, 0.4), taps=True, checked=True),
    Element(role="key", label="q", at=(0.1, 0.9), taps=True),
    Element(role="system", label="Back", at=(0.1, 0.98), taps=True),
    Element(role="tab", label="", at=(0.1, 0.7), taps=True, selected=True),
)
CONTEXT = DialectContext(
    surface="mobile", picture_px=(112, 240), elements=ELEMENTS, quotes=("Milk", "7 pm")
)


@pytest.mark.parametrize(
    ("words", "action"),
    [
        ("<x7> <y20>", Tap(at=(0.35, 0.5))),
        ("tap <x7> <y20>", Tap(at=(0.35, 0.5))),
        ("tap <x0><y40>", Tap(at=(0.0, 1.0))),
        ("swipe <x10> <y30> <x10> <y10>", Swipe(path=((0.5, 0.75), (0.5, 0.25)))),
        ("scroll down", Scroll(direction="down")),
        ("back", Key(name="back")),
        ("done", Finish()),
        ("infeasible", Finish(status="infeasible")),
        ("wait", Wait()),
        ("answer 7 pm", Answer(text="7 pm")),
        ("type <q1>", Type(text="7 pm")),
        (
            "type <q0> <x7> <y20> clear enter",
            Type(text="Milk", at=(0.35, 0.5), clear=True, submit=True),
        ),
    ],
)
def test_what_is_written_is_read_back(words, action):
    for dialect in (Tiny(), TinyThumbnail(), TinyTree()):
        assert dialect.parse(words, CONTEXT) == (action,)
        assert dialect.parse(dialect.render(action, CONTEXT), CONTEXT) == (action,)
        assert dialect.expresses(action, CONTEXT)


def test_a_thumbnail_is_whole_patches_and_a_fifth_of_the_picture():
    whole, thumbnail = (smart_resize((412, 915), d.image) for d in (Tiny(), TinyThumbnail()))
    assert (image_tokens(whole, 16), image_tokens(thumbnail, 16)) == (105, 21)
    assert smart_resize((103, 229), TinyThumbnail().image) == thumbnail == (48, 112)


def test_marks_stand_for_listed_elements_in_the_tree_dialect_alone():
    for words in ("<e1>", "tap <e1>"):
        assert TinyTree().parse(words, CONTEXT) == (Tap(at=(0.31, 0.4)),)
    assert TinyTree().parse("type <q0> <e0>", CONTEXT) == (Type(text="Milk", at=(0.9, 0.83)),)
    assert TinyTree().render(Tap(at=(0.31, 0.4)), CONTEXT) == "<e1>"
    assert Tiny().render(Tap(at=(0.31, 0.4)), CONTEXT) == "<x6> <y16>"
    with pytest.raises(ParseFailure, match=r"<x0> to <x20> and then <y0> to <y40>$"):
        Tiny().parse("tap <e1>", CONTEXT)


def test_the_list_is_short_and_leaves_keys_and_plain_text_out():
    assert TinyTree().screen_words(ELEMENTS) == (
        "<e0> Add an alarm <e1> 07 30 on <e2> tab selected"
    )
    many = tuple(
        Element(role="button", label=str(n), at=(0.5, n / 100), taps=True) for n in range(60)
    )
    assert TinyTree().screen_words(many).count("<e") == MARKS


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        ("", "empty"),
        ("jump", "'jump' is no action; expected one of tap, type"),
        ("tap", "'' is no place"),
        ("tap <x21> <y0>", "no place"),
        ("tap <y0> <x0>", "no place"),
        ("<e3>", "mark from <e0> to <e2>"),
        ("<x1> <y1> <x1>", "no place"),
        ("<q0>", "no place"),
        ("scroll sideways", "no action"),
        ("scroll", "no action"),
        ("swipe <x1> <y1>", "no action"),
        ("back home", "no action"),
        ("type", "needs a quote of the goal first; it has 2"),
        ("type <q2>", "needs a quote"),
        ("type <q0> enter clear", "no place"),
        ("answer", "no action"),
        ("x" * 3000, "longer than 2000"),
    ],
)
def test_other_words_are_refused_with_a_reason(reply, says):
    with pytest.raises(ParseFailure, match=says):
        TinyTree().parse(reply, CONTEXT)


def test_only_the_last_line_counts():
    assert Tiny().parse("tap <x1> <y1>\nI am done\nback\n\n", CONTEXT) == (Key(name="back"),)


@settings(deadline=None, max_examples=200)
@given(
    st.lists(
        st.sampled_from(
            "tap type <e0> <e9> <x3> <y3> <q0> enter clear scroll up back done".split()
        ),
        max_size=6,
    )
)
def test_any_words_of_the_dialect_are_read_or_refused(pieces):
    try:
        (action,) = TinyTree().parse(" ".join(pieces), CONTEXT)
    except ParseFailure:
        return
    assert TinyTree().parse(TinyTree().render(action, CONTEXT), CONTEXT) == (action,)


def test_what_has_no_words_is_refused():
    for action in (Tap(at=(0.5, 0.5), count=2), Type(text="Bread"), Key(name="menu")):
        assert not Tiny().expresses(action, CONTEXT)
        with pytest.raises(ConfigError, match="'tiny' cannot write"):
            Tiny().render(action, CONTEXT)


def test_quotes_of_a_goal_are_found_in_order_and_apostrophes_are_not():
    goal = 'Write "Milk" and \'oat milk\' on Ada\'s list, then “7 pm” and 「牛奶」, "Milk" again'
    assert quotes(goal) == ("Milk", "oat milk", "7 pm", "牛奶")
    assert quotes("Don't open Ada's notes") == ()


# ---- in the harness ------------------------------------------------------------------------


def tree(blobs, *labels):
    nodes = [
        {"role": "button", "label": label, "box": [0, 100 * n, 400, 100], "can": ["tap"]}
        for n, label in enumerate(labels)
    ]
    return blobs.put(msgspec.json.encode({"size_px": [400, 800], "nodes": nodes}), "json")


async def play(dialect, replies, labels, window=Window(), model=None):
    blobs = MemoryBlobs()
    model = model or ListedModel(replies)
    harness = Harness(model, blobs, dialect=dialect, window=window, image=dialect.image)
    goal = Goal(text="Save 'Milk'")
    harness.begin(Assignment(episode_id="e", goal=goal, spec=spec(), mode="gui_only"))
    decisions = []
    for index in range(len(replies)):
        seen = Observation(frame=frame(blobs, index), tree=tree(blobs, *labels), size_px=(412, 915))
        effects = (Effect(ok=True),) if index else ()
        turn = Turn(step_index=index, observation=seen, effects=effects)
        decisions.append(await harness.decide(turn, deadline_s=60))
    return harness, getattr(model, "requests", []), decisions


async def test_a_tree_dialect_shows_the_list_and_taps_its_elements():
    harness, (request,), (decision,) = await play(TinyTree(), ["tap <e1>"], ["Open", "Save"])
    assert harness.wants == ("frame", "tree")
    (user,) = request.messages
    assert user.text == "Goal: Save 'Milk'\nScreen 1:\n<e0> Open <e1> Save\ndo: Save 'Milk'"
    (tap,) = decision.actions
    assert tap == Tap(at=(0.5, 0.1875), frame=frame(MemoryBlobs(), 0))
    assert harness.context.quotes == ("Milk",)


async def test_a_picture_dialect_shows_the_picture_and_then_the_goal():
    harness, (request,), (decision,) = await play(Tiny(), ["type <q0>"], ["Open"])
    assert harness.wants == ("frame",)
    words, picture, reminder = request.messages[0].parts
    assert words.text == "Goal: Save 'Milk'\nScreen 1:"
    assert isinstance(picture, ImagePart)
    assert (picture.size_px, picture.mime) == ((112, 240), "image/png")
    assert reminder.text == "\ndo: Save 'Milk'"
    assert decision.actions == (Type(text="Milk", frame=frame(MemoryBlobs(), 0)),)


@pytest.mark.parametrize("dialect", [Tiny(), TinyTree()])
async def test_inside_a_window_prompts_grow_and_at_its_end_lists_and_reminders_collapse(dialect):
    _, requests, _ = await play(dialect, ["back"] * 4, ["Open", "Save"], Window(steps=3, overlap=1))
    for before, after in ((0, 1), (1, 2)):
        shown = requests[before].messages
        assert requests[after].messages[: len(shown)] == shown
    texts = [m.text for m in requests[3].messages if m.role == "user"]
    assert [PLACEHOLDER in text for text in texts] == [True, True, False, False]
    assert ["do:" in text for text in texts] == [False, False, True, True]


async def test_a_tree_dialect_without_a_tree_is_the_environments_fault():
    blobs = MemoryBlobs()
    harness = Harness(ListedModel(["back"]), blobs, dialect=TinyTree())
    harness.begin(Assignment(episode_id="e", goal=Goal(text="x"), spec=spec(), mode="gui_only"))
    seen = Observation(frame=frame(blobs, 0), size_px=(412, 915))
    with pytest.raises(EnvironmentFault, match="has no tree, which dialect 'tinytree' reads"):
        await harness.decide(Turn(step_index=0, observation=seen), deadline_s=5)


async def test_the_oracle_plays_by_marks_and_quotes_of_the_screen_at_hand():
    oracle = OracleModel(lambda action: "unused")
    oracle.set_plan("e", [Tap(at=(0.5, 0.1875)), Type(text="Milk")])
    _, _, decisions = await play(TinyTree(), ["", ""], ["Open", "Save"], model=oracle)
    assert [d.reply for d in decisions] == ["<e1>", "type <q0>"]
    assert [type(d.actions[0]) for d in decisions] == [Tap, Type]
