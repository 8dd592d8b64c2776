"""Turns: the operations of one Lease are carried out one at a time, in the order they came."""

from __future__ import annotations

import asyncio

from screenloop.errors import DeadlinePassed


class LeaseLocks:
    """A line for each Lease that has operations under way; none for those at rest."""

    def __init__(self) -> None:
        self._lines: dict[str, asyncio.Lock] = {}
        self._waiting: dict[str, int] = {}

    async def take(self, lease_id: str, where: str, deadline_s: float) -> None:
        """Wait for the turn; `leave` follows. The first in line goes on without a pause.

        Raises:
            DeadlinePassed: those before took too long; names `where`.
        """
        line = self._lines.get(lease_id)
        if line is None:
            line = self._lines[lease_id] = asyncio.Lock()
        if not line.locked() and lease_id not in self._waiting:
            await line.acquire()
            return
        self._waiting[lease_id] = self._waiting.get(lease_id, 0) + 1
        try:
            async with asyncio.timeout(deadline_s):
                await line.acquire()
        except TimeoutError as error:
            raise DeadlinePassed(
                f"{where} did not get its turn within {deadline_s:g} s: an earlier operation is "
                "under way"
            ) from error
        finally:
            self._waiting[lease_id] -= 1
            if not self._waiting[lease_id]:
                del self._waiting[lease_id]
                if not line.locked():
                    # Given up at the very moment of its turn, and nobody behind it.
                    del self._lines[lease_id]

    def __len__(self) -> int:
        """Return how many Leases have operations under way."""
        return len(self._lines)

    def leave(self, lease_id: str) -> None:
        """Let the next one go on."""
        self._lines[lease_id].release()
        if lease_id not in self._waiting:
            del self._lines[lease_id]
