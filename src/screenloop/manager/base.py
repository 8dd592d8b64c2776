"""The Manager contract: five operations on a leased Instance; in-process and remote alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from screenloop.actions import Action
from screenloop.types import (
    Claim,
    EnvRef,
    EnvSpec,
    Lease,
    Observation,
    Start,
    StepResult,
    Verdict,
    Want,
)


class Manager(Protocol):
    """Grants Leases and carries out operations for their holders.

    Every operation shows the Lease (its fence with it); a replaced or late holder gets
    `LeaseLost`. Use renews: each admitted operation moves the Lease's end `ttl_s` ahead. An action
    id makes a repeated `step` apply once and return the first result.
    """

    async def spec(self, env: EnvRef) -> EnvSpec:
        """Tell what Instances of this kind can do, before any is leased."""
        ...

    async def acquire(self, env: EnvRef, run_id: str, *, ttl_s: float) -> Lease:
        """Grant the exclusive right to an Instance of this kind."""
        ...

    async def reset(self, lease: Lease, start: Start, *, deadline_s: float) -> Observation:
        """Bring the Instance to a Task's initial state; `evaluate` will judge that Task."""
        ...

    async def observe(
        self, lease: Lease, want: Sequence[Want] = ("frame",), *, deadline_s: float
    ) -> Observation:
        """See what is there now."""
        ...

    async def step(
        self, lease: Lease, action_id: str, action: Action, *, deadline_s: float
    ) -> StepResult:
        """Carry out one Action once."""
        ...

    async def evaluate(self, lease: Lease, claim: Claim, *, deadline_s: float) -> Verdict:
        """Judge the Task of the last reset; the Episode may go on."""
        ...

    async def release(self, lease: Lease) -> None:
        """Give the Instance back; releasing twice is harmless."""
        ...

    async def close(self) -> None:
        """End everything the manager started."""
        ...
