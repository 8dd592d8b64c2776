"""The scheduler: admits requests, reads their prompts, decodes them together. No I/O, no clock.

Requests join between tokens and leave when done. Of requests that share a long prompt prefix in
one admission, the first reads it and the others take it from the cache.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from screenloop.engine.cache import Layers, PrefixCache, common_prefix, cut, join
from screenloop.engine.network import Chunk, Network, RunningBatch
from screenloop.engine.policy import Policy
from screenloop.engine.prompts import Prompt
from screenloop.engine.sampling import banned_mask, draw, processed_logprobs, uniform
from screenloop.errors import ModelUnavailable
from screenloop.messages import Sampling
from screenloop.types import BlobKey, Struct

MAX_SESSIONS = 4096


class Limits(Struct, frozen=True, kw_only=True):
    """What the engine may use at once."""

    cache_tokens: int = 200_000
    """Tokens whose keys and values are kept between requests."""
    rows: int = 128
    """Requests decoded together."""
    prefill_tokens: int = 16_384
    """Tokens, padding included, read in one pass."""


@dataclass
class DecoderCounters:
    """What the engine did since it was made."""

    requests: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    """Prompt tokens taken from the cache."""
    session_cached_tokens: int = 0
    """Prompt tokens that the request before in the same Episode already held, by their ids: what
    the cache owes to the history policy alone, without other Episodes' help."""
    decoded_tokens: int = 0
    passes: int = 0
    """Forward passes of the network."""
    largest_batch: int = 0

    def as_dict(self) -> dict[str, int]:
        return dict(vars(self))


@dataclass(eq=False)
class DecodeJob:
    """One request on its way through the engine."""

    call_id: str
    session_id: str
    prompt: Prompt
    sampling: Sampling
    seed: int
    max_tokens: int
    patches: Mapping[BlobKey, Tensor] = field(default_factory=dict)
    token_ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    cached: int = 0
    finish_reason: str = ""
    cancelled: bool = False
    weights_version: str = ""
    next_position: int = 0
    keys: tuple[int, ...] = ()

    @property
    def is_done(self) -> bool:
        return bool(self.finish_reason) or self.cancelled


class Decoder:
    """Runs jobs on one policy."""

    def __init__(self, policy: Policy, limits: Limits) -> None:
        self.counters = DecoderCounters()
        self.cache = PrefixCache(limits.cache_tokens)
        self._policy = policy
        self._network = Network(policy)
        self._limits = limits
        self._banned_V = banned_mask(policy.banned_ids, policy.vocab, policy.device)
        self._batch = RunningBatch(layers=[], lengths=[])
        self._jobs: list[DecodeJob] = []
        self._sessions: OrderedDict[str, tuple[int, ...]] = OrderedDict()

    @property
    def running(self) -> int:
        return len(self._jobs)

    @property
    def room(self) -> int:
        """How many more may join."""
        return self._limits.rows - len(self._jobs)

    def admit(self, jobs: Sequence[DecodeJob]) -> list[DecodeJob]:
        """Read the prompts of new jobs and draw their first tokens; returns those that are done."""
        for job in jobs:
            job.keys = job.prompt.keys
        waiting = list(jobs)
        while waiting:
            leaders = self._leaders(waiting)
            waiting = [job for job in waiting if job not in leaders]
            for chunk in self._chunks(leaders):
                self._prefill(chunk)
        for job in jobs:
            self._count(job)
        return self._retire()

    def step(self) -> list[DecodeJob]:
        """Decode one more token of every running job; returns those that are done."""
        dropped = self._retire()
        if not self._jobs:
            return dropped
        last = [job.token_ids[-1] for job in self._jobs]
        logits = self._network.advance(self._batch, last, [job.next_position for job in self._jobs])
        self.counters.passes += 1
        for job in self._jobs:
            job.next_position += 1
        self._draw(self._jobs, logits)
        return dropped + self._retire()

    def forget(self) -> None:
        """Let go of all that came from weights that are gone: prefixes, and who said them."""
        self.cache.clear()
        self._sessions.clear()

    def abandon(self) -> list[DecodeJob]:
        """Let go of everything that runs, after a failure; returns it."""
        jobs, self._jobs = self._jobs, []
        self._batch.keep([])
        return jobs

    # ---- prompts ---------------------------------------------------------------------------

    def _leaders(self, jobs: Sequence[DecodeJob]) -> list[DecodeJob]:
        """Return the jobs that need not wait for another one to read what they share."""
        leaders: list[DecodeJob] = []
        for job in jobs:
            held = self.cache.length(job.keys[:-1])
            shared = max((common_prefix(o.keys, job.keys[:-1]) for o in leaders), default=0)
            if shared <= held:
                leaders.append(job)
        return leaders

    def _chunks(self, jobs: Sequence[DecodeJob]) -> list[list[DecodeJob]]:
        """Cut jobs into passes of similar lengths within the limits."""

        def left(job: DecodeJob) -> int:
            return len(job.keys) - self.cache.length(job.keys[:-1])

        chunks: list[list[DecodeJob]] = []
        for job in sorted(jobs, key=left):
            rows = len(chunks[-1]) + 1 if chunks else 0
            if chunks and rows * left(job) <= self._limits.prefill_tokens:
                chunks[-1].append(job)
            else:
                chunks.append([job])
        return chunks

    def _prefill(self, jobs: Sequence[DecodeJob]) -> None:
        chunks: list[Chunk] = []
        for job in jobs:
            # The last token is always read: its logits are needed.
            match = self.cache.match(job.keys[:-1])
            job.cached = match.length
            chunks.append(
                Chunk(
                    token_ids=job.prompt.token_ids,
                    start=match.length,
                    past=match.layers,
                    images=job.prompt.images,
                    patches=job.patches,
                )
            )
        extended = self._network.extend(chunks)
        self.counters.passes += 1
        rows: list[Layers] = []
        for job, chunk, new in zip(jobs, chunks, extended, strict=True):
            job.next_position = new.next_position
            self.cache.insert(job.keys, chunk.start, new.layers)
            rows.append(new.layers if chunk.past is None else join([chunk.past, new.layers]))
        self._batch.add(rows)
        self._jobs += jobs
        self._draw(jobs, torch.stack([new.logits_V for new in extended]))

    def _count(self, job: DecodeJob) -> None:
        counters = self.counters
        counters.requests += 1
        counters.prompt_tokens += len(job.keys)
        counters.cached_tokens += job.cached
        counters.largest_batch = max(counters.largest_batch, len(self._jobs))
        episode = job.session_id.rpartition("/w")[0] or job.session_id
        before = self._sessions.pop(episode, ())
        counters.session_cached_tokens += common_prefix(before, job.keys[:-1])
        self._sessions[episode] = job.keys
        if len(self._sessions) > MAX_SESSIONS:
            self._sessions.popitem(last=False)

    # ---- tokens ----------------------------------------------------------------------------

    def _draw(self, jobs: Sequence[DecodeJob], logits_B_V: Tensor) -> None:
        if not torch.isfinite(logits_B_V).all():
            raise ModelUnavailable(
                "the network gives numbers that are not finite; its weights are spoilt: load the "
                "last good ones"
            )
        for sampling in dict.fromkeys(_shape(job.sampling) for job in jobs):
            rows = [i for i, job in enumerate(jobs) if _shape(job.sampling) == sampling]
            logprobs = processed_logprobs(logits_B_V[rows], sampling, self._banned_V)
            drawn = draw(logprobs, [_uniform(jobs[i]) for i in rows])
            chosen = logprobs.gather(-1, drawn[:, None])[:, 0]
            for i, token_id, logprob in zip(rows, drawn.tolist(), chosen.tolist(), strict=True):
                self._append(jobs[i], token_id, logprob)

    def _append(self, job: DecodeJob, token_id: int, logprob: float) -> None:
        job.token_ids.append(token_id)
        job.logprobs.append(logprob)
        self.counters.decoded_tokens += 1
        if token_id in self._policy.stop_ids or self._says_stop(job):
            job.finish_reason = "stop"
        elif len(job.token_ids) >= job.max_tokens:
            job.finish_reason = "length"

    def _says_stop(self, job: DecodeJob) -> bool:
        if not job.sampling.stop:
            return False
        text = self._policy.text_of(job.token_ids)
        return any(stop in text for stop in job.sampling.stop)

    def _retire(self) -> list[DecodeJob]:
        """Take out the jobs that are done, and keep what they read for those to come."""
        done = [job for job in self._jobs if job.is_done]
        if not done:
            return []
        for index, job in enumerate(self._jobs):
            # The last token was drawn, not read: it has no keys and values yet.
            read = job.keys + tuple(job.token_ids[:-1])
            if job.is_done and len(read) > len(job.keys):
                start = len(job.keys)
                self.cache.insert(read, start, cut(self._batch.row(index, start), 0, len(read)))
        kept = [i for i, job in enumerate(self._jobs) if not job.is_done]
        self._batch.keep(kept)
        self._jobs = [self._jobs[i] for i in kept]
        return done


def _shape(sampling: Sampling) -> Sampling:
    """Return what of the sampling decides the distribution."""
    return Sampling(temperature=sampling.temperature, top_p=sampling.top_p, top_k=sampling.top_k)


def _uniform(job: DecodeJob) -> float | None:
    if job.sampling.temperature <= 0:
        return None
    return uniform(job.seed, job.call_id, len(job.token_ids))
