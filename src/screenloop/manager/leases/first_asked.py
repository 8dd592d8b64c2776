"""Since when each request for a Lease is asked again: a wait goes over many short requests."""

from __future__ import annotations

from collections import OrderedDict

MOST = 100_000
"""Requests that are remembered; the oldest are forgotten first."""


class FirstAsked:
    """When each request that has no answer yet was first made."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._since_s: OrderedDict[str, float] = OrderedDict()

    def since_s(self, request_id: str, now_s: float) -> float:
        """Return when the request was first made: now, for one that is new."""
        since_s = self._since_s.setdefault(request_id, now_s)
        if len(self._since_s) > self._most:
            self._since_s.popitem(last=False)
        return since_s

    def forget(self, request_id: str) -> None:
        """Strike off a request that has its answer, or was given up."""
        self._since_s.pop(request_id, None)
