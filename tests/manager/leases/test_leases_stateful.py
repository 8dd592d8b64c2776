"""Leases under any order of grants, operations, failures and passing time."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule
from odometer import REF, START, TAP, Garage

from screenloop.errors import EnvironmentFault, LeaseLost
from screenloop.types import Lease

T = TypeVar("T")
TTL_S = 10.0


class Leases(RuleBasedStateMachine):
    """Keeps its own account of who holds what until when, and compares."""

    leases: Bundle[Lease] = Bundle("leases")

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.garage = Garage()
        self.manager = self.garage.manager()
        self.fences: dict[str, int] = {}
        self.live_until_s: dict[str, float] = {}
        self.granted: list[Lease] = []
        self.steps = 0

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    def is_live(self, lease: Lease) -> bool:
        return self.live_until_s.get(lease.id, 0.0) > self.garage.now_s

    @rule(target=leases)
    def acquire(self) -> Lease:
        lease = self.do(self.manager.acquire(REF, "run", ttl_s=TTL_S))
        assert lease.fence > self.fences.get(lease.instance, 0)
        self.fences[lease.instance] = lease.fence
        self.live_until_s[lease.id] = self.garage.now_s + TTL_S
        self.granted.append(lease)
        return lease

    @rule(lease=leases)
    def reset(self, lease: Lease) -> None:
        self.try_out(lease, self.manager.reset(lease, START, deadline_s=60))

    @rule(lease=leases)
    def step(self, lease: Lease) -> None:
        self.steps += 1
        work = self.manager.step(lease, f"e/{self.steps}/0", TAP, deadline_s=60)
        self.try_out(lease, work)

    @rule(lease=leases)
    def fail(self, lease: Lease) -> None:
        if not self.is_live(lease):
            return
        number = int(lease.instance.rpartition("-")[2])
        self.garage.made[number - 1].next_failure = EnvironmentFault("screen black")
        with pytest.raises(EnvironmentFault):
            self.do(self.manager.observe(lease, deadline_s=5))
        del self.live_until_s[lease.id]

    @rule(lease=leases)
    def release(self, lease: Lease) -> None:
        self.do(self.manager.release(lease))
        self.live_until_s.pop(lease.id, None)

    @rule(seconds=st.sampled_from([1.0, 4.0, 9.0, 11.0]))
    def wait(self, seconds: float) -> None:
        self.garage.now_s += seconds

    def try_out(self, lease: Lease, work: Coroutine[Any, Any, object]) -> None:
        if self.is_live(lease):
            self.do(work)
            self.live_until_s[lease.id] = self.garage.now_s + TTL_S
        else:
            with pytest.raises(LeaseLost):
                self.do(work)

    @invariant()
    def no_instance_has_two_live_leases(self) -> None:
        holders = [lease.instance for lease in self.granted if self.is_live(lease)]
        assert len(holders) == len(set(holders))

    def teardown(self) -> None:
        self.do(self.manager.close())
        self.loop.close()


Leases.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestLeases = Leases.TestCase
