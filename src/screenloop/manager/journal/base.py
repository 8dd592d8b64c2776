"""The Journal contract: the part of a manager that survives its process.

Written before the act: a grant before the host is told, an intent before the host is asked, an end
before the Instance goes back. Renewals are not written: a restarted manager gives each Lease its
whole time to live anew. Durable means process death, not power loss.
"""

from __future__ import annotations

from typing import Protocol

from screenloop.manager.base import LeaseToken, TakeStep
from screenloop.types import EnvRef, Struct


class LeaseRecord(Struct, frozen=True, kw_only=True):
    """A grant: who holds which Instance under which fence."""

    instance: str
    fence: int
    lease_id: str
    run_id: str
    request_id: str
    """Of the acquire that it answers."""
    ttl_s: float
    env: EnvRef
    host: str
    boot: str

    @property
    def token(self) -> LeaseToken:
        """What its holder shows."""
        return LeaseToken(instance=self.instance, lease_id=self.lease_id, fence=self.fence)


class FreeRecord(Struct, frozen=True, kw_only=True):
    """An Instance that nobody holds, and the newest fence it ever had."""

    instance: str
    fence: int
    env: EnvRef
    host: str
    boot: str


class Intent(Struct, frozen=True, kw_only=True):
    """A step that the host is about to be asked for."""

    token: LeaseToken
    step: TakeStep
    deadline_s: float


class Journalled(Struct, frozen=True, kw_only=True):
    """All that a Journal holds."""

    leases: tuple[LeaseRecord, ...] = ()
    free: tuple[FreeRecord, ...] = ()
    intents: tuple[Intent, ...] = ()
    """Of leases that are held, oldest first."""


class Journal(Protocol):
    """Keeps one record an Instance and one an intent.

    Each call returns when its record is safe from the death of this process.

    Raises:
        InfraFault: the record could not be written or read (disk full, server away); nothing has
            changed, or the change is unknown. Later calls may succeed.
    """

    async def grant(self, record: LeaseRecord) -> None:
        """Write down a Lease in place of whatever was known of its Instance.

        Raises:
            LeaseLost: the Journal knows this fence or a newer one; another manager granted it.
        """
        ...

    async def end(self, record: FreeRecord) -> None:
        """Write down that nobody holds the Instance any more, and the fence that shuts out who did.

        Its intents are struck off. A fence older than the known one changes nothing.
        """
        ...

    async def forget(self, instance: str) -> None:
        """Strike off an Instance that is gone for good, with its Lease and intents."""
        ...

    async def intend(self, intent: Intent) -> None:
        """Write down a step before the host is asked; the same one again is harmless."""
        ...

    async def settle(self, instance: str, fence: int, action_id: str) -> None:
        """Strike off an intent whose end is known."""
        ...

    async def load(self) -> Journalled:
        """Return all that is known."""
        ...

    async def close(self) -> None:
        """Let go of the storage; what was written stays."""
        ...
