"""A host in another process, reached over HTTP."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from screenloop.errors import InfraFault
from screenloop.http.client import HttpClient, NoAnswer, header_token
from screenloop.http.endpoints import read_reply
from screenloop.http.errors import error_from, is_error_body
from screenloop.manager.base import LeaseToken, OperationFor
from screenloop.manager.hosts.base import Host, HostUnreachable
from screenloop.manager.wire import endpoints as at
from screenloop.manager.wire.bodies import (
    BindBody,
    Done,
    HostReport,
    OpenBody,
    OperateReply,
    ShutBody,
)
from screenloop.store.blobs import BlobStore
from screenloop.types import EnvRef, EnvSpec

ANSWER_S = 1.0
"""What the answer's way back may take besides the operation's deadline."""
CONNECTIONS = 256
"""At most, to one host."""

R = TypeVar("R")


class RemoteHost(Host):
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
        self._headers = {"Authorization": header_token(token), "Content-Type": "application/json"}
        self._blobs = blobs
        self._client = HttpClient(connections=CONNECTIONS)

    async def open(self, instance: str, env: EnvRef, *, deadline_s: float) -> EnvSpec:
        body = OpenBody(instance=instance, env=env, deadline_s=deadline_s)
        return await self._ask(at.OPEN, body, EnvSpec, deadline_s)

    async def bind(self, token: LeaseToken, *, ttl_s: float, deadline_s: float) -> None:
        body = BindBody(lease=token, ttl_s=ttl_s, deadline_s=deadline_s)
        await self._ask(at.BIND, body, Done, deadline_s)

    async def operate(
        self, token: LeaseToken, operation: OperationFor[R], *, deadline_s: float
    ) -> R:
        body = at.operate_body(token, operation, deadline_s, self._blobs)
        kind = OperateReply[operation.result_type]  # type: ignore[name-defined]
        reply = await self._ask(at.operate_path(operation.verb), body, kind, deadline_s)
        result: R = at.result_of(reply, operation, self._blobs)
        return result

    async def shut(self, instance: str, *, deadline_s: float) -> None:
        body = ShutBody(instance=instance, deadline_s=deadline_s)
        await self._ask(at.SHUT, body, Done, deadline_s)

    async def report(self, *, deadline_s: float) -> HostReport:
        return await self._ask(at.REPORT, None, HostReport, deadline_s)

    async def close(self) -> None:
        await self._client.close()

    async def _ask(self, path: str, body: Any, kind: type[R], deadline_s: float) -> R:
        """Return a good answer.

        Raises:
            HostUnreachable: none came, or it was cut short.
            ScreenloopError: the host's own refusal or failure.
        """
        where = f"host {self.id} at {self.address}"
        wait_s = deadline_s + ANSWER_S
        try:
            reply = await self._client.send(
                "GET" if body is None else "POST",
                self.address + path,
                body=None if body is None else msgspec.json.encode(body),
                headers=self._headers,
                deadline_s=wait_s,
            )
            if reply.status == 200:
                return read_reply(reply.body, kind, where)
        except TimeoutError as error:
            raise HostUnreachable(f"{where} did not answer {path} within {wait_s:g} s") from error
        except NoAnswer as error:
            raise HostUnreachable(f"{where} cannot be reached: {error}") from error
        except InfraFault as error:
            raise HostUnreachable(str(error)) from error
        if not is_error_body(reply.body):
            raise HostUnreachable(f"{where} answered {reply.status} without a readable error body")
        raise error_from(reply.status, reply.body, where)
