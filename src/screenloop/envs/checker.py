"""A conformance suite for Environments: anyone can run it on their own.

    report = await check_environment(open_instance, starts, blobs=blobs)
    report.raise_for_failures()

Each rule of the contract in `base` that can be seen from outside is tried on fresh Instances and
gives one RuleFinding.
"""

from __future__ import annotations

import asyncio
import io
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import msgspec
from PIL import Image

from screenloop.actions import EXECUTOR, Action, Executor, Tap, tag_of
from screenloop.envs.base import Environment
from screenloop.envs.draws import DRAWABLE, draw_action, one_of_each
from screenloop.errors import DeadlinePassed, EnvironmentFault, StaleFrame, UnsupportedAction
from screenloop.store.blobs import BlobStore, blob_key
from screenloop.types import Observation, RuleFinding, Start, Struct

_T = TypeVar("_T")
_TINY_S = 0.0005


class Report(Struct, frozen=True, kw_only=True):
    """How all rules came out."""

    findings: tuple[RuleFinding, ...]

    @property
    def failures(self) -> tuple[RuleFinding, ...]:
        return tuple(finding for finding in self.findings if not finding.passed)

    def raise_for_failures(self) -> None:
        """Raise when a rule is broken.

        Raises:
            EnvironmentFault: lists the broken rules and what was seen.
        """
        if self.failures:
            lines = "".join(f"\n- {f.rule}: {f.detail}" for f in self.failures)
            raise EnvironmentFault(f"{len(self.failures)} rules are broken:{lines}")


class Trial(Struct, frozen=True, kw_only=True):
    """How the rules are tried."""

    seed: int = 0
    actions: int = 30
    """Random actions a run."""
    deadline_s: float = 30.0
    """For ordinary calls."""
    hang_s: float = 60.0
    """After which a call that ignores its deadline counts as hanging."""


class _Broken(Exception):
    """A rule is broken; says what was seen."""


class _NotApplicable(Exception):
    """The spec promises nothing that the rule could try."""


async def check_environment(
    open_instance: Callable[[], Awaitable[Environment]],
    starts: Sequence[Start],
    *,
    blobs: BlobStore,
    trial: Trial | None = None,
) -> Report:
    """Try every rule on Instances that `open_instance` opens.

    Args:
        open_instance: opens a fresh Instance; the checker closes it.
        starts: initial states to try; each rule takes all of them or the first.
        blobs: the store into which the Instances put their frames.
        trial: how many actions, and how long to wait.
    """
    if not starts:
        raise ValueError("the checker needs at least one start.")
    checker = _Checker(open_instance, starts, blobs, trial or Trial())
    findings = []
    for rule, check in checker.rules().items():
        try:
            await check()
        except _Broken as broken:
            findings.append(RuleFinding(rule=rule, passed=False, detail=str(broken)))
        except _NotApplicable as reason:
            findings.append(RuleFinding(rule=rule, passed=True, detail=f"not applicable: {reason}"))
        except Exception as error:
            # Whatever an Environment lets out of these calls breaks the rule being tried.
            detail = f"raised {type(error).__name__}: {error}"
            findings.append(RuleFinding(rule=rule, passed=False, detail=detail))
        else:
            findings.append(RuleFinding(rule=rule, passed=True))
    return Report(findings=tuple(findings))


class _Checker:
    def __init__(
        self,
        open_instance: Callable[[], Awaitable[Environment]],
        starts: Sequence[Start],
        blobs: BlobStore,
        trial: Trial,
    ) -> None:
        self._open_instance = open_instance
        self._starts = starts
        self._blobs = blobs
        self._trial = trial

    def rules(self) -> dict[str, Callable[[], Awaitable[None]]]:
        return {
            "reset is exact": self._reset_is_exact,
            "equal actions give equal runs": self._runs_are_deterministic,
            "instances are isolated": self._instances_are_isolated,
            "frames are real": self._frames_are_real,
            "every declared part of the screen can be seen": self._wants_are_served,
            "observing changes nothing": self._observing_changes_nothing,
            "evidence can be read": self._evidence_is_readable,
            "deadlines are kept": self._deadlines_are_kept,
            "actions outside the spec are refused": self._unsupported_is_refused,
            "stale frames are refused": self._stale_is_refused,
            "snapshots restore": self._snapshots_restore,
            "closing twice is harmless": self._closes_twice,
        }

    # ---- rules -----------------------------------------------------------------------------

    async def _reset_is_exact(self) -> None:
        async with _Opened(self) as env, _Opened(self) as other:
            for start in self._starts:
                first = await self._reset(env, start)
                await self._play(env, self._script(env))
                self._same(first, await self._reset(env, start), "a second reset")
                self._same(first, await self._reset(other, start), "a reset of another instance")

    async def _runs_are_deterministic(self) -> None:
        async with _Opened(self) as env, _Opened(self) as other:
            for start in self._starts:
                script = self._script(env)
                await self._reset(env, start)
                first = await self._play(env, script)
                await self._reset(other, start)
                for index, (left, right) in enumerate(
                    zip(first, await self._play(other, script), strict=True), start=1
                ):
                    self._same(left, right, f"the same run, after {index} actions,")

    async def _instances_are_isolated(self) -> None:
        async with _Opened(self) as env, _Opened(self) as other:
            await self._reset(env, self._starts[0])
            before = await self._reset(other, self._starts[0])
            await self._play(env, self._script(env))
            self._same(before, await self._observe(other), "an instance while another acted")

    async def _frames_are_real(self) -> None:
        async with _Opened(self) as env:
            for start in self._starts:
                observations = [await self._reset(env, start), await self._observe(env)]
                observations += await self._play(env, self._script(env)[:3])
                for observation in observations:
                    self._require_frame(observation, env.spec.size_px)

    async def _wants_are_served(self) -> None:
        async with _Opened(self) as env:
            await self._reset(env, self._starts[0])
            for want in sorted(env.spec.wants):
                seen = await self._call(
                    env.observe((want,), deadline_s=self._trial.deadline_s), "observe"
                )
                key: str | None = getattr(seen, want)
                if key is None:
                    raise _Broken(f"asked for {want}, but the observation carries none")
                self._blobs.get(key)

    async def _observing_changes_nothing(self) -> None:
        async with _Opened(self) as env:
            await self._reset(env, self._starts[0])
            await self._play(env, self._script(env)[:3])
            first = await self._observe(env)
            self._same(first, await self._observe(env), "a second look")

    async def _evidence_is_readable(self) -> None:
        changed = False
        async with _Opened(self) as env:
            for start in self._starts:
                await self._reset(env, start)
                seen = await self._observe(env)
                evidence = await self._evidence(env)
                if evidence[0] != evidence[1]:
                    raise _Broken("before and after differ right after a reset")
                self._same(seen, await self._observe(env), "the screen after reading evidence")
                await self._play(env, self._script(env))
                later = await self._evidence(env)
                if later[0] != evidence[0]:
                    raise _Broken("what was before changed while the instance was acting")
                changed = changed or later[1] != evidence[1]
        if not changed:
            raise _NotApplicable("no action changed the evidence: it can be read, no more is known")

    async def _deadlines_are_kept(self) -> None:
        async with _Opened(self) as env:
            await self._reset(env, self._starts[0])
            calls: dict[str, Callable[[], Awaitable[object]]] = {
                "observe": lambda: env.observe(deadline_s=_TINY_S),
                "step": lambda: env.step(
                    self._script(env)[0], action_id="check/late/0", deadline_s=_TINY_S
                ),
                "evidence": lambda: env.evidence(deadline_s=_TINY_S),
                "reset": lambda: env.reset(self._starts[0], deadline_s=_TINY_S),
            }
            for name, call in calls.items():
                try:
                    await self._call(call(), f"{name} with a deadline of {_TINY_S} s")
                except DeadlinePassed:
                    await self._reset(env, self._starts[0])
            self._require_frame(await self._reset(env, self._starts[0]), env.spec.size_px)

    async def _unsupported_is_refused(self) -> None:
        async with _Opened(self) as env:
            before = await self._reset(env, self._starts[0])
            for action in _unsupported(env.spec.actions):
                try:
                    await self._step(env, action)
                except UnsupportedAction:
                    continue
                raise _Broken(f"{tag_of(action)} is not in the spec, but was not refused")
            self._same(before, await self._observe(env), "the screen after refused actions")

    async def _stale_is_refused(self) -> None:
        async with _Opened(self) as env:
            seen = await self._reset(env, self._starts[0])
            if "tap" not in env.spec.actions:
                raise _NotApplicable("the spec has no tap")
            try:
                await self._step(env, Tap(at=(0.5, 0.5), frame=blob_key(b"another frame", "png")))
            except StaleFrame:
                await self._step(env, Tap(at=(0.5, 0.5), frame=seen.frame))
                return
            raise _Broken("a tap on a frame that is not on the screen was not refused")

    async def _snapshots_restore(self) -> None:
        async with _Opened(self) as env:
            if not env.spec.can_fork:
                raise _NotApplicable("the spec says it cannot fork")
            script = self._script(env)
            half = len(script) // 2
            await self._reset(env, self._starts[0])
            await self._play(env, script[:half])
            seen, evidence = await self._observe(env), await self._evidence(env)
            key = await self._call(env.snapshot(deadline_s=self._trial.deadline_s), "snapshot")
            branch = await self._play(env, script[half:])
            for time in ("first", "second"):
                restored = await self._call(
                    env.reset(key, deadline_s=self._trial.deadline_s), "reset to a snapshot"
                )
                self._same(seen, restored, f"the {time} restored snapshot")
                if await self._evidence(env) != evidence:
                    raise _Broken("a restored snapshot gives other evidence")
                for left, right in zip(branch, await self._play(env, script[half:]), strict=True):
                    self._same(left, right, f"the {time} fork of a run")

    async def _closes_twice(self) -> None:
        env = await self._open_instance()
        await self._reset(env, self._starts[0])
        await self.close(env)
        await self._call(env.close(), "a second close")
        unused = await self._open_instance()
        await self._call(unused.close(), "close of an instance that was never reset")

    # ---- operations ------------------------------------------------------------------------

    async def open(self) -> Environment:
        return await self._open_instance()

    async def close(self, env: Environment) -> None:
        await self._call(env.close(), "close")

    async def _reset(self, env: Environment, start: Start) -> Observation:
        return await self._call(env.reset(start, deadline_s=self._trial.deadline_s), "reset")

    async def _observe(self, env: Environment) -> Observation:
        return await self._call(env.observe(deadline_s=self._trial.deadline_s), "observe")

    async def _step(self, env: Environment, action: Action, index: int = 0) -> Observation:
        step = env.step(action, action_id=f"check/{index}/0", deadline_s=self._trial.deadline_s)
        return (await self._call(step, f"step {tag_of(action)}")).observation

    async def _play(self, env: Environment, script: Sequence[Action]) -> list[Observation]:
        return [await self._step(env, action, index) for index, action in enumerate(script)]

    async def _evidence(self, env: Environment) -> tuple[bytes, bytes]:
        """Return the evidence before and after as JSON with sorted keys."""
        evidence = await self._call(env.evidence(deadline_s=self._trial.deadline_s), "evidence")
        try:
            before = msgspec.json.encode(evidence.before, order="sorted")
            return before, msgspec.json.encode(evidence.after, order="sorted")
        except TypeError as error:
            raise _Broken(f"evidence is not plain JSON: {error}") from error

    async def _call(self, call: Awaitable[_T], what: str) -> _T:
        """Await a call of the Environment; one that ignores its deadline breaks the rule."""
        guard = asyncio.timeout(self._trial.hang_s)
        try:
            async with guard:
                return await call
        except TimeoutError as error:
            if guard.expired():
                raise _Broken(f"{what} hangs: no end after {self._trial.hang_s:g} s") from None
            if isinstance(error, DeadlinePassed):
                raise
            raise _Broken(f"{what} raised a bare TimeoutError, not DeadlinePassed") from error

    def _script(self, env: Environment) -> list[Action]:
        rng = random.Random(self._trial.seed)
        kinds = env.spec.actions & DRAWABLE
        if not kinds:
            raise _Broken(f"none of the actions {sorted(env.spec.actions)} can be drawn at random")
        return [draw_action(rng, kinds) for _ in range(max(5, self._trial.actions))]

    # ---- comparing -------------------------------------------------------------------------

    def _same(self, wanted: Observation, seen: Observation, what: str) -> None:
        if wanted.state_hash != seen.state_hash:
            raise _Broken(f"{what} has state hash {seen.state_hash}, not {wanted.state_hash}")
        if wanted.frame != seen.frame:
            raise _Broken(f"{what} shows frame {seen.frame}, not {wanted.frame}")

    def _require_frame(self, observation: Observation, size_px: tuple[int, int]) -> None:
        if observation.frame is None:
            raise _Broken("an observation carries no frame")
        data = self._blobs.get(observation.frame)
        try:
            with Image.open(io.BytesIO(data)) as image:
                image.load()
                found = image.size
        except (OSError, SyntaxError) as error:
            raise _Broken(f"frame {observation.frame} is no picture: {error}") from error
        if not found == observation.size_px == size_px:
            raise _Broken(
                f"a frame measures {found}, its observation says {observation.size_px}, the spec "
                f"says {size_px}"
            )


class _Opened:
    """An Instance that is closed at the end of a block."""

    def __init__(self, checker: _Checker) -> None:
        self._checker = checker

    async def __aenter__(self) -> Environment:
        self._env = await self._checker.open()
        return self._env

    async def __aexit__(self, *_: object) -> None:
        await self._checker.close(self._env)


def _unsupported(supported: frozenset[str]) -> list[Action]:
    """Return one action of each kind that an Environment with this spec must refuse."""
    return [
        action
        for action in one_of_each()
        if tag_of(action) not in supported or EXECUTOR[type(action)] is Executor.ROLLOUT
    ]
