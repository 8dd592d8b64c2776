"""A host in another process, reached over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec

from screenloop.actions import Action
from screenloop.errors import InfraFault
from screenloop.http.client import QuickClient
from screenloop.http.errors import error_from, is_error_body
from screenloop.manager.hosts.base import HostReport, LeaseToken
from screenloop.manager.hosts.unreachable import HostUnreachable
from screenloop.manager.wire.bodies import (
    Done,
    ObservationReply,
    StepReply,
    VerdictReply,
    evaluate_body,
    observe_body,
    read_reply,
    reset_body,
    step_body,
    unstow,
)
from screenloop.manager.wire.host_bodies import BindBody, OpenBody, ShutBody
from screenloop.manager.wire.routes import shown
from screenloop.store.blobs import BlobStore
from screenloop.types import Claim, EnvRef, EnvSpec, Observation, Start, StepResult, Verdict, Want

ANSWER_S = 1.0
"""What the answer's way back may take besides the operation's deadline."""

R = TypeVar("R")


class RemoteHost:
    """The Host contract over HTTP, with one pool of connections.

    An answer that does not come, or comes cut short, is `HostUnreachable`: the host may yet have
    done what it was asked. The failures that the host itself reports come back as they were.
    """

    def __init__(self, host: str, address: str, *, token: str, blobs: BlobStore) -> None:
        """Prepare; connects on first use.

        Args:
            host: its id.
            address: URL under which it answers.
            token: bearer token that it demands.
            blobs: the store that both sides share.
        """
        self.id = host
        self.address = address.rstrip("/")
        self._headers = (
            f"Authorization: Bearer {token}\r\nContent-Type: application/json\r\n".encode()
        )
        self._blobs = blobs
        self._client = QuickClient(self.address)

    async def open(self, instance: str, env: EnvRef, *, deadline_s: float) -> EnvSpec:
        """Start an Instance under this name; returns when it is strictly ready."""
        body = OpenBody(instance=instance, env=env, deadline_s=deadline_s)
        return await self._ask("/v1/host/open", body, EnvSpec, deadline_s)

    async def bind(self, grip: LeaseToken, *, ttl_s: float, deadline_s: float) -> None:
        """Put a new fence in force."""
        body = BindBody(grip=grip, ttl_s=ttl_s, deadline_s=deadline_s)
        await self._ask("/v1/host/bind", body, Done, deadline_s)

    async def reset(self, grip: LeaseToken, start: Start, *, deadline_s: float) -> Observation:
        """Bring the Instance to a Task's initial state."""
        body = reset_body(shown(grip), start, deadline_s, self._blobs)
        return self._seen(await self._ask("/v1/leases/reset", body, ObservationReply, deadline_s))

    async def observe(
        self, grip: LeaseToken, want: Sequence[Want] = ("frame",), *, deadline_s: float
    ) -> Observation:
        """See what is there now."""
        body = observe_body(shown(grip), want, deadline_s)
        return self._seen(await self._ask("/v1/leases/observe", body, ObservationReply, deadline_s))

    async def step(
        self, grip: LeaseToken, action_id: str, action: Action, *, deadline_s: float
    ) -> StepResult:
        """Carry out one Action once."""
        body = step_body(shown(grip), action_id, action, deadline_s, self._blobs)
        reply = await self._ask("/v1/leases/step", body, StepReply, deadline_s)
        return unstow(reply.result, reply.blob, StepResult, self._blobs)

    async def evaluate(self, grip: LeaseToken, claim: Claim, *, deadline_s: float) -> Verdict:
        """Judge the Task of the last reset."""
        body = evaluate_body(shown(grip), claim, deadline_s, self._blobs)
        reply = await self._ask("/v1/leases/evaluate", body, VerdictReply, deadline_s)
        return unstow(reply.verdict, reply.blob, Verdict, self._blobs)

    async def shut(self, instance: str, *, deadline_s: float) -> None:
        """Close one Instance."""
        body = ShutBody(instance=instance, deadline_s=deadline_s)
        await self._ask("/v1/host/shut", body, Done, deadline_s)

    async def report(self, *, deadline_s: float) -> HostReport:
        """Say what there is."""
        data = await self._send(b"GET", "/v1/host/report", b"", deadline_s)
        return self._read(data, HostReport)

    async def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _seen(self, reply: ObservationReply) -> Observation:
        return unstow(reply.observation, reply.blob, Observation, self._blobs)

    async def _ask(self, path: str, body: Any, kind: type[R], deadline_s: float) -> R:
        data = await self._send(b"POST", path, msgspec.json.encode(body), deadline_s)
        return self._read(data, kind)

    def _read(self, data: bytes, kind: type[R]) -> R:
        try:
            return read_reply(data, kind, f"host {self.id}")
        except InfraFault as error:
            raise HostUnreachable(str(error)) from error

    async def _send(self, method: bytes, path: str, body: bytes, deadline_s: float) -> bytes:
        """Return the body of a good answer.

        Raises:
            HostUnreachable: none came, or it was cut short.
            ScreenloopError: the host's own refusal or failure.
        """
        where = f"host {self.id} at {self.address}"
        try:
            status, data = await self._client.send(
                method, path.encode(), self._headers, body, deadline_s + ANSWER_S
            )
        except TimeoutError as error:
            raise HostUnreachable(
                f"{where} did not answer {path} within {deadline_s + ANSWER_S:g} s"
            ) from error
        except OSError as error:
            raise HostUnreachable(
                f"{where} cannot be reached: {type(error).__name__}: {error}"
            ) from error
        if status == 200:
            return data
        if not is_error_body(data):
            raise HostUnreachable(f"{where} answered {status} with something that is not ours")
        raise error_from(status, data, where)
