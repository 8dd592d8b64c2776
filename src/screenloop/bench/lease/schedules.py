"""Random schedules of workers, crashes and lost messages over the real manager and host.

A schedule is a list of moves. The world below carries it out with the real `ManagerService`,
`InstanceHost` and a Journal, in one event loop and without real time, and counts what must never
happen: an action carried out twice, an action of a replaced or released Lease, two holders of one
Instance, an answer that is forgotten. A crash raises at the n-th call through the seams (journal or
host), before or after that call did its work; the next manager starts from the Journal.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, TypeVar, get_args

from screenloop.actions import Tap
from screenloop.bench.lease import faults
from screenloop.criteria import AnswerIs
from screenloop.envs.base import Environment
from screenloop.errors import LeaseLost, ScreenloopError
from screenloop.manager.hosts.base import Host
from screenloop.manager.hosts.instances import InstanceHost
from screenloop.manager.journal.base import Journal
from screenloop.manager.journal.memory import MemoryJournal
from screenloop.manager.service import ManagerService
from screenloop.manager.supply.on_demand import OnDemandSupply
from screenloop.types import EnvRef, Goal, Lease, Observation, Start, StepResult, Struct, Task

WorkerMove = Literal["acquire", "step", "twice", "repeat", "late", "reset", "release"]
WorldMove = Literal["wait", "crash", "replace", "lose", "hold", "deliver", "full"]
MoveKind = WorkerMove | WorldMove
_OFTEN = {"acquire": 2, "step": 3, "late": 2, "crash": 2, "hold": 2}
MOVES: tuple[MoveKind, ...] = tuple(
    kind
    for kind in (*get_args(WorkerMove), *get_args(WorldMove))
    for _ in range(_OFTEN.get(kind, 1))
)
"""What is drawn from; what stands twice comes twice as often."""
TTL_S = 10.0
WAITS_S = (1.0, 4.0, 9.0, 11.0)
WORKERS = 3
DEADLINE_S = 30.0
REF = EnvRef(kind="meter", size_px=faults.SIZE_PX)
TASK = Task(
    id="bench/lease@1", env=REF, goal=Goal(text="count"), checks=(AnswerIs(says="it is 1", to=1),)
)
T = TypeVar("T")


class Move(Struct, frozen=True, kw_only=True):
    """One thing that happens."""

    kind: MoveKind
    worker: int = 0
    number: int = 0
    """Which of several: a message, a wait, the call at which the manager dies."""
    with_next: bool = False
    """Whether the next move happens at the same time."""


def draw_schedule(rng: random.Random, length: int = 24) -> tuple[Move, ...]:
    """Draw a schedule."""
    return tuple(
        Move(
            kind=rng.choice(MOVES),
            worker=rng.randrange(WORKERS),
            number=rng.randrange(16),
            with_next=rng.random() < 0.4,
        )
        for _ in range(length)
    )


class _Message(Struct, frozen=True, kw_only=True):
    """A step that a worker sent."""

    lease: Lease
    action_id: str


class _Worker:
    """One client: retries what got no answer, and may send old messages again."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.lease: Lease | None = None
        self.sent: list[_Message] = []
        self.requests = 0


class _Manager:
    """One life of the manager, and its parts."""

    def __init__(self, service: ManagerService, supply: OnDemandSupply, life: faults.Life) -> None:
        self.service = service
        self.supply = supply
        self.life = life


class World:
    """Carries out one schedule and keeps its own account of what may happen."""

    def __init__(self, journal: Journal, *, fencing: bool = True) -> None:
        self.violations: list[str] = []
        self.double_grants = 0
        self.crashes = 0
        self.carried_out: Counter[str] = Counter()
        """How often each action id was carried out."""
        self.answered: dict[str, StepResult] = {}
        self._journal = journal
        self._faults = faults.Faults()
        self._fencing = fencing
        self._clock = faults.HandClock()
        self._workers = [_Worker(number) for number in range(WORKERS)]
        self._leases: dict[str, Lease] = {}
        self._newest: dict[str, int] = {}
        """By Instance, the newest fence that was answered to a worker."""
        self._over: set[str] = set()
        """Ids of Leases whose release was answered."""
        self._live_until_s: dict[str, float] = {}
        """By lease id, until when its holder may rely on it."""
        self._reset: set[str] = set()
        """Ids of Leases that were reset: what came before may be forgotten."""
        self._reviving = asyncio.Lock()
        self._lives = 0
        self._hosts = 0
        self._host = self._new_host()
        self._manager = self._new_manager()
        self._doom: int | None = None
        """At which call the next manager dies, when a crash came while there was none."""

    async def play(self, schedule: Sequence[Move]) -> None:
        """Carry the moves out, then look at what is left."""
        group: list[Move] = []
        for move in schedule:
            group.append(move)
            if not move.with_next:
                await self._play_group(group)
                group = []
        await self._play_group(group)
        await self._look_back()
        await self._host.close()

    def note_step(self, action_id: str) -> int:
        """Learn that an Instance carries a step out, now; returns how many that makes."""
        self.carried_out[action_id] += 1
        lease = self._leases.get(action_id.partition(":")[0])
        if self.carried_out[action_id] > 1:
            self.violations.append(f"{action_id} was carried out again")
        if lease is None:
            self.violations.append(f"{action_id} was carried out for nobody")
        elif lease.fence < self._newest[lease.instance]:
            self.violations.append(f"{action_id} was carried out for a replaced lease")
        elif lease.id in self._over:
            self.violations.append(f"{action_id} was carried out for a released lease")
        return self.carried_out.total()

    # ---- the manager and the host ------------------------------------------------------------

    def _new_host(self) -> InstanceHost:
        self._hosts += 1

        async def open_meter(env: EnvRef) -> Environment:
            return faults.Meter(self.note_step)

        return InstanceHost(
            "host", open_meter, clock=self._clock, boot=f"boot-{self._hosts}", fencing=self._fencing
        )

    def _new_manager(self) -> _Manager:
        self._lives += 1
        life = faults.Life()
        wire: Host = faults.Wire(self._host, life, self._faults)
        supply = OnDemandSupply(wire, boot=self._host.boot, prefix=f"m{self._lives}-")
        prefix = f"lease-{self._lives}"
        numbers = iter(range(1_000_000))
        service = ManagerService(
            supply,
            faults.MortalJournal(self._journal, life, self._faults),
            clock=self._clock,
            new_id=lambda: f"{prefix}-{next(numbers)}",
            fencing=self._fencing,
        )
        return _Manager(service, supply, life)

    async def _revive(self) -> None:
        """Start managers until one comes through its recovery."""
        async with self._reviving:
            while self._manager.life.dead:
                self.crashes += 1
                # What the dead one had sent is on its way; let some of it arrive.
                await asyncio.sleep(0)
                manager = self._new_manager()
                manager.life.calls_left, self._doom = self._doom, None
                try:
                    await manager.service.start()
                except faults.ManagerDied:
                    continue
                self._manager = manager

    async def _replace_host(self) -> None:
        async with self._reviving:
            await self._host.close()
            self._host = self._new_host()
            # Its holders may no longer rely on anything, whether they have been told or not.
            self._live_until_s.clear()
            manager = self._manager
            wire = faults.Wire(self._host, manager.life, self._faults)
            await manager.supply.replace_host(
                wire, boot=self._host.boot, reason="the host was killed"
            )

    # ---- moves -------------------------------------------------------------------------------

    async def _play_group(self, group: Sequence[Move]) -> None:
        works = [self._play_one(move) for move in group]
        for end in await asyncio.gather(*works, return_exceptions=True):
            if isinstance(end, BaseException) and not isinstance(end, faults.ManagerDied):
                raise end
        await self._revive()

    async def _play_one(self, move: Move) -> None:
        worker = self._workers[move.worker]
        match move.kind:
            case "acquire":
                await self._acquire(worker, twice=move.number % 3 == 0)
            case "release":
                await self._release(worker)
            case "reset":
                if worker.lease is not None:
                    lease = worker.lease
                    self._reset.add(lease.id)
                    start = Start(task=TASK)
                    await self._try(lease, lambda m: m.reset(lease, start, deadline_s=DEADLINE_S))
            case "step" | "twice":
                await self._new_step(worker, times=2 if move.kind == "twice" else 1)
            case "repeat":
                if worker.sent:
                    await self._send(worker.sent[-1])
            case "late":
                if worker.sent:
                    await self._send(worker.sent[move.number % len(worker.sent)])
            case _:
                await self._befall(move)

    async def _befall(self, move: Move) -> None:
        """Let something happen that is no worker's doing."""
        match move.kind:
            case "wait":
                self._clock.at_s += WAITS_S[move.number % len(WAITS_S)]
                await self._manager.service.sweep()
            case "crash":
                if self._manager.life.dead:
                    self._doom = move.number
                else:
                    self._manager.life.calls_left = move.number
            case "replace":
                await self._replace_host()
            case "lose" | "hold":
                self._faults.disturb(move.kind)
            case "full":
                self._faults.full += 1
            case "deliver":
                self._faults.deliver()
                await asyncio.sleep(0)

    async def _acquire(self, worker: _Worker, *, twice: bool) -> None:
        if worker.lease is not None:
            return
        worker.requests += 1
        request_id = f"w{worker.number}-{worker.requests}"
        for _ in range(3):
            manager, sent_s, hosts = self._manager, self._clock.at_s, self._hosts
            calls = [
                manager.service.acquire(REF, "run", ttl_s=TTL_S, request_id=request_id)
                for _ in range(2 if twice else 1)
            ]
            ends = await asyncio.gather(*calls, return_exceptions=True)
            if manager.life.dead:
                # No answer came out of it: the same request again, to the next manager.
                await self._revive()
                continue
            leases = [end for end in ends if isinstance(end, Lease)]
            if len({lease.id for lease in leases}) > 1:
                self.violations.append(f"request {request_id} was answered with two leases")
            if leases:
                self._note_grant(leases[0], sent_s if hosts == self._hosts else None)
                worker.lease = leases[0]
            return

    def _note_grant(self, lease: Lease, sent_s: float | None) -> None:
        before = self._newest.get(lease.instance, 0)
        if lease.fence <= before:
            self.violations.append(f"{lease.instance} was granted under fence {lease.fence} again")
        for other in self._leases.values():
            if (
                other.instance == lease.instance
                and self._live_until_s.get(other.id, 0.0) > self._clock.at_s
            ):
                self.double_grants += 1
                self.violations.append(f"{lease.instance} has two holders: {other.id}, {lease.id}")
        self._leases[lease.id] = lease
        self._newest[lease.instance] = lease.fence
        if sent_s is not None:
            self._live_until_s[lease.id] = sent_s + TTL_S

    async def _release(self, worker: _Worker) -> None:
        lease, worker.lease = worker.lease, None
        if lease is None:
            return
        self._live_until_s.pop(lease.id, None)
        manager = self._manager
        try:
            await manager.service.release(lease)
        except ScreenloopError:
            return
        if not manager.life.dead:
            self._over.add(lease.id)

    async def _new_step(self, worker: _Worker, *, times: int) -> None:
        if worker.lease is None:
            await self._acquire(worker, twice=False)
        lease = worker.lease
        if lease is None:
            return
        message = _Message(lease=lease, action_id=f"{lease.id}:{len(worker.sent)}")
        worker.sent.append(message)
        await asyncio.gather(*(self._send(message) for _ in range(times)))

    async def _send(self, message: _Message) -> StepResult | None:
        result = await self._try(
            message.lease,
            lambda manager: manager.step(
                message.lease, message.action_id, Tap(at=(0.5, 0.5)), deadline_s=DEADLINE_S
            ),
        )
        if result is None:
            return None
        first = self.answered.setdefault(message.action_id, result)
        if first != result:
            self.violations.append(f"{message.action_id} was answered differently the second time")
        if self.carried_out[message.action_id] != 1:
            self.violations.append(f"{message.action_id} was answered but not carried out")
        return result

    async def _try(
        self, lease: Lease, operation: Callable[[ManagerService], Awaitable[T]]
    ) -> T | None:
        """Carry out an operation; an answer renews what its holder relies on, from its sending."""
        manager, sent_s = self._manager, self._clock.at_s
        try:
            result = await operation(manager.service)
        except faults.ManagerDied:
            return None
        except LeaseLost:
            if not manager.life.dead:
                self._lost(lease)
            return None
        except ScreenloopError:
            return None
        if manager.life.dead:
            return None
        if lease.id in self._live_until_s:
            self._live_until_s[lease.id] = max(self._live_until_s[lease.id], sent_s + TTL_S)
        return result

    def _lost(self, lease: Lease) -> None:
        self._live_until_s.pop(lease.id, None)
        for worker in self._workers:
            if worker.lease is not None and worker.lease.id == lease.id:
                worker.lease = None

    async def _look_back(self) -> None:
        """At the end: one valid Lease an Instance at most, and kept results are still given."""
        self._manager.life.calls_left = None
        await self._faults.settle()
        valid: Counter[str] = Counter()
        for lease in self._leases.values():
            relied_on = self._live_until_s.get(lease.id, 0.0) > self._clock.at_s
            if await self._look(lease) is not None:
                valid[lease.instance] += 1
            elif relied_on and not self._faults.was_full:
                # A fence that could not be journalled may be granted to two, and then to neither.
                self.violations.append(f"{lease.id} was lost without a cause")
        self.violations += [
            f"{instance} has {count} valid leases" for instance, count in valid.items() if count > 1
        ]
        for worker in self._workers:
            for message in worker.sent:
                known = (
                    message.action_id in self.answered
                    and message.lease.id in self._live_until_s
                    and message.lease.id not in self._reset
                )
                if await self._send(message) is None and known:
                    self.violations.append(f"the answer of {message.action_id} was forgotten")

    async def _look(self, lease: Lease) -> Observation | None:
        return await self._try(lease, lambda m: m.observe(lease, deadline_s=DEADLINE_S))


async def play_schedule(
    schedule: Sequence[Move], *, journal: Journal | None = None, fencing: bool = True
) -> World:
    """Carry out a schedule in a world of its own and return that world."""
    world = World(journal or MemoryJournal(), fencing=fencing)
    await world.play(schedule)
    return world
