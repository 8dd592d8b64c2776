"""A Journal that lives as long as its object: for managers that need not survive, and for tests."""

from __future__ import annotations

from screenloop.errors import LeaseLost
from screenloop.manager.journal.base import FreeRecord, Intent, Journalled, LeaseRecord


class MemoryJournal:
    """Keeps the records in dictionaries."""

    def __init__(self) -> None:
        self._instances: dict[str, LeaseRecord | FreeRecord] = {}
        self._intents: dict[str, dict[tuple[int, str], Intent]] = {}

    async def grant(self, record: LeaseRecord) -> None:
        known = self._instances.get(record.instance)
        if known is not None and known.fence >= record.fence:
            raise LeaseLost(
                f"{record.instance} is at fence {known.fence} in the journal: fence "
                f"{record.fence} cannot be granted"
            )
        self._instances[record.instance] = record

    async def end(self, record: FreeRecord) -> None:
        known = self._instances.get(record.instance)
        if known is None or known.fence <= record.fence:
            self._intents.pop(record.instance, None)
            self._instances[record.instance] = record

    async def forget(self, instance: str) -> None:
        self._instances.pop(instance, None)
        self._intents.pop(instance, None)

    async def intend(self, intent: Intent) -> None:
        intents = self._intents.setdefault(intent.token.instance, {})
        intents.setdefault((intent.token.fence, intent.step.action_id), intent)

    async def settle(self, instance: str, fence: int, action_id: str) -> None:
        intents = self._intents.get(instance)
        if intents is None:
            return
        intents.pop((fence, action_id), None)
        if not intents:
            del self._intents[instance]

    async def load(self) -> Journalled:
        records = self._instances.values()
        leases = tuple(record for record in records if isinstance(record, LeaseRecord))
        return Journalled(
            leases=leases,
            free=tuple(record for record in records if isinstance(record, FreeRecord)),
            intents=tuple(
                intent
                for lease in leases
                for intent in self._intents.get(lease.instance, {}).values()
                if intent.token.fence == lease.fence
            ),
        )

    async def close(self) -> None:
        """Let go of nothing: the records live as long as this object."""
