"""An Environment that counts, and a place that opens such: for tests of the Manager."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from screenloop.actions import Action, Tap
from screenloop.criteria import AnswerIs
from screenloop.envs.base import Environment
from screenloop.errors import EnvironmentFault
from screenloop.manager.direct import DirectManager
from screenloop.types import (
    Effect,
    EnvRef,
    EnvSpec,
    Evidence,
    Goal,
    Observation,
    SnapshotKey,
    Start,
    StepResult,
    Task,
    Want,
)

SIZE = (100, 200)
REF = EnvRef(kind="odometer", size_px=SIZE)
TASK = Task(
    id="s/t@1",
    env=REF,
    goal=Goal(text="say 42"),
    checks=(AnswerIs(says="the answer is 42", to=42),),
)
START = Start(task=TASK)
TAP = Tap(at=(0.5, 0.5))


class Odometer:
    """Counts the steps it was asked for; fails, hangs, refuses or waits on demand."""

    def __init__(self) -> None:
        self.spec = EnvSpec(
            kind="odometer", surface="mobile", size_px=SIZE, actions=frozenset({"tap", "wait"})
        )
        self.steps = 0
        self.closed = 0
        self.next_failure: BaseException | None = None
        self.hang = False
        self.entered = asyncio.Event()
        self.hold = asyncio.Event()
        self.hold.set()

    async def _meet(self) -> None:
        self.entered.set()
        await self.hold.wait()
        if self.hang:
            await asyncio.Event().wait()
        if self.next_failure is not None:
            failure, self.next_failure = self.next_failure, None
            raise failure

    def _seen(self) -> Observation:
        return Observation(frame=f"frame-{self.steps}", size_px=SIZE)

    async def reset(self, start: Start | SnapshotKey, *, deadline_s: float) -> Observation:
        self.steps = 0
        await self._meet()
        return self._seen()

    async def observe(self, want: Sequence[Want] = ("frame",), *, deadline_s: float) -> Observation:
        await self._meet()
        return self._seen()

    async def step(self, action: Action, *, action_id: str, deadline_s: float) -> StepResult:
        await self._meet()
        self.steps += 1
        return StepResult(effect=Effect(ok=True), observation=self._seen())

    async def evidence(self, *, deadline_s: float) -> Evidence:
        await self._meet()
        return Evidence(before={}, after={})

    async def snapshot(self, *, deadline_s: float) -> SnapshotKey:
        raise EnvironmentFault("an odometer keeps no snapshots")

    async def close(self) -> None:
        self.closed += 1


class Garage:
    """Opens odometers and keeps them in sight; its clock is set by hand."""

    def __init__(self) -> None:
        self.made: list[Odometer] = []
        self.now_s = 0.0
        self.gate = asyncio.Event()
        self.gate.set()
        self.next_open_failure: BaseException | None = None

    async def open(self, ref: EnvRef) -> Environment:
        await self.gate.wait()
        if self.next_open_failure is not None:
            failure, self.next_open_failure = self.next_open_failure, None
            raise failure
        self.made.append(Odometer())
        return self.made[-1]

    def clock(self) -> float:
        return self.now_s

    def manager(self) -> DirectManager:
        return DirectManager(self.open, clock=self.clock)
