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

from msgspec.structs import replace

from screenloop.actions import Action
from screenloop.errors import Busy, ConfigError, DeadlinePassed, InfraFault, ScreenloopError
from screenloop.manager.clock import Clock, SystemClock
from screenloop.manager.connection import Connection
from screenloop.manager.wire.bodies import (
    Done,
    LeaseShown,
    ObservationReply,
    StepReply,
    VerdictReply,
    evaluate_body,
    observe_body,
    reset_body,
    step_body,
    unstow,
)
from screenloop.manager.wire.service_bodies import (
    WAIT_S,
    AcquireBody,
    Info,
    LeaseReply,
    ReleaseBody,
    WithdrawBody,
)
from screenloop.store.blob_urls import open_blobs
from screenloop.store.blobs import BlobStore, CopiedBlobs
from screenloop.types import (
    Claim,
    EnvRef,
    EnvSpec,
    Lease,
    Observation,
    Start,
    StepResult,
    Verdict,
    Want,
)

CONNECT_S = 5.0
"""How long the first contact may take."""
RELEASE_S = 20.0
SPEC_S = 150.0

R = TypeVar("R")


class HttpManager:
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
        self._connection = Connection(url, token=token, clock=self._clock, exchanged=exchanged)
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
                "GET", "/v1/spec", None, EnvSpec, SPEC_S, query=query
            )
        return self._specs[env]

    async def acquire(self, env: EnvRef, run_id: str, *, ttl_s: float) -> Lease:
        """Wait for the exclusive right to an Instance of this kind.

        The caller's time-out ends the wait; a Lease that was granted meanwhile is given back.
        """
        spec = await self.spec(env)
        request_id = secrets.token_hex(12)
        body = AcquireBody(env=env, run_id=run_id, request_id=request_id, ttl_s=ttl_s)
        try:
            while True:
                asked_s = self._clock.now_s()
                try:
                    reply = await self._connection.ask(
                        "POST", "/v1/leases", body, LeaseReply, WAIT_S
                    )
                except Busy as busy:
                    await self._clock.sleep(busy.retry_after_s)
                except DeadlinePassed:
                    continue
                else:
                    return Lease(
                        id=reply.id,
                        fence=reply.fence,
                        instance=reply.instance,
                        expires_s=asked_s + reply.expires_in_s,
                        spec=spec,
                        host_url=reply.host_url,
                    )
        except BaseException:
            self._withdraw_soon(request_id)
            raise

    async def reset(self, lease: Lease, start: Start, *, deadline_s: float) -> Observation:
        """Bring the Instance to a Task's initial state."""
        end_s = self._clock.now_s() + deadline_s
        body = reset_body(self._next(lease), start, deadline_s, self.blobs.shared)
        reply = await self._operate(lease, "reset", body, ObservationReply, deadline_s)
        seen = unstow(reply.observation, reply.blob, Observation, self.blobs)
        return await self._complete(lease, seen, end_s)

    async def observe(
        self, lease: Lease, want: Sequence[Want] = ("frame",), *, deadline_s: float
    ) -> Observation:
        """See what is there now."""
        body = observe_body(self._next(lease), want, deadline_s)
        reply = await self._operate(lease, "observe", body, ObservationReply, deadline_s)
        return self._kept(unstow(reply.observation, reply.blob, Observation, self.blobs))

    async def step(
        self, lease: Lease, action_id: str, action: Action, *, deadline_s: float
    ) -> StepResult:
        """Carry out one Action once, however often the request has to be sent."""
        end_s = self._clock.now_s() + deadline_s
        body = step_body(self._next(lease), action_id, action, deadline_s, self.blobs.shared)
        reply = await self._operate(lease, "step", body, StepReply, deadline_s)
        result = unstow(reply.result, reply.blob, StepResult, self.blobs)
        seen = await self._complete(lease, result.observation, end_s)
        return replace(result, observation=seen)

    async def evaluate(self, lease: Lease, claim: Claim, *, deadline_s: float) -> Verdict:
        """Judge the Task of the last reset; the Episode may go on."""
        body = evaluate_body(self._next(lease), claim, deadline_s, self.blobs.shared)
        reply = await self._operate(lease, "evaluate", body, VerdictReply, deadline_s)
        return unstow(reply.verdict, reply.blob, Verdict, self.blobs)

    async def release(self, lease: Lease) -> None:
        """Give the Instance back; a Lease that is already gone is left alone."""
        self._turns.pop(lease.id, None)
        body = ReleaseBody(lease=_shown(lease))
        await self._connection.ask("POST", "/v1/leases/release", body, Done, RELEASE_S)

    async def close(self) -> None:
        """Close the connections; the manager lives on."""
        if self._goodbyes:
            await asyncio.wait(set(self._goodbyes), timeout=RELEASE_S)
        await self._connection.close()

    # ---- parts -------------------------------------------------------------------------------

    def _next(self, lease: Lease) -> LeaseShown:
        """Return what the next operation shows of its Lease."""
        self._turns[lease.id] += 1
        return _shown(lease, self._turns[lease.id])

    async def _operate(
        self, lease: Lease, name: str, body: Any, kind: type[R], deadline_s: float
    ) -> R:
        return await self._connection.ask(
            "POST", f"/v1/leases/{name}", body, kind, deadline_s, host_url=lease.host_url
        )

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
        body = WithdrawBody(request_id=request_id)
        try:
            await self._connection.ask("POST", "/v1/leases/withdraw", body, Done, RELEASE_S)
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
    info = await ask_manager(url, "/v1/info", Info, token=token)
    return HttpManager(url, token=token, own=own, shared=open_blobs(info.blobs), want=want)


async def ask_manager(url: str, path: str, kind: type[R], *, token: str) -> R:
    """Return what a manager says under one of its paths.

    Raises:
        ConfigError: the URL is no HTTP URL, or the token is wrong.
        InfraFault: nothing of ours answers there.
    """
    if not url.startswith(("http://", "https://")):
        raise ConfigError(f"a manager has a URL such as http://127.0.0.1:8600, not {url!r}")
    connection = Connection(url, token=token, clock=SystemClock())
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


def _shown(lease: Lease, turn: int = 0) -> LeaseShown:
    return LeaseShown(id=lease.id, fence=lease.fence, instance=lease.instance, turn=turn)
