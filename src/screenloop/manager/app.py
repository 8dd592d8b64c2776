"""The manager over HTTP."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from screenloop import __version__
from screenloop.errors import ConfigError, InfraFault
from screenloop.http.server import answer, body_of, check_token, on_http_exception, refusal
from screenloop.http.short_cut import ShortCut
from screenloop.manager.clock import Clock
from screenloop.manager.service import ManagerService
from screenloop.manager.supply.pool import PoolStatus, Quarantined
from screenloop.manager.watch.metrics import Metrics
from screenloop.manager.wire.bodies import Done, read_body
from screenloop.manager.wire.openapi import openapi_document
from screenloop.manager.wire.routes import OperationRoutes, grip_of, post_route
from screenloop.manager.wire.service_bodies import (
    AcquireBody,
    Health,
    Info,
    LeaseReply,
    ReleaseBody,
    Status,
    WithdrawBody,
)
from screenloop.store.blobs import BlobStore
from screenloop.types import EnvRef, Lease


class ManagerApp:
    """Serves one ManagerService."""

    def __init__(
        self,
        service: ManagerService,
        *,
        token: str,
        blobs: BlobStore,
        blobs_url: str,
        metrics: Metrics,
        clock: Clock,
        pools: Callable[[], tuple[PoolStatus, ...]] = lambda: (),
        quarantined: Callable[[], tuple[Quarantined, ...]] = lambda: (),
    ) -> None:
        """Prepare.

        Args:
            service: what is served.
            token: what requests show.
            blobs: the store that manager, hosts and clients share.
            blobs_url: its URL, told to clients.
            metrics: what the service counts.
            clock: for how long it has been up.
            pools: tells how the pools stand.
            quarantined: tells what was taken out lately.
        """
        self._service = service
        self._token = token
        self._blobs = blobs
        self._blobs_url = blobs_url
        self._metrics = metrics
        self._clock = clock
        self._pools = pools
        self._quarantined = quarantined
        self._began_s = clock.now_s()
        self._document = msgspec.json.encode(openapi_document(__version__))
        metrics.watch(pools, lambda: service.status().leases)

    def asgi(self) -> ASGIApp:
        """Return the app to serve."""
        operations = OperationRoutes(self._service.operations, self._blobs, self._admit)
        app = Starlette(
            routes=[
                *operations.routes(),
                Route("/v1/leases", self._acquire, methods=["POST"]),
                post_route("/v1/leases/release", ReleaseBody, self._release, self._admit),
                post_route("/v1/leases/withdraw", WithdrawBody, self._withdraw, self._admit),
                self._get("/v1/spec", self._spec),
                self._get("/v1/info", self._info),
                self._get("/v1/status", self._status),
                self._get("/v1/metrics", self._text),
                self._get("/v1/health", self._health, token=False),
                self._get("/openapi.json", self._openapi, token=False),
            ],
            exception_handlers={HTTPException: on_http_exception},
        )
        # Another address is another route, not a way round.
        app.router.redirect_slashes = False
        return ShortCut(app)

    def _admit(self, request: Request) -> None:
        check_token(request, self._token)

    def _get(
        self, path: str, act: Callable[[Request], Awaitable[Any]], *, token: bool = True
    ) -> Route:
        async def endpoint(request: Request) -> Response:
            try:
                if token:
                    self._admit(request)
                told = await act(request)
            except Exception as error:
                # Whatever a host raises is answered in a typed form; nothing is a 500.
                return refusal(error)
            return told if isinstance(told, Response) else answer(told)

        return Route(path, endpoint, methods=["GET"])

    # ---- leases ------------------------------------------------------------------------------

    async def _acquire(self, request: Request) -> Response:
        """Grant a Lease; a client that hangs up while it waits gets none."""
        try:
            self._admit(request)
            body = read_body(await body_of(request), AcquireBody)
            lease = await _unless_gone(
                request,
                self._service.acquire(
                    body.env,
                    body.run_id,
                    ttl_s=body.ttl_s,
                    request_id=body.request_id,
                    wait_s=body.wait_s,
                ),
            )
        except Exception as error:
            return refusal(error)
        return answer(
            LeaseReply(
                id=lease.id,
                fence=lease.fence,
                instance=lease.instance,
                expires_in_s=max(0.0, lease.expires_s - self._clock.now_s()),
                host_url=lease.host_url,
            )
        )

    async def _release(self, body: ReleaseBody) -> Done:
        await self._service.operations.release(grip_of(body.lease))
        return Done()

    async def _withdraw(self, body: WithdrawBody) -> Done:
        await self._service.withdraw(body.request_id)
        return Done()

    # ---- asking ------------------------------------------------------------------------------

    async def _spec(self, request: Request) -> Any:
        asked = request.query_params
        try:
            env = EnvRef(
                kind=asked["kind"], size_px=(_pixels(asked["width"]), _pixels(asked["height"]))
            )
        except KeyError as error:
            raise ConfigError(f"the query lacks {error}; it needs kind, width, height") from error
        return await self._service.spec(env)

    async def _info(self, request: Request) -> Info:
        return Info(version=__version__, blobs=self._blobs_url)

    async def _health(self, request: Request) -> Response:
        draining = self._service.status().draining
        status = HTTPStatus.SERVICE_UNAVAILABLE if draining else HTTPStatus.OK
        return answer(Health(ok=not draining, draining=draining), status)

    async def _status(self, request: Request) -> Status:
        now = self._service.status()
        return Status(
            version=__version__,
            up_s=self._clock.now_s() - self._began_s,
            leases=now.leases,
            acquiring=now.acquiring,
            in_flight=now.in_flight,
            draining=now.draining,
            leases_by_run=dict(Counter(self._service.runs())),
            pools=self._pools(),
            quarantined=self._quarantined(),
            faults=self._metrics.faults,
            evaluated=self._metrics.evaluated,
            unscored=self._metrics.unscored,
        )

    async def _text(self, request: Request) -> Response:
        return Response(self._metrics.text(), media_type="text/plain; version=0.0.4")

    async def _openapi(self, request: Request) -> Response:
        return Response(self._document, media_type="application/json")


def _pixels(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= 100_000):
        raise ConfigError(f"width and height are whole pixels from 1 to 100000, not {text!r}")
    return int(text)


async def _unless_gone(request: Request, granting: Awaitable[Lease]) -> Lease:
    """Wait for a Lease as long as the client does.

    Raises:
        InfraFault: the client hung up; nothing is granted.
    """
    task = asyncio.ensure_future(granting)
    gone = asyncio.ensure_future(_hung_up(request))
    try:
        await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise InfraFault("the client hung up while it waited for a lease")
        return await task
    finally:
        for one in (task, gone):
            one.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


async def _hung_up(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
