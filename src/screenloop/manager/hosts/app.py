"""A host over HTTP: the four operations for whoever holds a Lease, the rest for the manager."""

from __future__ import annotations

from collections.abc import Callable

from starlette.requests import Request

from screenloop.http.endpoints import Act, EndpointRow, routes_of
from screenloop.http.server import Routes, WrongToken, check_token
from screenloop.manager.hosts.base import Host
from screenloop.manager.wire import endpoints as at
from screenloop.manager.wire.bodies import BindBody, Done, HostReport, OpenBody, ShutBody
from screenloop.store.blobs import BlobStore
from screenloop.types import EnvSpec

REPORT_S = 10.0
"""Deadline of a report, which waits for nothing."""


class HostApp:
    """Serves one Host.

    The operation routes ask for no token: a Lease's id cannot be guessed and is the leave to use
    its Instance. The other routes are the manager's own.
    """

    def __init__(
        self, host: Host, *, token: str, blobs: BlobStore, heard: Callable[[], None]
    ) -> None:
        """Prepare.

        Args:
            host: what is served.
            token: what the manager's requests show.
            blobs: the store that host, manager and clients share.
            heard: called when a manager gave a sign of life.
        """
        self._host = host
        self._token = token
        self._blobs = blobs
        self._heard = heard

    def asgi(self) -> Routes:
        acts: dict[tuple[str, str], Act] = {
            **at.operate_acts(self._host, self._blobs),
            ("POST", at.OPEN): self._open,
            ("POST", at.BIND): self._bind,
            ("POST", at.SHUT): self._shut,
            ("GET", at.REPORT): self._report,
        }
        return routes_of(acts, at.HOST_ROWS, self._admit)

    def _admit(self, row: EndpointRow, request: Request) -> None:
        """Note a manager's sign of life; let nobody else do more than operate."""
        try:
            check_token(request, self._token)
        except WrongToken:
            if row not in at.OPERATE_ROWS:
                raise
        else:
            self._heard()

    async def _open(self, request: Request, body: OpenBody) -> EnvSpec:
        return await self._host.open(body.instance, body.env, deadline_s=body.deadline_s)

    async def _bind(self, request: Request, body: BindBody) -> Done:
        await self._host.bind(body.lease, ttl_s=body.ttl_s, deadline_s=body.deadline_s)
        return Done()

    async def _shut(self, request: Request, body: ShutBody) -> Done:
        await self._host.shut(body.instance, deadline_s=body.deadline_s)
        return Done()

    async def _report(self, request: Request, _: None) -> HostReport:
        return await self._host.report(deadline_s=REPORT_S)
