"""The Agent contract: begin an Episode, then decide turn by turn."""

from __future__ import annotations

from typing import Protocol

from screenloop.actions import Action
from screenloop.store.episodes import CallRecord
from screenloop.types import Effect, EnvSpec, Goal, Mode, Observation, Struct


class Assignment(Struct, frozen=True, kw_only=True):
    """What an agent may know of a Task: never its checks, its golden solution or its world."""

    episode_id: str
    goal: Goal
    spec: EnvSpec
    mode: Mode
    seed: int = 0
    """For policies that draw at random; derived from the Run seed, task key and repeat."""


class Turn(Struct, frozen=True, kw_only=True):
    """What an agent sees at one turn."""

    step_index: int
    observation: Observation
    effects: tuple[Effect, ...] = ()
    """Of the Actions of the turn before."""
    parse_error: str | None = None
    """Why the reply of the turn before could not be read."""
    ask_reply: str | None = None
    """What the person answered to the question of the turn before."""


class Decision(Struct, frozen=True, kw_only=True):
    """What an agent decided, or why its reply could not be read."""

    actions: tuple[Action, ...] = ()
    """Empty exactly when `parse_error` is set."""
    parse_error: str | None = None
    reply: str = ""
    call: CallRecord | None = None


class Agent(Protocol):
    """Plays one Episode at a time; make one per Episode.

    Raises from `decide`: `ModelUnavailable` and `DeadlinePassed` pass through (infrastructure); an
    unreadable reply is a Decision with `parse_error`, never an exception.
    """

    def begin(self, assignment: Assignment) -> None:
        """Start a fresh Episode."""
        ...

    async def decide(self, turn: Turn, *, deadline_s: float) -> Decision:
        """Say what to do now."""
        ...
