"""The Host contract and the Launcher contract.

A host is a process that runs many Instances. The manager decides who may use which Instance; the
host enforces it once more, by fences, and keeps what each action id came to, so that a repeated
`step` applies once even when the manager died in between. A launcher makes hosts appear and
disappear; it is asked what there really is and never believed to have done what it was told.
"""

from __future__ import annotations

from typing import Literal, Protocol

from screenloop.criteria import AnswerIs
from screenloop.errors import InfraFault
from screenloop.manager.base import LeaseToken, Verbs
from screenloop.manager.wire.bodies import HostReport
from screenloop.types import EnvRef, EnvSpec, Goal, Start, Struct, Task, World

WORLDS = {"fake": "default", "phone": "default", "web": "miniwob/click-test"}
"""A world that each kind surely knows; another kind is ready once it was opened."""


class HostUnreachable(InfraFault):
    """Raised by a `Host` when no answer came: the request or its reply was lost.

    The host may yet have carried the operation out. The manager asks again with the same action id
    and turns this into a plain `InfraFault` when it gives up; the Lease stays as it was. Every
    other failure of a `Host` (except a refusal) says that the Instance is spoilt.
    """


class Host(Verbs[LeaseToken], Protocol):
    """One host as the manager sees it, in this process or over HTTP.

    Failures are those of the Environment contract, besides `LeaseLost` for a fence that is not the
    newest bound one, and `HostUnreachable` when the host cannot be reached. The same (fence, action
    id) returns the first result of a step, or waits for it when it is still under way.
    """

    id: str

    async def open(self, instance: str, env: EnvRef, *, deadline_s: float) -> EnvSpec:
        """Start an Instance under this name; returns when it is strictly ready.

        Ready means that it was reset and answered. Opening the same name twice is harmless.
        """
        ...

    async def bind(self, token: LeaseToken, *, ttl_s: float, deadline_s: float) -> None:
        """Put a new fence in force; operations with an older one are refused from now on.

        Binding the same fence again is harmless; an older one is refused.
        """
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


class HostOrders(Struct, frozen=True, kw_only=True):
    """What a host process is told when it starts."""

    plan: HostPlan
    listen: str = "127.0.0.1"
    port: int = 0
    orphan_s: float = 60.0
    """How long it lives on without hearing from a manager; 0 is for ever."""
    ready_file: str = ""
    """Where it writes its `HostCard` once it answers; empty for nowhere."""


class HostCard(Struct, frozen=True, kw_only=True):
    """What a host process says of itself once it answers."""

    host: str
    pid: int
    started_ticks: int
    """Start of the process in the kernel's ticks: tells it from a later one with the same id."""
    address: str


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


def ready_start(env: EnvRef) -> Start | None:
    """Return a Start that any Instance of this kind must be able to reset to."""
    world = WORLDS.get(env.kind)
    if world is None:
        return None
    return Start(
        task=Task(
            id="probe/ready@1",
            env=env,
            world=World(name=world),
            goal=Goal(text="Show the first screen."),
            checks=(AnswerIs(says="nothing is asked", to="ready"),),
        )
    )
