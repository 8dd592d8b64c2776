"""A host over HTTP: the four operations for whoever holds a Lease, the rest for the manager."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from screenloop.http.server import (
    WrongToken,
    answer,
    check_token,
    on_http_exception,
    refusal,
)
from screenloop.http.short_cut import ShortCut
from screenloop.manager.hosts.base import Host
from screenloop.manager.wire.bodies import Done
from screenloop.manager.wire.host_bodies import BindBody, OpenBody, ShutBody
from screenloop.manager.wire.routes import OperationRoutes, post_route
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

    def asgi(self) -> ASGIApp:
        """Return the app to serve."""
        app = Starlette(
            routes=[
                *OperationRoutes(self._host, self._blobs, self._hear_any).routes(),
                post_route("/v1/host/open", OpenBody, self._open, self._hear_manager),
                post_route("/v1/host/bind", BindBody, self._bind, self._hear_manager),
                post_route("/v1/host/shut", ShutBody, self._shut, self._hear_manager),
                Route("/v1/host/report", self._report, methods=["GET"]),
            ],
            exception_handlers={HTTPException: on_http_exception},
        )
        return ShortCut(app)

    def _hear_manager(self, request: Request) -> None:
        """Refuse whoever is no manager; note a manager's sign of life."""
        check_token(request, self._token)
        self._heard()

    def _hear_any(self, request: Request) -> None:
        """Let anyone ask, whatever token is shown: the Lease is what counts here."""
        with contextlib.suppress(WrongToken):
            self._hear_manager(request)

    async def _open(self, body: OpenBody) -> EnvSpec:
        return await self._host.open(body.instance, body.env, deadline_s=body.deadline_s)

    async def _bind(self, body: BindBody) -> Done:
        await self._host.bind(body.grip, ttl_s=body.ttl_s, deadline_s=body.deadline_s)
        return Done()

    async def _shut(self, body: ShutBody) -> Done:
        await self._host.shut(body.instance, deadline_s=body.deadline_s)
        return Done()

    async def _report(self, request: Request) -> Response:
        try:
            self._hear_manager(request)
            return answer(await self._host.report(deadline_s=REPORT_S))
        except Exception as error:
            # Nothing is a 500.
            return refusal(error)
