"""What travels between clients, managers and hosts: closed JSON, one struct a body.

A control message stays under 2 KB: an operation and its result travel inside the body while their
encoding is small, and else lie in the blob store that both sides share, with the key in the body.
"""

from __future__ import annotations

from typing import Annotated, Any, Generic, Literal, TypeVar

import msgspec
from msgspec import Meta

from screenloop.errors import ConfigError
from screenloop.manager.base import LeaseToken, Name
from screenloop.store.blobs import BlobStore
from screenloop.types import BlobKey, EnvRef, Struct

INLINE_BYTES = 1024
"""Encodings above this go to the blob store."""
WAIT_S = 20.0
"""How long one request for a Lease may wait; clients ask again."""

BlobName = Annotated[str, Meta(pattern="^(sha256-[0-9a-f]{64}[.][a-z0-9]+)?$")]
"""A blob key, or nothing."""
DeadlineS = Annotated[float, Meta(gt=0.0, le=3600.0)]

Op = TypeVar("Op")
R = TypeVar("R")
T = TypeVar("T")


# ---- for whoever holds a Lease -------------------------------------------------------------


class OperateBody(Struct, Generic[Op], frozen=True, kw_only=True):
    """Carry out an operation; it stands here or in the blob store, one of the two."""

    lease: LeaseToken
    deadline_s: DeadlineS
    operation: Op | None = None
    blob: BlobName = ""


class OperateReply(Struct, Generic[R], frozen=True, kw_only=True):
    """What an operation came to, here or in the blob store."""

    result: R | None = None
    blob: BlobKey = ""


class Done(Struct, frozen=True, kw_only=True, omit_defaults=False):
    """The answer to what has none: it was done."""

    ok: bool = True


# ---- between a manager and its clients -----------------------------------------------------


class AcquireBody(Struct, frozen=True, kw_only=True):
    """Grant the exclusive right to an Instance."""

    env: EnvRef
    run_id: Annotated[str, Meta(pattern="^[^\\x00-\\x1f\\x7f]{1,128}$")]
    """Begins the Lease's id, which is a name itself."""
    request_id: Name
    """Of the client's drawing; the same one again is answered with the same Lease."""
    ttl_s: Annotated[float, Meta(gt=0.0, le=86_400.0)]
    wait_s: Annotated[float, Meta(ge=0.0, le=WAIT_S)] = WAIT_S


class AcquireReply(Struct, frozen=True, kw_only=True):
    """A Lease; what its Instance can do is asked for once, by kind."""

    lease: LeaseToken
    expires_in_s: float
    host_url: str = ""


class WithdrawBody(Struct, frozen=True, kw_only=True):
    """Give up a request for a Lease, answered or not."""

    request_id: Name


class ReleaseBody(Struct, frozen=True, kw_only=True):
    """Give an Instance back."""

    lease: LeaseToken


class Info(Struct, frozen=True, kw_only=True):
    """What a client needs to know of a manager."""

    version: str
    blobs: str
    """URL of the store that frames and tasks travel through."""


class Health(Struct, frozen=True, kw_only=True):
    """Whether a manager takes requests."""

    ok: bool
    draining: bool


class PoolStatus(Struct, frozen=True, kw_only=True):
    """How a pool is doing."""

    env: EnvRef
    hosts: int
    hosts_starting: int
    ready: int
    """Instances that are up, those taken included."""
    taken: int
    starting: int
    waiting: int
    """Requests that nothing is free for."""
    quarantined: int
    """So far."""
    trouble: str = ""
    """Why nothing can be started at the moment."""


class Quarantined(Struct, frozen=True, kw_only=True):
    """An Instance that was taken out for good."""

    instance: str
    host: str
    reason: str
    wall_s: float
    """When, in seconds since 1970."""


class Status(Struct, frozen=True, kw_only=True, omit_defaults=False):
    """How a manager is doing, for people and for `screenloop top`."""

    version: str
    up_s: float
    leases: int
    acquiring: int
    in_flight: int
    draining: bool
    leases_by_run: dict[str, int]
    pools: tuple[PoolStatus, ...]
    quarantined: tuple[Quarantined, ...]
    """Lately."""
    faults: dict[str, int]
    """Failed operations since the start, by blame."""
    evaluated: int
    """Verdicts given since the start, unscored ones left out."""
    unscored: int
    """Attempts that ended without a Verdict through a fault, as far as a manager can tell: Leases
    that were lost, and verdicts that a broken task or verifier prevented."""


# ---- between a manager and its hosts -------------------------------------------------------


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


class OpenBody(Struct, frozen=True, kw_only=True):
    """Start an Instance."""

    instance: Name
    env: EnvRef
    deadline_s: DeadlineS


class BindBody(Struct, frozen=True, kw_only=True):
    """Put a new fence in force."""

    lease: LeaseToken
    """With no lease id where only the holders before are shut out."""
    ttl_s: Annotated[float, Meta(ge=0.0)]
    deadline_s: DeadlineS


class ShutBody(Struct, frozen=True, kw_only=True):
    """Close one Instance."""

    instance: Name
    deadline_s: DeadlineS


# ---- small or stored -----------------------------------------------------------------------


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
