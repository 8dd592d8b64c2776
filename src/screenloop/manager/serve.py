"""A manager process, put together: journal, supply, service, HTTP; what `screenloop serve` runs."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from screenloop.errors import ConfigError
from screenloop.http.server import Serving, listen, url_of
from screenloop.manager.app import ManagerApp
from screenloop.manager.clock import Clock, SystemClock
from screenloop.manager.hosts.base import Launcher
from screenloop.manager.hosts.kubernetes.api import KubernetesApi
from screenloop.manager.hosts.kubernetes.launcher import KubernetesLauncher
from screenloop.manager.hosts.kubernetes.manifests import KubernetesSettings
from screenloop.manager.hosts.local.launcher import HOST_MODULE, LocalLauncher
from screenloop.manager.hosts.ray.launcher import RayLauncher, RaySettings
from screenloop.manager.journal.base import Journal
from screenloop.manager.journal.ownership import JournalOwner
from screenloop.manager.journal.sqlite import SqliteJournal
from screenloop.manager.leases.recovery import Recovery
from screenloop.manager.service import ManagerService
from screenloop.manager.supply.desired import PoolPlan, Timing
from screenloop.manager.supply.pooled import PooledSupply
from screenloop.manager.supply.tokens import HostTokens, kept_secret
from screenloop.manager.watch.fault_log import FaultLog
from screenloop.manager.watch.metrics import Metrics
from screenloop.store.blob_urls import folder_url, open_blobs
from screenloop.store.blobs import BlobStore
from screenloop.types import Struct

DRAIN_S = 30.0
"""How long holders of Leases get when the manager is told to end."""

RAY_SILENT_S = 60.0
"""How long a host on Ray may be silent: a restart takes seconds, and tens under load."""

HOST_PLACES = "local, kubernetes:FILE or ray:FILE, where FILE holds the settings as JSON"

_log = logging.getLogger(__name__)

S = TypeVar("S")


class ServeOptions(Struct, frozen=True, kw_only=True):
    """What a manager is told when it starts."""

    state: str
    """Folder of the journal, the hosts' cards and, unless another is named, the blobs."""
    pools: tuple[PoolPlan, ...]
    token: str
    address: str = "127.0.0.1"
    port: int = 8600
    blobs: str = ""
    """URL of the blob store; empty for a folder in `state`."""
    orphan_s: float = 60.0
    """How long hosts live on without a manager."""
    keep_hosts: bool = False
    """Whether hosts are left running at the end, for the next manager to take over."""
    drain_s: float = DRAIN_S
    direct: bool = False
    """Whether clients go straight to hosts, which must be reachable from where clients are."""
    hosts: str = "local"
    """Where hosts run: `local`, `kubernetes:FILE` or `ray:FILE`."""
    journal: str = ""
    """URL of the PostgreSQL database for the journal; empty for a file in `state`."""


class Serves(Struct, frozen=True, kw_only=True):
    """What a manager says once it answers."""

    url: str
    blobs: str
    recovery: Recovery


async def run_manager(
    options: ServeOptions,
    ended: asyncio.Event,
    *,
    up: Callable[[Serves], None] = lambda serves: None,
    clock: Clock | None = None,
    timing: Timing | None = None,
    host_module: str = HOST_MODULE,
    fencing: bool = True,
) -> None:
    """Serve until `ended` is set; then drain and end.

    Args:
        options: what to serve and where.
        ended: set to end it.
        up: called once it answers.
        clock: of all time-outs.
        timing: how often to look at hosts and how long to wait for them.
        host_module: what host processes run.
        fencing: False admits late holders: only for showing that tests would see it.

    Raises:
        ConfigError: an option is wrong; nothing was started.
        InfraFault: the state cannot be read or written.
    """
    if len(options.token) < 16:
        raise ConfigError("the token holds at least 16 letters; leave it out to have one drawn")
    clock = clock or SystemClock()
    state = Path(options.state)
    blobs_url = options.blobs or folder_url(state / "blobs")
    blobs = open_blobs(blobs_url)
    launcher = _launcher_of(options, blobs, clock=clock, host_module=host_module)
    tokens = HostTokens(kept_secret(state / "secret"))
    metrics, replaced = Metrics(), asyncio.Event()

    def lose_place() -> None:
        replaced.set()
        ended.set()

    journal = _open_journal(options, tokens, clock=clock, replaced=lose_place)
    listener = await _listen(options, journal)
    supply = _open_supply(
        options, launcher, tokens, blobs=blobs_url, clock=clock, timing=timing, metrics=metrics
    )
    log = FaultLog(metrics)
    service = ManagerService(supply, journal, clock=clock, fencing=fencing, observer=log)
    recovery = await service.start()
    app = ManagerApp(
        service,
        token=options.token,
        blobs=blobs,
        blobs_url=blobs_url,
        metrics=metrics,
        clock=clock,
        pools=supply.status,
        quarantined=supply.quarantined,
    ).asgi()
    supply.start()
    says = Serves(url=url_of(listener), blobs=blobs_url, recovery=recovery)
    await _serve(options, service, Serving(app, listener), ended, replaced, up=lambda: up(says))


async def _serve(
    options: ServeOptions,
    service: ManagerService,
    serving: Serving,
    ended: asyncio.Event,
    replaced: asyncio.Event,
    *,
    up: Callable[[], None],
) -> None:
    """Answer requests until `ended` is set; then drain, and keep or end the hosts."""
    watch = asyncio.create_task(service.watch())
    try:
        async with serving:
            up()
            await ended.wait()
            keep_hosts = options.keep_hosts or replaced.is_set()
            left = await service.drain(deadline_s=0.0 if keep_hosts else options.drain_s)
            if left and not keep_hosts:
                _log.warning("%d leases were held at the end", left)
    finally:
        watch.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await watch
        # After a replacement the hosts are another manager's.
        keep_hosts = options.keep_hosts or replaced.is_set()
        await (service.detach() if keep_hosts else service.close())


def open_launcher(name: str, *, local: Launcher, blobs: BlobStore, clock: Clock) -> Launcher:
    """Return a launcher; nothing is started and nobody connected to.

    Args:
        name: in one of `HOST_PLACES`.
        local: what `local` stands for.
        blobs: the store that is shared with the hosts.
        clock: of all time-outs.

    Raises:
        ConfigError: the name has another form, or the file does not hold such settings.
    """
    kind, _, file = name.partition(":")
    match kind:
        case "local" if not file:
            return local
        case "kubernetes" if file:
            settings = _settings(Path(file), KubernetesSettings)
            api = KubernetesApi(settings.namespace)
            return KubernetesLauncher(settings, api=api, blobs=blobs, clock=clock)
        case "ray" if file:
            return RayLauncher(_settings(Path(file), RaySettings), blobs=blobs, clock=clock)
        case _:
            raise ConfigError(f"{name!r} names no place for hosts; expected {HOST_PLACES}")


def _settings(path: Path, kind: type[S]) -> S:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except OSError as error:
        raise ConfigError(f"cannot read the settings of hosts in {path}: {error}") from error
    except msgspec.DecodeError as error:
        raise ConfigError(f"{path} does not hold settings of hosts: {error}") from error


def _launcher_of(
    options: ServeOptions, blobs: BlobStore, *, clock: Clock, host_module: str
) -> Launcher:
    folder, orphan_s = Path(options.state) / "hosts", options.orphan_s
    local = LocalLauncher(folder, blobs=blobs, orphan_s=orphan_s, clock=clock, module=host_module)
    return open_launcher(options.hosts, local=local, blobs=blobs, clock=clock)


def _open_supply(
    options: ServeOptions,
    launcher: Launcher,
    tokens: HostTokens,
    *,
    blobs: str,
    clock: Clock,
    timing: Timing | None,
    metrics: Metrics,
) -> PooledSupply:
    on_ray = options.hosts.startswith("ray:")
    plans = tuple(_patient(plan) for plan in options.pools) if on_ray else options.pools
    return PooledSupply(
        plans,
        {plan.env.kind: launcher for plan in plans},
        tokens=tokens,
        blobs=blobs,
        clock=clock,
        timing=timing,
        direct=options.direct or on_ray,
        started=metrics.started,
    )


async def _listen(options: ServeOptions, journal: Journal) -> socket.socket:
    try:
        return listen(options.address, options.port)
    except BaseException:
        await journal.close()
        raise


def _patient(plan: PoolPlan) -> PoolPlan:
    """Leave Ray the time to restart a host before it counts as gone."""
    return replace(plan, silent_s=max(plan.silent_s, RAY_SILENT_S))


def _open_journal(
    options: ServeOptions, tokens: HostTokens, *, clock: Clock, replaced: Callable[[], None]
) -> Journal:
    if not options.journal:
        return SqliteJournal(Path(options.state) / "journal.db")
    try:
        from screenloop.manager.journal.postgres import PostgresJournal
    except ImportError as error:
        raise ConfigError(
            "a journal in PostgreSQL needs asyncpg: pip install 'screenloop[postgres]'"
        ) from error
    # A name of the folder's own: who serves from it next takes this manager's place at once, and
    # nobody else does, for nobody else finds the hosts whose cards lie there.
    name = f"manager-{tokens.of('manager')[:12]}"
    member = JournalOwner(manager=name, fleet=name)
    return PostgresJournal(options.journal, member, clock=clock, replaced=replaced)
