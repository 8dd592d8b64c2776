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
from collections.abc import Callable
from typing import Any, get_args

from screenloop.actions import Action, pin_frame
from screenloop.agent.base import Agent, Assignment, Decision, Turn
from screenloop.errors import AgentError, ConfigError, ScreenloopError
from screenloop.registry import find
from screenloop.store.blobs import BlobStore
from screenloop.types import Struct, Want

_ACTIONS = get_args(Action)
_PARTS = ("begin", "decide")


class OwnAgent(Struct, frozen=True, kw_only=True):
    """An agent class as a Run uses it."""

    name: str
    """As it was given; enters the configuration's hash."""
    made: Callable[[BlobStore], Agent]
    wants: tuple[Want, ...] = ("frame",)
    """The parts of the screen that Observations must carry."""

    def make(self, blobs: BlobStore) -> Agent:
        """Return a fresh agent for one Episode.

        Raises:
            ConfigError: the class cannot be made of a blob store.
        """
        try:
            return _Checked(self.made(blobs), self.name)
        except ScreenloopError:
            raise
        except Exception as error:
            raise ConfigError(f"agent {self.name!r} cannot be made: {_place(error)}") from error


def find_agent(name: str) -> OwnAgent:
    """Return an agent class by dotted path, or by the name that an installed package adds.

    Raises:
        ConfigError: there is none, it lacks a part, or wants what no Observation carries.
    """
    made = find("agent", name, {})
    missing = [part for part in _PARTS if not callable(getattr(made, part, None))]
    if not isinstance(made, type) or missing:
        raise ConfigError(f"{name!r} is no agent: an agent is a class with {', '.join(_PARTS)}.")
    wants = tuple(getattr(made, "wants", ("frame",)))
    if not set(wants) <= set(get_args(Want)):
        raise ConfigError(
            f"agent {name!r} wants {wants}; an Observation can carry {', '.join(get_args(Want))}"
        )
    return OwnAgent(name=name, made=made, wants=wants)


class _Checked:
    """Holds an agent to the contract: what it returns is a Decision, what it raises has a blame."""

    def __init__(self, agent: Any, name: str) -> None:
        self._agent = agent
        self._name = name
        self._next: Assignment | None = None

    def begin(self, assignment: Assignment) -> None:
        """Keep the assignment for the first turn, where a failure is the agent's own."""
        self._next = assignment

    async def decide(self, turn: Turn, *, deadline_s: float) -> Decision:
        try:
            if self._next is not None:
                self._agent.begin(self._next)
                self._next = None
            decided = await self._agent.decide(turn, deadline_s=deadline_s)
        except (ScreenloopError, TimeoutError):
            raise
        except Exception as error:
            raise AgentError(f"agent {self._name!r} failed: {_place(error)}") from error
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


def _place(error: Exception) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{last.filename}:{last.lineno}: {type(error).__name__}: {error}"
