"""Bodies that only a manager and its clients exchange."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from screenloop.manager.supply.pool import PoolStatus, Quarantined
from screenloop.manager.wire.bodies import LeaseShown, Name
from screenloop.types import EnvRef, Struct

WAIT_S = 20.0
"""How long one request for a Lease may wait; clients ask again."""


class AcquireBody(Struct, frozen=True, kw_only=True):
    """Grant the exclusive right to an Instance."""

    env: EnvRef
    run_id: Annotated[str, Meta(pattern="^[^\\x00-\\x1f\\x7f]{1,128}$")]
    """Begins the Lease's id, which is a name itself."""
    request_id: Name
    """Of the client's drawing; the same one again is answered with the same Lease."""
    ttl_s: Annotated[float, Meta(gt=0.0, le=86_400.0)]
    wait_s: Annotated[float, Meta(ge=0.0, le=WAIT_S)] = WAIT_S


class LeaseReply(Struct, frozen=True, kw_only=True):
    """A Lease; what its Instance can do is asked for once, by kind."""

    id: str
    fence: int
    instance: str
    expires_in_s: float
    host_url: str = ""


class WithdrawBody(Struct, frozen=True, kw_only=True):
    """Give up a request for a Lease, answered or not."""

    request_id: Name


class ReleaseBody(Struct, frozen=True, kw_only=True):
    """Give an Instance back."""

    lease: LeaseShown


class Info(Struct, frozen=True, kw_only=True):
    """What a client needs to know of a manager."""

    version: str
    blobs: str
    """URL of the store that frames and tasks travel through."""


class Health(Struct, frozen=True, kw_only=True):
    """Whether a manager takes requests."""

    ok: bool
    draining: bool


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
