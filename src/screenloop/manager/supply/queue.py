"""Who is next: a fair, bounded queue of requests for Instances, across Runs.

`FairQueue` decides and knows no I/O; `AcquireQueue` lets coroutines wait in it.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from typing import Generic, TypeVar

from screenloop.errors import Busy, InfraFault, ScreenloopError
from screenloop.manager.clock import Clock
from screenloop.types import EnvRef, Struct

FIRST_GUESS_S = 2.0
"""What `retry_after_s` says before a rate was measured."""
LEAST_S, MOST_S = 0.5, 60.0
"""Bounds of `retry_after_s`."""
_GRANTS_KEPT = 64
"""Grants over which the rate is measured."""

T = TypeVar("T")


class Waiter(Struct, frozen=True, kw_only=True):
    """One request that nothing was free for."""

    number: int
    """Its place in the order of arrival."""
    env: EnvRef
    run_id: str
    since_s: float
    until_s: float


class GrantRate:
    """How fast requests are served lately."""

    def __init__(self) -> None:
        self._times_s: deque[float] = deque(maxlen=_GRANTS_KEPT)

    def count(self, now_s: float) -> None:
        """Note that one was served."""
        self._times_s.append(now_s)

    def wait_s(self, ahead: int, now_s: float) -> float:
        """Return after how long a request with so many ahead of it may expect its turn.

        The time runs on while nothing is served, so the answer grows with a standstill.
        """
        if not self._times_s:
            return FIRST_GUESS_S
        each_s = (now_s - self._times_s[0]) / len(self._times_s)
        return min(MOST_S, max(LEAST_S, each_s * (ahead + 1)))


class FairQueue:
    """Requests in max-min fair order: the Run that holds the fewest is next.

    Among Runs that hold equally many the one whose first request waits longest is next, and within
    a Run the first come. A Run that holds nothing is therefore passed over only by Runs that hold
    nothing either and came before it. When the queue is full the Run with the most requests in it
    gives one up for a Run with fewer, so that no Run can shut others out.
    """

    def __init__(self, *, limit: int) -> None:
        self._limit = limit
        self._waiting: dict[EnvRef, dict[str, OrderedDict[int, Waiter]]] = {}
        self._of_run: Counter[str] = Counter()
        self._until: list[tuple[float, int]] = []
        self._all: dict[int, Waiter] = {}
        self._held: dict[EnvRef, Counter[str]] = {}
        self._rates: dict[EnvRef, GrantRate] = {}
        self._numbers = 0

    def __len__(self) -> int:
        return len(self._all)

    def waiting(self, env: EnvRef) -> int:
        return sum(len(waiters) for waiters in self._waiting.get(env, {}).values())

    def held(self, env: EnvRef) -> dict[str, int]:
        """Return how many Instances of this Environment each Run holds."""
        return dict(self._held.get(env, {}))

    def retry_after_s(self, env: EnvRef, now_s: float) -> float:
        """Return after how long it is worth asking again, from the measured rate."""
        return self._rate(env).wait_s(self.waiting(env), now_s)

    def push(
        self, env: EnvRef, run_id: str, *, now_s: float, until_s: float
    ) -> tuple[Waiter, Waiter | None]:
        """Enqueue a request; returns it, and the one that had to give way to it.

        Raises:
            Busy: the queue is full and no Run has more requests in it than this one would.
        """
        out: Waiter | None = None
        if len(self._all) >= self._limit:
            most = max(self._of_run, key=lambda run: self._of_run[run])
            if self._of_run[most] <= self._of_run[run_id] + 1:
                raise self.busy(env, now_s, f"{len(self._all)} requests wait already")
            last = max(
                next(reversed(runs[most])) for runs in self._waiting.values() if most in runs
            )
            out = self._all[last]
            self.drop(last)
        self._numbers += 1
        waiter = Waiter(
            number=self._numbers, env=env, run_id=run_id, since_s=now_s, until_s=until_s
        )
        self._all[waiter.number] = waiter
        self._of_run[run_id] += 1
        runs = self._waiting.setdefault(env, {})
        runs.setdefault(run_id, OrderedDict())[waiter.number] = waiter
        heapq.heappush(self._until, (until_s, waiter.number))
        return waiter, out

    def drop(self, number: int) -> bool:
        """Take a request out; tells whether it was there."""
        waiter = self._all.pop(number, None)
        if waiter is None:
            return False
        runs = self._waiting[waiter.env]
        del runs[waiter.run_id][number]
        if not runs[waiter.run_id]:
            del runs[waiter.run_id]
        self._of_run[waiter.run_id] -= 1
        if not self._of_run[waiter.run_id]:
            del self._of_run[waiter.run_id]
        return True

    def next(self, env: EnvRef) -> Waiter | None:
        """Take out the request that is next for a free Instance; `None` when nobody waits."""
        runs = self._waiting.get(env)
        if not runs:
            return None
        held = self._held.get(env, Counter())
        run_id = min(runs, key=lambda run: (held[run], next(iter(runs[run]))))
        number, waiter = next(iter(runs[run_id].items()))
        self.drop(number)
        return waiter

    def expired(self, now_s: float) -> tuple[Waiter, ...]:
        """Take out the requests whose time is over."""
        over: list[Waiter] = []
        while self._until and (self._until[0][0] <= now_s or self._until[0][1] not in self._all):
            number = heapq.heappop(self._until)[1]
            waiter = self._all.get(number)
            if waiter is not None:
                self.drop(number)
                over.append(waiter)
        return tuple(over)

    def hold(self, env: EnvRef, run_id: str, now_s: float) -> None:
        self._held.setdefault(env, Counter())[run_id] += 1
        self._rate(env).count(now_s)

    def let_go(self, env: EnvRef, run_id: str) -> None:
        held = self._held[env]
        held[run_id] -= 1
        if not held[run_id]:
            del held[run_id]

    def busy(self, env: EnvRef, now_s: float, why: str) -> Busy:
        """Return the refusal: what is short, and when to come again."""
        after_s = self.retry_after_s(env, now_s)
        return Busy(
            f"no {env.kind} instance is free: {why}; ask again in {after_s:.1f} s",
            retry_after_s=after_s,
        )

    def _rate(self, env: EnvRef) -> GrantRate:
        if env not in self._rates:
            self._rates[env] = GrantRate()
        return self._rates[env]


class AcquireQueue(Generic[T]):
    """Coroutines that wait for an Instance, each handed at most one.

    Whoever has something free calls `offer`; what was handed to a coroutine that was cancelled in
    the same moment goes to `unclaimed`, so that nothing is lost.
    """

    def __init__(
        self, *, clock: Clock, unclaimed: Callable[[EnvRef, str, T], None], limit: int = 100_000
    ) -> None:
        """Prepare.

        Args:
            clock: what deadlines are counted by.
            unclaimed: takes back an Instance and the Run it was counted for.
            limit: requests that may wait, over all Environments.
        """
        self.fair = FairQueue(limit=limit)
        self._clock = clock
        self._unclaimed = unclaimed
        self._futures: dict[int, asyncio.Future[T]] = {}

    async def wait(self, env: EnvRef, run_id: str, *, wait_s: float) -> T:
        """Return what is handed to this request, counted as held by its Run.

        Raises:
            Busy: nothing came within `wait_s`, or the queue is full.
        """
        now_s = self._clock.now_s()
        waiter, out = self.fair.push(env, run_id, now_s=now_s, until_s=now_s + wait_s)
        if out is not None:
            self._refuse(out, "the queue is full and its run has the most requests in it")
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._futures[waiter.number] = future
        try:
            return await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled() and future.exception() is None:
                self._unclaimed(env, run_id, future.result())
            raise
        finally:
            self.fair.drop(waiter.number)
            self._futures.pop(waiter.number, None)

    def offer(self, env: EnvRef, item: T) -> str | None:
        """Hand something free to the request that is next; returns its Run, or `None`."""
        while (waiter := self.fair.next(env)) is not None:
            future = self._futures.pop(waiter.number, None)
            if future is None or future.done():
                continue
            self.fair.hold(env, waiter.run_id, self._clock.now_s())
            future.set_result(item)
            return waiter.run_id
        return None

    def expire(self) -> None:
        """Refuse the requests that waited long enough; called now and then."""
        for waiter in self.fair.expired(self._clock.now_s()):
            waited_s = waiter.until_s - waiter.since_s
            self._refuse(waiter, f"none came within {waited_s:g} s")

    def refuse(self, env: EnvRef, kind: type[ScreenloopError], why: str) -> None:
        """End every wait for one Environment: none can be started."""
        while (waiter := self.fair.next(env)) is not None:
            future = self._futures.pop(waiter.number, None)
            if future is not None and not future.done():
                failure = self.fair.busy(env, self._clock.now_s(), why)
                future.set_exception(failure if issubclass(kind, Busy) else kind(why))

    def refuse_all(self, why: str) -> None:
        """End every wait: the manager drains or closes."""
        for future in self._futures.values():
            if not future.done():
                future.set_exception(InfraFault(why))

    def _refuse(self, waiter: Waiter, why: str) -> None:
        future = self._futures.pop(waiter.number, None)
        if future is not None and not future.done():
            future.set_exception(self.fair.busy(waiter.env, self._clock.now_s(), why))
