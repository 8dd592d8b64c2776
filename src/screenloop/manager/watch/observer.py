"""Who is told what a manager does: metrics, logs, tests."""

from __future__ import annotations

from typing import Protocol

from screenloop.manager.journal.base import LeaseRecord


class Observer(Protocol):
    """Told after the fact; must not fail and must not wait. What is not overridden is ignored."""

    def leased(self, kind: str, waited_s: float, error: BaseException | None) -> None:
        """Learn of a request that was granted, or refused, so long after it was first made."""
        return

    def operated(
        self,
        lease: LeaseRecord,
        name: str,
        seconds: float,
        error: BaseException | None,
        action_id: str,
    ) -> None:
        """Learn of an operation (`reset`, `observe`, `step`, `evaluate`) that is over.

        The action id is a step's, and empty for the others.
        """
        return

    def started(self, kind: str, seconds: float) -> None:
        """Learn of an Instance that became ready after so long."""
        return

    def lost(self, lease: LeaseRecord, reason: str) -> None:
        """Learn of a Lease that ended before its holder gave it back."""
        return


class NullObserver(Observer):
    """Is told and does nothing."""
