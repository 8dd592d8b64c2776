"""Agents from outside: a plain class that decides Actions from Observations, without a dialect.

    class Clicker:
        wants = ("frame", "tree")  # what Observations carry; without it ("frame",)

        def __init__(self, blobs): ...  # where the bytes behind an Observation's keys lie
        def begin(self, assignment): ...  # goal, spec, mode, seed of the Episode
        async def decide(self, turn, *, deadline_s): ...

One is made an Episode. `decide` returns an Action, several as a tuple or list, or a `Decision`.
"""

from __future__ import annotations

import traceback
from typing import Any, get_args

from screenloop.actions import Action, pin_frame
from screenloop.agent.base import Assignment, Decision, Turn
from screenloop.errors import AgentError, ScreenloopError

_ACTIONS = get_args(Action)


class OwnAgent:
    """Holds an agent to the contract: what it returns is a Decision, what it raises has a blame."""

    def __init__(self, agent: Any, name: str) -> None:
        self._agent = agent
        self._name = name
        self._next: Assignment | None = None

    def begin(self, assignment: Assignment) -> None:
        """Keep the assignment for the first turn, where a failure is the agent's own."""
        self._next = assignment

    async def decide(self, turn: Turn, *, deadline_s: float) -> Decision:
        """Let it decide; coordinates are tied to the frame that it was shown.

        Raises:
            AgentError: it raised something that is not of the error tree, or decided no Action.
        """
        try:
            if self._next is not None:
                self._agent.begin(self._next)
                self._next = None
            decided = await self._agent.decide(turn, deadline_s=deadline_s)
        except (ScreenloopError, TimeoutError):
            raise
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            raise AgentError(
                f"agent {self._name!r} failed: {last.filename}:{last.lineno}: "
                f"{type(error).__name__}: {error}"
            ) from error
        if isinstance(decided, Decision):
            return decided
        actions = tuple(decided) if isinstance(decided, list | tuple) else (decided,)
        if not actions or not all(isinstance(action, _ACTIONS) for action in actions):
            raise AgentError(
                f"agent {self._name!r} decided {str(decided)[:200]!r}; expected an Action, a list "
                "of them, or a Decision"
            )
        frame = turn.observation.frame
        return Decision(actions=tuple(pin_frame(action, frame) for action in actions))
