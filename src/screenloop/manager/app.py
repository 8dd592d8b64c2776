"""The manager over HTTP."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from http import HTTPStatus

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from screenloop import __version__
from screenloop.errors import ConfigError, InfraFault
from screenloop.http.endpoints import Act, EndpointRow, routes_of
from screenloop.http.server import Routes, answer, check_token
from screenloop.manager.base import token_of
from screenloop.manager.clock import Clock
from screenloop.manager.service import ManagerService
from screenloop.manager.watch.metrics import Metrics
from screenloop.manager.wire import bodies
from screenloop.manager.wire import endpoints as at
from screenloop.store.blobs import BlobStore
from screenloop.types import EnvRef, EnvSpec, Lease

_OPENAPI = EndpointRow(
    method="GET", path="/openapi.json", does="Tell of all endpoints.", token=False
)


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
        pools: Callable[[], tuple[bodies.PoolStatus, ...]] = lambda: (),
        quarantined: Callable[[], tuple[bodies.Quarantined, ...]] = lambda: (),
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
        self._document = msgspec.json.encode(at.manager_document(__version__))
        metrics.watch(pools, lambda: service.status().leases)

    def asgi(self) -> Routes:
        acts: dict[tuple[str, str], Act] = {
            **at.operate_acts(self._service.operations, self._blobs),
            ("POST", at.ACQUIRE): self._acquire,
            ("POST", at.RELEASE): self._release,
            ("POST", at.WITHDRAW): self._withdraw,
            ("GET", at.SPEC): self._spec,
            ("GET", at.INFO): self._info,
            ("GET", at.STATUS): self._status,
            ("GET", at.METRICS): self._text,
            ("GET", at.HEALTH): self._health,
            ("GET", _OPENAPI.path): self._openapi,
        }
        return routes_of(acts, (*at.MANAGER_ROWS, _OPENAPI), self._admit)

    def _admit(self, row: EndpointRow, request: Request) -> None:
        if row.token:
            check_token(request, self._token)

    # ---- leases ------------------------------------------------------------------------------

    async def _acquire(self, request: Request, body: bodies.AcquireBody) -> bodies.AcquireReply:
        """Grant a Lease; a client that hangs up while it waits gets none."""
        granting = self._service.acquire(
            body.env, body.run_id, ttl_s=body.ttl_s, request_id=body.request_id, wait_s=body.wait_s
        )
        lease = await _unless_gone(request, granting)
        return bodies.AcquireReply(
            lease=token_of(lease),
            expires_in_s=max(0.0, lease.expires_s - self._clock.now_s()),
            host_url=lease.host_url,
        )

    async def _release(self, request: Request, body: bodies.ReleaseBody) -> bodies.Done:
        await self._service.operations.release(body.lease)
        return bodies.Done()

    async def _withdraw(self, request: Request, body: bodies.WithdrawBody) -> bodies.Done:
        await self._service.withdraw(body.request_id)
        return bodies.Done()

    # ---- asking ------------------------------------------------------------------------------

    async def _spec(self, request: Request, _: None) -> EnvSpec:
        given = request.query_params
        try:
            env = EnvRef(
                kind=given["kind"], size_px=(_pixels(given["width"]), _pixels(given["height"]))
            )
        except KeyError as error:
            raise ConfigError(f"the query lacks {error}; it needs kind, width, height") from error
        return await self._service.spec(env)

    async def _info(self, request: Request, _: None) -> bodies.Info:
        return bodies.Info(version=__version__, blobs=self._blobs_url)

    async def _health(self, request: Request, _: None) -> Response:
        draining = self._service.status().draining
        status = HTTPStatus.SERVICE_UNAVAILABLE if draining else HTTPStatus.OK
        return answer(bodies.Health(ok=not draining, draining=draining), status)

    async def _status(self, request: Request, _: None) -> bodies.Status:
        now = self._service.status()
        return bodies.Status(
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

    async def _text(self, request: Request, _: None) -> Response:
        return Response(self._metrics.text(), media_type="text/plain; version=0.0.4")

    async def _openapi(self, request: Request, _: None) -> Response:
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
