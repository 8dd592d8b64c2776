"""Web pages in a real browser as Environments: one browser, many isolated contexts.

Each reset takes a new context and page. A page's clock stands still between actions and runs for a
fixed time after each, so that what is seen depends on the actions and never on the machine.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from screenloop.actions import Action, Open, Pointed, tag_of
from screenloop.browser.page import BrowserTab, page_script
from screenloop.envs.web.actions import SUPPORTED, PageHands
from screenloop.envs.web.host import BrowserHost
from screenloop.envs.web.miniwob import MiniwobSite
from screenloop.envs.web.site import Site, Status
from screenloop.envs.web.tree import page_text, page_tree
from screenloop.errors import (
    ConfigError,
    DeadlinePassed,
    EnvironmentFault,
    StaleFrame,
    TaskError,
    UnsupportedAction,
)
from screenloop.registry import unknown
from screenloop.store.blobs import BlobStore
from screenloop.types import (
    BlobKey,
    Effect,
    EnvRef,
    EnvSpec,
    Evidence,
    Observation,
    SnapshotKey,
    Start,
    StepResult,
    Want,
    World,
)

SETTLE_MS = 500.0
"""Page time that runs after a reset and after each action, before the frame."""
_SETTLE_ROUNDS = 3
"""How often loading may start again before a frame is taken anyway."""


class WebEnvironments:
    """Opens web Environments that share one browser, started on first use."""

    def __init__(
        self,
        blobs: BlobStore,
        *,
        sites: Sequence[Site] = (),
        binary: Path | None = None,
        draw_on_demand: bool | None = None,
        want: Sequence[Want] = ("frame",),
    ) -> None:
        """Name the sites to serve; MiniWoB++ where none are named.

        Args:
            blobs: where frames, trees and texts go.
            sites: by the first part of a world's name.
            binary: the browser; `None` finds one.
            draw_on_demand: see `browser.launch`.
            want: what `reset` and `step` show.
        """
        self._want = tuple(want)
        self.host = BrowserHost(binary, draw_on_demand=draw_on_demand)
        self._blobs = blobs
        self._sites: dict[str, Site] = {site.name: site for site in (sites or (MiniwobSite(),))}

    async def open(self, env: EnvRef) -> WebEnvironment:
        """Open one Instance.

        Raises:
            ConfigError: the kind is not `web`, or no browser is installed.
        """
        if env.kind != "web":
            raise ConfigError(f"The web Environment has kind 'web', not {env.kind!r}.")
        self.host.check()
        return WebEnvironment(env, self.host, self._blobs, self._sites, want=self._want)

    async def close(self) -> None:
        await self.host.close()


def web_spec(env: EnvRef, sites: Mapping[str, Site]) -> EnvSpec:
    """Return what a web Environment of this size can do on these sites."""
    kinds = SUPPORTED
    if any(site.navigates for site in sites.values()):
        kinds = (*kinds, Open)
    return EnvSpec(
        kind=env.kind,
        surface="browser",
        size_px=env.size_px,
        actions=frozenset(tag_of(kind) for kind in kinds),
        wants=frozenset({"frame", "tree", "text"}),
    )


class _Look(msgspec.Struct, frozen=True):
    """What one script call tells of a page."""

    href: str
    state: str
    status: Status


class _Episode:
    """What is known of the page since its reset."""

    def __init__(self, site: Site, world: World, page: BrowserTab) -> None:
        self.site = site
        self.world = world
        self.page = page
        self.hands = PageHands(page, navigates=site.navigates)
        self.first: Status = {}
        self.last: Status = {}


class WebEnvironment:
    """One Instance: at most one page at a time, in a context of its own."""

    def __init__(
        self,
        env: EnvRef,
        host: BrowserHost,
        blobs: BlobStore,
        sites: Mapping[str, Site],
        *,
        want: Sequence[Want] = ("frame",),
    ) -> None:
        self.spec = web_spec(env, sites)
        self._host = host
        self._blobs = blobs
        self._sites = sites
        self._want = tuple(want)
        self._episode: _Episode | None = None
        self._frame: BlobKey | None = None

    async def reset(self, start: Start | SnapshotKey, *, deadline_s: float) -> Observation:
        """Load the Task's world into a new page and start it.

        Raises:
            TaskError: the world names no known site or page.
        """
        if not isinstance(start, Start):
            raise UnsupportedAction("a web page cannot be restored from a snapshot")
        world = start.task.world
        site = self._sites.get(world.name.partition("/")[0])
        if site is None:
            raise TaskError(str(unknown("web site", world.name, self._sites)))
        url, begin = site.url(world), site.begin(world)
        viewport = site.viewport(self.spec.size_px)
        earlier, self._episode, self._frame = self._episode, None, None
        try:
            async with self._within(deadline_s, "reset"):
                page = await self._host.page(viewport)
                episode = self._episode = _Episode(site, world, page)
                await page.navigate(url, script=page_script(seed=world.seed, css=site.css))
                if begin:
                    await page.evaluate(f"{{ {begin} }}; null")
                observation = await self._observe(episode, self._want, SETTLE_MS)
        finally:
            # Only now, so that the closing does not hold up the new page.
            if earlier is not None:
                self._host.retire(earlier.page)
        episode.first = episode.last
        self._host.prepare(viewport, site.warm_url(world))
        return msgspec.structs.replace(observation, goal=site.goal(episode.first))

    async def observe(self, want: Sequence[Want] = ("frame",), *, deadline_s: float) -> Observation:
        """See the page as it is; its clock does not move."""
        episode = self._current()
        async with self._within(deadline_s, "observe", harmless=True):
            return await self._observe(episode, want, 0.0)

    async def step(self, action: Action, *, action_id: str, deadline_s: float) -> StepResult:
        episode = self._current()
        if tag_of(action) not in self.spec.actions:
            valid = ", ".join(sorted(self.spec.actions))
            raise UnsupportedAction(f"the web executes no {tag_of(action)!r}; it does: {valid}")
        self._check_frame(action)
        started = time.perf_counter()
        async with self._within(deadline_s, "step"):
            if episode.site.done(episode.last):
                effect = Effect(
                    ok=False, code="episode_over", message="The page has closed its episode."
                )
                observation = await self._observe(episode, self._want, 0.0)
            else:
                effect = await episode.hands.perform(action)
                observation = await self._observe(episode, self._want, SETTLE_MS)
        took_ms = 1000 * (time.perf_counter() - started)
        return StepResult(
            effect=msgspec.structs.replace(effect, took_ms=took_ms), observation=observation
        )

    async def evidence(self, *, deadline_s: float) -> Evidence:
        episode = self._current()
        async with self._within(deadline_s, "evidence", harmless=True):
            now = (await self._look(episode)).status
        name = episode.site.name
        return Evidence(before={name: episode.first}, after={name: now}, native=now)

    async def snapshot(self, *, deadline_s: float) -> SnapshotKey:
        raise UnsupportedAction("a web page cannot be kept as a snapshot: can_fork is False")

    async def close(self) -> None:
        self._drop()

    async def _observe(
        self, episode: _Episode, want: Sequence[Want], settle_ms: float
    ) -> Observation:
        page, hands = episode.page, episode.hands
        if settle_ms:
            await hands.advance(settle_ms)
        picture: bytes | None = None
        for _ in range(_SETTLE_ROUNDS):
            await page.loaded()
            # Drawing brings scrolling and layout to rest, and may start more loading.
            picture = await page.picture() if "frame" in want else None
            look = await self._look(episode)
            if not page.is_loading:
                break
        episode.last = look.status
        blobs: dict[str, BlobKey] = {}
        if picture is not None:
            blobs["frame"] = self._frame = self._blobs.put(picture, "png")
        if "tree" in want:
            tree = msgspec.json.encode(await page_tree(page))
            blobs["tree"] = self._blobs.put(tree, "json")
        if "text" in want:
            blobs["text"] = self._blobs.put((await page_text(page)).encode(), "txt")
        return Observation(
            frame=blobs.get("frame"),
            tree=blobs.get("tree"),
            text=blobs.get("text"),
            size_px=self.spec.size_px,
            app=episode.site.app(episode.world, look.href),
            clock_s=round(hands.clock_ms / 1000, 3),
            state_hash=_hash(look),
            done=episode.site.done(look.status),
        )

    async def _look(self, episode: _Episode) -> _Look:
        answer: Any = await episode.page.evaluate(
            f"({{href: location.href, state: __screenloop.state(), status: {episode.site.status}}})"
        )
        return msgspec.convert(answer, _Look)

    def _check_frame(self, action: Action) -> None:
        if isinstance(action, Pointed) and action.frame not in (None, self._frame):
            raise StaleFrame(
                f"the action's coordinates are of frame {action.frame}, but the last one shown "
                f"is {self._frame}"
            )

    def _current(self) -> _Episode:
        if self._episode is None:
            raise EnvironmentFault("the web Environment holds no page: reset it first")
        return self._episode

    def _drop(self) -> None:
        if self._episode is not None:
            self._host.retire(self._episode.page)
        self._episode = None
        self._frame = None

    @asynccontextmanager
    async def _within(
        self, deadline_s: float, what: str, *, harmless: bool = False
    ) -> AsyncIterator[None]:
        """Bound an operation; one cut short in the middle leaves a page of unknown state."""
        try:
            async with asyncio.timeout(deadline_s):
                yield
        except BaseException as error:
            if not harmless:
                self._drop()
            if isinstance(error, TimeoutError):
                raise DeadlinePassed(f"{what} took longer than {deadline_s:g} s") from error
            raise


def _hash(look: _Look) -> str:
    status = msgspec.json.encode(look.status, order="sorted")
    return hashlib.sha256(look.state.encode() + b"\0" + status).hexdigest()[:32]
