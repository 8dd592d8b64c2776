"""A policy in this process, as a Model: requests from many Episodes share passes and a cache.

    engine = LocalEngine(policy, blobs)
    reply = await engine.complete(request, deadline_s=60)

Requests that are there at the same time are read and decoded together; a further one joins between
two tokens. What a call says depends on its messages, its sampling and the pair (seed, call id),
not on what runs beside it, up to float rounding. Where even that must not differ from run to run,
Episodes take part in lockstep (`taking_part`): then a batch is exactly the calls of all of them.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version

from torch import Tensor

from screenloop.engine.decoder import DecodeJob, Decoder, DecoderCounters, Limits
from screenloop.engine.policy import Policy, PolicyCard
from screenloop.engine.prompts import PromptWriter
from screenloop.engine.weights import check_weights, copy_weights
from screenloop.errors import AgentError, ConfigError, DeadlinePassed, ModelUnavailable
from screenloop.messages import ChatRequest, Reply, TokenStack
from screenloop.store.blobs import BlobStore
from screenloop.types import BlobKey, Struct, Usage

ENGINE = "screenloop.engine"
LOGPROBS_MODE = "processed"
KEPT_PICTURES = 256
"""Pictures whose patches are kept."""


class EngineCard(Struct, frozen=True, kw_only=True):
    """What a record must name of the engine that gave it; see `CallRecord` for the rest."""

    policy: PolicyCard
    engine: str
    engine_version: str
    logprobs_mode: str
    seed: int


@dataclass(frozen=True)
class _Waiting:
    job: DecodeJob
    answer: asyncio.Future[DecodeJob]


@dataclass(frozen=True)
class _Swap:
    weights: Mapping[str, Tensor]
    version: str
    done: asyncio.Future[None]


class LocalEngine:
    """Serves one policy in this process."""

    def __init__(
        self,
        policy: Policy,
        blobs: BlobStore,
        *,
        seed: int = 0,
        weights_version: str = "0",
        limits: Limits = Limits(),
        threaded: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare; nothing runs before the first call.

        Args:
            policy: The network and its tokenizer. The engine owns its weights from here on.
            blobs: Where the pictures of requests lie.
            seed: Used for calls whose sampling names none.
            weights_version: What the given weights are called.
            limits: What may be used at once.
            threaded: Whether passes run beside the event loop in a thread of their own.
            clock: Seconds, for `Reply.took_s`.
        """
        self.name = f"local:{policy.name}"
        self.policy = policy
        self._blobs = blobs
        self._seed = seed
        self._version = weights_version
        self._clock = clock
        self._writer = PromptWriter(
            policy.tokenizer, vision=policy.vision, stop_ids=policy.stop_ids
        )
        card = policy.card()
        self._stack = TokenStack(
            engine=ENGINE,
            engine_version=version("screenloop"),
            dtype=card.dtype,
            tokenizer_hash=card.tokenizer_hash,
            template_hash=card.chat_template_hash,
            processor_hash=card.processor_hash,
        )
        self._patches: OrderedDict[BlobKey, Tensor] = OrderedDict()
        self._decoder = Decoder(policy, limits)
        self._queue: list[_Waiting] = []
        self._running: dict[DecodeJob, asyncio.Future[DecodeJob]] = {}
        self._swaps: list[_Swap] = []
        self._members = 0
        self._woken = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, "engine") if threaded else None

    # ---- the Model contract ----------------------------------------------------------------

    async def complete(self, request: ChatRequest, *, deadline_s: float) -> Reply:
        """Answer one request.

        Raises:
            AgentError: the prompt leaves no room in the model's context.
            ConfigError: the messages do not suit the model.
            DeadlinePassed: no answer came within `deadline_s`.
            ModelUnavailable: the network failed.
        """
        began_s = self._clock()
        job = self._job(request)
        answer: asyncio.Future[DecodeJob] = asyncio.get_running_loop().create_future()
        self._queue.append(_Waiting(job=job, answer=answer))
        self._wake()
        try:
            async with asyncio.timeout(deadline_s):
                await answer
        except TimeoutError:
            raise DeadlinePassed(
                f"{self.name} gave no reply within {deadline_s:g} s; "
                f"{len(self._queue)} requests wait, {self._decoder.running} run"
            ) from None
        finally:
            job.cancelled = job.cancelled or not job.finish_reason
        return self._reply(job, took_s=self._clock() - began_s)

    async def preflight(self) -> None:
        """The policy is here already."""

    async def close(self) -> None:
        """Stop; calls that wait fail. May be called twice."""
        if self._loop is not None:
            self._loop.cancel()
            await asyncio.gather(self._loop, return_exceptions=True)
            self._loop = None
        self._fail(ModelUnavailable(f"{self.name} was closed"))
        if self._thread is not None:
            self._thread.shutdown()

    # ---- beyond the contract ---------------------------------------------------------------

    @property
    def weights_version(self) -> str:
        """The version that the next call will be answered by."""
        return self._version

    @property
    def counters(self) -> DecoderCounters:
        return self._decoder.counters

    @property
    def cache_tokens(self) -> int:
        """Tokens whose keys and values are held now."""
        return self._decoder.cache.tokens

    def card(self) -> EngineCard:
        return EngineCard(
            policy=self.policy.card(),
            engine=ENGINE,
            engine_version=version("screenloop"),
            logprobs_mode=LOGPROBS_MODE,
            seed=self._seed,
        )

    async def swap(self, weights: Mapping[str, Tensor], version: str) -> None:
        """Replace the weights. Calls that run finish on the old ones; later calls wait for the new.

        The prefix cache is emptied, as it came from the old weights.

        Raises:
            ConfigError: a tensor is missing, unknown, of another shape or not finite; the old
                weights stay.
        """
        check_weights(self.policy.model, weights)
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._swaps.append(_Swap(weights=weights, version=version, done=done))
        self._wake()
        await done

    @contextmanager
    def taking_part(self) -> Iterator[None]:
        """Take part in lockstep for the length of an Episode.

        While anyone takes part, passes begin only when every member's call waits, and calls are
        ordered by their ids. So batches, and with them the last bits of every number, are the same
        in each run, at the price of waiting for the slowest Environment.
        """
        self._members += 1
        try:
            yield
        finally:
            self._members -= 1
            self._woken.set()

    # ---- requests --------------------------------------------------------------------------

    def _job(self, request: ChatRequest) -> DecodeJob:
        prompt = self._writer.write(request.messages, request.tools)
        room = self.policy.context_tokens - len(prompt.token_ids)
        if room < 1:
            raise AgentError(
                f"the prompt of {len(prompt.token_ids)} tokens does not fit the model's context "
                f"of {self.policy.context_tokens}. Use a smaller window or smaller images."
            )
        sampling = request.sampling
        return DecodeJob(
            call_id=request.call_id,
            session_id=request.session_id,
            prompt=prompt,
            sampling=sampling,
            seed=self._seed if sampling.seed is None else sampling.seed,
            max_tokens=min(sampling.max_tokens, room),
            patches={image.key: self._pixels(image.key) for image in prompt.images},
        )

    def _reply(self, job: DecodeJob, *, took_s: float) -> Reply:
        text = self.policy.text_of(job.token_ids)
        for stop in job.sampling.stop:
            text = text.partition(stop)[0]
        self._writer.replies.remember(job.prompt.token_ids, text, job.token_ids)
        return Reply(
            text=text,
            finish_reason=job.finish_reason,
            usage=Usage(
                prompt=len(job.prompt.token_ids), cached=job.cached, completion=len(job.token_ids)
            ),
            prompt_token_ids=job.prompt.token_ids,
            token_ids=tuple(job.token_ids),
            logprobs=tuple(job.logprobs),
            weights_version=job.weights_version,
            images=job.prompt.images,
            banned_token_ids=self.policy.banned_ids,
            token_stack=self._stack,
            took_s=took_s,
        )

    def _pixels(self, key: BlobKey) -> Tensor:
        rule = self.policy.vision
        assert rule is not None
        if key not in self._patches:
            self._patches[key] = rule.pixels(self._blobs.get(key))
            if len(self._patches) > KEPT_PICTURES:
                self._patches.popitem(last=False)
        return self._patches[key]

    # ---- the loop --------------------------------------------------------------------------

    def _wake(self) -> None:
        self._woken.set()
        if self._loop is None:
            self._loop = asyncio.create_task(self._serve())

    async def _serve(self) -> None:
        while True:
            if not (self._running or self._may_begin()):
                self._apply_swaps()
                if not self._may_begin():
                    self._woken.clear()
                    await self._woken.wait()
                    continue
            await self._settle()
            try:
                await self._tick()
            except Exception as error:
                # Whatever breaks a pass breaks it for all that share it; the loop goes on.
                self._decoder.abandon()
                self._fail_running(error)

    def _may_begin(self) -> bool:
        if self._swaps or not self._queue or self._decoder.room < 1:
            return False
        if self._members:
            return not self._running and len(self._queue) >= self._members
        return True

    async def _settle(self) -> None:
        """Let callers that are ready hand in their calls, so that they share a pass."""
        before = -1
        while before != len(self._queue) and len(self._queue) < self._decoder.room:
            before = len(self._queue)
            await asyncio.sleep(0)

    async def _tick(self) -> None:
        """Admit what may join and decode one token of everything that runs."""
        done: list[DecodeJob] = []
        if self._may_begin():
            self._queue = [w for w in self._queue if not w.job.cancelled]
            if self._members:
                self._queue.sort(key=lambda w: w.job.call_id)
            joining = self._queue[: self._decoder.room]
            self._queue = self._queue[len(joining) :]
            for waiting in joining:
                waiting.job.weights_version = self._version
                self._running[waiting.job] = waiting.answer
            done += await self._pass(lambda: self._decoder.admit([w.job for w in joining]))
        if self._decoder.running:
            done += await self._pass(self._decoder.step)
        for job in done:
            answer = self._running.pop(job)
            if not answer.done():
                answer.set_result(job)

    async def _pass(self, work: Callable[[], list[DecodeJob]]) -> list[DecodeJob]:
        if self._thread is None:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _apply_swaps(self) -> None:
        for swap in self._swaps:
            copy_weights(self.policy.model, swap.weights)
            self._decoder.forget()
            self._version = swap.version
            if not swap.done.done():
                swap.done.set_result(None)
        self._swaps.clear()

    def _fail_running(self, error: Exception) -> None:
        failure = (
            error
            if isinstance(error, AgentError | ConfigError | ModelUnavailable)
            else ModelUnavailable(f"{self.name} failed: {type(error).__name__}: {error}")
        )
        for answer in self._running.values():
            if not answer.done():
                answer.set_exception(failure)
        self._running.clear()

    def _fail(self, error: Exception) -> None:
        self._fail_running(error)
        for waiting in self._queue:
            if not waiting.answer.done():
                waiting.answer.set_exception(error)
        self._queue.clear()
        for swap in self._swaps:
            if not swap.done.done():
                swap.done.set_exception(error)
        self._swaps.clear()
