"""The fair queue: nobody starves, nothing is handed out twice, shares even out."""

from __future__ import annotations

import asyncio
from collections import Counter, deque

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from screenloop.errors import Busy, EnvironmentFault, InfraFault
from screenloop.manager.clock import SkewedClock, SystemClock
from screenloop.manager.supply.queue import AcquireQueue, FairQueue, GrantRate
from screenloop.types import EnvRef

ENV = EnvRef(kind="fake", size_px=(1, 1))
OTHER = EnvRef(kind="other", size_px=(1, 1))
RUNS = ("a", "b", "c")


def push(queue: FairQueue, run: str, *, now_s: float = 0.0, until_s: float = 100.0) -> int:
    return queue.push(ENV, run, now_s=now_s, until_s=until_s)[0].number


def grant(queue: FairQueue, now_s: float = 0.0) -> str | None:
    waiter = queue.next(ENV)
    if waiter is None:
        return None
    queue.hold(ENV, waiter.run_id, now_s)
    return waiter.run_id


def test_the_run_that_holds_the_fewest_is_next_and_then_the_one_that_waits_longest() -> None:
    queue = FairQueue(limit=100)
    for run in ("b", "a", "a", "b", "c"):
        push(queue, run)
    queue.hold(ENV, "c", 0.0)
    assert [grant(queue) for _ in range(6)] == ["b", "a", "a", "b", "c", None]


def test_environments_do_not_wait_for_each_other() -> None:
    queue = FairQueue(limit=100)
    queue.push(OTHER, "a", now_s=0, until_s=1)
    assert queue.next(ENV) is None
    assert queue.next(OTHER) is not None


def test_a_full_queue_refuses_the_greediest_run_and_says_when_to_come_again() -> None:
    queue = FairQueue(limit=4)
    numbers = [push(queue, "a") for _ in range(4)]
    with pytest.raises(Busy, match="4 requests wait") as refusal:
        push(queue, "a")
    assert refusal.value.retry_after_s > 0
    _, out = queue.push(ENV, "b", now_s=0, until_s=1)
    assert out is not None
    assert out.number == numbers[-1], "the last to come gives way"
    assert len(queue) == 4
    queue.push(ENV, "b", now_s=0, until_s=1)
    with pytest.raises(Busy):
        push(queue, "b")


def test_requests_whose_time_is_over_leave_in_time() -> None:
    queue = FairQueue(limit=10)
    early = push(queue, "a", until_s=5.0)
    late = push(queue, "a", until_s=50.0)
    assert queue.expired(4.9) == ()
    assert [waiter.number for waiter in queue.expired(5.0)] == [early]
    assert queue.drop(late)
    assert not queue.drop(late)
    assert queue.expired(60.0) == ()


def test_the_rate_says_when_to_come_again() -> None:
    rate = GrantRate()
    assert rate.wait_s(0, 0.0) == 2.0
    for second in range(20):
        rate.count(float(second))
    assert rate.wait_s(9, 20.0) == pytest.approx(10.0)
    assert rate.wait_s(9, 40.0) == pytest.approx(20.0), "a standstill makes it longer"
    assert rate.wait_s(10**6, 40.0) == 60.0


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["ask", "grant", "return", "drop"]), st.sampled_from(RUNS)),
        max_size=120,
    )
)
def test_every_grant_goes_to_a_waiting_run_that_holds_the_fewest(
    events: list[tuple[str, str]],
) -> None:
    queue = FairQueue(limit=1000)
    waiting: dict[str, deque[int]] = {run: deque() for run in RUNS}
    held: Counter[str] = Counter()
    for event, run in events:
        if event == "ask":
            waiting[run].append(push(queue, run))
        elif event == "drop" and waiting[run]:
            assert queue.drop(waiting[run].pop())
        elif event == "return" and held[run]:
            held[run] -= 1
            queue.let_go(ENV, run)
        elif event == "grant":
            waiter = queue.next(ENV)
            wanting = [name for name in RUNS if waiting[name]]
            if waiter is None:
                assert not wanting
                continue
            fewest = min(held[name] for name in wanting)
            assert held[waiter.run_id] == fewest
            assert waiter.number == waiting[waiter.run_id].popleft(), "first come, first served"
            assert waiter.number == min(
                [
                    waiter.number,
                    *(
                        waiting[n][0]
                        for n in wanting
                        if waiting[n] and held[n] == fewest and n != waiter.run_id
                    ),
                ]
            )
            held[waiter.run_id] += 1
            queue.hold(ENV, waiter.run_id, 0.0)
        assert queue.waiting(ENV) == sum(map(len, waiting.values())) == len(queue)
    assert queue.held(ENV) == {run: count for run, count in held.items() if count}


@settings(max_examples=100, deadline=None)
@given(
    demands=st.dictionaries(st.sampled_from("abcdef"), st.integers(20, 40), min_size=2),
    free=st.integers(1, 60),
    order=st.randoms(use_true_random=False),
)
def test_shares_differ_by_one_at_most_while_all_want_more(
    demands: dict[str, int], free: int, order: object
) -> None:
    queue = FairQueue(limit=10_000)
    requests = [run for run, count in demands.items() for _ in range(count)]
    order.shuffle(requests)  # type: ignore[attr-defined]
    for run in requests:
        push(queue, run)
    for _ in range(min(free, 20 * len(demands))):
        grant(queue)
    held = [queue.held(ENV).get(run, 0) for run in demands]
    assert max(held) - min(held) <= 1


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=40), st.data())
def test_a_run_that_holds_nothing_waits_for_no_more_grants_than_runs_came_before_it(
    before: list[str], data: st.DataObject
) -> None:
    queue = FairQueue(limit=1000)
    for run in before:
        push(queue, run)
    push(queue, "new")
    passed = 0
    while (run := grant(queue)) != "new":
        assert run is not None
        passed += 1
        # What comes later, and what is given back, changes nothing for it.
        if data.draw(st.booleans()):
            push(queue, data.draw(st.sampled_from(["late", run])))
    assert passed <= len(set(before))


async def ready(queue: AcquireQueue[str], count: int) -> None:
    while len(queue.fair) < count:
        await asyncio.sleep(0)


def acquire_queue(limit: int = 100) -> tuple[AcquireQueue[str], SkewedClock, list[str]]:
    back: list[str] = []
    clock = SkewedClock(SystemClock())
    queue: AcquireQueue[str] = AcquireQueue(
        clock=clock, unclaimed=lambda env, run, item: back.append(f"{run}:{item}"), limit=limit
    )
    return queue, clock, back


async def test_what_is_offered_goes_to_one_who_waits_or_to_nobody() -> None:
    queue, _, _ = acquire_queue()
    assert queue.offer(ENV, "early") is None
    waits = [asyncio.create_task(queue.wait(ENV, "a", wait_s=60)) for _ in range(3)]
    await ready(queue, 3)
    assert [queue.offer(ENV, item) for item in ("x", "y", "z", "w")] == ["a", "a", "a", None]
    assert sorted(await asyncio.gather(*waits)) == ["x", "y", "z"]
    assert queue.fair.held(ENV) == {"a": 3}


async def test_a_wait_ends_when_its_time_is_over() -> None:
    queue, clock, _ = acquire_queue()
    wait = asyncio.create_task(queue.wait(ENV, "a", wait_s=60))
    await ready(queue, 1)
    clock.skew_s += 59
    queue.expire()
    assert not wait.done()
    clock.skew_s += 2
    queue.expire()
    with pytest.raises(Busy, match="none came within 60 s"):
        await wait
    assert queue.offer(ENV, "x") is None


async def test_what_was_handed_to_one_who_is_cancelled_comes_back() -> None:
    queue, _, back = acquire_queue()
    wait = asyncio.create_task(queue.wait(ENV, "a", wait_s=60))
    await ready(queue, 1)
    assert queue.offer(ENV, "x") == "a"
    wait.cancel()
    with pytest.raises(asyncio.CancelledError):
        await wait
    assert back == ["a:x"]


async def test_one_who_is_cancelled_while_waiting_leaves_the_queue() -> None:
    queue, _, back = acquire_queue()
    wait = asyncio.create_task(queue.wait(ENV, "a", wait_s=60))
    await ready(queue, 1)
    wait.cancel()
    with pytest.raises(asyncio.CancelledError):
        await wait
    assert len(queue.fair) == 0
    assert queue.offer(ENV, "x") is None
    assert back == []


async def test_those_who_wait_for_what_cannot_start_are_told_why() -> None:
    queue, _, _ = acquire_queue()
    wait = asyncio.create_task(queue.wait(ENV, "a", wait_s=60))
    other = asyncio.create_task(queue.wait(OTHER, "a", wait_s=60))
    await ready(queue, 2)
    queue.refuse(ENV, EnvironmentFault, "no boot")
    with pytest.raises(EnvironmentFault, match="no boot"):
        await wait
    queue.refuse_all("closed")
    with pytest.raises(InfraFault, match="closed"):
        await other


async def test_one_who_gives_way_in_a_full_queue_is_told_to_come_again() -> None:
    queue, _, _ = acquire_queue(limit=3)
    waits = [asyncio.create_task(queue.wait(ENV, "a", wait_s=60)) for _ in range(3)]
    await ready(queue, 3)
    late = asyncio.create_task(queue.wait(ENV, "b", wait_s=60))
    with pytest.raises(Busy, match="most requests"):
        await waits[2]
    assert queue.offer(ENV, "x") == "a"
    assert queue.offer(ENV, "y") == "b"
    assert (await waits[0], await late) == ("x", "y")
    waits[1].cancel()
    await asyncio.gather(waits[1], return_exceptions=True)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["wait", "offer", "cancel", "turn"]), max_size=60))
def test_nothing_is_lost_or_handed_out_twice_whatever_is_cancelled(events: list[str]) -> None:
    async def play() -> None:
        queue, _, back = acquire_queue()
        waits: list[asyncio.Task[str]] = []
        offered: list[str] = []
        refused: list[str] = []
        for number, event in enumerate(events):
            match event:
                case "wait":
                    waits.append(asyncio.create_task(queue.wait(ENV, "a", wait_s=60)))
                case "offer":
                    offered.append(str(number))
                    if queue.offer(ENV, str(number)) is None:
                        refused.append(str(number))
                case "cancel" if waits:
                    waits[number % len(waits)].cancel()
                case "turn":
                    await asyncio.sleep(0)
        for wait in waits:
            if not wait.done():
                await asyncio.sleep(0)
        for wait in waits:
            wait.cancel()
        ends = await asyncio.gather(*waits, return_exceptions=True)
        got = [end for end in ends if isinstance(end, str)]
        returned = [item.removeprefix("a:") for item in back]
        assert sorted([*got, *returned, *refused]) == sorted(offered)

    asyncio.run(play())
