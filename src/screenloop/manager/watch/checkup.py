"""Trying a manager from a client's side, layer by layer: what `doctor --manager URL` does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from urllib.parse import urlsplit

from screenloop.errors import Busy, ConfigError, InfraFault, ScreenloopError
from screenloop.manager.client import HttpManager, ask_manager
from screenloop.manager.hosts.base import ready_start
from screenloop.manager.wire.bodies import Health, Info, Status
from screenloop.store.blob_urls import open_blobs
from screenloop.store.blobs import BlobStore, MemoryBlobs
from screenloop.types import EnvRef, Struct

CONNECT_S = 5.0
LEASE_S = 30.0
"""How long to wait for a free Instance."""
RESET_S = 60.0
_RUN = "doctor"

_FIXES = {
    "connection": "Start one with `screenloop serve`; from another machine it needs --address.",
    "health": "It drains or is something else: wait for its successor, or mend the URL.",
    "token": "Give the token that the manager printed: export SCREENLOOP_TOKEN=...",
    "blob store": "Make the store readable and writable from here, or serve with --blobs s3://...",
    "pools": "Read the manager's log: why do its hosts not start?",
    "lease": "Read the manager's log and `screenloop top`: is anything free and healthy?",
}
"""What to do where a layer fails."""


class Layer(Struct, frozen=True, kw_only=True):
    """How one layer came out."""

    name: str
    ok: bool
    detail: str
    """What was found, or what is wrong and how to mend it."""


class Checkup:
    """One manager, tried from here."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url.rstrip("/")
        self._token = token
        self._shared: BlobStore = MemoryBlobs()
        self._env = EnvRef(kind="", size_px=(0, 0))

    async def layers(self) -> AsyncIterator[Layer]:
        """Try one layer after the other; the first that fails is the last."""
        tries: dict[str, Callable[[], Awaitable[str]]] = {
            "connection": self._connect,
            "health": self._health,
            "token": self._info,
            "blob store": self._store,
            "pools": self._pools,
            "lease": self._lease,
        }
        for name, work in tries.items():
            try:
                yield Layer(name=name, ok=True, detail=await work())
            except ScreenloopError as error:
                yield Layer(name=name, ok=False, detail=f"{error} {_FIXES[name]}")
                return

    async def _connect(self) -> str:
        parts = urlsplit(self._url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(f"{self._url!r} is no URL such as http://127.0.0.1:8600.")
        port = parts.port or (443 if parts.scheme == "https" else 80)
        try:
            async with asyncio.timeout(CONNECT_S):
                _, writer = await asyncio.open_connection(parts.hostname, port)
        except (OSError, TimeoutError) as error:
            raise InfraFault(
                f"nothing takes connections at {parts.hostname} port {port}: {error}."
            ) from error
        writer.close()
        return f"{parts.hostname} port {port} takes connections"

    async def _health(self) -> str:
        health = await ask_manager(self._url, "/v1/health", Health, token="")
        if not health.ok:
            raise InfraFault("the manager is draining: it grants no leases.")
        return "it takes requests"

    async def _info(self) -> str:
        info = await ask_manager(self._url, "/v1/info", Info, token=self._token)
        self._shared = open_blobs(info.blobs)
        return f"accepted; screenloop {info.version}, blobs in {info.blobs}"

    async def _store(self) -> str:
        data = b"written by screenloop doctor"
        key = await asyncio.to_thread(self._shared.put, data, "txt")
        if await asyncio.to_thread(self._shared.get, key) != data:
            raise InfraFault("the store returned other bytes than were written.")
        return "can be written and read from here"

    async def _pools(self) -> str:
        status = await ask_manager(self._url, "/v1/status", Status, token=self._token)
        if not status.pools:
            raise InfraFault("the manager keeps no pool.")
        troubled = [pool for pool in status.pools if pool.trouble and not pool.ready]
        if troubled:
            raise InfraFault(f"no {troubled[0].env.kind} can be started: {troubled[0].trouble}.")
        free = max(status.pools, key=lambda pool: pool.ready - pool.taken)
        self._env = free.env
        return ", ".join(
            f"{pool.env.kind}: {pool.ready - pool.taken} free of {pool.ready}"
            for pool in status.pools
        )

    async def _lease(self) -> str:
        manager = HttpManager(self._url, token=self._token, own=MemoryBlobs(), shared=self._shared)
        try:
            async with asyncio.timeout(LEASE_S):
                lease = await manager.acquire(self._env, _RUN, ttl_s=2 * RESET_S)
            start = ready_start(self._env)
            seen = f"leased {lease.instance}"
            if start is not None:
                screen = await manager.reset(lease, start, deadline_s=RESET_S)
                size = len(manager.blobs.get(screen.frame)) if screen.frame else 0
                seen += f", reset it and read a frame of {size} bytes"
            await manager.release(lease)
        except TimeoutError as error:
            raise Busy(
                f"no {self._env.kind} instance was free within {LEASE_S:g} s.",
                retry_after_s=LEASE_S,
            ) from error
        finally:
            await manager.close()
        return f"{seen}, and gave it back"
