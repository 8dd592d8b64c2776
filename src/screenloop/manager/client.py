"""The Manager contract over HTTP: what `--manager URL` puts in the place of the one in-process.

Each operation has a deadline, within which a manager that cannot be reached (it may be restarting)
is asked again with the very same request; a repeated action id applies once. Frames and trees come
through the shared blob store and stay in the Run's own.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from screenloop.errors import Busy, ConfigError, DeadlinePassed, InfraFault, ScreenloopError
from screenloop.http.client import HttpAnswer, HttpClient, NoAnswer, header_token
from screenloop.http.endpoints import read_reply
from screenloop.http.errors import error_from
from screenloop.manager.base import Manager, Observe, OperationFor, token_of
from screenloop.manager.clock import Clock, SystemClock
from screenloop.manager.wire import bodies
from screenloop.manager.wire import endpoints as at
from screenloop.store.blob_urls import open_blobs
from screenloop.store.blobs import BlobStore, CopiedBlobs
from screenloop.types import EnvRef, EnvSpec, Lease, Observation, StepResult, Want

ANSWER_S = 2.0
"""What an answer's way may take besides the operation's own deadline."""
CONNECT_S = 5.0
"""How long the first contact may take."""
RELEASE_S = 20.0
SPEC_S = 150.0

_FIRST_PAUSE_S = 0.05
_MOST_PAUSE_S = 2.0
_CONNECTIONS = 1024
_PLAIN = {"Content-Type": "application/json"}

R = TypeVar("R")


class ManagerConnection:
    """The way to one manager: asks again within a deadline while it does not answer."""

    def __init__(
        self,
        url: str,
        *,
        token: str,
        clock: Clock,
        exchanged: Callable[[str, int, int], None] = lambda path, sent, received: None,
    ) -> None:
        """Prepare; connects on first use.

        Args:
            url: of the manager.
            token: that it demands.
            clock: measures deadlines and pauses.
            exchanged: told path, bytes sent and bytes received of each body that was answered.

        Raises:
            ConfigError: the token cannot be sent.
        """
        self.url = url.rstrip("/")
        self._headers = {**_PLAIN, "Authorization": header_token(token)}
        self._clock = clock
        self._exchanged = exchanged
        self._client = HttpClient(connections=_CONNECTIONS)
        self.close = self._client.close

    async def ask(
        self,
        method: str,
        path: str,
        body: Any,
        kind: type[R],
        deadline_s: float,
        *,
        query: dict[str, str] | None = None,
        host_url: str = "",
    ) -> R:
        """Send until there is an answer that can be read.

        Args:
            method: of HTTP.
            path: of the route.
            body: struct to send, if any; sending it twice must be harmless.
            kind: struct to read.
            deadline_s: from now.
            query: of the URL.
            host_url: where to go first; the manager is the other way.

        Raises:
            DeadlinePassed: there was none in time.
            ScreenloopError: what the other side answered.
        """
        end_s = self._clock.now_s() + deadline_s
        data = None if body is None else msgspec.json.encode(body)
        bases = [host_url, self.url] if host_url else [self.url]
        pause_s, number = _FIRST_PAUSE_S, 0
        while True:
            base = bases[number % len(bases)]
            # The manager's token is not for hosts: there, the Lease's id counts.
            headers = self._headers if base == self.url else _PLAIN
            left_s = max(end_s - self._clock.now_s(), 0.001)
            try:
                reply = await self._send(
                    method, base + path, data, query, headers, left_s + ANSWER_S
                )
                self._exchanged(path, len(data or b""), len(reply.body))
                if reply.status == 200:
                    return read_reply(reply.body, kind, base)
                raise error_from(reply.status, reply.body, base)
            except InfraFault as error:
                if type(error) not in (NoAnswer, InfraFault):
                    raise
                if end_s - self._clock.now_s() <= pause_s:
                    raise DeadlinePassed(
                        f"{path} had no answer within {deadline_s:g} s: {error}"
                    ) from error
            await self._clock.sleep(pause_s)
            pause_s = min(2 * pause_s, _MOST_PAUSE_S)
            number += 1

    async def _send(
        self,
        method: str,
        url: str,
        data: bytes | None,
        query: dict[str, str] | None,
        headers: dict[str, str],
        wait_s: float,
    ) -> HttpAnswer:
        try:
            return await self._client.send(
                method, url, body=data, headers=headers, deadline_s=wait_s, query=query
            )
        except TimeoutError as error:
            raise NoAnswer(f"{url} did not answer within {wait_s:.3g} s") from error
        except NoAnswer as error:
            raise NoAnswer(f"{url} cannot be reached: {error}") from error


class HttpManager(Manager):
    """A manager elsewhere; made by `connect`."""

    def __init__(
        self,
        url: str,
        *,
        token: str,
        own: BlobStore,
        shared: BlobStore,
        want: Sequence[Want] = ("frame",),
        clock: Clock | None = None,
        exchanged: Callable[[str, int, int], None] = lambda path, sent, received: None,
    ) -> None:
        """Prepare; connects on first use.

        Args:
            url: of the manager.
            token: that it demands.
            own: the Run's own blobs.
            shared: the store that the manager's hosts write to.
            want: what each Observation must carry; what a host does not show by itself is asked
                for.
            clock: measures deadlines and pauses.
            exchanged: told path, bytes sent and bytes received of each message.
        """
        self.blobs = CopiedBlobs(own, shared)
        self._want = tuple(want)
        self._clock = clock or SystemClock()
        self._connection = ManagerConnection(
            url, token=token, clock=self._clock, exchanged=exchanged
        )
        self._specs: dict[EnvRef, EnvSpec] = {}
        self._turns: Counter[str] = Counter()
        """By lease id, operations asked for so far."""
        self._goodbyes: set[asyncio.Task[None]] = set()

    async def spec(self, env: EnvRef) -> EnvSpec:
        """Tell what Instances of this kind can do; asked for once."""
        if env not in self._specs:
            width, height = env.size_px
            query = {"kind": env.kind, "width": str(width), "height": str(height)}
            self._specs[env] = await self._connection.ask(
                "GET", at.SPEC, None, EnvSpec, SPEC_S, query=query
            )
        return self._specs[env]

    async def acquire(self, env: EnvRef, run_id: str, *, ttl_s: float) -> Lease:
        """Wait for the exclusive right to an Instance of this kind.

        The caller's time-out ends the wait; a Lease that was granted meanwhile is given back.
        """
        spec = await self.spec(env)
        request_id = secrets.token_hex(12)
        body = bodies.AcquireBody(env=env, run_id=run_id, request_id=request_id, ttl_s=ttl_s)
        try:
            while True:
                asked_s = self._clock.now_s()
                try:
                    reply = await self._connection.ask(
                        "POST", at.ACQUIRE, body, bodies.AcquireReply, bodies.WAIT_S
                    )
                except Busy as busy:
                    await self._clock.sleep(busy.retry_after_s)
                except DeadlinePassed:
                    continue
                else:
                    return Lease(
                        id=reply.lease.lease_id,
                        fence=reply.lease.fence,
                        instance=reply.lease.instance,
                        expires_s=asked_s + reply.expires_in_s,
                        spec=spec,
                        host_url=reply.host_url,
                    )
        except BaseException:
            self._withdraw_soon(request_id)
            raise

    async def operate(self, lease: Lease, operation: OperationFor[R], *, deadline_s: float) -> R:
        """Carry out one operation once, however often the request has to be sent.

        What is seen is complete and lies in the Run's own store.
        """
        end_s = self._clock.now_s() + deadline_s
        self._turns[lease.id] += 1
        token = token_of(lease, self._turns[lease.id])
        result: Any = await self._connection.ask(
            "POST",
            at.operate_path(operation.verb),
            at.operate_body(token, operation, deadline_s, self.blobs.shared),
            bodies.OperateReply[operation.result_type],  # type: ignore[name-defined]
            deadline_s,
            host_url=lease.host_url,
        )
        result = at.result_of(result, operation, self.blobs)
        match operation, result:
            case Observe(), Observation():
                result = self._kept(result)
            case _, Observation():
                result = await self._complete(lease, result, end_s)
            case _, StepResult():
                seen = await self._complete(lease, result.observation, end_s)
                result = replace(result, observation=seen)
            case _:
                pass
        found: R = result
        return found

    async def release(self, lease: Lease) -> None:
        self._turns.pop(lease.id, None)
        body = bodies.ReleaseBody(lease=token_of(lease))
        await self._connection.ask("POST", at.RELEASE, body, bodies.Done, RELEASE_S)

    async def close(self) -> None:
        """Close the connections; the manager lives on."""
        if self._goodbyes:
            await asyncio.wait(set(self._goodbyes), timeout=RELEASE_S)
        await self._connection.close()

    # ---- parts -------------------------------------------------------------------------------

    async def _complete(self, lease: Lease, seen: Observation, end_s: float) -> Observation:
        """Return the Observation with all that is wanted, asking for what is missing."""
        missing = [part for part in self._want if getattr(seen, part) is None]
        if missing and not seen.done:
            left_s = max(end_s - self._clock.now_s(), 0.001)
            more = await self.observe(lease, missing, deadline_s=left_s)
            seen = replace(seen, **{part: getattr(more, part) for part in missing})
        return self._kept(seen)

    def _kept(self, seen: Observation) -> Observation:
        """Copy what is seen to the Run's own store, so that the Run can be read without us."""
        for key in (seen.frame, seen.tree, seen.text):
            if key is not None:
                self.blobs.keep(key)
        return seen

    def _withdraw_soon(self, request_id: str) -> None:
        """Tell the manager that nobody waits any more; the one who did is gone already."""
        task = asyncio.create_task(self._withdraw(request_id))
        self._goodbyes.add(task)
        task.add_done_callback(self._goodbyes.discard)

    async def _withdraw(self, request_id: str) -> None:
        body = bodies.WithdrawBody(request_id=request_id)
        try:
            await self._connection.ask("POST", at.WITHDRAW, body, bodies.Done, RELEASE_S)
        except ScreenloopError:
            # A Lease that nobody uses expires by itself.
            return


async def connect(
    url: str, *, token: str, own: BlobStore, want: Sequence[Want] = ("frame",)
) -> HttpManager:
    """Return the way to a manager, once it has answered.

    Raises:
        ConfigError: the URL is no HTTP URL, or the token is wrong.
        InfraFault: nothing of ours answers there, or its blob store cannot be reached from here.
    """
    info = await ask_manager(url, at.INFO, bodies.Info, token=token)
    return HttpManager(url, token=token, own=own, shared=open_blobs(info.blobs), want=want)


async def ask_manager(url: str, path: str, kind: type[R], *, token: str) -> R:
    """Return what a manager says under one of its paths.

    Raises:
        ConfigError: the URL is no HTTP URL, or the token is wrong.
        InfraFault: nothing of ours answers there.
    """
    if not url.startswith(("http://", "https://")):
        raise ConfigError(f"a manager has a URL such as http://127.0.0.1:8600, not {url!r}")
    connection = ManagerConnection(url, token=token, clock=SystemClock())
    try:
        return await connection.ask("GET", path, None, kind, CONNECT_S)
    except DeadlinePassed as error:
        raise InfraFault(
            f"no manager answers at {url}; start one with `screenloop serve` ({error})"
        ) from error
    except ConfigError as error:
        raise ConfigError(f"{error}. Give the manager's token in $SCREENLOOP_TOKEN") from error
    finally:
        await connection.close()
