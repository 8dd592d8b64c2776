"""A Manager that judges as an attempt goes along, for rewards that count progress."""

from __future__ import annotations

from typing import TypeVar

from screenloop.errors import ConfigError, ScreenloopError
from screenloop.manager.base import Manager, OperationFor, Reset, TakeStep
from screenloop.types import Claim, EnvRef, EnvSpec, Lease, Unscored, Verdict

R = TypeVar("R")

JUDGE_S = 60.0
"""How long one judgement may take."""


class JudgingManager(Manager):
    """Another Manager, for one attempt, that keeps a Verdict after the reset and after each Action.

    Each judges the state alone, with nothing claimed: what an answer is worth is for the Episode's
    own Verdict. A moment that cannot be judged is kept as unscored with its reason; the attempt
    goes on.
    """

    def __init__(self, manager: Manager, *, deadline_s: float = JUDGE_S) -> None:
        self._manager = manager
        self._deadline_s = deadline_s
        self._first: Verdict | None = None
        self._after: dict[int, Verdict] = {}

    def verdicts(self, steps: int) -> tuple[Verdict, ...]:
        """Return the judgement right after the reset and after each of the Episode's steps.

        A step that acted on nothing (an unreadable reply, an answer) leaves things as they were.
        There is none at all where the attempt did not get through its reset.
        """
        if self._first is None:
            return ()
        found = [self._first]
        for step in range(steps):
            found.append(self._after.get(step, found[-1]))
        return tuple(found)

    # ---- the Manager contract --------------------------------------------------------------

    async def spec(self, env: EnvRef) -> EnvSpec:
        return await self._manager.spec(env)

    async def acquire(self, env: EnvRef, run_id: str, *, ttl_s: float) -> Lease:
        return await self._manager.acquire(env, run_id, ttl_s=ttl_s)

    async def operate(self, lease: Lease, operation: OperationFor[R], *, deadline_s: float) -> R:
        """Carry out one operation; judge what a reset brought about and what a step did."""
        result = await self._manager.operate(lease, operation, deadline_s=deadline_s)
        if isinstance(operation, Reset):
            self._first, self._after = await self._judge(lease), {}
        elif isinstance(operation, TakeStep):
            self._after[step_of(operation.action_id)] = await self._judge(lease)
        return result

    async def release(self, lease: Lease) -> None:
        await self._manager.release(lease)

    async def close(self) -> None:
        await self._manager.close()

    async def _judge(self, lease: Lease) -> Verdict:
        try:
            return await self._manager.evaluate(lease, Claim(), deadline_s=self._deadline_s)
        except ConfigError:
            raise
        except ScreenloopError as error:
            reason = f"{type(error).__name__}: {error}"
            return Verdict(unscored=Unscored(blame=error.blame, stage="evaluate", reason=reason))


def step_of(action_id: str) -> int:
    """Return the step that an Action belongs to; its id is `episode/step/number`.

    Raises:
        ConfigError: the id has another form.
    """
    parts = action_id.rsplit("/", 2)
    if len(parts) != 3 or not parts[1].isdecimal():
        raise ConfigError(
            f"the action id {action_id!r} names no step: ids have the form EPISODE/STEP/NUMBER"
        )
    return int(parts[1])
