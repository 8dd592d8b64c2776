"""Agents that are plain classes: what they may return, and whose fault what they raise is."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest
from agent_parts import frame, spec

from screenloop.actions import Finish, Tap, Wait
from screenloop.agent.base import Assignment, Decision, Turn
from screenloop.agent.own import find_agent
from screenloop.errors import AgentError, ConfigError, ModelUnavailable
from screenloop.store.blobs import MemoryBlobs
from screenloop.types import Goal, Observation


class Said:
    """Decides what the goal names."""

    wants = ("frame", "tree")

    def __init__(self, blobs):
        self.blobs = blobs

    def begin(self, assignment):
        self.goal = assignment.goal.text
        if self.goal == "begin fails":
            raise LookupError("no plan")

    async def decide(self, turn, *, deadline_s):
        tap = Tap(at=(0.5, 0.5))
        match self.goal:
            case "crash":
                raise KeyError("lost")
            case "offline":
                raise ModelUnavailable("no server")
        return {
            "one": tap,
            "two": [tap, Wait(seconds=1.0)],
            "whole": Decision(actions=(Finish(status="success"),), reply="done"),
            "nothing": (),
            "words": "tap it",
        }[self.goal]


class Plain(Said):
    wants = ("frame", "smell")


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> str:
    module = ModuleType("own_agents")
    module.Said, module.Smells, module.number = Said, Plain, 3
    monkeypatch.setitem(sys.modules, "own_agents", module)
    return "own_agents:Said"


async def decide(named: str, goal: str) -> tuple[Decision, str]:
    blobs = MemoryBlobs()
    agent = find_agent(named).make(blobs)
    agent.begin(Assignment(episode_id="e", goal=Goal(text=goal), spec=spec(), mode="gui_only"))
    key = frame(blobs, 1)
    seen = Observation(frame=key, size_px=(412, 915))
    return await agent.decide(Turn(step_index=0, observation=seen), deadline_s=1), key


async def test_one_action_or_several_are_a_decision_on_the_frame_that_was_seen(named: str) -> None:
    assert find_agent(named).wants == ("frame", "tree")
    decision, key = await decide(named, "one")
    tap = Tap(at=(0.5, 0.5), frame=key)
    assert decision == Decision(actions=(tap,))
    decision, _ = await decide(named, "two")
    assert decision.actions == (tap, Wait(seconds=1.0))
    decision, _ = await decide(named, "whole")
    assert decision.reply == "done"


@pytest.mark.parametrize(
    ("goal", "sentence"),
    [
        ("crash", r"'own_agents:Said' failed: \S+test_own\.py:\d+: KeyError: 'lost'"),
        ("begin fails", r"failed: \S+test_own\.py:\d+: LookupError: no plan"),
        ("nothing", r"decided '\(\)'; expected an Action"),
        ("words", r"decided 'tap it'; expected an Action"),
    ],
)
async def test_what_goes_wrong_inside_is_the_agents_failure(
    named: str, goal: str, sentence: str
) -> None:
    with pytest.raises(AgentError, match=sentence):
        await decide(named, goal)


async def test_a_model_server_that_is_gone_stays_nobodys_failure(named: str) -> None:
    with pytest.raises(ModelUnavailable):
        await decide(named, "offline")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("own_agents:number", "is no agent: an agent is a class with begin, decide"),
        ("json:JSONDecoder", "is no agent"),
        ("own_agents:Smells", "wants .*smell.*can carry frame, tree, text"),
        ("clicker", "Unknown agent 'clicker'"),
    ],
)
def test_what_is_no_agent_is_refused(named: str, name: str, sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        find_agent(name)
