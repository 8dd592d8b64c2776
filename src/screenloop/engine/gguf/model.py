"""A GGUF model in this process, as a Model: llama.cpp through the package xllamacpp.

    model = GgufModel(Path("policy.gguf"), blobs)
    reply = await model.complete(request, deadline_s=60)

The library batches calls and keeps their prefixes between the calls of an Episode. Of text
prompts, exact ids go in and come out, and a reply given here is never encoded again. Prompts with
pictures go in as text and have no ids. Log-probabilities are those of the processed distribution
(banned ids, temperature, `top_k`, `top_p`); where the library does not give one for every token,
the reply has none: at temperature 0, after a stop text, and when a token ended inside a character.
The weights version is the file's hash and no number, so training refuses the records.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import math
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from screenloop.engine.gguf.server import Completion, GgufLimits, LlamaServer
from screenloop.engine.replies import ReplyMemory
from screenloop.errors import AgentError, ConfigError, DeadlinePassed
from screenloop.messages import ChatRequest, ImagePart, Reply, Sampling
from screenloop.store.blobs import BlobStore
from screenloop.types import Struct, Usage

_NEVER = False
"""The bias that takes an id out of the distribution."""
_SAMPLERS = ("temperature", "top_k", "top_p")
"""In the order of `sampling.processed_logprobs`; the library's other samplers stay off."""
_SEEDS = 2**32 - 1
"""The library takes the last 32-bit number for `any seed`."""


class _Prompt(Struct, frozen=True, kw_only=True):
    """Ids; or text with the pictures that belong at its markers."""

    token_ids: tuple[int, ...] = ()
    text: str = ""
    pictures: tuple[bytes, ...] = ()

    def wire(self) -> Any:
        if not self.pictures:
            return self.token_ids
        data = [base64.b64encode(picture).decode() for picture in self.pictures]
        return {"prompt_string": self.text, "multimodal_data": data}


class GgufModel:
    """Serves one GGUF file in this process."""

    def __init__(
        self,
        path: Path,
        blobs: BlobStore,
        *,
        projector: Path | None = None,
        seed: int = 0,
        limits: GgufLimits = GgufLimits(),
        clock: Callable[[], float] = time.monotonic,
        new_key: Callable[[], str] = lambda: secrets.token_urlsafe(16),
    ) -> None:
        """Prepare; the file is read by `preflight` or the first call.

        Args:
            path: The GGUF file.
            blobs: Where the pictures of requests lie.
            projector: The `mmproj` GGUF file of a model that sees; text only without it.
            seed: Used for calls whose sampling names none.
            limits: What may be used.
            clock: Seconds, for `Reply.took_s`.
            new_key: Makes the key that closes the library's loopback port to others.
        """
        self.name = f"gguf:{path.stem}"
        self._path = path
        self._blobs = blobs
        self._projector = projector
        self._seed = seed
        self._limits = limits
        self._clock = clock
        self._new_key = new_key
        self._replies = ReplyMemory()
        self._stops: dict[int, str] = {}
        """Texts of the tokens that have ended replies so far."""
        self._loading: asyncio.Task[LlamaServer] | None = None

    # ---- the Model contract ----------------------------------------------------------------

    async def complete(self, request: ChatRequest, *, deadline_s: float) -> Reply:
        """Answer one request; a call that is given up stops at once and frees its slot.

        Raises:
            AgentError: the prompt leaves no room in the model's context.
            ConfigError: a file cannot be used, or the messages do not suit the model.
            DeadlinePassed: no answer came within `deadline_s`.
            ModelUnavailable: the library failed.
        """
        began_s = self._clock()
        try:
            async with asyncio.timeout(deadline_s):
                server = await self._server()
                prompt = await self._prompt(server, request)
                body = self._body(server, request, prompt)
                done = await server.ask("/completion", body, Completion)
                text = await self._text(server, done, request.sampling)
        except TimeoutError:
            raise DeadlinePassed(f"{self.name} gave no reply within {deadline_s:g} s") from None
        if not prompt.pictures:
            self._replies.remember(prompt.token_ids, text, done.tokens)
        return Reply(
            text=text,
            finish_reason="length" if done.stop_type == "limit" else "stop",
            usage=Usage(
                prompt=done.timings.cache_n + done.timings.prompt_n,
                cached=done.timings.cache_n,
                completion=len(done.tokens),
            ),
            prompt_token_ids=None if prompt.pictures else prompt.token_ids,
            token_ids=tuple(done.tokens),
            logprobs=processed(done, request.sampling),
            weights_version=server.card.weights_version,
            banned_token_ids=server.card.banned_ids,
            token_stack=server.stack,
            took_s=self._clock() - began_s,
        )

    async def preflight(self) -> None:
        """Load the model.

        Raises:
            ConfigError: a file is missing, damaged or of a kind that the library cannot run.
            ModelUnavailable: the library does not answer.
        """
        await self._server()

    async def close(self) -> None:
        loading, self._loading = self._loading, None
        if loading is not None:
            for server in await asyncio.gather(loading, return_exceptions=True):
                if isinstance(server, LlamaServer):
                    await server.close()

    # ---- requests --------------------------------------------------------------------------

    async def _server(self) -> LlamaServer:
        if self._loading is None:
            self._loading = asyncio.create_task(
                LlamaServer.start(self._path, self._projector, self._limits, self._new_key())
            )
        # A call that is given up does not stop what other calls wait for as well.
        return await asyncio.shield(self._loading)

    async def _prompt(self, server: LlamaServer, request: ChatRequest) -> _Prompt:
        keys = [p.key for m in request.messages for p in m.parts if isinstance(p, ImagePart)]
        if keys and not server.sees:
            raise ConfigError(
                f"{self.name} takes no pictures; give its mmproj file as well "
                "(gguf:MODEL.gguf,MMPROJ.gguf), or use a dialect that reads the screen as text"
            )
        pieces = server.template.pieces(request.messages, request.tools, picture=server.marker)
        if keys:
            data = await asyncio.to_thread(lambda: tuple(self._blobs.get(key) for key in keys))
            return _Prompt(text="".join(piece.text for piece in pieces), pictures=data)
        ids: list[int] = []
        for index, piece in enumerate(pieces):
            given = self._replies.recall(ids, piece.text) if piece.is_reply else None
            if given is not None:
                ids += given
            else:
                ids += await server.encode(self._behind_stop(piece.text, ids), begins=index == 0)
        return _Prompt(token_ids=tuple(ids))

    def _behind_stop(self, text: str, ids: list[int]) -> str:
        """Leave out the turn's end where the reply before already holds it as its last token."""
        return text.removeprefix(self._stops.get(ids[-1], "")) if ids else text

    def _body(self, server: LlamaServer, request: ChatRequest, prompt: _Prompt) -> dict[str, Any]:
        sampling = request.sampling
        room = server.context_tokens - len(prompt.token_ids)
        if room < 1:
            raise AgentError(
                f"the prompt of {len(prompt.token_ids)} tokens does not fit the model's context "
                f"of {server.context_tokens}. Use a smaller window or smaller images."
            )
        seed = self._seed if sampling.seed is None else sampling.seed
        return {
            "prompt": prompt.wire(),
            "n_predict": min(sampling.max_tokens, room),
            "samplers": _SAMPLERS,
            "temperature": sampling.temperature,
            "top_k": sampling.top_k or 0,
            "top_p": sampling.top_p,
            "seed": call_seed(seed, request.call_id),
            "stop": sampling.stop,
            "logit_bias": [(token_id, _NEVER) for token_id in server.card.banned_ids],
            "cache_prompt": True,
            "return_tokens": True,
            "n_probs": 1,
            "post_sampling_probs": True,
        }

    async def _text(self, server: LlamaServer, done: Completion, sampling: Sampling) -> str:
        ids = done.tokens
        if done.stop_type == "eos":
            ids, stop = ids[:-1], ids[-1]
            if stop not in self._stops:
                self._stops[stop] = await server.decode([stop])
        text = await server.decode(ids)
        for stop_text in sampling.stop:
            text = text.partition(stop_text)[0]
        return text


def processed(done: Completion, sampling: Sampling) -> tuple[float, ...] | None:
    """Return the log-probs of the processed distribution; `None` where they are not all known.

    At temperature 0 the library calls the token that it took certain, which says nothing. For
    tokens that end inside a character, and those of a stop text, it gives no probability.
    """
    sampled = done.completion_probabilities
    if sampling.temperature <= 0 or [token.id for token in sampled] != done.tokens:
        return None
    if any(token.prob <= 0 for token in sampled):
        return None
    return tuple(math.log(token.prob) for token in sampled)


def call_seed(seed: int, call_id: str) -> int:
    """Return a call's own 32-bit seed, so that a repeated call draws the same."""
    digest = hashlib.sha256(f"{seed}\n{call_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % _SEEDS


def gguf_model(files: str, blobs: BlobStore, *, seed: int = 0) -> GgufModel:
    """Make a model from `FILE.gguf` or `FILE.gguf,MMPROJ.gguf`, as named on the command line."""
    path, _, projector = files.partition(",")
    return GgufModel(Path(path), blobs, projector=Path(projector) if projector else None, seed=seed)
