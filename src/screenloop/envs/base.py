"""The Environment contract: six operations, each with a deadline.

`envs/checker.py` proves that an implementation keeps it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from screenloop.actions import Action
from screenloop.types import EnvSpec, Evidence, Observation, SnapshotKey, Start, StepResult, Want


class Environment(Protocol):
    """One Instance of a device or site.

    Reset is exact: the same Start gives the same state, and on one machine the same pixels. No
    wall clock and no unseeded randomness inside. An Environment never judges: `evidence` says what
    is, `verify` says what it is worth. Every call takes `deadline_s`, seconds from now.

    Failures of the Environment raise `EnvironmentFault`; a missed deadline raises
    `DeadlinePassed`; an Action outside `spec.actions` raises `UnsupportedAction`; coordinates that
    name a frame no longer on the screen raise `StaleFrame`. An Action that did nothing is not a
    failure: its Effect says so.
    """

    spec: EnvSpec

    async def reset(self, start: Start | SnapshotKey, *, deadline_s: float) -> Observation:
        """Bring the Instance to a Task's initial state, or to a snapshot it took."""
        ...

    async def observe(self, want: Sequence[Want] = ("frame",), *, deadline_s: float) -> Observation:
        """See what is there now; asks for the named parts only."""
        ...

    async def step(self, action: Action, *, action_id: str, deadline_s: float) -> StepResult:
        """Carry out one Action and see what came of it."""
        ...

    async def evidence(self, *, deadline_s: float) -> Evidence:
        """Tell the business state before and now; only after the application has written."""
        ...

    async def snapshot(self, *, deadline_s: float) -> SnapshotKey:
        """Keep the whole state under a key, where `spec.can_fork`."""
        ...

    async def close(self) -> None:
        """Let go of everything the Instance holds; may be called twice."""
        ...
