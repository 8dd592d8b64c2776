"""A fake Kubernetes API server: Pods and Secrets over HTTP, with faults that can be switched on.

Speaks what a client of Pods needs: create, read, delete with grace, list by labels in pages, watch
as JSON lines with bookmarks, Status bodies for refusals. For tests and for trying things where no
cluster is at hand; it has been compared with the published API and with no real server.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
from aiohttp import web

from screenloop.manager.clock import Clock, SystemClock, first_of
from screenloop.testing.fake_kubernetes.cluster import FakeCluster
from screenloop.testing.fake_kubernetes.objects import Refusal, Wanted

PODS = "/api/v1/namespaces/{namespace}/pods"
SECRETS = "/api/v1/namespaces/{namespace}/secrets"
_JSON = "application/json"

Answer = Callable[[web.Request], Awaitable[tuple[int, Any]]]
"""Returns the status and the body."""


@dataclass(frozen=True, kw_only=True)
class Refused:
    """An answer to the next request of a sort."""

    what: str
    """As in `FakeKubernetes.requests`; empty for any."""
    refusal: Refusal


@dataclass(kw_only=True)
class ApiFaults:
    """What is wrong with the server; each field may be changed at any time."""

    refusals: list[Refused] = field(default_factory=list)
    """Taken off as they are used."""
    lost_answers: int = 0
    """Next requests that are carried out and whose connection breaks before the answer."""
    watch_delay_s: float = 0.0
    """How late watches are with each event."""
    silent_watches: bool = False
    """Whether watches show nothing, bookmarks included, and do not end."""


class FakeKubernetes:
    """Serves a `FakeCluster` on the loopback address and lets its loops run."""

    def __init__(
        self,
        cluster: FakeCluster,
        *,
        token: str = "",
        tick_s: float = 0.01,
        bookmark_s: float = 1.0,
        clock: Clock | None = None,
    ) -> None:
        """Prepare.

        Args:
            cluster: what is served.
            token: bearer token that requests must show; empty for none.
            tick_s: how often the cluster's loops look.
            bookmark_s: how often a watch shows the version that it came to.
            clock: of the above.
        """
        self.cluster = cluster
        self.faults = ApiFaults()
        self.requests: list[str] = []
        """What was asked, as `POST pods`, `LIST pods`, `WATCH pods`; in order."""
        self.url = ""
        self._token = token
        self._tick_s = tick_s
        self._bookmark_s = bookmark_s
        self._clock = clock or SystemClock()
        self._cut = asyncio.Event()
        self._runner: web.AppRunner | None = None
        self._loop: asyncio.Task[None] | None = None

    async def __aenter__(self) -> FakeKubernetes:
        app = web.Application()
        app.add_routes(
            [
                web.post(PODS, self._answering("POST pods", self._create_pod)),
                web.get(PODS, self._list_or_watch),
                web.get(PODS + "/{name}", self._answering("GET pods", self._read_pod)),
                web.delete(PODS + "/{name}", self._answering("DELETE pods", self._delete_pod)),
                web.post(SECRETS, self._answering("POST secrets", self._create_secret)),
            ]
        )
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"
        self._loop = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *_: object) -> None:
        self.drop_watches()
        if self._loop is not None:
            self._loop.cancel()
            await asyncio.wait({self._loop})
        if self._runner is not None:
            await self._runner.cleanup()

    def drop_watches(self) -> None:
        """Break every open watch in the middle of a line."""
        self._cut.set()
        self._cut = asyncio.Event()

    def refuse(
        self,
        code: int,
        reason: str,
        *,
        what: str = "",
        times: int = 1,
        retry_after_s: int | None = None,
    ) -> None:
        """Refuse the next requests of a sort (`POST secrets`), or any."""
        words = "switched on in the fake"
        refusal = Refusal(code, reason, words, retry_after_s=retry_after_s)
        self.faults.refusals += [Refused(what=what, refusal=refusal)] * times

    # ---- routes ------------------------------------------------------------------------------

    async def _create_pod(self, request: web.Request) -> tuple[int, Any]:
        body = msgspec.json.decode(await request.read())
        return 201, self.cluster.objects.create_pod(request.match_info["namespace"], body)

    async def _create_secret(self, request: web.Request) -> tuple[int, Any]:
        body = msgspec.json.decode(await request.read())
        return 201, self.cluster.objects.create_secret(request.match_info["namespace"], body)

    async def _read_pod(self, request: web.Request) -> tuple[int, Any]:
        life = self.cluster.objects.life(
            request.match_info["namespace"], request.match_info["name"]
        )
        return 200, life.pod

    async def _delete_pod(self, request: web.Request) -> tuple[int, Any]:
        data = await request.read()
        options: dict[str, Any] = msgspec.json.decode(data) if data else {}
        return 200, self.cluster.objects.delete_pod(
            request.match_info["namespace"],
            request.match_info["name"],
            grace_s=options.get("gracePeriodSeconds"),
            uid=options.get("preconditions", {}).get("uid", ""),
        )

    async def _list_or_watch(self, request: web.Request) -> web.StreamResponse:
        if request.query.get("watch") in ("true", "True", "1"):
            try:
                self._admit(request, "WATCH pods")
                return await self._watch(request)
            except Refusal as refusal:
                return _refused(refusal)
        return await self._answering("LIST pods", self._list)(request)

    async def _list(self, request: web.Request) -> tuple[int, Any]:
        limit = int(request.query.get("limit", "0"))
        version, start = None, 0
        if "continue" in request.query:
            version, start = msgspec.json.decode(
                base64.urlsafe_b64decode(request.query["continue"]), type=tuple[int, int]
            )
        page = self.cluster.objects.page(
            request.match_info["namespace"],
            _selected(request),
            limit=limit,
            version=version,
            start=start,
        )
        meta: dict[str, Any] = {"resourceVersion": str(page.version)}
        if page.left:
            mark = msgspec.json.encode((page.version, start + limit))
            meta |= {
                "continue": base64.urlsafe_b64encode(mark).decode(),
                "remainingItemCount": page.left,
            }
        items = [msgspec.Raw(pod) for pod in page.pods]
        return 200, {"kind": "PodList", "apiVersion": "v1", "metadata": meta, "items": items}

    async def _watch(self, request: web.Request) -> web.StreamResponse:
        namespace = request.match_info["namespace"]
        version = int(request.query.get("resourceVersion") or self.cluster.objects.version)
        until_s = self._clock.now_s() + float(request.query.get("timeoutSeconds", "3600"))
        # A version that is too old is refused before the stream is begun.
        self.cluster.objects.changes_since(namespace, version)
        stream = web.StreamResponse(headers={"Content-Type": _JSON})
        stream.enable_chunked_encoding()
        await stream.prepare(request)
        # Whoever went away needs no more.
        with contextlib.suppress(ConnectionError):
            await self._show(stream, request, version, until_s)
        return stream

    async def _show(
        self, stream: web.StreamResponse, request: web.Request, version: int, until_s: float
    ) -> None:
        """Write what happens from a version on."""
        objects, wanted = self.cluster.objects, _selected(request)
        marks = request.query.get("allowWatchBookmarks") in ("true", "True", "1")
        cut = self._cut
        while self._clock.now_s() < until_s:
            changed = objects.changed
            if not self.faults.silent_watches:
                try:
                    changes = objects.changes_since(request.match_info["namespace"], version)
                except Refusal as refusal:
                    await stream.write(_line("ERROR", msgspec.json.encode(_status(refusal))))
                    return
                for one in filter(lambda one: wanted(one.labels), changes):
                    if self.faults.watch_delay_s:
                        await self._clock.sleep(self.faults.watch_delay_s)
                    await stream.write(_line(one.type, one.object))
                if changes:
                    version = changes[-1].version
                elif marks:
                    await stream.write(_line("BOOKMARK", _bookmark(version)))
            left_s = max(0.0, until_s - self._clock.now_s())
            limit_s = min(self._bookmark_s, left_s)
            await first_of(changed.wait(), cut.wait(), limit_s=limit_s)
            if cut.is_set():
                await stream.write(b'{"type":"MODIF')
                assert request.transport is not None
                request.transport.abort()
                return

    # ---- parts -------------------------------------------------------------------------------

    def _answering(
        self, what: str, answer: Answer
    ) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def respond(request: web.Request) -> web.Response:
            try:
                self._admit(request, what)
                status, body = await answer(request)
                data = msgspec.json.encode(body)
            except Refusal as refusal:
                return _refused(refusal)
            except msgspec.DecodeError as error:
                return _refused(Refusal(400, "BadRequest", str(error)))
            if self.faults.lost_answers:
                self.faults.lost_answers -= 1
                assert request.transport is not None
                request.transport.abort()
            return web.Response(body=data, status=status, content_type=_JSON)

        return respond

    def _admit(self, request: web.Request, what: str) -> None:
        self.requests.append(what)
        if self._token and request.headers.get("Authorization") != f"Bearer {self._token}":
            raise Refusal(401, "Unauthorized", "Unauthorized")
        for one in self.faults.refusals:
            if one.what in ("", what):
                self.faults.refusals.remove(one)
                raise one.refusal

    async def _run(self) -> None:
        while True:
            await self.cluster.tick()
            await self._clock.sleep(self._tick_s)


def _selected(request: web.Request) -> Wanted:
    """Return the test that a `labelSelector` of equalities and existences asks for."""
    parts = [one for one in request.query.get("labelSelector", "").split(",") if one]

    def wanted(labels: Mapping[str, str]) -> bool:
        for part in parts:
            key, equals, value = part.partition("=")
            if key not in labels or (equals and labels[key] != value.lstrip("=")):
                return False
        return True

    return wanted


def _line(kind: str, data: bytes) -> bytes:
    return msgspec.json.encode({"type": kind, "object": msgspec.Raw(data)}) + b"\n"


def _bookmark(version: int) -> bytes:
    return msgspec.json.encode(
        {"kind": "Pod", "apiVersion": "v1", "metadata": {"resourceVersion": str(version)}}
    )


def _status(refusal: Refusal) -> dict[str, Any]:
    body: dict[str, Any] = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": refusal.message,
        "reason": refusal.reason,
        "code": refusal.code,
    }
    if refusal.retry_after_s is not None:
        body["details"] = {"retryAfterSeconds": refusal.retry_after_s}
    return body


def _refused(refusal: Refusal) -> web.Response:
    headers = {}
    if refusal.retry_after_s is not None:
        headers["Retry-After"] = str(refusal.retry_after_s)
    data = msgspec.json.encode(_status(refusal))
    return web.Response(body=data, status=refusal.code, content_type=_JSON, headers=headers)
