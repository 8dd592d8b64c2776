"""A manager that answers over real HTTP in this process, and ways to disturb it: for tests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import aiohttp
import msgspec
from odometer import SIZE, Garage, Odometer

from screenloop.envs.base import Environment
from screenloop.envs.kinds import Environments
from screenloop.http.server import HALF_REQUEST_S, Serving, listen, url_of
from screenloop.manager.app import ManagerApp
from screenloop.manager.client import HttpManager
from screenloop.manager.clock import Clock, SystemClock
from screenloop.manager.hosts.instances import InstanceHost
from screenloop.manager.journal.base import Journal
from screenloop.manager.journal.memory import MemoryJournal
from screenloop.manager.service import ManagerService
from screenloop.manager.supply.base import Supply
from screenloop.manager.supply.on_demand import OnDemandSupply
from screenloop.manager.supply.pooled import PooledSupply
from screenloop.manager.watch.fault_log import FaultLog
from screenloop.manager.watch.metrics import Metrics
from screenloop.store.blob_urls import folder_url
from screenloop.store.blobs import BlobStore, FolderBlobs
from screenloop.types import EnvRef, Observation, Want

TOKEN = "a-token-of-the-test"
RIGHT = {"Authorization": f"Bearer {TOKEN}"}

T = TypeVar("T")


class FilmedOdometer(Odometer):
    """An odometer whose frames lie in a store."""

    def __init__(self, blobs: BlobStore) -> None:
        super().__init__()
        self._blobs = blobs

    def _seen(self) -> Observation:
        frame = self._blobs.put(b"frame %d" % self.steps, "txt")
        return Observation(frame=frame, size_px=SIZE)


class FilmedGarage(Garage):
    """Opens odometers whose frames lie in a store."""

    def __init__(self, blobs: BlobStore) -> None:
        super().__init__()
        self._blobs = blobs

    async def open(self, ref: EnvRef) -> Environment:
        await super().open(ref)
        self.made[-1] = FilmedOdometer(self._blobs)
        return self.made[-1]


@dataclass
class Served:
    """A manager that answers under `url`, its host in the same process."""

    url: str
    port: int
    service: ManagerService
    host: InstanceHost
    metrics: Metrics
    shared: BlobStore
    folder: Path
    journal: Journal
    clock: Clock
    clients: list[HttpManager] = field(default_factory=list)

    def client(
        self,
        *,
        own: BlobStore | None = None,
        want: Sequence[Want] = ("frame",),
        url: str = "",
        token: str = TOKEN,
    ) -> HttpManager:
        """Return a client with its own blobs; it is closed at the end."""
        number = len(self.clients)
        made = HttpManager(
            url or self.url,
            token=token,
            own=own or FolderBlobs(self.folder / f"own-{number}"),
            shared=self.shared,
            want=want,
        )
        self.clients.append(made)
        return made

    async def post(
        self, path: str, body: Any, headers: dict[str, str] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Send one raw request; return status and JSON body."""
        data = body if isinstance(body, bytes) else msgspec.json.encode(body)
        headers = RIGHT if headers is None else headers
        async with (
            aiohttp.ClientSession() as session,
            session.post(self.url + path, data=data, headers=headers) as reply,
        ):
            return reply.status, await reply.json()

    async def get(self, path: str, headers: dict[str, str] | None = None) -> tuple[int, bytes]:
        """Send one raw request; return status and body."""
        headers = RIGHT if headers is None else headers
        async with (
            aiohttp.ClientSession() as session,
            session.get(self.url + path, headers=headers) as reply,
        ):
            return reply.status, await reply.read()


@asynccontextmanager
async def serving(
    folder: Path,
    *,
    open_instance: Callable[[EnvRef], Awaitable[Environment]] | None = None,
    host: InstanceHost | None = None,
    supply: Callable[[InstanceHost], Supply] | None = None,
    journal: Journal | None = None,
    clock: Clock | None = None,
    shared: BlobStore | None = None,
    port: int = 0,
    half_request_s: float = HALF_REQUEST_S,
    wrap: Callable[[Any], Any] = lambda app: app,
) -> AsyncIterator[Served]:
    """Serve a manager; a host that is given outlives it."""
    shared = shared or FolderBlobs(folder / "shared")
    clock = clock or SystemClock()
    journal = journal or MemoryJournal()
    metrics = Metrics()
    environments = Environments(shared)
    lives_on = host is not None
    host = host or InstanceHost("inside", open_instance or environments.open, clock=clock)
    source = supply(host) if supply else OnDemandSupply(host, boot=host.boot)
    service = ManagerService(source, journal, clock=clock, observer=FaultLog(metrics))
    await service.start()
    app = ManagerApp(
        service,
        token=TOKEN,
        blobs=shared,
        blobs_url=folder_url(folder / "shared"),
        metrics=metrics,
        clock=clock,
        pools=source.status if isinstance(source, PooledSupply) else lambda: (),
    ).asgi()
    listener = listen(port=port)
    served = Served(
        url=url_of(listener),
        port=listener.getsockname()[1],
        service=service,
        host=host,
        metrics=metrics,
        shared=shared,
        folder=folder,
        journal=journal,
        clock=clock,
    )
    try:
        async with Serving(wrap(app), listener, half_request_s=half_request_s):
            try:
                yield served
            finally:
                for client in served.clients:
                    await client.close()
    finally:
        await (service.detach() if lives_on else service.close())
        await environments.close()


async def until(holds: Callable[[], bool], *, within_s: float = 120.0) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(within_s):
        while not holds():
            await asyncio.sleep(0.005)
