"""The four operations on a leased Instance, and their HTTP routes: one set for manager and host."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, TypeVar, cast

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from screenloop.actions import Action
from screenloop.http.server import answer, body_of, refusal
from screenloop.manager.hosts.base import LeaseToken
from screenloop.manager.wire.bodies import (
    EvaluateBody,
    LeaseShown,
    ObserveBody,
    ResetBody,
    StepBody,
    observation_reply,
    read_body,
    step_reply,
    unstow,
    verdict_reply,
)
from screenloop.store.blobs import BlobStore
from screenloop.types import Claim, Observation, Start, StepResult, Verdict, Want

B = TypeVar("B")


class Operations(Protocol):
    """What the holder of a Lease may ask for; see the Manager contract."""

    async def reset(self, grip: LeaseToken, start: Start, *, deadline_s: float) -> Observation:
        """Bring the Instance to a Task's initial state."""
        ...

    async def observe(
        self, grip: LeaseToken, want: Sequence[Want] = ("frame",), *, deadline_s: float
    ) -> Observation:
        """See what is there now."""
        ...

    async def step(
        self, grip: LeaseToken, action_id: str, action: Action, *, deadline_s: float
    ) -> StepResult:
        """Carry out one Action once."""
        ...

    async def evaluate(self, grip: LeaseToken, claim: Claim, *, deadline_s: float) -> Verdict:
        """Judge the Task of the last reset."""
        ...


class OperationRoutes:
    """The operations over HTTP."""

    def __init__(
        self, operations: Operations, blobs: BlobStore, admit: Callable[[Request], None]
    ) -> None:
        """Prepare.

        Args:
            operations: what carries them out.
            blobs: the store that both sides share.
            admit: raises for requests that show a wrong token.
        """
        self._operations = operations
        self._blobs = blobs
        self._admit = admit

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            post_route("/v1/leases/step", StepBody, self._step, self._admit),
            post_route("/v1/leases/observe", ObserveBody, self._observe, self._admit),
            post_route("/v1/leases/reset", ResetBody, self._reset, self._admit),
            post_route("/v1/leases/evaluate", EvaluateBody, self._evaluate, self._admit),
        ]

    async def _reset(self, body: ResetBody) -> Any:
        start = unstow(body.start, body.start_blob, Start, self._blobs)
        seen = await self._operations.reset(grip_of(body.lease), start, deadline_s=body.deadline_s)
        return observation_reply(seen, self._blobs)

    async def _observe(self, body: ObserveBody) -> Any:
        grip = grip_of(body.lease)
        seen = await self._operations.observe(grip, body.want, deadline_s=body.deadline_s)
        return observation_reply(seen, self._blobs)

    async def _step(self, body: StepBody) -> Any:
        # A union is not inferred through a type variable.
        action = cast("Action", unstow(body.action, body.action_blob, Action, self._blobs))
        result = await self._operations.step(
            grip_of(body.lease), body.action_id, action, deadline_s=body.deadline_s
        )
        return step_reply(result, self._blobs)

    async def _evaluate(self, body: EvaluateBody) -> Any:
        claim = unstow(body.claim, body.claim_blob, Claim, self._blobs)
        verdict = await self._operations.evaluate(
            grip_of(body.lease), claim, deadline_s=body.deadline_s
        )
        return verdict_reply(verdict, self._blobs)


def post_route(
    path: str,
    kind: type[B],
    act: Callable[[B], Awaitable[Any]],
    admit: Callable[[Request], None],
) -> Route:
    """Return a route that reads a body, acts and answers; no failure of it is a 500."""

    async def endpoint(request: Request) -> Response:
        try:
            admit(request)
            return answer(await act(read_body(await body_of(request), kind)))
        except Exception as error:
            # Whatever an Environment raises is answered in a typed form.
            return refusal(error)

    return Route(path, endpoint, methods=["POST"])


def shown(grip: LeaseToken) -> LeaseShown:
    """Return a LeaseToken as it travels."""
    return LeaseShown(id=grip.lease_id, fence=grip.fence, instance=grip.instance, turn=grip.turn)


def grip_of(lease: LeaseShown) -> LeaseToken:
    """Return what travelled as a LeaseToken."""
    return LeaseToken(
        instance=lease.instance, lease_id=lease.id, fence=lease.fence, turn=lease.turn
    )
