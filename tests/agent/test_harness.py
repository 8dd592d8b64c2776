import msgspec
import pytest
from agent_parts import ListedModel, frame, spec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from screenloop.actions import Answer, Ask, Finish, Tap, Type
from screenloop.agent.base import Assignment, Turn
from screenloop.agent.dialects.plain import Plain
from screenloop.agent.dialects.uitars import UITars
from screenloop.agent.harness import Harness, reconstruct, renderer
from screenloop.agent.history import PLACEHOLDER, windows
from screenloop.agent.prompt import prompt_hash
from screenloop.config import ImageRule, Window
from screenloop.errors import ConfigError, EnvironmentFault, ModelUnavailable
from screenloop.messages import ImagePart, Reply
from screenloop.store.blobs import MemoryBlobs
from screenloop.types import Effect, Goal, Observation

TAP = 'Thought: there.\nAction: {"type": "tap", "at": [500, 250]}'
OK = (Effect(ok=True, took_ms=12.5),)


def _assignment(mode="gui_only", goal="Save the note.", **changes):
    return Assignment(episode_id="ep1", goal=Goal(text=goal), spec=spec(**changes), mode=mode)


def _seen(blobs, number, **changes):
    return Observation(frame=frame(blobs, number), size_px=(412, 915), **changes)


async def _play(replies, window=Window(), mode="gui_only", turns=None, prompt=None):
    blobs = MemoryBlobs()
    model = ListedModel(replies)
    harness = Harness(model, blobs, dialect=Plain(), window=window, prompt=prompt)
    harness.begin(_assignment(mode))
    decisions = []
    for index in range(len(replies)):
        changes = turns[index] if turns else {}
        seen = _seen(blobs, index, **changes.get("seen", {}))
        turn = Turn(
            step_index=index,
            observation=seen,
            effects=changes.get("effects", OK if index else ()),
            parse_error=changes.get("parse_error"),
            ask_reply=changes.get("ask_reply"),
        )
        decisions.append(await harness.decide(turn, deadline_s=60))
    return model.requests, decisions


async def test_one_turn_is_one_call_and_gives_an_action_pinned_to_the_frame():
    requests, (decision,) = await _play([TAP])
    (request,) = requests
    assert (request.call_id, request.session_id) == ("ep1/c0", "ep1/w0")
    system, user = request.messages
    assert system.role == "system"
    assert user.text.startswith("Goal: Save the note.")
    assert isinstance(user.parts[-1], ImagePart)
    assert user.parts[-1].size_px == (416, 928)
    (tap,) = decision.actions
    assert tap == Tap(at=(0.5, 0.25), frame=frame(MemoryBlobs(), 0))
    assert decision.call.reply == decision.reply == TAP


async def test_the_same_episode_sends_the_same_bytes_each_time():
    first, _ = await _play([TAP] * 25)
    again, _ = await _play([TAP] * 25)
    assert [msgspec.json.encode(r) for r in first] == [msgspec.json.encode(r) for r in again]


async def test_how_long_an_action_took_never_reaches_the_prompt():
    slow = [{}, {"effects": (Effect(ok=True, took_ms=99.0, executed="tap 1,2 on 'Save'"),)}]
    quick = [{}, {"effects": (Effect(ok=True),), "seen": {"clock_s": 77.0, "state_hash": "ab"}}]
    first, _ = await _play([TAP] * 2, turns=slow)
    again, _ = await _play([TAP] * 2, turns=quick)
    assert first == again


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(1, 6), st.data())
async def test_records_rebuild_every_request(steps, data):
    window = Window(steps=steps, overlap=data.draw(st.integers(0, steps - 1)))
    requests, decisions = await _play([TAP] * 10, window)
    records = [d.call for d in decisions]
    assert reconstruct(records) == [r.messages for r in requests]
    starts = {span.first_new_step for span in windows(10, window)}
    assert {r.step_index for r in records if r.parent_call_id is None} == starts
    assert all(len(r.messages) == 1 for r in records if r.parent_call_id is not None)


async def test_a_record_without_its_parent_cannot_be_rebuilt():
    _, decisions = await _play([TAP] * 2)
    with pytest.raises(ConfigError, match="ep1/c0"):
        reconstruct([decisions[1].call])


async def test_older_screenshots_become_placeholders_at_the_boundary():
    requests, _ = await _play([TAP] * 11)
    assert PLACEHOLDER not in "".join(m.text for m in requests[9].messages)
    text = "".join(m.text for m in requests[10].messages)
    assert text.count(PLACEHOLDER) == 8
    assert requests[10].session_id == "ep1/w1"


async def test_an_unreadable_reply_is_a_decision_with_the_reason_and_the_next_turn_says_it():
    turns = [{}, {"effects": (), "parse_error": "the action has no type"}]
    requests, decisions = await _play(["I would tap 5 10", TAP], turns=turns)
    assert decisions[0].actions == ()
    assert "Action:" in decisions[0].parse_error
    assert requests[1].messages[2].text == "I would tap 5 10"
    assert "could not be read: the action has no type." in requests[1].messages[3].text


async def test_a_reply_cut_off_at_its_limit_says_so():
    _, (decision,) = await _play([Reply(text='Action: {"type": "ta', finish_reason="length")])
    assert "cut off at 1024 tokens" in decision.parse_error


async def test_effects_and_replies_of_the_person_are_told_in_the_next_turn():
    turns = [
        {},
        {"effects": (Effect(ok=False, code="nothing_here", message="No element is here."),)},
        {"effects": (Effect(ok=True, result={"b": 1, "a": ["x" * 5000]}),)},
        {"effects": OK, "ask_reply": "The blue one."},
    ]
    requests, _ = await _play([TAP] * 4, turns=turns)
    words = [m.text for m in requests[3].messages if m.role == "user"]
    assert words[1] == "Result: not done (nothing_here), No element is here.\nScreen 2:"
    assert words[2].startswith('Result: ok, returned {"a":["xxx')
    assert len(words[2]) < 2100
    assert words[3] == "Result: ok.\nThe person replied: The blue one.\nScreen 4:"


async def test_tools_are_named_when_the_app_in_front_changes_and_only_in_hybrid():
    turns = [
        {"seen": {"app": "home"}},
        {"seen": {"app": "notes", "tools": ("notes.add",)}},
        {"seen": {"app": "notes", "tools": ("notes.add",)}},
        {"seen": {"app": "home"}},
    ]
    requests, _ = await _play([TAP] * 4, mode="hybrid", turns=turns)
    words = [m.text for m in requests[3].messages if m.role == "user"]
    assert [("notes.add" in w) for w in words] == [False, True, False, False]
    assert "No tools can be called here." in words[3]
    assert "Write a note." in requests[0].messages[0].text
    plain, _ = await _play([TAP] * 4, turns=turns)
    assert all("notes.add" not in m.text for r in plain for m in r.messages)
    assert all('"tool"' not in m.text for r in plain for m in r.messages)


async def test_the_goal_that_the_environment_announces_wins():
    requests, _ = await _play([TAP], turns=[{"seen": {"goal": "Press the red key."}}])
    assert requests[0].messages[1].text.startswith("Goal: Press the red key.")


async def test_a_missing_frame_is_the_environments_fault():
    harness = Harness(ListedModel([TAP]), MemoryBlobs(), dialect=Plain())
    harness.begin(_assignment())
    with pytest.raises(EnvironmentFault, match="no frame"):
        await harness.decide(
            Turn(step_index=0, observation=Observation(size_px=(412, 915))), deadline_s=5
        )


async def test_a_failed_call_leaves_the_history_as_it_was():
    blobs = MemoryBlobs()
    model = ListedModel([TAP, ModelUnavailable("gone"), TAP])
    harness = Harness(model, blobs, dialect=Plain())
    harness.begin(_assignment())
    await harness.decide(Turn(step_index=0, observation=_seen(blobs, 0)), deadline_s=60)
    turn = Turn(step_index=1, observation=_seen(blobs, 1), effects=OK)
    with pytest.raises(ModelUnavailable):
        await harness.decide(turn, deadline_s=5)
    await harness.decide(turn, deadline_s=60)
    assert model.requests[1] == model.requests[2]


async def test_a_turn_out_of_order_is_refused():
    blobs = MemoryBlobs()
    harness = Harness(ListedModel([TAP]), blobs, dialect=Plain())
    harness.begin(_assignment())
    with pytest.raises(ConfigError, match="step 3"):
        await harness.decide(Turn(step_index=3, observation=_seen(blobs, 0)), deadline_s=5)


async def test_a_reply_with_half_a_character_can_be_recorded():
    for text in ('Action: {"type": "answer", "text": "\\ud800"}', "Action: \ud800", "\udfff"):
        _, (decision,) = await _play([text])
        assert decision.parse_error
        msgspec.json.encode(decision)


async def test_an_authors_prompt_replaces_the_head_and_its_size_slots_are_filled():
    requests, _ = await _play([TAP], prompt="Official. {width}x{height} {apps} {other}")
    assert requests[0].messages[0].text == "Official. 416x928 notes, clock {other}"


async def test_an_authors_prompt_with_a_slot_for_the_goal_is_refused():
    with pytest.raises(ConfigError, match="instruction"):
        await _play([TAP], prompt="Do {instruction}")


def test_the_renderer_writes_replies_that_the_dialect_reads():
    render = renderer(Plain(), spec(), "gui_only", ImageRule())
    assert '"at":[500,250]' in render(Tap(at=(0.5, 0.25)))
    for action in (Type(text="a\nAction: b"), Ask(text="?"), Answer(text=""), Finish()):
        assert render(action).count("\n") == 1


async def test_a_family_without_a_system_role_gets_its_head_in_the_first_user_turn():
    blobs = MemoryBlobs()
    dialect = UITars()
    click = "Thought: there.\nAction: click(point='<point>210 462</point>')"
    model = ListedModel([click] * 3)
    harness = Harness(
        model, blobs, dialect=dialect, window=Window(steps=2, overlap=0), image=dialect.image
    )
    harness.begin(_assignment())
    for index in range(3):
        turn = Turn(step_index=index, observation=_seen(blobs, index))
        decision = await harness.decide(turn, deadline_s=60)
        (tap,) = decision.actions
        assert tap.at == (0.5, 0.5)
    for request in model.requests:
        first = request.messages[0]
        assert first.role == "user"
        assert "pixels of the 420x924 screenshot" in first.text
        assert "Goal: Save the note." in first.text


async def test_hybrid_is_refused_for_a_family_that_cannot_call_tools():
    harness = Harness(ListedModel([]), MemoryBlobs(), dialect=UITars())
    with pytest.raises(ConfigError, match="'uitars' cannot call app-native tools"):
        harness.begin(_assignment("hybrid"))


def test_the_prompt_hash_is_the_sha256_of_the_file():
    assert prompt_hash("abc").startswith("ba7816bf8f01cfea")
