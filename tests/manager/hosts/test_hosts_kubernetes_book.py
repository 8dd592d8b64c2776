"""What is known of Pods: from lists, events in order, and requests that the watch is behind of."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from screenloop.manager.hosts.kubernetes.manifests import HOST_LABEL
from screenloop.manager.hosts.kubernetes.pod_book import ENDED_KEPT, PodBook
from screenloop.manager.hosts.kubernetes.pods import Pod, look_at

GRACE_S = 30.0
PENDING_S = 100.0
Phase = Literal["Pending", "Running", "Succeeded", "Failed", "Unknown"]


def pod(host: str = "a", phase: Phase = "Pending", *, ready: bool = False, **parts: Any) -> Pod:
    """Return a Pod as the API shows it."""
    meta = {"name": host, "uid": f"u-{host}", "labels": {HOST_LABEL: host}}
    status: dict[str, Any] = {"phase": phase, "conditions": []}
    if phase == "Running":
        status |= {
            "podIP": "10.0.0.7",
            "conditions": [{"type": "Ready", "status": "True" if ready else "False"}],
        }
    shown = {
        "kind": "Pod",
        "metadata": meta | parts.get("metadata", {}),
        "spec": {"nodeName": "node-1"},
        "status": status | parts.get("status", {}),
    }
    return msgspec.json.decode(msgspec.json.encode(shown), type=Pod)


def ending(host: str = "a") -> Pod:
    return pod(
        host,
        "Running",
        metadata={
            "deletionTimestamp": "2026-01-01T00:00:00Z",
            "deletionGracePeriodSeconds": int(GRACE_S),
        },
    )


def book() -> PodBook:
    return PodBook(port=8700, pending_s=PENDING_S, grace_s=GRACE_S)


def state(known: PodBook, now_s: float = 1.0) -> dict[str, str]:
    return {one.host: one.state for one in known.seen(now_s)}


def reason(known: PodBook, now_s: float = 1.0) -> str:
    (one,) = known.seen(now_s)
    assert one.state == "gone"
    return one.reason


def test_a_host_runs_once_its_pod_is_ready_and_not_before() -> None:
    assert look_at(pod(phase="Running"), port=1).state == "starting"
    look = look_at(pod(phase="Running", ready=True), port=8700)
    assert (look.state, look.address) == ("running", "http://10.0.0.7:8700")
    sixth = pod(phase="Running", ready=True, status={"podIP": "fd00::7"})
    assert look_at(sixth, port=8700).address == "http://[fd00::7]:8700"


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ({"reason": "Evicted", "message": "low on memory"}, "Evicted: low on memory"),
        (
            {
                "conditions": [
                    {
                        "type": "DisruptionTarget",
                        "status": "True",
                        "reason": "PreemptionByScheduler",
                    }
                ]
            },
            "PreemptionByScheduler",
        ),
        (
            {
                "containerStatuses": [
                    {
                        "name": "host",
                        "state": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}},
                    }
                ]
            },
            "exit status 137 OOMKilled",
        ),
        ({}, "its pod is Failed"),
    ],
)
def test_the_reason_of_an_end_is_told(status: dict[str, Any], words: str) -> None:
    known = book()
    known.put(pod(phase="Failed", status=status), 0.0)
    assert words in reason(known)


def test_the_first_reason_stays_when_the_object_goes_too() -> None:
    known = book()
    known.put(pod(phase="Failed", status={"reason": "Evicted"}), 0.0)
    (removal,) = known.removals(1.0)
    assert (removal.name, removal.uid, removal.force) == ("a", "u-a", False)
    known.remove(pod())
    assert "Evicted" in reason(known)
    assert known.removals(1.0) == ()


def test_a_lost_node_is_told_whether_the_api_says_so_or_the_pod_just_does_not_go() -> None:
    known = book()
    known.put(pod(phase="Running", ready=True, status={"reason": "NodeLost"}), 0.0)
    assert "node-1 is lost" in reason(known)
    slow = book()
    slow.put(ending(), 0.0)
    assert state(slow, GRACE_S) == {"a": "starting"}
    assert not slow.is_overdue("a", GRACE_S)
    assert "lost" in reason(slow, 2 * GRACE_S)
    assert slow.is_overdue("a", 2 * GRACE_S)
    (removal,) = slow.removals(2 * GRACE_S)
    assert removal.force


def test_a_pod_that_is_never_ready_is_given_up_with_what_it_waits_for() -> None:
    known = book()
    waits = {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}
    known.put(pod(status={"containerStatuses": [{"name": "host", "state": waits}]}), 0.0)
    assert state(known, PENDING_S - 1) == {"a": "starting"}
    assert "ImagePullBackOff: no such image" in reason(known, PENDING_S)
    assert [one.name for one in known.removals(PENDING_S)] == ["a"]
    ready = book()
    ready.put(pod(phase="Running", ready=True), 0.0)
    ready.put(pod(phase="Running"), 50.0)
    assert state(ready, PENDING_S + 1) == {"a": "starting"}


def test_a_created_pod_is_there_before_any_watch_shows_it_and_a_late_answer_revives_none() -> None:
    known = book()
    known.created(pod(), 10.0)
    assert state(known) == {"a": "starting"}
    known.replace([], began_s=9.0, now_s=11.0)
    assert state(known) == {"a": "starting"}
    known.replace([], began_s=10.5, now_s=12.0)
    assert "nobody watched" in reason(known)
    known.created(pod(), 13.0)
    assert state(known) == {"a": "gone"}


def test_ended_hosts_are_remembered_up_to_a_bound_except_while_their_objects_are_there() -> None:
    known = book()
    known.put(pod("first", "Failed"), 0.0)
    for number in range(ENDED_KEPT + 10):
        known.put(pod(f"p{number}", "Failed"), 0.0)
        known.remove(pod(f"p{number}", "Failed"))
    assert len(known.seen(0.0)) == ENDED_KEPT
    assert state(known)["first"] == "gone"
    assert [one.name for one in known.removals(0.0)] == ["first"]


class Watched(RuleBasedStateMachine):
    """A book that hears of a cluster by events, or by lists after it missed some."""

    hosts = st.sampled_from("abcd")

    def __init__(self) -> None:
        super().__init__()
        self.known = book()
        self.there: dict[str, Pod] = {}
        self.over: set[str] = set()
        self.told: dict[str, Pod] = {}
        self.now_s = 0.0

    @rule(host=hosts, ready=st.booleans(), hears=st.booleans())
    def lives(self, host: str, ready: bool, hears: bool) -> None:
        if host not in self.over:
            self.there[host] = pod(host, "Running", ready=ready)
            self._tell(host, hears)

    @rule(host=hosts, hears=st.booleans())
    def fails(self, host: str, hears: bool) -> None:
        if host in self.there:
            self.there[host] = pod(host, "Failed")
            self.over.add(host)
            self._tell(host, hears)

    @rule(host=hosts, hears=st.booleans())
    def goes(self, host: str, hears: bool) -> None:
        if host in self.there:
            gone = self.there.pop(host)
            self.over.add(host)
            if hears and self.told.pop(host, None) is not None:
                self.known.remove(gone)

    @rule()
    def lists(self) -> None:
        self.now_s += 1.0
        self.known.replace(self.there.values(), began_s=self.now_s, now_s=self.now_s)
        self.told = dict(self.there)

    @invariant()
    def what_was_told_is_what_is_seen(self) -> None:
        seen = {one.host: one.state for one in self.known.seen(self.now_s)}
        for host, one in self.told.items():
            assert seen[host] == look_at(one, port=8700).state

    @invariant()
    def whatever_ended_and_is_there_is_to_be_removed(self) -> None:
        failed = {host for host, one in self.told.items() if one.status.phase == "Failed"}
        assert {one.name for one in self.known.removals(self.now_s)} == failed

    def _tell(self, host: str, hears: bool) -> None:
        if hears:
            self.known.put(self.there[host], self.now_s)
            self.told[host] = self.there[host]


TestWatched = Watched.TestCase
TestWatched.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)


@given(st.integers(min_value=0, max_value=40))
def test_a_book_of_many_pods_shows_each_once(count: int) -> None:
    known = book()
    known.replace([pod(f"p{one}") for one in range(count)], began_s=0.0, now_s=0.0)
    assert len({one.host for one in known.seen(0.0)}) == len(known.seen(0.0)) == count
