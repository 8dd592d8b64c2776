"""Hosts as actors of a Ray cluster: Ray places them, and restarts them where they die.

An actor runs the host's server in its own process, so clients reach it directly; Ray carries
nothing but the orders and a card that says where it answers. A restarted actor is another boot of
its host: all that ran on it is lost, and it starts empty.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import shutil
import tempfile
import weakref
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from screenloop.errors import ConfigError, InfraFault
from screenloop.manager.clock import Clock, SystemClock
from screenloop.manager.hosts.base import Host, HostPlan, HostSeen
from screenloop.manager.hosts.host_wire import HostCard, HostOrders
from screenloop.manager.hosts.remote import RemoteHost
from screenloop.manager.hosts.server import run_host
from screenloop.store.blobs import BlobStore
from screenloop.types import Struct

ENDED_KEPT = 256
"""Ended hosts that are remembered with the reason."""
_CARD = "card.json"
_LOOK_S = 0.02
_MIB = 2**20

_log = logging.getLogger(__name__)


class RaySettings(Struct, frozen=True, kw_only=True):
    """How hosts run in a Ray cluster."""

    address: str = "auto"
    """Of the cluster, where this process is not connected to one already."""
    namespace: str = "screenloop"
    """Whose hosts they are: managers with the same namespace share them."""
    cpus: Annotated[float, Meta(ge=0.0)] = 1.0
    """What Ray sets aside for a host."""
    memory_mib: Annotated[int, Meta(ge=1)] = 512
    memory_mib_per_instance: Annotated[int, Meta(ge=0)] = 1
    resources: Mapping[str, float] = {}
    """Resources of your own that a node must have."""
    max_restarts: Annotated[int, Meta(ge=-1)] = 3
    """How often a host that dies is started again; -1 is without end."""
    orphan_s: float = 300.0
    """How long a host lives on without a manager."""
    grace_s: Annotated[float, Meta(gt=0.0)] = 10.0
    """What a host gets to close its Instances before it is killed."""
    ask_s: Annotated[float, Meta(gt=0.0)] = 1.0
    """How often an actor is asked where it answers."""


class HostActor:
    """What runs in the actor's process."""

    async def __init__(self, orders: bytes) -> None:  # type: ignore[misc]
        """Serve, and return once the host answers; Ray awaits this.

        Args:
            orders: `HostOrders` as JSON, without an address.
        """
        import ray

        told = msgspec.json.decode(orders, type=HostOrders)
        self._ended = asyncio.Event()
        self._answered = False
        folder = Path(tempfile.mkdtemp(prefix="screenloop-host-"))
        path = folder / _CARD
        self._orders = msgspec.structs.replace(
            told, listen=ray.util.get_node_ip_address(), ready_file=str(path)
        )
        self._serving = asyncio.create_task(self._serve())
        try:
            while not _is_there(path):
                if self._serving.done():
                    # Says why it did not come up.
                    await self._serving
                await asyncio.sleep(_LOOK_S)
            self._card = _read(path)
        finally:
            # An actor may be killed at any time: nothing of it is left on the disk.
            shutil.rmtree(folder, ignore_errors=True)
        self._answered = True

    async def card(self) -> bytes:
        """Return the `HostCard` of this process."""
        return self._card

    async def end(self) -> None:
        """Close all Instances and stop serving; the process is the launcher's to end."""
        self._ended.set()
        await asyncio.wait({self._serving})

    async def _serve(self) -> None:
        import ray

        try:
            await run_host(self._orders, self._ended, clock=SystemClock())
        finally:
            if self._answered and not self._ended.is_set():
                # No manager came back: without this Ray would keep the actor for ever.
                ray.kill(ray.get_runtime_context().current_actor, no_restart=True)


@dataclass(kw_only=True)
class _Actor:
    """An actor as this launcher knows it."""

    handle: Any
    state: Literal["starting", "running", "gone"] = "starting"
    card: HostCard | None = None
    following: asyncio.Task[None] | None = None
    ending: asyncio.Task[None] | None = None
    ways: weakref.WeakSet[RemoteHost] = field(default_factory=weakref.WeakSet)


class RayLauncher:
    """Starts hosts as named, detached actors; tells what became of them."""

    name = "ray"

    def __init__(
        self, settings: RaySettings, *, blobs: BlobStore, clock: Clock | None = None
    ) -> None:
        """Prepare; connects to the cluster with the first call.

        Args:
            settings: how hosts run.
            blobs: the store that is shared with the hosts.
            clock: of waits.
        """
        self._settings = settings
        self._blobs = blobs
        self._clock = clock or SystemClock()
        self._actors: dict[str, _Actor] = {}
        self._ended: OrderedDict[str, str] = OrderedDict()
        self._connecting = asyncio.Lock()
        self._connected_here = False

    async def start(self, plan: HostPlan) -> None:
        """Have a host's actor created; starting the same id twice starts one.

        Raises:
            ConfigError: Ray is not installed, or does not take the settings.
            InfraFault: the cluster refuses or cannot be reached.
        """
        if plan.host in self._actors or plan.host in self._ended:
            return
        ray = await self._ray()
        orders = HostOrders(plan=plan, orphan_s=self._settings.orphan_s)
        settings = self._settings
        memory_mib = settings.memory_mib + settings.memory_mib_per_instance * plan.capacity
        actor = ray.remote(HostActor).options(
            name=plan.host,
            namespace=settings.namespace,
            lifetime="detached",
            get_if_exists=True,
            max_restarts=settings.max_restarts,
            num_cpus=settings.cpus,
            memory=memory_mib * _MIB,
            resources=dict(settings.resources) or None,
        )
        handle = await self._call(f"start host {plan.host}", actor.remote, _encode(orders))
        self._know(plan.host, handle)

    async def stop(self, host: str) -> None:
        """Have a host ended: asked first, killed after the grace, and not restarted."""
        actor = self._actors.get(host)
        if actor is not None and actor.ending is None:
            actor.ending = asyncio.create_task(self._end(host, actor))

    async def seen(self) -> tuple[HostSeen, ...]:
        """Return every host of this namespace that is there or ended lately.

        Raises:
            InfraFault: the cluster cannot be asked.
        """
        ray = await self._ray()
        known = set(self._actors)
        listed = await self._call("list hosts", ray.util.list_named_actors, all_namespaces=True)
        names = {one["name"] for one in listed if one["namespace"] == self._settings.namespace}
        for host in names - set(self._actors) - set(self._ended):
            with contextlib.suppress(ValueError):
                # One that went between the two calls.
                self._know(host, await self._found(host))
        for host in known - names:
            self._gone(host, "its actor is no longer there")
        there = [
            HostSeen(host=host, state=actor.state, address=actor.card.address)
            if actor.card is not None and actor.state == "running"
            else HostSeen(host=host, state="starting")
            for host, actor in self._actors.items()
        ]
        gone = [HostSeen(host=host, state="gone", reason=why) for host, why in self._ended.items()]
        return (*there, *gone)

    def connect(self, seen: HostSeen, token: str) -> Host:
        """Return the way to a running host; it follows an actor that is restarted elsewhere.

        The host's heartbeat then shows another boot, by which its leases are known to be lost.
        """
        way = RemoteHost(seen.host, seen.address, token=token, blobs=self._blobs)
        actor = self._actors.get(seen.host)
        if actor is not None:
            actor.ways.add(way)
        return way

    async def close(self) -> None:
        """Wait for hosts that are ending; the others live on."""
        for actor in self._actors.values():
            if actor.following is not None:
                actor.following.cancel()
        tasks = [
            task
            for actor in self._actors.values()
            for task in (actor.following, actor.ending)
            if task is not None
        ]
        if tasks:
            await asyncio.wait(tasks)
        self._actors.clear()
        if self._connected_here:
            ray = await self._ray()
            await asyncio.to_thread(ray.shutdown)
            self._connected_here = False

    def pid_of(self, host: str) -> int | None:
        """Return the process of a host that runs; for those who kill at random."""
        actor = self._actors.get(host)
        return None if actor is None or actor.card is None else actor.card.pid

    # ---- parts -------------------------------------------------------------------------------

    async def _ray(self) -> Any:
        """Return Ray, connected.

        Raises:
            ConfigError: it is not installed.
            InfraFault: no cluster answers.
        """
        try:
            import ray
        except ImportError as error:
            raise ConfigError("hosts in Ray need it installed: pip install screenloop[ray]") from (
                error
            )
        async with self._connecting:
            if not ray.is_initialized():
                await self._call(
                    f"connect to Ray at {self._settings.address}",
                    ray.init,
                    address=self._settings.address,
                    namespace=self._settings.namespace,
                    log_to_driver=False,
                )
                self._connected_here = True
        return ray

    async def _found(self, host: str) -> Any:
        ray = await self._ray()
        return await asyncio.to_thread(ray.get_actor, host, namespace=self._settings.namespace)

    async def _call(self, what: str, function: Any, *parts: Any, **options: Any) -> Any:
        """Make a short call on Ray, which has no other form than one that blocks.

        Raises:
            ConfigError: Ray does not take what the settings say.
            InfraFault: it failed.
        """
        from ray.exceptions import RayError

        try:
            return await asyncio.to_thread(function, *parts, **options)
        except ValueError as error:
            raise ConfigError(f"cannot {what}: {error}; correct the settings of Ray") from error
        except (RayError, ConnectionError, RuntimeError, TimeoutError) as error:
            raise InfraFault(f"cannot {what}: {type(error).__name__}: {error}") from error

    def _know(self, host: str, handle: Any) -> None:
        if host not in self._actors:
            actor = self._actors[host] = _Actor(handle=handle)
            actor.following = asyncio.create_task(self._follow(host, actor))

    async def _follow(self, host: str, actor: _Actor) -> None:
        """Ask an actor where it answers, again and again, until it is gone for good."""
        from ray.exceptions import ActorUnavailableError, RayActorError

        while True:
            try:
                card = msgspec.json.decode(await actor.handle.card.remote(), type=HostCard)
                self._meet(actor, card)
            except ActorUnavailableError:
                # It is being restarted, or its node does not answer just now.
                actor.state = "starting"
            except RayActorError as error:
                self._gone(host, " ".join(str(error).split()))
                return
            except Exception as error:
                # Ray has plain Exceptions too, as for a cluster that went away.
                _log.warning("host %s does not say where it answers: %s", host, error)
            await self._clock.sleep(self._settings.ask_s)

    def _meet(self, actor: _Actor, card: HostCard) -> None:
        actor.card, actor.state = card, "running"
        for way in actor.ways:
            way.address = card.address

    def _gone(self, host: str, reason: str) -> None:
        actor = self._actors.pop(host, None)
        if actor is None:
            return
        actor.state = "gone"
        if actor.following is not None and actor.following is not asyncio.current_task():
            actor.following.cancel()
        self._ended[host] = reason
        while len(self._ended) > ENDED_KEPT:
            self._ended.popitem(last=False)

    async def _end(self, host: str, actor: _Actor) -> None:
        from ray.exceptions import RayError

        ray = await self._ray()
        with contextlib.suppress(TimeoutError, RayError):
            async with asyncio.timeout(self._settings.grace_s):
                await actor.handle.end.remote()
        await self._call(f"end host {host}", ray.kill, actor.handle, no_restart=True)


def _encode(orders: HostOrders) -> bytes:
    return msgspec.json.encode(orders)


def _is_there(path: Path) -> bool:
    return path.exists()


def _read(path: Path) -> bytes:
    return path.read_bytes()
