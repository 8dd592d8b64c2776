"""An Environment in memory, with scripted faults and delays: for tests and benches of the loop."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal, Protocol

from PIL import ImageFont

from screenloop.actions import Action, Pointed, Tool, tag_of
from screenloop.envs import fake_machine as machine
from screenloop.errors import (
    ConfigError,
    DeadlinePassed,
    EnvironmentFault,
    InfraFault,
    StaleFrame,
    TaskError,
    UnsupportedAction,
)
from screenloop.store.blobs import BlobStore
from screenloop.types import (
    DiffRow,
    Effect,
    EnvRef,
    EnvSpec,
    Evidence,
    Mode,
    Observation,
    SnapshotKey,
    Start,
    StepResult,
    Struct,
    Want,
)

Operation = Literal["reset", "observe", "step", "evidence", "snapshot"]
FaultKind = Literal["environment", "infrastructure", "crash", "lost_reply", "slow", "hang", "deaf"]


class FakeFault(Struct, frozen=True, kw_only=True):
    """One thing that goes wrong, at the n-th call (from 1) of an operation on an Instance.

    `environment` and `infrastructure` raise before anything happened. `lost_reply` raises an
    infrastructure failure after a step was carried out; `crash` breaks the Instance until its next
    reset. `slow` takes `delay_s` of the clock, `hang` takes until the deadline in real time,
    `deaf` ignores its deadline and never returns.
    """

    operation: Operation
    nth: int = 1
    kind: FaultKind
    delay_s: float = 0.0


class DelayClock(Protocol):
    """What delays are taken from."""

    async def sleep(self, seconds: float) -> None:
        """Let the seconds pass."""
        ...


class VirtualClock:
    """A clock that nobody waits for."""

    def __init__(self) -> None:
        self.now_s = 0.0

    async def sleep(self, seconds: float) -> None:
        self.now_s += seconds


class _Session(Struct, frozen=True, kw_only=True):
    """What runs on the device, and what a snapshot keeps: its state and what evidence needs."""

    start: machine.FakeState
    now: machine.FakeState
    mode: Mode
    log: tuple[DiffRow, ...] = ()


class FakeEnvironment:
    """One fake device; see `fake_machine` for what is on it."""

    def __init__(
        self,
        blobs: BlobStore,
        *,
        faults: Sequence[FakeFault] = (),
        clock: DelayClock | None = None,
        want: Sequence[Want] = ("frame",),
    ) -> None:
        self._want = tuple(want)
        self.spec = EnvSpec(
            kind="fake",
            surface="mobile",
            size_px=machine.SIZE_PX,
            actions=machine.ACTIONS,
            wants=frozenset({"frame", "tree", "text"}),
            can_fork=True,
            apps=machine.APPS,
            tools=machine.TOOLS,
        )
        self.calls: Counter[Operation] = Counter()
        """How often each operation was called."""
        self._blobs = blobs
        self._faults = {(fault.operation, fault.nth): fault for fault in faults}
        self._clock = clock or VirtualClock()
        self._font = ImageFont.load_default(11)
        self._session: _Session | None = None
        self._snapshots: dict[SnapshotKey, _Session] = {}
        self._is_closed = False

    async def reset(self, start: Start | SnapshotKey, *, deadline_s: float) -> Observation:
        await self._enter("reset", deadline_s)
        if isinstance(start, str):
            if start not in self._snapshots:
                raise EnvironmentFault(f"this instance took no snapshot {start}.")
            self._session = self._snapshots[start]
        else:
            env = start.task.env
            if (env.kind, env.size_px) != (self.spec.kind, self.spec.size_px):
                raise TaskError(
                    f"task {start.task.id} wants {env.kind} {env.size_px}, but this is "
                    f"{self.spec.kind} {self.spec.size_px}."
                )
            state = machine.initial_state(start.task.world)
            self._session = _Session(start=state, now=state, mode=start.mode)
        return self._seen(self._session, self._want)

    async def observe(self, want: Sequence[Want] = ("frame",), *, deadline_s: float) -> Observation:
        await self._enter("observe", deadline_s)
        return self._seen(self._running(), want)

    async def step(self, action: Action, *, action_id: str, deadline_s: float) -> StepResult:
        fault = await self._enter("step", deadline_s)
        session = self._running()
        self._require_executable(action, session)
        if isinstance(action, Tool) and not self._may_call(action, session):
            outcome = machine.MachineOutcome(state=session.now, ok=False, code="tool_not_available")
        else:
            outcome = machine.apply(session.now, action)
        channel: Literal["gui", "tool"] = "tool" if isinstance(action, Tool) else "gui"
        rows = machine.changes(session.now, outcome.state, action_id=action_id, channel=channel)
        session = _Session(
            start=session.start, now=outcome.state, mode=session.mode, log=session.log + rows
        )
        if fault == "crash":
            self._session = None
            raise EnvironmentFault("the fake device crashed in the middle of the step.")
        self._session = session
        if fault == "lost_reply":
            raise InfraFault("scripted fault: the step was carried out, its reply is lost.")
        effect = Effect(
            ok=outcome.ok, code=outcome.code, executed=outcome.executed, result=outcome.result
        )
        return StepResult(
            effect=effect, observation=self._seen(session, self._want), changes=tuple(rows)
        )

    async def evidence(self, *, deadline_s: float) -> Evidence:
        await self._enter("evidence", deadline_s)
        session = self._running()
        return Evidence(
            before=machine.business_data(session.start),
            after=machine.business_data(session.now),
            diff=session.log,
        )

    async def snapshot(self, *, deadline_s: float) -> SnapshotKey:
        await self._enter("snapshot", deadline_s)
        key = f"snap-{len(self._snapshots)}"
        self._snapshots[key] = self._running()
        return key

    async def close(self) -> None:
        self._is_closed = True
        self._session = None
        self._snapshots.clear()

    # ---- parts -----------------------------------------------------------------------------

    async def _enter(self, operation: Operation, deadline_s: float) -> FaultKind | None:
        """Count the call and let its fault happen; returns a fault that is to come later."""
        if self._is_closed:
            raise EnvironmentFault("the fake device is closed.")
        self.calls[operation] += 1
        fault = self._faults.get((operation, self.calls[operation]))
        if deadline_s <= 0:
            raise DeadlinePassed(f"{operation} had no time left.")
        if fault is None:
            return None
        match fault.kind:
            case "environment":
                raise EnvironmentFault(f"scripted fault of {operation}.")
            case "infrastructure":
                raise InfraFault(f"scripted fault of {operation}.")
            case "slow":
                await self._clock.sleep(min(fault.delay_s, deadline_s))
                if fault.delay_s > deadline_s:
                    raise DeadlinePassed(f"{operation} did not end within {deadline_s:g} s.")
            case "hang":
                try:
                    await asyncio.wait_for(asyncio.Event().wait(), deadline_s)
                except TimeoutError:
                    raise DeadlinePassed(
                        f"{operation} did not end within {deadline_s:g} s."
                    ) from None
            case "deaf":
                await asyncio.Event().wait()
            case "crash" if operation != "step":
                self._session = None
                raise EnvironmentFault(f"the fake device crashed in {operation}.")
        return fault.kind

    def _running(self) -> _Session:
        if self._session is None:
            raise EnvironmentFault("the fake device is not running: reset it first.")
        return self._session

    def _require_executable(self, action: Action, session: _Session) -> None:
        if tag_of(action) not in self.spec.actions:
            raise UnsupportedAction(
                f"the fake device does not execute {tag_of(action)!r}. "
                f"Valid: {', '.join(sorted(self.spec.actions))}."
            )
        if isinstance(action, Pointed) and action.frame is not None:
            current = self._frame(session)
            if action.frame != current:
                raise StaleFrame(f"the screen shows {current}, not {action.frame}.")

    def _may_call(self, tool: Tool, session: _Session) -> bool:
        return session.mode == "hybrid" and tool.name in self._tools(session)

    def _tools(self, session: _Session) -> tuple[str, ...]:
        """Return the tools of the app in front."""
        if session.mode != "hybrid":
            return ()
        prefix = f"{session.now.page}."
        return tuple(tool.name for tool in machine.TOOLS if tool.name.startswith(prefix))

    def _frame(self, session: _Session) -> str:
        return self._blobs.put(machine.draw(session.now, self._font), "png")

    def _seen(self, session: _Session, want: Sequence[Want]) -> Observation:
        state = session.now
        parts: dict[str, Any] = {}
        if "frame" in want:
            parts["frame"] = self._frame(session)
        if "tree" in want:
            parts["tree"] = self._blobs.put(machine.screen_tree(state), "json")
        if "text" in want:
            parts["text"] = self._blobs.put(machine.screen_text(state).encode(), "txt")
        return Observation(
            size_px=machine.SIZE_PX,
            app=state.page,
            tools=self._tools(session),
            clock_s=state.clock_s,
            state_hash=machine.state_hash(state),
            **parts,
        )


class FakeEnvironments:
    """Opens fake devices without faults."""

    def __init__(self, blobs: BlobStore, *, want: Sequence[Want] = ("frame",)) -> None:
        self._blobs = blobs
        self._want = tuple(want)

    async def open(self, env: EnvRef) -> FakeEnvironment:
        """Return a device.

        Raises:
            ConfigError: another size is wanted than fake devices have.
        """
        if env.size_px != machine.SIZE_PX:
            raise ConfigError(f"fake devices measure {machine.SIZE_PX}, not {env.size_px}.")
        return FakeEnvironment(self._blobs, want=self._want)

    async def close(self) -> None:
        """Fake devices share nothing."""
