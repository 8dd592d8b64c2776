"""Browsers that somebody else runs, registered by the URL of their debugging port."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from screenloop.envs.web.environment import WebEnvironments
from screenloop.envs.web.site import Site
from screenloop.errors import InfraFault
from screenloop.manager.clock import Clock
from screenloop.manager.hosts.attached.cdp_bridge import bridge_script
from screenloop.manager.hosts.attached.hosts import attached_name
from screenloop.manager.hosts.base import Host, HostPlan, HostSeen, ready_start
from screenloop.manager.hosts.inside import InsideLauncher
from screenloop.store.blobs import BlobStore
from screenloop.types import EnvRef, Struct


class AttachedBrowser(Struct, frozen=True, kw_only=True):
    """A browser with a debugging port."""

    env: EnvRef
    """Of kind `web`."""
    url: str
    """`http://HOST:PORT`, or the `ws://` URL of its browser target."""

    @property
    def host(self) -> str:
        return attached_name(self.env, self.url)


class AttachedBrowserLauncher:
    """Opens pages in browsers that are there already, each page in a context of its own.

    The Instances live in this process, so a restarted manager finds none and their Leases are
    revoked; the browsers stay. Their flags and their network are their owner's concern: the pixels
    are not those of a browser that we launch, and a display scale other than 1 is not set. Our
    contexts go when the connection does.
    """

    name = "attached-browsers"

    def __init__(
        self,
        ends: Sequence[AttachedBrowser],
        *,
        blobs: BlobStore,
        sites: Sequence[Site] = (),
        clock: Clock | None = None,
    ) -> None:
        """Take the browsers; connects when the first page is opened.

        Args:
            ends: the browsers.
            blobs: where frames go.
            sites: see `WebEnvironments`; with sites of one's own, an Instance is ready once opened.
            clock: of the hosts.

        Raises:
            ConfigError: a URL is of no form that a browser has.
        """
        self._folder = Path(tempfile.mkdtemp(prefix="screenloop-attached-"))
        self._ends = {one.host: one for one in ends}
        self._webs: dict[str, WebEnvironments] = {}
        self._inside: dict[str, InsideLauncher] = {}
        for host, one in self._ends.items():
            script = bridge_script(self._folder / host, one.url)
            web = WebEnvironments(blobs, sites=sites, binary=script, draw_on_demand=False)
            self._webs[host] = web
            self._inside[host] = InsideLauncher(
                web.open, probe=None if sites else ready_start, clock=clock
            )

    async def start(self, plan: HostPlan) -> None:
        """Refuse: what is attached is not ours to start.

        Raises:
            InfraFault: always.
        """
        raise InfraFault(f"host {plan.host} cannot be started: these browsers are attached")

    async def stop(self, host: str) -> None:
        """Leave it alone: what is attached is not ours to end."""

    async def seen(self) -> tuple[HostSeen, ...]:
        """Return every browser as running; whether it answers is seen when a page is opened."""
        for host, one in self._ends.items():
            await self._inside[host].start(
                HostPlan(host=host, kind=one.env.kind, capacity=1, blobs="", token="")
            )
        return tuple(HostSeen(host=host, state="running") for host in self._ends)

    def connect(self, seen: HostSeen, token: str) -> Host:
        return self._inside[seen.host].connect(seen, token)

    async def close(self) -> None:
        """Close our pages and connections; the browsers stay."""
        for host in self._ends:
            await self._inside[host].close()
            await self._webs[host].close()
        shutil.rmtree(self._folder, ignore_errors=True)
