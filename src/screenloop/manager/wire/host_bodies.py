"""Bodies that only a manager and a host exchange; each comes with the host's bearer token."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from screenloop.manager.hosts.base import HostPlan, LeaseToken
from screenloop.manager.wire.bodies import DeadlineS, Name
from screenloop.types import EnvRef, Struct


class OpenBody(Struct, frozen=True, kw_only=True):
    """Start an Instance."""

    instance: Name
    env: EnvRef
    deadline_s: DeadlineS


class BindBody(Struct, frozen=True, kw_only=True):
    """Put a new fence in force."""

    grip: LeaseToken
    """With no lease id where only the holders before are shut out."""
    ttl_s: Annotated[float, Meta(ge=0.0)]
    deadline_s: DeadlineS


class ShutBody(Struct, frozen=True, kw_only=True):
    """Close one Instance."""

    instance: Name
    deadline_s: DeadlineS


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
