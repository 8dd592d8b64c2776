"""Hosts as Pods of a Kubernetes cluster.

What there is comes from a list and a watch that goes on from it; requests name their Pods, so that
repeating one after a broken connection is harmless. This was built and tested against
`fake_kubernetes` only: no real cluster was at hand.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec

from screenloop.errors import Busy, ConfigError, InfraFault, ScreenloopError
from screenloop.manager.clock import Clock, SystemClock
from screenloop.manager.hosts.base import Host, HostPlan, HostSeen
from screenloop.manager.hosts.kubernetes.api import ApiRefused, ApiUnreachable, KubernetesApi
from screenloop.manager.hosts.kubernetes.manifests import (
    OWNER_LABEL,
    KubernetesSettings,
    host_pod,
    host_secret,
    pod_name,
    selector,
)
from screenloop.manager.hosts.kubernetes.pod_book import PodBook
from screenloop.manager.hosts.kubernetes.pods import Bookmark, Pod, WatchEvent
from screenloop.manager.hosts.remote import RemoteHost
from screenloop.manager.supply.desired import BackOff
from screenloop.store.blobs import BlobStore
from screenloop.types import Struct

_WATCHED_S = 1.0
"""A watch that ends sooner and shows nothing counts as a failure."""

_log = logging.getLogger(__name__)

R = TypeVar("R")


class Pace(Struct, frozen=True, kw_only=True):
    """How patient a launcher is with the API."""

    tries: int = 4
    """Times that a request is made before it fails."""
    back_off: BackOff = BackOff(first_s=0.25, most_s=15.0)
    """Between tries, and between attempts to watch again."""
    busy_s: float = 1.0
    """How long to wait where the API asks for a wait and does not say how long."""
    quota_s: float = 15.0
    """After how long it is worth asking again when a quota is used up."""
    watch_s: int = 60
    """How long one watch lasts; a connection that broke without a word is noticed after that."""
    list_s: float = 10.0
    """How long `seen` waits for the first list."""
    blind_s: float = 30.0
    """How long what was seen last is believed when the API does not answer."""
    tidy_s: float = 1.0
    """How often Pods that ended are removed."""


class KubernetesLauncher:
    """Starts hosts as Pods; tells what became of them."""

    name = "kubernetes"

    def __init__(
        self,
        settings: KubernetesSettings,
        *,
        api: KubernetesApi,
        blobs: BlobStore,
        clock: Clock | None = None,
        pace: Pace | None = None,
        seed: int = 0,
    ) -> None:
        """Prepare; the watch starts with the first call.

        Args:
            settings: how hosts run.
            api: the cluster.
            blobs: the store that is shared with the hosts.
            clock: of all time-outs.
            pace: how patient to be.
            seed: of the jitter in waits.
        """
        self._settings = settings
        self._api = api
        self._blobs = blobs
        self._clock = clock or SystemClock()
        self._pace = pace or Pace()
        self._jitter = random.Random(seed)
        self._book = PodBook(
            port=settings.port, pending_s=settings.pending_s, grace_s=settings.grace_s
        )
        self._not_before_s = self._clock.now_s()
        self._heard_s = self._clock.now_s()
        self._listed = asyncio.Event()
        self._trouble = "it did not answer yet"
        self._version = ""
        self._failures = 0
        self._tasks: tuple[asyncio.Task[None], ...] = ()

    async def start(self, plan: HostPlan) -> None:
        """Have a host's Pod created; starting the same id twice starts one.

        Raises:
            ConfigError: the cluster does not take such a Pod, or has no such namespace.
            Busy: the API or a quota wants us to wait.
            InfraFault: the API refuses or cannot be reached.
        """
        manifest = host_pod(plan, self._settings)
        self._begin()
        wait_s = self._not_before_s - self._clock.now_s()
        if wait_s > 0:
            raise Busy("the Kubernetes API wants us to wait", retry_after_s=wait_s)
        try:
            pod = await self._persist(lambda: self._api.create_pod(manifest), patient=False)
        except ApiRefused as refused:
            if refused.reason != "AlreadyExists":
                raise self._explained(refused) from refused
            pod = await self._ours(plan)
        self._book.created(pod, self._clock.now_s())
        try:
            await self._give_orders(plan, pod)
        except ScreenloopError:
            # It would wait for its orders for ever.
            with contextlib.suppress(InfraFault):
                await self._api.delete_pod(pod.metadata.name, grace_s=0, uid=pod.metadata.uid)
            raise

    async def stop(self, host: str) -> None:
        """Have a host's Pod deleted; struck off where its node does not answer.

        Raises:
            InfraFault: the API refuses or cannot be reached.
        """
        self._begin()
        force = self._book.is_overdue(host, self._clock.now_s())
        await self._delete(pod_name(host), force=force)

    async def seen(self) -> tuple[HostSeen, ...]:
        """Return every host of this owner that is there or ended lately.

        Raises:
            InfraFault: what there is is not known, or was last known too long ago.
        """
        self._begin()
        if not self._listed.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._pace.list_s):
                    await self._listed.wait()
        now_s = self._clock.now_s()
        blind_s = now_s - self._heard_s
        if not self._listed.is_set() or blind_s > self._pace.watch_s + self._pace.blind_s:
            raise InfraFault(f"what hosts there are in Kubernetes is not known: {self._trouble}")
        return self._book.seen(now_s)

    def connect(self, seen: HostSeen, token: str) -> Host:
        return RemoteHost(seen.host, seen.address, token=token, blobs=self._blobs)

    async def close(self) -> None:
        """Stop watching and close the connections; hosts live on."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        self._tasks = ()
        await self._api.close()

    # ---- requests ----------------------------------------------------------------------------

    async def _ours(self, plan: HostPlan) -> Pod:
        """Return the Pod that has the name already, if it is the host that is asked for."""
        name = pod_name(plan.host)
        pod = await self._persist(lambda: self._api.read_pod(name))
        labels = host_pod(plan, self._settings)["metadata"]["labels"]
        if pod.host != plan.host or pod.metadata.labels.get(OWNER_LABEL) != labels[OWNER_LABEL]:
            raise InfraFault(f"the name {name} belongs to another pod; choose another namespace")
        return pod

    async def _give_orders(self, plan: HostPlan, pod: Pod) -> None:
        secret = host_secret(plan, self._settings, pod_uid=pod.metadata.uid)
        try:
            await self._persist(lambda: self._api.create_secret(secret))
        except ApiRefused as refused:
            if refused.reason != "AlreadyExists":
                raise self._explained(refused) from refused

    async def _delete(self, name: str, *, force: bool, uid: str = "") -> None:
        grace_s = 0 if force else self._settings.grace_s
        try:
            await self._persist(lambda: self._api.delete_pod(name, grace_s=grace_s, uid=uid))
        except ApiRefused as refused:
            # 409 says that another Pod has the name by now.
            if refused.status != 404 and not (refused.status == 409 and uid):
                raise self._explained(refused) from refused

    async def _persist(self, call: Callable[[], Awaitable[R]], *, patient: bool = True) -> R:
        """Make a request until it is answered for good.

        Args:
            call: makes the request once; repeating it must be harmless.
            patient: whether to wait where the API asks for it, rather than to pass that on.

        Raises:
            Busy: the API asks for a wait, and we are not patient.
            InfraFault: the last failure.
        """
        for failures in range(1, self._pace.tries + 1):
            try:
                return await call()
            except ApiRefused as refused:
                if not _is_passing(refused):
                    raise
                asked_s = self._asked_wait_s(refused)
                if asked_s and not patient:
                    self._not_before_s = self._clock.now_s() + asked_s
                    raise Busy(str(refused), retry_after_s=asked_s) from refused
                last: InfraFault = refused
            except ApiUnreachable as unreachable:
                asked_s, last = 0.0, unreachable
            if failures < self._pace.tries:
                back_s = self._pace.back_off.wait_s(failures, self._jitter.random())
                await self._clock.sleep(max(asked_s, back_s))
        raise last

    def _asked_wait_s(self, refused: ApiRefused) -> float:
        if refused.retry_after_s is not None:
            return refused.retry_after_s
        return self._pace.busy_s if refused.status == 429 else 0.0

    def _explained(self, refused: ApiRefused) -> ScreenloopError:
        """Return a refusal as what it means to whoever runs the manager."""
        match refused.status:
            case 403 if "exceeded quota" in refused.message:
                return Busy(str(refused), retry_after_s=self._pace.quota_s)
            case 401 | 403:
                return InfraFault(
                    f"{refused}; the manager's account needs a role with create, get, list, watch "
                    "and delete on pods, and create on secrets"
                )
            case 400 | 404 | 422:
                return ConfigError(f"{refused}; correct the settings of Kubernetes")
            case _:
                return refused

    # ---- watching ----------------------------------------------------------------------------

    def _begin(self) -> None:
        if not self._tasks:
            self._tasks = (asyncio.create_task(self._follow()), asyncio.create_task(self._tidy()))

    async def _follow(self) -> None:
        """List, and watch from there; from the last version seen when a watch ends or breaks."""
        while True:
            asked_s = 0.0
            try:
                if not self._version:
                    await self._list()
                await self._watch()
            except ApiRefused as refused:
                if refused.status == 410:
                    # The versions that we know are no longer kept: only a new list helps.
                    self._version = ""
                self._note(refused)
                asked_s = self._asked_wait_s(refused)
            except ScreenloopError as error:
                self._note(error)
            except Exception as error:
                _log.exception("watching pods failed in an unforeseen way")
                self._note(error)
            # A watch that ends at once, time and again, is held back as well.
            self._failures += 1
            back_s = self._pace.back_off.wait_s(self._failures, self._jitter.random())
            await self._clock.sleep(max(asked_s, back_s))

    def _note(self, error: Exception) -> None:
        self._trouble = f"{type(error).__name__}: {error}"
        _log.warning("pods are not watched: %s", error)

    def _heard(self) -> None:
        self._heard_s = self._clock.now_s()
        self._failures = 0

    async def _list(self) -> None:
        began_s = self._clock.now_s()
        pods: list[Pod] = []
        page = ""
        while True:
            part = await self._api.list_pods(selector(self._settings), page=page)
            pods += [pod for pod in part.items or () if pod.host]
            page = part.metadata.next_page
            if not page:
                break
        self._book.replace(pods, began_s=began_s, now_s=self._clock.now_s())
        self._version = part.metadata.resource_version
        self._heard()
        self._listed.set()

    async def _watch(self) -> None:
        events = self._api.watch_pods(
            selector(self._settings), self._version, watch_s=self._pace.watch_s
        )
        began_s = self._clock.now_s()
        async with contextlib.aclosing(events):
            async for event in events:
                self._take(event)
                self._heard()
        if self._clock.now_s() - began_s >= _WATCHED_S:
            # The API answers, even when nothing happened.
            self._heard()

    def _take(self, event: WatchEvent) -> None:
        if event.type == "BOOKMARK":
            mark = msgspec.json.decode(event.object, type=Bookmark)
            self._version = mark.metadata.resource_version
            return
        pod = msgspec.json.decode(event.object, type=Pod)
        if pod.host and event.type == "DELETED":
            self._book.remove(pod)
        elif pod.host:
            self._book.put(pod, self._clock.now_s())
        self._version = pod.metadata.resource_version

    async def _tidy(self) -> None:
        """Remove Pods that ended, and those that never will, once the reason was noted."""
        while True:
            for one in self._book.removals(self._clock.now_s()):
                try:
                    await self._delete(one.name, force=one.force, uid=one.uid)
                except ScreenloopError as error:
                    _log.warning("%s", error)
            await self._clock.sleep(self._pace.tidy_s)


def _is_passing(refused: ApiRefused) -> bool:
    """Tell whether the same request may do better soon."""
    conflict = refused.status == 409 and refused.reason == "Conflict"
    return refused.status == 429 or refused.status >= 500 or conflict
