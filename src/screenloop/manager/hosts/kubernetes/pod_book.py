"""Which hosts there are in a cluster, kept from lists, watch events and our own requests.

Nothing here waits or talks; time is given.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

from screenloop.manager.hosts.base import HostSeen
from screenloop.manager.hosts.kubernetes.pods import Pod, PodLook, look_at, why_deleted
from screenloop.types import Struct

ENDED_KEPT = 256
"""Ended hosts that are remembered with the reason."""
CONFIRM_S = 15.0
"""How long past its grace a Pod may take to go before its node is taken for lost."""


class Removal(Struct, frozen=True, kw_only=True):
    """A Pod whose object is of no more use."""

    name: str
    uid: str
    force: bool
    """Whether it must go without its node's consent."""


@dataclass(kw_only=True)
class _Known:
    pod: Pod
    look: PodLook
    """What it comes to."""
    since_s: float
    """When it was first heard of."""
    answered_s: float | None = None
    """When its creation was answered, while no list or watch has shown it."""
    ending_s: float | None = None
    """When it was first seen to be ending."""


class PodBook:
    """What is known of the Pods of one owner."""

    def __init__(self, *, port: int, pending_s: float, grace_s: float) -> None:
        """Start empty.

        Args:
            port: that hosts listen on.
            pending_s: how long a Pod may take to be ready.
            grace_s: what a Pod gets to end where it does not say so itself.
        """
        self._port = port
        self._pending_s = pending_s
        self._grace_s = grace_s
        self._known: dict[str, _Known] = {}
        self._ended: OrderedDict[str, str] = OrderedDict()
        self._ready: set[str] = set()

    def created(self, pod: Pod, now_s: float) -> None:
        """Note a Pod that we were told was created; the watch may be late, or ahead."""
        if pod.host not in self._known and pod.host not in self._ended:
            look = look_at(pod, port=self._port)
            self._known[pod.host] = _Known(pod=pod, look=look, since_s=now_s, answered_s=now_s)

    def put(self, pod: Pod, now_s: float) -> None:
        look = look_at(pod, port=self._port)
        known = self._known.get(pod.host)
        if known is None:
            known = self._known[pod.host] = _Known(pod=pod, look=look, since_s=now_s)
        known.pod, known.look, known.answered_s = pod, look, None
        if pod.metadata.deletion_timestamp is not None and known.ending_s is None:
            known.ending_s = now_s
        if look.state == "running":
            self._ready.add(pod.host)
        elif look.state == "gone":
            self._end(pod.host, look.reason)

    def remove(self, pod: Pod) -> None:
        self._known.pop(pod.host, None)
        self._end(pod.host, why_deleted(pod))

    def replace(self, pods: Iterable[Pod], *, began_s: float, now_s: float) -> None:
        """Take over a whole list.

        Args:
            pods: all there are.
            began_s: when the list was asked for: what was created since may not be in it.
            now_s: when it came.
        """
        there = {pod.host: pod for pod in pods}
        for host, known in list(self._known.items()):
            fresh = known.answered_s is not None and known.answered_s >= began_s
            if host not in there and not fresh:
                del self._known[host]
                self._end(host, "its pod went while nobody watched")
        for pod in there.values():
            self.put(pod, now_s)

    def seen(self, now_s: float) -> tuple[HostSeen, ...]:
        self._give_up(now_s)
        there: list[HostSeen] = []
        for host, known in self._known.items():
            if host in self._ended:
                continue
            look = known.look
            if look.state != "gone":
                there.append(
                    HostSeen(host=host, state=look.state, address=look.address, reason=look.reason)
                )
        gone = [HostSeen(host=host, state="gone", reason=why) for host, why in self._ended.items()]
        return (*there, *gone)

    def removals(self, now_s: float) -> tuple[Removal, ...]:
        """Return the Pods that ended, or never will, and whose objects are still there."""
        self._give_up(now_s)
        return tuple(
            Removal(
                name=known.pod.metadata.name,
                uid=known.pod.metadata.uid,
                force=self._overdue(known, now_s),
            )
            for host, known in self._known.items()
            if host in self._ended and (known.ending_s is None or self._overdue(known, now_s))
        )

    def is_overdue(self, host: str, now_s: float) -> bool:
        """Tell whether a Pod was to end and did not, so that asking again must force it."""
        known = self._known.get(host)
        return known is not None and self._overdue(known, now_s)

    def _give_up(self, now_s: float) -> None:
        """Take Pods for gone that will not become ready, or whose node does not answer."""
        for host, known in self._known.items():
            if host in self._ended:
                continue
            if self._overdue(known, now_s):
                node = known.pod.spec.node_name or "none"
                self._end(host, f"its pod does not end; its node ({node}) is lost")
            elif host not in self._ready and now_s - known.since_s >= self._pending_s:
                self._end(host, f"not ready after {self._pending_s:g} s: {known.look.reason}")

    def _overdue(self, known: _Known, now_s: float) -> bool:
        if known.ending_s is None:
            return False
        grace_s = known.pod.metadata.deletion_grace_period_seconds
        allowed_s = (self._grace_s if grace_s is None else grace_s) + CONFIRM_S
        return now_s - known.ending_s >= allowed_s

    def _end(self, host: str, reason: str) -> None:
        """Note the first reason; what comes after it is only what follows."""
        self._ready.discard(host)
        if host not in self._ended:
            self._ended[host] = reason
        if len(self._ended) > ENDED_KEPT:
            # Those whose objects are still there must stay known as ended.
            old = [one for one in self._ended if one not in self._known]
            for one in old[: len(self._ended) - ENDED_KEPT]:
                del self._ended[one]
