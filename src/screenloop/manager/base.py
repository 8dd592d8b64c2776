"""The Manager contract: five operations on a leased Instance; in-process and remote alike.

Four of them are data, carried by one `operate` from the client through service, wire and host:
`Reset | Observe | TakeStep | Evaluate`, each with the type of its result. `Verbs` are the same four
as methods, for whoever writes them by hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Generic, Protocol, TypeVar

from msgspec import Meta

from screenloop.actions import Action
from screenloop.types import (
    Claim,
    EnvRef,
    EnvSpec,
    Lease,
    Observation,
    Start,
    StepResult,
    Struct,
    Verdict,
    Want,
)

Name = Annotated[str, Meta(pattern="^[^\\x00-\\x1f\\x7f]{1,200}$")]
"""Without control characters, which no journal need keep and no log need show."""
ActionId = Annotated[str, Meta(pattern="^[^\\x00-\\x1f\\x7f]{1,250}/[0-9]{1,9}/[0-9]{1,9}$")]
"""`episode/step/number`; the manager and the host take it as it is, its parts are for logs."""

R = TypeVar("R")
L = TypeVar("L", contravariant=True)


class LeaseToken(Struct, frozen=True, kw_only=True):
    """What every operation on an Instance shows of its Lease."""

    instance: Name
    lease_id: Annotated[str, Meta(pattern="^[^\\x00-\\x1f\\x7f]{0,200}$")]
    """Empty where a fence only shuts out the holders before."""
    fence: Annotated[int, Meta(ge=0)]
    turn: Annotated[int, Meta(ge=0)] = 0
    """Number of the operation under its Lease, counted by a holder over a network; a repeated
    request keeps its number. 0 where nobody counts."""


def token_of(lease: Lease, turn: int = 0) -> LeaseToken:
    """Return what an operation shows of a Lease."""
    return LeaseToken(instance=lease.instance, lease_id=lease.id, fence=lease.fence, turn=turn)


# ---- the operations as data ----------------------------------------------------------------


class OperationFor(Struct, Generic[R], frozen=True, kw_only=True):
    """An operation whose result is an `R`; `VERBS` names them all."""

    result_type: ClassVar[Any]

    @property
    def verb(self) -> str:
        """Its name on the wire, in metrics and in messages."""
        return verb_of(type(self))


class Reset(OperationFor[Observation], frozen=True, kw_only=True, tag="reset", tag_field="type"):
    """Bring the Instance to a task's initial state; `Evaluate` will judge that task.

    Refused where an operation with a later turn came first: a request that was on its way for long
    must not undo what was done since.
    """

    result_type: ClassVar[Any] = Observation
    start: Start


class Observe(
    OperationFor[Observation], frozen=True, kw_only=True, tag="observe", tag_field="type"
):
    """See what is there now."""

    result_type: ClassVar[Any] = Observation
    want: tuple[Want, ...] = ("frame",)


class TakeStep(OperationFor[StepResult], frozen=True, kw_only=True, tag="step", tag_field="type"):
    """Carry out one action once; a repeated action id returns the first result."""

    result_type: ClassVar[Any] = StepResult
    action_id: ActionId
    action: Action


class Evaluate(OperationFor[Verdict], frozen=True, kw_only=True, tag="evaluate", tag_field="type"):
    """Judge the task of the last reset; the episode may go on."""

    result_type: ClassVar[Any] = Verdict
    claim: Claim


Operation = Reset | Observe | TakeStep | Evaluate


def verb_of(kind: type[Struct]) -> str:
    """Return the name of a kind of operation."""
    tag = kind.__struct_config__.tag
    assert isinstance(tag, str)
    return tag


VERBS: dict[str, type[Operation]] = {
    verb_of(kind): kind for kind in (Reset, Observe, TakeStep, Evaluate)
}
"""Kinds of operations by name."""


class Verbs(Protocol[L]):
    """One way to carry out operations under an `L` (a Lease, a LeaseToken), and four short forms.

    A repeated action id applies once. Who shows an `L` that is over or was replaced gets
    `LeaseLost`.
    """

    async def operate(self, lease: L, operation: OperationFor[R], *, deadline_s: float) -> R:
        """Carry out one operation within the deadline."""
        ...

    async def reset(self, lease: L, start: Start, *, deadline_s: float) -> Observation:
        """Bring the Instance to a Task's initial state; `evaluate` will judge that Task."""
        return await self.operate(lease, Reset(start=start), deadline_s=deadline_s)

    async def observe(
        self, lease: L, want: Sequence[Want] = ("frame",), *, deadline_s: float
    ) -> Observation:
        """See what is there now."""
        return await self.operate(lease, Observe(want=tuple(want)), deadline_s=deadline_s)

    async def step(
        self, lease: L, action_id: str, action: Action, *, deadline_s: float
    ) -> StepResult:
        """Carry out one Action once."""
        step = TakeStep(action_id=action_id, action=action)
        return await self.operate(lease, step, deadline_s=deadline_s)

    async def evaluate(self, lease: L, claim: Claim, *, deadline_s: float) -> Verdict:
        """Judge the Task of the last reset; the Episode may go on."""
        return await self.operate(lease, Evaluate(claim=claim), deadline_s=deadline_s)


class Manager(Verbs[Lease], Protocol):
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

    async def release(self, lease: Lease) -> None:
        """Give the Instance back; releasing twice is harmless."""
        ...

    async def close(self) -> None:
        """End everything the manager started."""
        ...
