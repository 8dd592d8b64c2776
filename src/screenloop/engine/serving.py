"""The engine behind an OpenAI-compatible URL, for clients in other processes.

`POST /v1/chat/completions` takes the chat form with pictures as data URLs, and answers with what
training needs on top: `prompt_token_ids`, `choices[].token_ids`, `token_id` in
`logprobs.content[]`, `usage.prompt_tokens_details.cached_tokens`, `weights_version`, and under
`screenloop` the places of pictures, the banned ids and the token stack. The header
`Idempotency-Key` is the call id: with a seed it decides the draws, so a call sent twice gets the
same answer. `X-Session-Id` names the Episode and window. `GET /v1/models` lists the one model with
its card, `GET /stats` the counters.

What the engine does not do is refused, never ignored: streaming, several choices, penalties,
forced formats. Refusals are `{"error": {"message", "type", "code"}}` with a 4xx status.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import io
import socket
import uuid
from collections import OrderedDict
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

import msgspec
import torch
import uvicorn
from PIL import Image, UnidentifiedImageError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from screenloop.config import plain
from screenloop.engine.local import LocalEngine
from screenloop.engine.policy import load_policy
from screenloop.errors import AgentError, ConfigError, DeadlinePassed, InfraFault, ScreenloopError
from screenloop.messages import ChatRequest, ImagePart, Message, Reply, Role, Sampling, TextPart
from screenloop.store.blobs import BlobStore, blob_key
from screenloop.types import BlobKey

MAX_BODY_BYTES = 64 * 1024 * 1024
KEPT_PICTURES = 1024
DEADLINE_S = 600.0
_SUFFIX = {"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp"}


class RecentBlobs:
    """The pictures of recent requests; the oldest go first."""

    def __init__(self, limit: int = KEPT_PICTURES) -> None:
        self._limit = limit
        self._data: OrderedDict[BlobKey, bytes] = OrderedDict()

    def put(self, data: bytes, suffix: str) -> BlobKey:
        key = blob_key(data, suffix)
        self._data[key] = data
        self._data.move_to_end(key)
        if len(self._data) > self._limit:
            self._data.popitem(last=False)
        return key

    def get(self, key: BlobKey) -> bytes:
        """Return the bytes, where they are still kept."""
        if key not in self._data:
            raise InfraFault(f"picture {key} is no longer kept")
        return self._data[key]


# ---- the wire form of a request ------------------------------------------------------------


class _ImageUrl(msgspec.Struct, frozen=True):
    url: str


class _TextContent(msgspec.Struct, frozen=True, tag="text", tag_field="type"):
    text: str


class _ImageContent(msgspec.Struct, frozen=True, tag="image_url", tag_field="type"):
    image_url: _ImageUrl


class _Turn(msgspec.Struct, frozen=True):
    role: Role
    content: str | list[_TextContent | _ImageContent]


class _Asked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The fields that are understood; fields of one fixed value are accepted at that value."""

    messages: list[_Turn]
    model: str = ""
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    seed: int | None = None
    stop: str | list[str] | None = None
    tools: list[dict[str, Any]] = []
    logprobs: bool | None = None
    top_logprobs: Literal[0] | None = None
    return_token_ids: bool = False
    session_id: str | None = None
    n: Literal[1] | None = None
    stream: bool = False
    user: str | None = None
    metadata: dict[str, Any] | None = None


_DECODER = msgspec.json.Decoder(_Asked)
_MAX_TOKENS = 1024


def read_request(
    body: bytes, blobs: BlobStore, *, call_id: str, session_id: str
) -> tuple[ChatRequest, _Asked]:
    """Read a chat completions request.

    Raises:
        ConfigError: it asks for something that is not done here, or is not valid; says what.
    """
    try:
        asked = _DECODER.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"the request is not valid: {error}") from error
    if asked.stream:
        raise ConfigError("streaming is not supported; leave `stream` out")
    if not asked.messages:
        raise ConfigError("`messages` is empty; give at least one turn")
    sampling = _sampling(asked)
    request = ChatRequest(
        call_id=call_id,
        session_id=asked.session_id or session_id or call_id,
        messages=tuple(_message(turn, blobs) for turn in asked.messages),
        sampling=sampling,
        tools=tuple(asked.tools),
    )
    return request, asked


def _sampling(asked: _Asked) -> Sampling:
    limit = asked.max_completion_tokens or asked.max_tokens or _MAX_TOKENS
    stop = (asked.stop,) if isinstance(asked.stop, str) else tuple(asked.stop or ())
    bounds = (
        ("temperature", asked.temperature, 0 <= asked.temperature <= 10),
        ("top_p", asked.top_p, 0 < asked.top_p <= 1),
        ("top_k", asked.top_k, asked.top_k is None or asked.top_k >= 1),
        ("max_tokens", limit, limit >= 1),
        ("stop", stop, all(stop)),
    )
    for name, value, is_valid in bounds:
        if not is_valid:
            raise ConfigError(f"`{name}` cannot be {value!r}")
    return Sampling(
        temperature=asked.temperature,
        top_p=asked.top_p,
        top_k=asked.top_k,
        max_tokens=limit,
        seed=asked.seed,
        stop=stop,
    )


def _message(turn: _Turn, blobs: BlobStore) -> Message:
    if isinstance(turn.content, str):
        return Message(role=turn.role, parts=(TextPart(text=turn.content),))
    parts = tuple(
        TextPart(text=part.text)
        if isinstance(part, _TextContent)
        else _picture(part.image_url.url, blobs)
        for part in turn.content
    )
    return Message(role=turn.role, parts=parts)


def _picture(url: str, blobs: BlobStore) -> ImagePart:
    head, comma, encoded = url.partition(",")
    mime = head.removeprefix("data:").removesuffix(";base64")
    if not comma or head != f"data:{mime};base64" or mime not in _SUFFIX:
        raise ConfigError(
            f"a picture must be a data URL `data:MIME;base64,...` with one of "
            f"{', '.join(_SUFFIX)}, not {url[:40]!r}"
        )
    try:
        data = base64.b64decode(encoded, validate=True)
        with Image.open(io.BytesIO(data)) as image:
            size_px = image.size
    except (binascii.Error, UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
        raise ConfigError(f"a picture of the request cannot be read: {error}") from error
    return ImagePart(key=blobs.put(data, _SUFFIX[mime]), mime=mime, size_px=size_px)


# ---- the wire form of an answer ------------------------------------------------------------


def write_reply(
    reply: Reply, asked: _Asked, *, model: str, text_of: Callable[[int], str]
) -> dict[str, Any]:
    """Return a chat completion; ids and log-probs where they were asked for."""
    usage, token_ids, logprobs = reply.usage, reply.token_ids or (), reply.logprobs or ()
    choice: dict[str, Any] = {
        "index": 0,
        "message": {"role": "assistant", "content": reply.text},
        "finish_reason": reply.finish_reason,
    }
    body: dict[str, Any] = {
        "object": "chat.completion",
        "model": model,
        "choices": [choice],
        "usage": {
            "prompt_tokens": usage.prompt,
            "completion_tokens": usage.completion,
            "total_tokens": (usage.prompt or 0) + (usage.completion or 0),
            "prompt_tokens_details": {"cached_tokens": usage.cached},
        },
        "weights_version": reply.weights_version,
    }
    if asked.return_token_ids:
        body["prompt_token_ids"] = reply.prompt_token_ids
        choice["token_ids"] = token_ids
        body["screenloop"] = {
            "images": reply.images,
            "banned_token_ids": reply.banned_token_ids,
            "token_stack": reply.token_stack,
        }
    if asked.logprobs:
        choice["logprobs"] = {
            "content": [
                {"token": text_of(i), "token_id": i, "logprob": logprob, "top_logprobs": []}
                for i, logprob in zip(token_ids, logprobs, strict=True)
            ]
        }
    return body


_STATUS: tuple[tuple[type[ScreenloopError], int, str, str], ...] = (
    (AgentError, 400, "invalid_request_error", "context_length_exceeded"),
    (ConfigError, 400, "invalid_request_error", "invalid_request"),
    (DeadlinePassed, 504, "timeout", "deadline_passed"),
    (ScreenloopError, 503, "server_error", "model_unavailable"),
)


def _refusal(status: int, kind: str, code: str, message: str) -> Response:
    body = {"error": {"message": message, "type": kind, "code": code}}
    return _json(body, status)


def _json(body: Any, status: int = 200) -> Response:
    return Response(msgspec.json.encode(body), status, media_type="application/json")


# ---- the server ----------------------------------------------------------------------------


class ModelServer:
    """Serves an engine while its context is open; closes the engine with it."""

    def __init__(
        self,
        engine: LocalEngine,
        blobs: BlobStore,
        *,
        model: str = "",
        host: str = "127.0.0.1",
        port: int = 0,
        deadline_s: float = DEADLINE_S,
        new_id: Callable[[], str] = lambda: uuid.uuid4().hex,
    ) -> None:
        """Prepare.

        Args:
            engine: Who answers; reads its pictures from `blobs`.
            blobs: Where pictures of requests go.
            model: The name that clients ask for; the policy's own when empty.
            host: Where to listen.
            port: 0 takes a free one.
            deadline_s: How long one call may take.
            new_id: Names calls that come without an idempotency key and without a seed.
        """
        self.model = model or engine.policy.name
        self.base_url = ""
        """Where it listens, once the context is open."""
        self._engine = engine
        self._blobs = blobs
        self._address = (host, port)
        self._deadline_s = deadline_s
        self._new_id = new_id

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/v1/models", self._models),
                Route("/v1/chat/completions", self._chat, methods=["POST"]),
                Route("/stats", self._stats),
            ]
        )

    async def __aenter__(self) -> ModelServer:
        """Listen; connections are accepted from here on."""
        self._socket = socket.create_server(self._address)
        host, port = self._socket.getsockname()[:2]
        self.base_url = f"http://{host}:{port}/v1"
        config = uvicorn.Config(
            self.app(), log_level="critical", log_config=None, lifespan="off", ws="none"
        )
        self._server = _Server(config)
        self._serving = asyncio.create_task(self._server.serve(sockets=[self._socket]))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop listening; calls that wait get a refusal."""
        self._server.should_exit = True
        await self._engine.close()
        await self._serving
        self._socket.close()

    # ---- routes ----------------------------------------------------------------------------

    async def _models(self, request: Request) -> Response:
        entry = {
            "id": self.model,
            "object": "model",
            "weights_version": self._engine.weights_version,
            "card": plain(self._engine.card()),
        }
        return _json({"object": "list", "data": [entry]})

    async def _stats(self, request: Request) -> Response:
        return _json(self._engine.counters.as_dict())

    async def _chat(self, request: Request) -> Response:
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY_BYTES:
                what = f"the body is larger than {MAX_BODY_BYTES} bytes"
                return _refusal(413, "invalid_request_error", "too_large", what)
        try:
            return await self._answer(bytes(body), request)
        except ScreenloopError as error:
            _, status, kind, code = next(row for row in _STATUS if isinstance(error, row[0]))
            return _refusal(status, kind, code, str(error))

    async def _answer(self, body: bytes, request: Request) -> Response:
        key = request.headers.get("Idempotency-Key", "")
        session_id = request.headers.get("X-Session-Id", "")
        chat, asked = read_request(body, self._blobs, call_id=key, session_id=session_id)
        if not key and chat.sampling.seed is None:
            chat = msgspec.structs.replace(chat, call_id=self._new_id())
        if asked.model not in ("", self.model):
            what = f"there is no model {asked.model!r} here. Valid: {self.model}."
            return _refusal(404, "invalid_request_error", "model_not_found", what)
        reply = await self._engine.complete(chat, deadline_s=self._deadline_s)
        tokenizer = self._engine.policy.tokenizer
        return _json(
            write_reply(
                reply,
                asked,
                model=self.model,
                text_of=lambda token_id: str(tokenizer.convert_ids_to_tokens(token_id)),
            )
        )


class _Server(uvicorn.Server):
    """A server that leaves the process's signal handlers alone."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


async def serve(
    folder: Path,
    *,
    model: str = "",
    host: str = "127.0.0.1",
    port: int = 8000,
    device: str = "cpu",
    dtype: str = "float32",
    threads: int = 0,
    seed: int = 0,
    weights_version: str = "0",
    ready: Callable[[str, str], None] = lambda base_url, model: None,
) -> None:
    """Serve the model of a folder until cancelled: what `screenloop serve-model` does.

    Args:
        folder: In the Hugging Face layout; see `load_policy`.
        model: The name that clients ask for; the policy's own, else the folder's, when empty.
        host: Where to listen.
        port: 0 takes a free one.
        device: `cpu`, or a CUDA device.
        dtype: Of the weights.
        threads: Of each CPU pass; 0 leaves torch's own choice.
        seed: For calls that name none.
        weights_version: What the folder's weights are called.
        ready: Called with the base URL and the model's name once connections are accepted.

    Raises:
        ConfigError: the folder holds no such model, or the address cannot be had.
    """
    if threads:
        torch.set_num_threads(threads)
    policy = await asyncio.to_thread(load_policy, folder, device=device, dtype=dtype)
    blobs = RecentBlobs()
    engine = LocalEngine(policy, blobs, seed=seed, weights_version=weights_version)
    try:
        async with ModelServer(engine, blobs, model=model, host=host, port=port) as server:
            ready(server.base_url, server.model)
            await asyncio.Event().wait()
    except OSError as error:
        raise ConfigError(f"cannot listen on {host}:{port}: {error}") from error
