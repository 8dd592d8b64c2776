"""Bodies of the operations as they travel: closed JSON, the same to the manager and to a host.

A control message stays under 2 KB: what may be large (a Start, an Action, an Observation, a
StepResult, a Verdict) travels inside the body while its encoding is small, and else lies in the
blob store that both sides share, with its key in the body.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from screenloop.actions import Action
from screenloop.errors import ConfigError, InfraFault
from screenloop.store.blobs import BlobStore
from screenloop.types import (
    BlobKey,
    Claim,
    Observation,
    Start,
    StepResult,
    Struct,
    Verdict,
    Want,
)

INLINE_BYTES = 1024
"""Encodings above this go to the blob store."""

Name = Annotated[str, Meta(pattern="^[^\\x00-\\x1f\\x7f]{1,200}$")]
"""Without control characters, which no journal need keep and no log need show."""
ActionId = Annotated[str, Meta(pattern="^[^\\x00-\\x1f\\x7f]{1,250}/[0-9]{1,9}/[0-9]{1,9}$")]
"""`episode/step/number`; the manager and the host take it as it is, its parts are for logs."""
BlobName = Annotated[str, Meta(pattern="^(sha256-[0-9a-f]{64}[.][a-z0-9]+)?$")]
"""A blob key, or nothing."""
DeadlineS = Annotated[float, Meta(gt=0.0, le=3600.0)]

T = TypeVar("T")


class LeaseShown(Struct, frozen=True, kw_only=True):
    """What an operation shows of its Lease."""

    id: Name
    fence: Annotated[int, Meta(ge=0)]
    instance: Name
    turn: Annotated[int, Meta(ge=0)] = 0
    """Number of the operation under the Lease, the same when it is sent again; 0 is not counted."""


class ResetBody(Struct, frozen=True, kw_only=True):
    """Bring the Instance to a Task's initial state."""

    lease: LeaseShown
    deadline_s: DeadlineS
    start: Start | None = None
    start_blob: BlobName = ""


class ObserveBody(Struct, frozen=True, kw_only=True):
    """See what is there now."""

    lease: LeaseShown
    deadline_s: DeadlineS
    want: tuple[Want, ...] = ("frame",)


class StepBody(Struct, frozen=True, kw_only=True):
    """Carry out one Action once."""

    lease: LeaseShown
    deadline_s: DeadlineS
    action_id: ActionId
    action: Action | None = None
    action_blob: BlobName = ""


class EvaluateBody(Struct, frozen=True, kw_only=True):
    """Judge the Task of the last reset."""

    lease: LeaseShown
    deadline_s: DeadlineS
    claim: Claim | None = None
    claim_blob: BlobName = ""


class ObservationReply(Struct, frozen=True, kw_only=True):
    """What `reset` and `observe` saw."""

    observation: Observation | None = None
    blob: BlobKey = ""


class StepReply(Struct, frozen=True, kw_only=True):
    """What a step came to."""

    result: StepResult | None = None
    blob: BlobKey = ""


class VerdictReply(Struct, frozen=True, kw_only=True):
    """How the Task was judged."""

    verdict: Verdict | None = None
    blob: BlobKey = ""


class Done(Struct, frozen=True, kw_only=True, omit_defaults=False):
    """The answer to what has none: it was done."""

    ok: bool = True


def reset_body(lease: LeaseShown, start: Start, deadline_s: float, blobs: BlobStore) -> ResetBody:
    """Return the body of a reset; the Start goes to the store where it is large."""
    inline, key = stow(start, blobs)
    return ResetBody(lease=lease, deadline_s=deadline_s, start=inline, start_blob=key)


def observe_body(lease: LeaseShown, want: Sequence[Want], deadline_s: float) -> ObserveBody:
    """Return the body of an observe."""
    return ObserveBody(lease=lease, deadline_s=deadline_s, want=tuple(want))


def step_body(
    lease: LeaseShown, action_id: str, action: Action, deadline_s: float, blobs: BlobStore
) -> StepBody:
    """Return the body of a step; the Action goes to the store where it is large."""
    inline, key = stow(action, blobs)
    return StepBody(
        lease=lease, deadline_s=deadline_s, action_id=action_id, action=inline, action_blob=key
    )


def evaluate_body(
    lease: LeaseShown, claim: Claim, deadline_s: float, blobs: BlobStore
) -> EvaluateBody:
    """Return the body of an evaluate; the Claim goes to the store where it is large."""
    inline, key = stow(claim, blobs)
    return EvaluateBody(lease=lease, deadline_s=deadline_s, claim=inline, claim_blob=key)


def observation_reply(observation: Observation, blobs: BlobStore) -> ObservationReply:
    """Return the answer to a reset or observe."""
    inline, key = stow(observation, blobs)
    return ObservationReply(observation=inline, blob=key)


def step_reply(result: StepResult, blobs: BlobStore) -> StepReply:
    """Return the answer to a step."""
    inline, key = stow(result, blobs)
    return StepReply(result=inline, blob=key)


def verdict_reply(verdict: Verdict, blobs: BlobStore) -> VerdictReply:
    """Return the answer to an evaluate."""
    inline, key = stow(verdict, blobs)
    return VerdictReply(verdict=inline, blob=key)


def stow(value: T, blobs: BlobStore) -> tuple[T | None, BlobKey]:
    """Return the value itself where its encoding is small, else `None` and its key in the store.

    Raises:
        InfraFault: the store cannot be written.
    """
    data = msgspec.json.encode(value)
    if len(data) <= INLINE_BYTES:
        return value, ""
    return None, blobs.put(data, "json")


def unstow(inline: T | None, key: BlobKey, kind: Any, blobs: BlobStore) -> T:
    """Return the value that was stowed.

    Args:
        inline: the value, where the body held it.
        key: its key in the store, where it did not.
        kind: the value's type.
        blobs: the store that both sides share.

    Raises:
        ConfigError: the body holds neither or both, or the blob holds something else.
        InfraFault: the store has no such blob.
    """
    if (inline is None) == (not key):
        raise ConfigError("a body holds its value or the key of its value, one of the two")
    if inline is not None:
        return inline
    try:
        value: T = msgspec.json.decode(blobs.get(key), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"blob {key} is not what the body says: {error}") from error
    return value


def read_body(data: bytes, kind: type[T]) -> T:
    """Read a request's body.

    Raises:
        ConfigError: it is not JSON, or a field is missing, unknown or wrong; names its path.
    """
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"the body is no {kind.__name__}: {error}") from error


def read_reply(data: bytes, kind: type[T], where: str) -> T:
    """Read an answer's body.

    Raises:
        InfraFault: it is cut short or something else.
    """
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InfraFault(
            f"{where} answered with something that is no {kind.__name__}: {error}"
        ) from error
