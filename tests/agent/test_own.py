"""Agents that are plain classes: what they may return, and whose fault what they raise is."""

from __future__ import annotations

import pytest
from agent_parts import frame, spec

from screenloop.actions import Finish, Tap, Wait
from screenloop.agent.base import Assignment, Decision, Turn
from screenloop.agent.own import OwnAgent
from screenloop.errors import AgentError, ModelUnavailable
from screenloop.store.blobs import MemoryBlobs
from screenloop.types import Goal, Observation


class Said:
    """Decides what the goal names."""

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


async def decide(goal: str) -> tuple[Decision, str]:
    blobs = MemoryBlobs()
    agent = OwnAgent(Said(), "own:Said")
    agent.begin(Assignment(episode_id="e", goal=Goal(text=goal), spec=spec(), mode="gui_only"))
    key = frame(blobs, 1)
    seen = Observation(frame=key, size_px=(412, 915))
    return await agent.decide(Turn(step_index=0, observation=seen), deadline_s=1), key


async def test_one_action_or_several_are_a_decision_on_the_frame_that_was_seen() -> None:
    decision, key = await decide("one")
    tap = Tap(at=(0.5, 0.5), frame=key)
    assert decision == Decision(actions=(tap,))
    decision, _ = await decide("two")
    assert decision.actions == (tap, Wait(seconds=1.0))
    decision, _ = await decide("whole")
    assert decision.reply == "done"


@pytest.mark.parametrize(
    ("goal", "sentence"),
    [
        ("crash", r"'own:Said' failed: \S+test_own\.py:\d+: KeyError: 'lost'"),
        ("begin fails", r"failed: \S+test_own\.py:\d+: LookupError: no plan"),
        ("nothing", r"decided '\(\)'; expected an Action"),
        ("words", r"decided 'tap it'; expected an Action"),
    ],
)
async def test_what_goes_wrong_inside_is_the_agents_failure(goal: str, sentence: str) -> None:
    with pytest.raises(AgentError, match=sentence):
        await decide(goal)


async def test_a_model_server_that_is_gone_stays_nobodys_failure() -> None:
    with pytest.raises(ModelUnavailable):
        await decide("offline")
