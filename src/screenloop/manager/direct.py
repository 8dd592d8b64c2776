"""The Manager in the caller's own process: a pool of Instances and the Leases on them."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from screenloop.actions import Action
from screenloop.envs.base import Environment
from screenloop.errors import (
    ConfigError,
    DeadlinePassed,
    EnvironmentFault,
    InfraFault,
    LeaseLost,
    ScreenloopError,
    StaleFrame,
    TaskError,
    UnsupportedAction,
)
from screenloop.types import (
    Claim,
    EnvRef,
    EnvSpec,
    Lease,
    Observation,
    Start,
    StepResult,
    Task,
    Verdict,
    Want,
)
from screenloop.verify.judge import judge

CLOSE_S = 10.0
"""How long a failed Instance may take to close before it is let go."""

_log = logging.getLogger(__name__)


@dataclass(eq=False)
class _Instance:
    """One running Environment and who may use it now."""

    name: str
    ref: EnvRef
    env: Environment
    fence: int = 0
    lease_id: str | None = None
    ttl_s: float = 0.0
    expires_s: float = 0.0
    failed: bool = False
    busy: asyncio.Lock = field(default_factory=asyncio.Lock)
    task: Task | None = None
    """Of the last reset under the current Lease."""
    results: dict[str, StepResult] = field(default_factory=dict)
    """What each action id of the current Lease came to."""


class DirectManager:
    """Grants Leases on Instances that live in this process.

    Instances are opened on demand and reused by kind and size. Each operation that the Manager
    admits puts the Lease's end `ttl_s` ahead, so only a silent holder loses it. An Instance that
    fails, or that missed a deadline (its state is then unknown), is closed and never reused; its
    Lease is lost.
    """

    def __init__(
        self,
        open_instance: Callable[[EnvRef], Awaitable[Environment]],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._open_instance = open_instance
        self._clock = clock
        self._instances: dict[str, _Instance] = {}
        self._specs: dict[EnvRef, EnvSpec] = {}
        self._opened = 0
        self._granted = 0
        self._closed = False

    async def spec(self, env: EnvRef) -> EnvSpec:
        """Tell what Instances of this kind can do; opens the first one to find out."""
        if env not in self._specs:
            await self._open(env)
        return self._specs[env]

    async def acquire(self, env: EnvRef, run_id: str, *, ttl_s: float) -> Lease:
        """Grant the exclusive right to an Instance of this kind."""
        if ttl_s <= 0:
            raise ValueError(f"a Lease needs a time to live above 0 s, not {ttl_s}")
        instance = self._free(env) or await self._open(env)
        self._granted += 1
        instance.fence += 1
        instance.lease_id = f"{run_id}/lease-{self._granted}"
        instance.ttl_s = ttl_s
        instance.expires_s = self._clock() + ttl_s
        instance.task = None
        instance.results = {}
        return Lease(
            id=instance.lease_id,
            fence=instance.fence,
            instance=instance.name,
            expires_s=instance.expires_s,
            spec=instance.env.spec,
        )

    async def reset(self, lease: Lease, start: Start, *, deadline_s: float) -> Observation:
        """Bring the Instance to a Task's initial state; `evaluate` will judge that Task."""
        async with self._operation(lease, "reset", deadline_s) as instance:
            instance.task = None
            observation = await instance.env.reset(start, deadline_s=deadline_s)
            instance.task = start.task
            return observation

    async def observe(
        self, lease: Lease, want: Sequence[Want] = ("frame",), *, deadline_s: float
    ) -> Observation:
        """See what is there now."""
        async with self._operation(lease, "observe", deadline_s) as instance:
            return await instance.env.observe(want, deadline_s=deadline_s)

    async def step(
        self, lease: Lease, action_id: str, action: Action, *, deadline_s: float
    ) -> StepResult:
        """Carry out one Action once; the same id again returns the first result."""
        async with self._operation(lease, "step", deadline_s) as instance:
            kept = instance.results.get(action_id)
            if kept is None:
                kept = await instance.env.step(action, action_id=action_id, deadline_s=deadline_s)
                instance.results[action_id] = kept
            return kept

    async def evaluate(self, lease: Lease, claim: Claim, *, deadline_s: float) -> Verdict:
        """Judge the Task of the last reset; the Episode may go on.

        Raises:
            TaskError: the verifier crashed, or nothing was reset under this Lease.
        """
        async with self._operation(lease, "evaluate", deadline_s) as instance:
            if instance.task is None:
                raise TaskError(f"nothing to evaluate: no task was reset under lease {lease.id}")
            evidence = await instance.env.evidence(deadline_s=deadline_s)
            try:
                return judge(instance.task, evidence, claim)
            except ScreenloopError:
                raise
            except Exception as error:
                raise TaskError(
                    f"the verifier of {instance.task.key} crashed: {_words(error)}"
                ) from error

    async def release(self, lease: Lease) -> None:
        """Give the Instance back; a Lease that is already gone is left alone."""
        instance = self._instances.get(lease.instance)
        if instance is not None and self._holds(instance, lease):
            instance.lease_id = None

    async def close(self) -> None:
        """Close every Instance."""
        self._closed = True
        instances = list(self._instances.values())
        self._instances.clear()
        await asyncio.gather(*(self._close_env(instance) for instance in instances))

    # ---- the pool ----------------------------------------------------------------------------

    def _is_free(self, instance: _Instance) -> bool:
        if instance.failed or instance.busy.locked():
            return False
        return instance.lease_id is None or self._clock() >= instance.expires_s

    def _free(self, env: EnvRef) -> _Instance | None:
        return next(
            (i for i in self._instances.values() if i.ref == env and self._is_free(i)), None
        )

    async def _open(self, ref: EnvRef) -> _Instance:
        self._opened += 1
        name = f"{ref.kind}-{self._opened}"
        try:
            env = await self._open_instance(ref)
        except ScreenloopError:
            raise
        except Exception as error:
            raise EnvironmentFault(
                f"no {ref.kind} Instance could be opened: {_words(error)}"
            ) from error
        instance = _Instance(name=name, ref=ref, env=env)
        if self._closed:
            await self._close_env(instance)
            raise InfraFault("the manager was closed while an Instance was opening")
        self._instances[name] = instance
        self._specs[ref] = env.spec
        return instance

    async def _close_env(self, instance: _Instance) -> None:
        """Close, and say so in the log where that fails: there is nobody left to tell."""
        try:
            async with asyncio.timeout(CLOSE_S):
                await instance.env.close()
        except Exception as error:
            _log.warning("instance %s did not close: %s", instance.name, _words(error))

    # ---- leases ------------------------------------------------------------------------------

    def _holds(self, instance: _Instance, lease: Lease) -> bool:
        return instance.lease_id == lease.id and instance.fence == lease.fence

    def _admit(self, lease: Lease) -> _Instance:
        instance = self._instances.get(lease.instance)
        if instance is None or instance.failed:
            raise LeaseLost(f"lease {lease.id}: instance {lease.instance} failed or was closed")
        if not self._holds(instance, lease):
            raise LeaseLost(
                f"lease {lease.id} shows fence {lease.fence}, but it was released or "
                f"{lease.instance} is at fence {instance.fence}"
            )
        if self._clock() >= instance.expires_s:
            raise LeaseLost(f"lease {lease.id} expired; ask for a new one")
        return instance

    @asynccontextmanager
    async def _operation(
        self, lease: Lease, name: str, deadline_s: float
    ) -> AsyncIterator[_Instance]:
        """Admit one operation at a time for the Lease's holder, within the deadline."""
        instance = self._admit(lease)
        where = f"{name} on {lease.instance}"
        try:
            async with asyncio.timeout(deadline_s) as timer, instance.busy:
                instance = self._admit(lease)
                instance.expires_s = self._clock() + instance.ttl_s
                try:
                    yield instance
                except _REFUSALS:
                    raise
                except BaseException:
                    await self._retire(instance)
                    raise
        except ScreenloopError:
            raise
        except TimeoutError as error:
            if timer.expired():
                raise DeadlinePassed(f"{where} did not answer within {deadline_s:g} s") from error
            raise EnvironmentFault(f"{where} failed: {_words(error)}") from error
        except Exception as error:
            raise EnvironmentFault(f"{where} failed: {_words(error)}") from error

    async def _retire(self, instance: _Instance) -> None:
        instance.failed = True
        instance.lease_id = None
        self._instances.pop(instance.name, None)
        await self._close_env(instance)


_REFUSALS = (UnsupportedAction, StaleFrame, TaskError, ConfigError)
"""Failures that leave the Instance as it was; after any other its state is not known."""


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
