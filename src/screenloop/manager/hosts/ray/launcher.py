"""Hosts as actors of a Ray cluster: Ray places them, and restarts them where they die.

An actor runs the host's server in its own process, so clients reach it directly; Ray carries
nothing but the orders and a card that says where it answers. A restarted actor is another boot of
its host: all that ran on it is lost, and it starts empty.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import weakref
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from screenloop.errors import ConfigError, InfraFault
from screenloop.manager.clock import Clock, SystemClock
from screenloop.manager.hosts.base import Host, HostCard, HostOrders, HostPlan, HostSeen
from screenloop.manager.hosts.ray.actor import HostActor
from screenloop.manager.hosts.remote import RemoteHost
from screenloop.manager.wire.bodies import HostReport
from screenloop.store.blobs import BlobStore
from screenloop.types import Struct

ENDED_KEPT = 256
"""Ended hosts that are remembered with the reason."""
_FIRST_ANSWER_S = 5.0
"""What an actor that was not started here gets to say where it answers."""
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


class ActorHost(RemoteHost):
    """The way to one boot of a host; once Ray has restarted it, reports come from the next boot.

    By them whoever asked learns what was lost. Nothing else reaches the new process under the name
    of the old one: the old address answers no more.
    """

    def __init__(self, host: str, address: str, *, token: str, blobs: BlobStore) -> None:
        """Prepare as `RemoteHost` does."""
        super().__init__(host, address, token=token, blobs=blobs)
        self._token = token
        self._store = blobs
        self._later: list[RemoteHost] = []

    def restarted_at(self, address: str) -> None:
        """Learn where the newest process answers."""
        way = RemoteHost(self.id, address, token=self._token, blobs=self._store)
        self._later.append(way)

    async def report(self, *, deadline_s: float) -> HostReport:
        if self._later:
            return await self._later[-1].report(deadline_s=deadline_s)
        return await super().report(deadline_s=deadline_s)

    async def close(self) -> None:
        """Close the connections."""
        for way in self._later:
            await way.close()
        await super().close()


@dataclass(kw_only=True)
class _Actor:
    """An actor as this launcher knows it."""

    handle: Any
    state: Literal["starting", "running"] = "starting"
    card: HostCard | None = None
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once it was asked where it answers, whatever came of that."""
    missed: bool = False
    """Whether it was not there at the last look."""
    following: asyncio.Task[None] | None = None
    ways: weakref.WeakSet[ActorHost] = field(default_factory=weakref.WeakSet)


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
        self._endings: dict[str, asyncio.Task[None]] = {}
        self._look_again_s = self._clock.now_s()
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
        handle = await self._call(
            f"start host {plan.host}", actor.remote, msgspec.json.encode(orders)
        )
        self._know(plan.host, handle)

    async def stop(self, host: str) -> None:
        """Have a host ended: asked first, killed after the grace, and not restarted."""
        actor = self._actors.get(host)
        if actor is not None and host not in self._endings:
            ending = asyncio.create_task(self._end(host, actor.handle))
            self._endings[host] = ending
            ending.add_done_callback(lambda _: self._endings.pop(host, None))

    async def seen(self) -> tuple[HostSeen, ...]:
        """Return every host of this namespace that is there or ended lately.

        Raises:
            InfraFault: the cluster cannot be asked.
        """
        now_s = self._clock.now_s()
        if now_s >= self._look_again_s:
            await self._look()
            self._look_again_s = now_s + self._settings.ask_s
        there = [
            HostSeen(host=host, state=actor.state, address=actor.card.address)
            if actor.card is not None and actor.state == "running"
            else HostSeen(host=host, state="starting")
            for host, actor in self._actors.items()
        ]
        gone = [HostSeen(host=host, state="gone", reason=why) for host, why in self._ended.items()]
        return (*there, *gone)

    def connect(self, seen: HostSeen, token: str) -> Host:
        way = ActorHost(seen.host, seen.address, token=token, blobs=self._blobs)
        actor = self._actors.get(seen.host)
        if actor is not None:
            actor.ways.add(way)
        return way

    async def close(self) -> None:
        """Wait for hosts that are ending; the others live on."""
        following = {one.following for one in self._actors.values() if one.following is not None}
        for task in following:
            task.cancel()
        tasks = following | set(self._endings.values())
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

    async def _look(self) -> None:
        """Compare what is known with what Ray has."""
        ray = await self._ray()
        known = set(self._actors)
        listed = await self._call("list hosts", ray.util.list_named_actors, all_namespaces=True)
        names = {one["name"] for one in listed if one["namespace"] == self._settings.namespace}
        strange = names - set(self._actors) - set(self._ended)
        for host in strange:
            with contextlib.suppress(ValueError):
                # One that went between the two calls.
                self._know(host, await self._found(host))
        for host in known & set(self._actors):
            actor = self._actors[host]
            if host not in names and actor.missed:
                self._gone(host, "its actor is no longer there")
            # The actor's own answer knows more, and comes soon.
            actor.missed = host not in names
        # Those of an earlier manager run already: whoever adopts them must see them so.
        asked = [self._actors[host].asked for host in strange & set(self._actors)]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_FIRST_ANSWER_S):
                for one in asked:
                    await one.wait()

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
            actor.asked.set()
            await self._clock.sleep(self._settings.ask_s)

    def _meet(self, actor: _Actor, card: HostCard) -> None:
        if actor.card not in (None, card):
            for way in actor.ways:
                way.restarted_at(card.address)
        actor.card, actor.state = card, "running"

    def _gone(self, host: str, reason: str) -> None:
        actor = self._actors.pop(host, None)
        if actor is None:
            return
        actor.asked.set()
        if actor.following is not None and actor.following is not asyncio.current_task():
            actor.following.cancel()
        self._ended[host] = reason
        while len(self._ended) > ENDED_KEPT:
            self._ended.popitem(last=False)

    async def _end(self, host: str, handle: Any) -> None:
        from ray.exceptions import RayError

        ray = await self._ray()
        with contextlib.suppress(TimeoutError, RayError):
            async with asyncio.timeout(self._settings.grace_s):
                await handle.end.remote()
        try:
            await self._call(f"end host {host}", ray.kill, handle, no_restart=True)
        except InfraFault as error:
            # Whoever wants it ended asks again while it is there.
            _log.warning("%s", error)
