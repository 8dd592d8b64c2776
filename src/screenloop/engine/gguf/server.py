"""One GGUF file loaded by llama.cpp, behind the loopback port that the library opens.

The port answers only to a key made for this process, so that nobody else's calls mix with ours.
"""

from __future__ import annotations

import asyncio
import os
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, TypeVar

import aiohttp
import msgspec
import xllamacpp

from screenloop.engine.gguf.chat import ChatTemplate
from screenloop.engine.gguf.file import GgufCard, file_version, read_card
from screenloop.errors import AgentError, ConfigError, ModelUnavailable
from screenloop.messages import TokenStack
from screenloop.types import Struct

ENGINE = "xllamacpp"
_QUIET = -1
"""Verbosity at which the library writes nothing to stderr."""
_TOO_LONG = "exceed_context_size_error"
_Answer = TypeVar("_Answer")


class GgufLimits(Struct, frozen=True, kw_only=True):
    """What the library may use."""

    context_tokens: int = 16_384
    """Longest prompt and reply of a call; the model's own limit where that is lower."""
    slots: int = 4
    """Calls decoded together; each has its own context in memory."""
    cache_mib: int = 1024
    """Memory for prefixes of Episodes that hold no slot at the moment."""
    cache_dtype: Literal["f16", "f32"] = "f16"
    """Of keys and values; `f32` also turns flash attention off, which rounds to 16 bits."""
    threads: int = 0
    """Of each pass; 0 takes one for each processor that this process may use."""


# ---- what the library answers --------------------------------------------------------------


class Token(msgspec.Struct, frozen=True):
    """A sampled token's probability after sampling's own changes."""

    id: int
    prob: float


class Timings(msgspec.Struct, frozen=True):
    """The library's own counts of prompt tokens: from the cache, and read anew."""

    cache_n: int
    prompt_n: int


class Completion(msgspec.Struct, frozen=True):
    """The answer of `/completion`."""

    tokens: list[int]
    stop_type: Literal["eos", "limit", "word", "none"]
    timings: Timings
    completion_probabilities: list[Token] = []


class _Tokens(msgspec.Struct, frozen=True):
    tokens: list[int]


class _Content(msgspec.Struct, frozen=True):
    content: str


class _Error(msgspec.Struct, frozen=True):
    message: str
    type: str = ""


class _Refusal(msgspec.Struct, frozen=True):
    error: _Error


class _Generation(msgspec.Struct, frozen=True):
    n_ctx: int


class _Modalities(msgspec.Struct, frozen=True):
    vision: bool


class _Props(msgspec.Struct, frozen=True):
    model_ftype: str
    media_marker: str
    modalities: _Modalities
    default_generation_settings: _Generation


# ---- the server ----------------------------------------------------------------------------


class LlamaServer:
    """A loaded model; made by `start`."""

    def __init__(
        self, server: xllamacpp.Server, session: aiohttp.ClientSession, card: GgufCard
    ) -> None:
        self.card = card
        self.template = ChatTemplate(card)
        self.sees = False
        self.marker = ""
        """Stands for a picture in a prompt; drawn anew by the library for each process."""
        self.context_tokens = 0
        self.dtype = ""
        self._server: xllamacpp.Server | None = server
        self._session = session

    @classmethod
    async def start(
        cls, path: Path, projector: Path | None, limits: GgufLimits, key: str
    ) -> LlamaServer:
        """Load a model.

        Raises:
            ConfigError: a file is missing, damaged or of a kind that the library cannot run.
            ModelUnavailable: the library does not answer.
        """
        card = await asyncio.to_thread(_card, path, projector)
        ChatTemplate(card)
        params = _params(path, projector, limits, card, key)
        try:
            server = await asyncio.to_thread(xllamacpp.Server, params)
        except RuntimeError as error:
            raise ConfigError(
                f"{ENGINE} {version(ENGINE)} cannot load {path} (architecture "
                f"{card.architecture!r}): {error}"
            ) from error
        session = aiohttp.ClientSession(
            server.listening_address,
            headers={"Authorization": f"Bearer {key}"},
            timeout=aiohttp.ClientTimeout(total=None),
        )
        running = cls(server, session, card)
        try:
            await running._look()
        except BaseException:
            await running.close()
            raise
        return running

    async def _look(self) -> None:
        # A question that goes through the library's queue: unloading a model whose queue has not
        # begun to run yet never returns.
        await self._get("/slots", list[Any])
        props = await self._get("/props", _Props)
        self.sees = props.modalities.vision
        self.marker = props.media_marker if self.sees else ""
        self.context_tokens = props.default_generation_settings.n_ctx
        self.dtype = props.model_ftype

    @property
    def stack(self) -> TokenStack:
        """What turns messages into ids and ids into log-probabilities here."""
        return TokenStack(
            engine=ENGINE,
            engine_version=version(ENGINE),
            dtype=self.dtype,
            tokenizer_hash=self.card.tokenizer_hash,
            template_hash=self.card.template_hash,
            processor_hash=self.card.projector_version,
        )

    async def encode(self, text: str, *, begins: bool = False) -> list[int]:
        """Return the ids of a text; `begins`: with what the tokenizer itself puts in front."""
        if not text and not begins:
            return []
        body = {"content": text, "add_special": begins, "parse_special": True}
        return (await self.ask("/tokenize", body, _Tokens)).tokens

    async def decode(self, token_ids: list[int]) -> str:
        """Return the text of ids, control tokens spelt out."""
        if not token_ids:
            return ""
        return (await self.ask("/detokenize", {"tokens": token_ids}, _Content)).content

    async def ask(self, path: str, body: Any, kind: type[_Answer]) -> _Answer:
        """Post a question.

        Raises:
            AgentError: the prompt does not fit the model's context.
            ModelUnavailable: the library refused, failed or answered in another form.
        """
        return await self._send("POST", path, msgspec.json.encode(body), kind)

    async def close(self) -> None:
        await self._session.close()
        # The library unloads when its object goes.
        self._server = None

    async def _get(self, path: str, kind: type[_Answer]) -> _Answer:
        return await self._send("GET", path, None, kind)

    async def _send(
        self, method: str, path: str, body: bytes | None, kind: type[_Answer]
    ) -> _Answer:
        try:
            async with self._session.request(
                method, path, data=body, headers={"Content-Type": "application/json"}
            ) as response:
                body = await response.read()
        except (aiohttp.ClientError, RuntimeError) as error:
            raise ModelUnavailable(f"{self.card.name}: the library is gone: {error}") from error
        try:
            if response.status == 200:
                return msgspec.json.decode(body, type=kind)
            refusal = msgspec.json.decode(body, type=_Refusal).error
        except msgspec.DecodeError as error:
            raise ModelUnavailable(
                f"{self.card.name}: {ENGINE} {version(ENGINE)} answered {path} with status "
                f"{response.status} in a form that is not known: {error}"
            ) from error
        if refusal.type == _TOO_LONG:
            raise AgentError(
                f"{self.card.name}: {refusal.message}. Use a smaller window or smaller images."
            )
        raise ModelUnavailable(f"{self.card.name}: {path} was refused: {refusal.message}")


def _card(path: Path, projector: Path | None) -> GgufCard:
    card = read_card(path)
    if projector is None:
        return card
    if not projector.is_file():
        raise ConfigError(f"there is no file {projector} to read pictures with")
    eyes = file_version(projector)
    return msgspec.structs.replace(
        card, weights_version=f"{card.weights_version}+{eyes}", projector_version=eyes
    )


def _processors() -> int:
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _params(
    path: Path, projector: Path | None, limits: GgufLimits, card: GgufCard, key: str
) -> xllamacpp.CommonParams:
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    if projector is not None:
        params.mmproj.path = str(projector)
    context = min(limits.context_tokens, card.context_tokens or limits.context_tokens)
    params.n_ctx = context * limits.slots
    params.n_parallel = limits.slots
    params.cache_ram_mib = limits.cache_mib
    if limits.cache_dtype == "f32":
        params.cache_type_k = params.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
        flash = xllamacpp.llama_flash_attn_type
        params.flash_attn_type = flash.LLAMA_FLASH_ATTN_TYPE_DISABLED
    # The library's own choice counts all cores of the machine; in a container, passes then wait
    # for threads that have no core to run on.
    threads = limits.threads or _processors()
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.api_keys = [key]
    params.endpoint_slots = True
    params.ui = False
    # What is asked for is what runs: nothing is fitted to the machine behind the caller's back.
    params.fit_params = False
    params.warmup = False
    params.verbosity = _QUIET
    return params
