"""The host in this process: many Instances, each behind its own lock, fence and ledger.

Every other host is this one behind some wire. It is the keeper of idempotency: what each (fence,
action id) came to stays here until the next `bind` or `reset`, so a repeated `step` applies once
even when the manager died in between.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from screenloop.envs.base import Environment
from screenloop.errors import (
    ConfigError,
    DeadlinePassed,
    EnvironmentFault,
    InfraFault,
    LeaseLost,
    ScreenloopError,
    TaskError,
)
from screenloop.manager.base import Evaluate, LeaseToken, Observe, OperationFor, Reset, TakeStep
from screenloop.manager.clock import Clock, SystemClock
from screenloop.manager.failures import REFUSALS, message_of
from screenloop.manager.hosts.base import Host
from screenloop.manager.wire.bodies import HostReport, InstanceReport
from screenloop.types import (
    Claim,
    EnvRef,
    EnvSpec,
    Evidence,
    Observation,
    Start,
    StepResult,
    Task,
    Verdict,
)
from screenloop.verify.verifiers import Verifiers

R = TypeVar("R")

CLOSE_S = 10.0
"""How long an Instance may take to close before it is let go."""
VERIFIER_SHARE = 0.9
"""Of what is left of an evaluate's deadline, what code may take: the rest is for saying so."""
CLOSE_WAIT_S = 0.1
"""How long a failed operation waits for its Instance to close before it says so."""
_FORGOTTEN: dict[str, StepResult | None] = {}
"""What Instances without a single step share in place of a ledger of their own; never written."""

_log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class _Instance:
    """One running Environment and who may use it now; small, since a host runs thousands."""

    name: str
    ref: EnvRef
    env: Environment | None = None
    """Missing while it starts, and again once it failed."""
    busy: asyncio.Lock = field(default_factory=asyncio.Lock)
    fence: int = 0
    lease_id: str = ""
    turn: int = 0
    """Latest of the operations under the fence in force."""
    running: int = 0
    """Fence of the operation under way, or of the last."""
    task: Task | None = None
    """Of the last reset under the fence in force."""
    results: dict[str, StepResult | None] = field(default_factory=lambda: _FORGOTTEN)
    """What each action id under the fence in force came to; `None` before the last reset."""
    episodes: int = 0
    used_s: float = 0.0
    reason: str = ""
    """Why it failed."""


class InstanceHost(Host):
    """Runs Instances in this process.

    An Instance that fails, or that misses a deadline (its state is then unknown), is closed and
    never used again.
    """

    def __init__(
        self,
        id: str,
        open_instance: Callable[[EnvRef], Awaitable[Environment]],
        *,
        probe: Callable[[EnvRef], Start | None] | None = None,
        clock: Clock | None = None,
        boot: str | None = None,
        rss_mb: Callable[[], float] | None = None,
        fencing: bool = True,
    ) -> None:
        """Prepare; nothing is started.

        Args:
            id: of the host.
            open_instance: starts one Instance.
            probe: what to reset a new Instance to before it counts as ready; without one, to have
                been opened is enough.
            clock: for how long Instances have been idle.
            boot: name of this life of the host; drawn when not given.
            rss_mb: measures this process; 0 in reports without it.
            fencing: False lets every fence in: only for showing that tests would see it.
        """
        self.id = id
        self.boot = boot or secrets.token_hex(8)
        self.draining = False
        self._open_instance = open_instance
        self._probe = probe
        self._clock = clock or SystemClock()
        self._rss_mb = rss_mb
        self._fencing = fencing
        self._verifiers = Verifiers()
        self._instances: dict[str, _Instance] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._closed = False

    # ---- life of an Instance -----------------------------------------------------------------

    async def open(self, instance: str, env: EnvRef, *, deadline_s: float) -> EnvSpec:
        """Start an Instance under this name; returns when it is ready.

        Raises:
            ConfigError: the kind is unknown, or what it needs is not installed.
            EnvironmentFault: it did not start, or did not come through its first reset.
            DeadlinePassed: it was not ready in time.
            InfraFault: the host is closed.
        """
        if self._closed:
            raise InfraFault(f"host {self.id} is closed: no Instance can be opened on it")
        one = self._instances.get(instance)
        if one is None:
            one = self._instances[instance] = _Instance(instance, env)
        elif one.ref != env:
            raise ConfigError(
                f"instance {instance} is {one.ref.kind} {one.ref.size_px}: it cannot be opened as "
                f"{env.kind} {env.size_px}"
            )
        try:
            async with asyncio.timeout(deadline_s), one.busy:
                if one.reason:
                    raise EnvironmentFault(f"instance {instance} failed: {one.reason}")
                if one.env is None:
                    await self._start(one, deadline_s)
                assert one.env is not None
                return one.env.spec
        except ScreenloopError:
            raise
        except TimeoutError as error:
            raise DeadlinePassed(f"{instance} was not ready within {deadline_s:g} s") from error

    async def _start(self, one: _Instance, deadline_s: float) -> None:
        try:
            one.env = await self._open_instance(one.ref)
            start = None if self._probe is None else self._probe(one.ref)
            if start is not None:
                seen = await one.env.reset(start, deadline_s=deadline_s)
                if seen.frame is None and "frame" in one.env.spec.wants:
                    seen = await one.env.observe(deadline_s=deadline_s)
                    if seen.frame is None:
                        raise EnvironmentFault(f"{one.name} shows no frame after its first reset")
        except BaseException as error:
            await self._fail(one, message_of(error))
            # Nobody uses what never was ready: the name is free for another try.
            self._instances.pop(one.name, None)
            if isinstance(error, ScreenloopError) or not isinstance(error, Exception):
                raise
            raise EnvironmentFault(
                f"no {one.ref.kind} Instance could be opened: {message_of(error)}"
            ) from error
        one.used_s = self._clock.now_s()
        if self._closed or self._instances.get(one.name) is not one:
            await self._fail(one, "it was shut while it was opening")
            raise InfraFault(f"host {self.id} shut {one.name} while it was opening")

    async def shut(self, instance: str, *, deadline_s: float) -> None:
        one = self._instances.pop(instance, None)
        if one is None:
            return
        closing = self._close_soon(one)
        one.reason = one.reason or "it was shut"
        if closing is not None:
            await asyncio.wait({closing}, timeout=deadline_s)

    async def report(self, *, deadline_s: float) -> HostReport:
        now_s = self._clock.now_s()
        return HostReport(
            host=self.id,
            boot=self.boot,
            rss_mb=self._rss_mb() if self._rss_mb is not None else 0.0,
            instances=tuple(_report(one, now_s) for one in self._instances.values()),
            draining=self.draining,
        )

    async def close(self) -> None:
        """Close every Instance; may be called twice."""
        self._closed = True
        for one in self._instances.values():
            self._close_soon(one)
            one.reason = one.reason or "the host was closed"
        self._instances.clear()
        if self._closing:
            await asyncio.wait(set(self._closing))
        await self._verifiers.close()

    # ---- operations --------------------------------------------------------------------------

    async def bind(self, token: LeaseToken, *, ttl_s: float, deadline_s: float) -> None:
        """Put a new fence in force; operations with an older one are refused from now on.

        Returns when no operation of an older fence is under way any more. How long the holder may
        be silent is the manager's to count.

        Raises:
            LeaseLost: the Instance is gone or failed, or this fence is not the newest.
            DeadlinePassed: an operation of an older fence does not end; the new one is in force.
        """
        one = self._present(token)
        if token.fence < one.fence or (token.fence == one.fence and token.lease_id != one.lease_id):
            raise LeaseLost(
                f"{one.name} is at fence {one.fence}: fence {token.fence} of lease "
                f"{token.lease_id or '(none)'} cannot be put in force"
            )
        if token.fence > one.fence:
            one.fence, one.lease_id, one.turn = token.fence, token.lease_id, 0
            one.task, one.results = None, _FORGOTTEN
        elif one.running == token.fence:
            return
        try:
            async with asyncio.timeout(deadline_s), one.busy:
                self._present(token)
        except TimeoutError as error:
            raise DeadlinePassed(
                f"an operation on {one.name} did not end within {deadline_s:g} s"
            ) from error

    async def operate(
        self, token: LeaseToken, operation: OperationFor[R], *, deadline_s: float
    ) -> R:
        """Carry out one operation on the Instance, one at a time.

        Raises:
            LeaseLost: the fence is not the newest, or the Instance is gone.
            ConfigError: a reset came too late, or a step's id was used before the last reset.
            TaskError: the verifier crashed or hung, or nothing was reset under this fence.
        """
        began_s = self._clock.now_s()
        result: Any
        async with self._operation(token, operation.verb, deadline_s) as (one, env):
            match operation:
                case Reset(start=start):
                    result = await _reset(one, env, token, start, deadline_s)
                case Observe(want=want):
                    result = await env.observe(want, deadline_s=deadline_s)
                case TakeStep():
                    result = await _step(one, env, operation, deadline_s)
                case Evaluate(claim=claim):
                    if one.task is None:
                        raise TaskError(
                            f"nothing to evaluate: no task was reset under lease {token.lease_id}"
                        )
                    evidence = await env.evidence(deadline_s=deadline_s)
                    left_s = deadline_s - (self._clock.now_s() - began_s)
                    result = await self._judge(one.task, evidence, claim, left_s)
                case _:
                    raise ConfigError(f"there is no operation {operation.verb!r}")
        found: R = result
        return found

    async def _judge(self, task: Task, evidence: Evidence, claim: Claim, left_s: float) -> Verdict:
        try:
            deadline_s = max(VERIFIER_SHARE * left_s, 0.001)
            return await self._verifiers.judge(task, evidence, claim, deadline_s=deadline_s)
        except ScreenloopError:
            raise
        except Exception as error:
            raise TaskError(f"the verifier of {task.key} crashed: {message_of(error)}") from error

    # ---- parts -------------------------------------------------------------------------------

    def _present(self, token: LeaseToken) -> _Instance:
        one = self._instances.get(token.instance)
        if one is None or one.reason:
            reason = f": {one.reason}" if one is not None else ""
            raise LeaseLost(
                f"lease {token.lease_id}: instance {token.instance} failed or was closed{reason}"
            )
        return one

    def _admit(self, token: LeaseToken) -> tuple[_Instance, Environment]:
        one = self._present(token)
        if self._fencing and (one.fence, one.lease_id) != (token.fence, token.lease_id):
            raise LeaseLost(
                f"lease {token.lease_id} shows fence {token.fence}, but {one.name} is at fence "
                f"{one.fence}"
            )
        if one.env is None:
            raise LeaseLost(f"lease {token.lease_id}: {one.name} is not ready yet")
        return one, one.env

    @asynccontextmanager
    async def _operation(
        self, token: LeaseToken, name: str, deadline_s: float
    ) -> AsyncIterator[tuple[_Instance, Environment]]:
        """Admit one operation at a time under the newest fence, within the deadline."""
        one, _ = self._admit(token)
        where = f"{name} on {token.instance}"
        try:
            async with asyncio.timeout(deadline_s) as timer, one.busy:
                # While it waited for its turn, a newer fence may have come or the Instance gone.
                one, env = self._admit(token)
                one.used_s, one.running = self._clock.now_s(), token.fence
                if one.fence == token.fence:
                    one.turn = max(one.turn, token.turn)
                try:
                    yield one, env
                except REFUSALS:
                    raise
                except BaseException as error:
                    await self._fail(one, f"{name}: {message_of(error)}")
                    raise
        except ScreenloopError:
            raise
        except TimeoutError as error:
            if timer.expired():
                raise DeadlinePassed(f"{where} did not answer within {deadline_s:g} s") from error
            raise EnvironmentFault(f"{where} failed: {message_of(error)}") from error
        except Exception as error:
            raise EnvironmentFault(f"{where} failed: {message_of(error)}") from error

    async def _fail(self, one: _Instance, reason: str) -> None:
        """Strike an Instance off; one that closes slowly goes on doing so by itself."""
        one.reason = reason
        one.task, one.results = None, _FORGOTTEN
        closing = self._close_soon(one)
        if closing is not None:
            await asyncio.wait({closing}, timeout=CLOSE_WAIT_S)

    def _close_soon(self, one: _Instance) -> asyncio.Task[None] | None:
        env, one.env = one.env, None
        if env is None:
            return None
        closing = asyncio.create_task(_close(one.name, env))
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)
        return closing


async def _reset(
    one: _Instance, env: Environment, token: LeaseToken, start: Start, deadline_s: float
) -> Observation:
    if one.fence == token.fence and 0 < token.turn < one.turn:
        raise ConfigError(
            f"a reset of {one.name} comes too late: it is operation {token.turn} of lease "
            f"{token.lease_id}, and operation {one.turn} came before it"
        )
    one.task = None
    if one.results:
        # The ids stay: a step that comes late must not be carried out a second time.
        one.results = dict.fromkeys(one.results)
    observation = await env.reset(start, deadline_s=deadline_s)
    if one.fence == token.fence:
        one.task = start.task
    one.episodes += 1
    return observation


async def _step(one: _Instance, env: Environment, step: TakeStep, deadline_s: float) -> StepResult:
    """Carry a step out, or return what its id came to before."""
    results, action_id = one.results, step.action_id
    if action_id in results:
        kept = results[action_id]
        if kept is None:
            raise ConfigError(
                f"action id {action_id!r} was used on {one.name} before the last reset: "
                "use each id once under a lease"
            )
        return kept
    if results is _FORGOTTEN:
        results = one.results = {}
    result = await env.step(step.action, action_id=action_id, deadline_s=deadline_s)
    results[action_id] = result
    return result


async def _close(name: str, env: Environment) -> None:
    """Close, and say so in the log where that fails: there is nobody left to tell."""
    try:
        async with asyncio.timeout(CLOSE_S):
            await env.close()
    except Exception as error:
        _log.warning("instance %s did not close: %s", name, message_of(error))


def _report(one: _Instance, now_s: float) -> InstanceReport:
    state: Literal["starting", "ready", "failed"] = "starting" if one.env is None else "ready"
    return InstanceReport(
        instance=one.name,
        env=one.ref,
        state="failed" if one.reason else state,
        fence=one.fence,
        episodes=one.episodes,
        idle_s=0.0 if one.busy.locked() else max(0.0, now_s - one.used_s),
        reason=one.reason,
    )
