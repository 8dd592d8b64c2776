"""Who holds what: the table of Leases. Pure, in memory; the time is an argument.

A Lease is exclusive, expires, and carries a fence that grows with each grant of its Instance. Each
admitted operation moves the end `ttl_s` ahead. What ended is remembered for a while, with the
reason, for those who come late.
"""

from __future__ import annotations

import heapq
from collections import OrderedDict
from collections.abc import Iterator

from msgspec.structs import replace

from screenloop.errors import LeaseLost
from screenloop.manager.base import LeaseToken
from screenloop.manager.journal.base import LeaseRecord

KEEP_ENDED = 20_000
"""Ended Leases that are remembered with their reason."""


class HeldLease:
    """A Lease in force, as the table keeps it; read by all, changed by the table only."""

    __slots__ = ("expires_s", "in_flight", "record")

    def __init__(self, record: LeaseRecord, expires_s: float) -> None:
        self.record = record
        self.expires_s = expires_s
        self.in_flight = 0
        """Admitted operations that are not over."""


class EndedLease:
    """A Lease that is over."""

    __slots__ = ("reason", "request_id", "token")

    def __init__(self, record: LeaseRecord, reason: str) -> None:
        self.token = record.token
        self.request_id = record.request_id
        self.reason = reason


class LeaseTable:
    """Leases by id, by Instance and by the request that asked for them."""

    def __init__(self, *, fencing: bool = True, keep_ended: int = KEEP_ENDED) -> None:
        """Start empty.

        Args:
            fencing: False admits whoever names a leased Instance: only for showing that tests
                would see it.
            keep_ended: how many ended Leases are remembered.
        """
        self._fencing = fencing
        self._keep_ended = keep_ended
        self._by_id: dict[str, HeldLease] = {}
        self._by_instance: dict[str, HeldLease] = {}
        self._by_request: dict[str, HeldLease] = {}
        self._fences: dict[str, int] = {}
        self._ends: list[tuple[float, str]] = []
        """Heap of (end, lease id); an entry whose Lease ended or was renewed is stale."""
        self._ended: OrderedDict[str, EndedLease] = OrderedDict()
        self._ended_requests: dict[str, str] = {}

    def __len__(self) -> int:
        """Return how many Leases are held, expired ones that nobody ended included."""
        return len(self._by_id)

    def __iter__(self) -> Iterator[HeldLease]:
        return iter(list(self._by_id.values()))

    # ---- grants ------------------------------------------------------------------------------

    def next_fence(self, instance: str, at_least: int = 0) -> int:
        """Return a fence above every one that the Instance ever had, and take note of it.

        Args:
            instance: its name.
            at_least: the newest one that somebody else (host, journal) knows of.
        """
        fence = max(self._fences.get(instance, 0), at_least) + 1
        self._fences[instance] = fence
        return fence

    def note_fence(self, instance: str, fence: int) -> None:
        """Learn of a fence from a journal."""
        self._fences[instance] = max(self._fences.get(instance, 0), fence)

    def grant(self, record: LeaseRecord, now_s: float) -> HeldLease:
        """Put a Lease in force.

        Raises:
            LeaseLost: the Instance is held, or has had this fence or a newer one in force.
        """
        holder = self._by_instance.get(record.instance)
        if holder is not None:
            raise LeaseLost(
                f"{record.instance} is held by lease {holder.record.lease_id}: it cannot be "
                "granted again before that ended"
            )
        if record.fence < self._fences.get(record.instance, 0):
            raise LeaseLost(
                f"{record.instance} is at fence {self._fences[record.instance]}: fence "
                f"{record.fence} cannot be granted"
            )
        self._fences[record.instance] = record.fence
        held = HeldLease(record, now_s + record.ttl_s)
        self._by_id[record.lease_id] = held
        self._by_instance[record.instance] = held
        self._by_request[record.request_id] = held
        self._push(held)
        return held

    def of_request(self, request_id: str, now_s: float) -> HeldLease | None:
        """Return the Lease that answers a request, `None` when it was never granted.

        Raises:
            LeaseLost: it was granted, and that Lease is over.
        """
        held = self._by_request.get(request_id)
        if held is not None:
            self._require_time(held, now_s)
            return held
        lease_id = self._ended_requests.get(request_id)
        if lease_id is not None:
            raise LeaseLost(
                f"the request was answered with lease {lease_id}, which is over: "
                f"{self._ended[lease_id].reason}"
            )
        return None

    def held_by_request(self, request_id: str) -> HeldLease | None:
        return self._by_request.get(request_id)

    # ---- use ---------------------------------------------------------------------------------

    def admit(self, token: LeaseToken, now_s: float) -> HeldLease:
        """Let the holder carry out one operation, and renew the Lease; `finish` follows.

        Raises:
            LeaseLost: it expired, ended or was replaced; says which and why.
        """
        held = self._held(token)
        if held is None:
            late = None if self._fencing else self._by_instance.get(token.instance)
            if late is None:
                raise self._refusal(token)
            held = late
        elif self._fencing:
            self._require_time(held, now_s)
        held.expires_s = now_s + held.record.ttl_s
        held.in_flight += 1
        return held

    def finish(self, held: HeldLease) -> None:
        """Note that an admitted operation is over."""
        held.in_flight -= 1

    def require(self, held: HeldLease) -> None:
        """Refuse to go on under a Lease that ended since it was admitted.

        Raises:
            LeaseLost: says why it is over.
        """
        if self._by_id.get(held.record.lease_id) is not held:
            raise self._refusal(held.record.token)

    def renew(self, instance: str, fence: int, used_s: float) -> None:
        """Take note that the holder used the Instance at this time without asking the manager."""
        held = self._by_instance.get(instance)
        if held is not None and held.record.fence == fence:
            held.expires_s = max(held.expires_s, used_s + held.record.ttl_s)

    # ---- ends --------------------------------------------------------------------------------

    def release(self, token: LeaseToken) -> HeldLease | None:
        """End a Lease for its holder; `None` when it is already over or was never known."""
        held = self._held(token)
        return None if held is None else self.end(held, "it was released")

    def revoke(self, instance: str, reason: str) -> HeldLease | None:
        """End whatever Lease is on the Instance."""
        held = self._by_instance.get(instance)
        return None if held is None else self.end(held, reason)

    def end(self, held: HeldLease, reason: str) -> HeldLease | None:
        """End a Lease and remember why; `None` when it had ended before."""
        record = held.record
        if self._by_id.get(record.lease_id) is not held:
            return None
        del self._by_id[record.lease_id]
        del self._by_instance[record.instance]
        # A grant that failed half-way and was recovered may share its request with its successor.
        if self._by_request.get(record.request_id) is held:
            del self._by_request[record.request_id]
        self.remember(record, reason)
        if len(self._ends) > 2 * len(self._by_id) + 64:
            self._ends = [(live.expires_s, lease_id) for lease_id, live in self._by_id.items()]
            heapq.heapify(self._ends)
        return held

    def remember(self, record: LeaseRecord, reason: str) -> None:
        """Keep why a Lease is over, also of one that was never in force here."""
        self._ended[record.lease_id] = EndedLease(record, reason)
        self._ended_requests[record.request_id] = record.lease_id
        while len(self._ended) > self._keep_ended:
            _, oldest = self._ended.popitem(last=False)
            self._ended_requests.pop(oldest.request_id, None)

    def expire(self, now_s: float) -> list[HeldLease]:
        """End the Leases whose time is over and return them.

        One with an operation in flight goes on until that is over, so that its Instance is not
        given to somebody else in the middle.
        """
        over: list[HeldLease] = []
        busy: list[HeldLease] = []
        while self._ends and self._ends[0][0] <= now_s:
            _, lease_id = heapq.heappop(self._ends)
            held = self._by_id.get(lease_id)
            if held is None:
                continue
            if held.in_flight:
                busy.append(held)
            elif held.expires_s > now_s:
                self._push(held)
            else:
                self.end(held, "it expired")
                over.append(held)
        for held in busy:
            self._push(held)
        return over

    def forget(self, instance: str) -> None:
        """Strike off an Instance that is gone for good; its name never comes back."""
        self._fences.pop(instance, None)

    # ---- parts -------------------------------------------------------------------------------

    def _push(self, held: HeldLease) -> None:
        heapq.heappush(self._ends, (held.expires_s, held.record.lease_id))

    def _require_time(self, held: HeldLease, now_s: float) -> None:
        if now_s >= held.expires_s:
            raise LeaseLost(f"lease {held.record.lease_id} expired; ask for a new one")

    def _held(self, token: LeaseToken) -> HeldLease | None:
        """Return the Lease in force that a token stands for."""
        held = self._by_id.get(token.lease_id)
        if held is None:
            return None
        record = held.record
        fits = record.fence == token.fence and record.instance == token.instance
        return held if fits else None

    def _refusal(self, token: LeaseToken) -> LeaseLost:
        ended = self._ended.get(token.lease_id)
        instance, at = token.instance, self._fences.get(token.instance)
        words = f"lease {token.lease_id} shows fence {token.fence} of {instance}"
        if ended is not None and ended.token == replace(token, turn=0):
            words += f", but is over: {ended.reason}"
            if at is not None and at > token.fence:
                words += f"; {instance} is at fence {at}"
        elif at is None:
            words += ", but this manager knows no such lease or instance"
        else:
            words += f", but {instance} is at fence {at} and this lease is not known"
        return LeaseLost(f"{words}. Ask for a new lease.")
