"""The Host contract and the Launcher contract.

A host is a process that runs many Instances. The manager decides who may use which Instance; the
host enforces it once more, by fences, and keeps what each action id came to, so that a repeated
`step` applies once even when the manager died in between. A launcher makes hosts appear and
disappear; it is asked what there really is and never believed to have done what it was told.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from screenloop.actions import Action
from screenloop.types import (
    Claim,
    EnvRef,
    EnvSpec,
    Observation,
    Start,
    StepResult,
    Struct,
    Verdict,
    Want,
)


class LeaseToken(Struct, frozen=True, kw_only=True):
    """What every operation on an Instance shows."""

    instance: str
    lease_id: str
    fence: int
    turn: int = 0
    """Number of the operation under its Lease, counted by a holder over a network; a repeated
    request keeps its number. 0 where nobody counts."""


class InstanceReport(Struct, frozen=True, kw_only=True):
    """What a host says of one of its Instances."""

    instance: str
    env: EnvRef
    state: Literal["starting", "ready", "failed"]
    fence: int = 0
    """The newest that was bound."""
    episodes: int = 0
    """Resets since it was opened."""
    idle_s: float = 0.0
    """Seconds since the last operation."""
    reason: str = ""
    """Why it failed."""


class HostReport(Struct, frozen=True, kw_only=True):
    """A host's heartbeat."""

    host: str
    boot: str
    """Drawn anew by each process: another boot means that all Instances of the last are gone."""
    rss_mb: float
    instances: tuple[InstanceReport, ...]
    draining: bool = False


class Host(Protocol):
    """One host as the manager sees it, in this process or over HTTP.

    Failures are those of the Environment contract, besides `LeaseLost` for a fence that is not the
    newest bound one, and `InfraFault` when the host cannot be reached. A host that cannot be
    reached may yet have carried the operation out: ask again with the same action id.
    """

    id: str

    async def open(self, instance: str, env: EnvRef, *, deadline_s: float) -> EnvSpec:
        """Start an Instance under this name; returns when it is strictly ready.

        Ready means that it was reset and answered. Opening the same name twice is harmless.
        """
        ...

    async def bind(self, grip: LeaseToken, *, ttl_s: float, deadline_s: float) -> None:
        """Put a new fence in force; operations with an older one are refused from now on.

        Binding the same fence again is harmless; an older one is refused.
        """
        ...

    async def reset(self, grip: LeaseToken, start: Start, *, deadline_s: float) -> Observation:
        """Bring the Instance to a Task's initial state; what action ids came to is forgotten.

        Refused where an operation with a later turn came first: a request that was on its way for
        long must not undo what was done since.
        """
        ...

    async def observe(
        self, grip: LeaseToken, want: Sequence[Want] = ("frame",), *, deadline_s: float
    ) -> Observation:
        """See what is there now."""
        ...

    async def step(
        self, grip: LeaseToken, action_id: str, action: Action, *, deadline_s: float
    ) -> StepResult:
        """Carry out one Action once.

        The same (fence, action id) returns the first result, or waits for it when it is still
        under way.
        """
        ...

    async def evaluate(self, grip: LeaseToken, claim: Claim, *, deadline_s: float) -> Verdict:
        """Judge the Task of the last reset, where the evidence is."""
        ...

    async def shut(self, instance: str, *, deadline_s: float) -> None:
        """Close one Instance; closing what is not there is harmless."""
        ...

    async def report(self, *, deadline_s: float) -> HostReport:
        """Say what there is; the manager's heartbeat."""
        ...

    async def close(self) -> None:
        """Let go of the way to the host; the host itself is the launcher's to end."""
        ...


class HostPlan(Struct, frozen=True, kw_only=True):
    """What a launcher needs to know to start a host."""

    host: str
    """Its id, unique over time."""
    kind: str
    """Environment kind that it will run."""
    capacity: int
    """Instances at most."""
    blobs: str
    """URL of the blob store: `file:///...` or `s3://bucket/prefix`."""
    token: str
    """Bearer token that the host demands."""


class HostSeen(Struct, frozen=True, kw_only=True):
    """A host that really is there, as its launcher sees it."""

    host: str
    state: Literal["starting", "running", "gone"]
    address: str = ""
    """URL under which it answers, once known."""
    reason: str = ""
    """Why it is gone: evicted, killed, exit status."""


class Launcher(Protocol):
    """Starts and ends hosts somewhere. Calls return at once; what came of them is in `seen`."""

    name: str

    async def start(self, plan: HostPlan) -> None:
        """Have a host started; starting the same id twice starts one.

        Raises:
            InfraFault: the backend refuses or cannot be reached; `Busy` says when to come again.
        """
        ...

    async def stop(self, host: str) -> None:
        """Have a host ended; ending what is not there is harmless."""
        ...

    async def seen(self) -> tuple[HostSeen, ...]:
        """Return every host of this launcher that is there or ended lately."""
        ...

    def connect(self, seen: HostSeen, token: str) -> Host:
        """Return the way to a running host."""
        ...

    async def close(self) -> None:
        """Let go of the backend; hosts live on."""
        ...
