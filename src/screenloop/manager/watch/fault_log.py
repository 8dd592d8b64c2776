"""Faults as lines of a log, each with its lease, instance, host, run and, where known, episode."""

from __future__ import annotations

import logging

from screenloop.errors import Blame, Busy, ScreenloopError
from screenloop.manager.failures import message_of
from screenloop.manager.journal.base import LeaseRecord
from screenloop.manager.watch.observer import Observer

_log = logging.getLogger(__name__)


class FaultLog:
    """An Observer that writes down what went wrong, and tells another one everything.

    What an agent does wrong is no fault, and neither is having to come again.
    """

    def __init__(self, other: Observer) -> None:
        self._other = other

    def leased(self, kind: str, waited_s: float, error: BaseException | None) -> None:
        if error is not None and not isinstance(error, Busy):
            _log.warning("no %s lease was granted: %s", kind, message_of(error))
        self._other.leased(kind, waited_s, error)

    def operated(
        self,
        lease: LeaseRecord,
        name: str,
        seconds: float,
        error: BaseException | None,
        action_id: str,
    ) -> None:
        blame = error.blame if isinstance(error, ScreenloopError) else Blame.INFRASTRUCTURE
        if error is not None and blame is not Blame.AGENT:
            _log.warning("%s failed: %s", name, message_of(error), extra=_fields(lease, action_id))
        self._other.operated(lease, name, seconds, error, action_id)

    def started(self, kind: str, seconds: float) -> None:
        self._other.started(kind, seconds)

    def lost(self, lease: LeaseRecord, reason: str) -> None:
        _log.warning("a lease is lost: %s", reason, extra=_fields(lease, ""))
        self._other.lost(lease, reason)


def _fields(lease: LeaseRecord, action_id: str) -> dict[str, str]:
    """Return what a line carries; an action id is `episode/step/number`."""
    fields = {
        "lease": lease.lease_id,
        "instance": lease.instance,
        "host": lease.host,
        "run": lease.run_id,
    }
    episode = action_id.rsplit("/", 2)[0] if action_id.count("/") >= 2 else ""
    return {**fields, "episode": episode} if episode else fields
