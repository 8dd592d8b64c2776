"""A small OpenAI-compatible server with scripted replies and faults, on the loopback address.

For tests and benches: the real client talks real HTTP to it. It counts as a server with a prefix
cache would: a token is four bytes of the serialized prompt, and the cached tokens of a request are
the longest prefix that its session has seen before.
"""

from __future__ import annotations

import asyncio
import hashlib
import socket
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from types import TracebackType
from typing import Any

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from screenloop.errors import ConfigError
from screenloop.types import Struct

_TOKEN_BYTES = 4
_HUGE_BYTES = 40 * 1024 * 1024


class Fault(StrEnum):
    """What can go wrong with one answer."""

    RATE_LIMITED = "rate_limited"
    """429 with `Retry-After: 0`."""
    SERVER_ERROR = "server_error"
    """500."""
    SILENT = "silent"
    """No answer ever comes."""
    TRUNCATED = "truncated"
    """200, but the JSON ends in the middle."""
    WRONG_TYPES = "wrong_types"
    """200, but `choices` is a string."""
    NOT_UTF8 = "not_utf8"
    """200, but the body is bytes that no text has."""
    NO_CHOICES = "no_choices"
    """200 with an empty list of choices."""
    HUGE = "huge"
    """200 with a body of 40 MiB."""
    DROPPED = "dropped"
    """The connection breaks in the middle of the body."""
    OVERFLOW = "overflow"
    """400: the prompt is longer than the context."""
    UNAUTHORIZED = "unauthorized"
    """401; the body repeats the Authorization header, as some servers do."""


class FakeReply(Struct, frozen=True, kw_only=True):
    """One scripted answer."""

    content: Any = ""
    """Usually a string; any JSON, to see what a client makes of it."""
    tool_calls: tuple[dict[str, Any], ...] = ()
    finish_reason: str | None = "stop"


class FakeRequest(Struct, frozen=True, kw_only=True):
    """One request as it came."""

    body: bytes
    idempotency_key: str
    session_id: str
    authorization: str

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.body)


Script = Sequence[str | FakeReply] | Callable[[FakeRequest], str | FakeReply]


class FakeServer:
    """Serves `/v1/models` and `/v1/chat/completions` while its context is open.

    `script` is a list, answered in order, or a function of the request. A repeated idempotency key
    gets the first answer again. Faults queued by `fail` come before answers, one a request.
    """

    def __init__(self, script: Script, *, model: str = "fake", lists_models: bool = True) -> None:
        self.model = model
        self.requests: list[FakeRequest] = []
        """Every chat request, refused ones included, in order of arrival."""
        self.keys: Counter[str] = Counter()
        """How often each idempotency key came."""
        self.base_url = ""
        """Where it listens, once the context is open."""
        self._script = script
        self._lists_models = lists_models
        self._faults: deque[Fault] = deque()
        self._answered: dict[str, FakeReply] = {}
        self._position = 0
        self._seen: dict[str, list[bytes]] = {}
        self._closing = asyncio.Event()

    def fail(self, fault: Fault, times: int = 1) -> None:
        """Let the next `times` chat requests fail so."""
        self._faults.extend([fault] * times)

    async def __aenter__(self) -> FakeServer:
        """Listen on a free loopback port; connections are accepted from here on."""
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.base_url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/v1"
        app = Starlette(
            routes=[
                Route("/v1/models", self._models),
                Route("/v1/chat/completions", self._chat, methods=["POST"]),
            ]
        )
        config = uvicorn.Config(app, log_level="critical", log_config=None, lifespan="off")
        self._server = _Server(config)
        self._serving = asyncio.create_task(self._server.serve(sockets=[self._socket]))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop listening and end every request that was left without an answer."""
        self._closing.set()
        self._server.should_exit = True
        await self._serving
        self._socket.close()

    # ---- routes ----------------------------------------------------------------------------

    async def _models(self, request: Request) -> Response:
        if not self._lists_models:
            return JSONResponse({"error": "not found"}, status_code=404)
        return JSONResponse({"object": "list", "data": [{"id": self.model, "object": "model"}]})

    async def _chat(self, request: Request) -> Response:
        came = FakeRequest(
            body=await request.body(),
            idempotency_key=request.headers.get("Idempotency-Key", ""),
            session_id=request.headers.get("X-Session-Id", ""),
            authorization=request.headers.get("Authorization", ""),
        )
        self.requests.append(came)
        self.keys[came.idempotency_key] += 1
        if not self._faults:
            return JSONResponse(self._completion(came))
        fault = self._faults.popleft()
        if fault is Fault.SILENT:
            await self._closing.wait()
        return _faulty(fault, came)

    # ---- answers ---------------------------------------------------------------------------

    def _completion(self, came: FakeRequest) -> dict[str, Any]:
        reply = self._answer(came)
        asked = came.json
        prompt = _serialize(asked["messages"])
        said = reply.content if isinstance(reply.content, str) else ""
        cached = self._cached_tokens(came.session_id, prompt, said)
        choice: dict[str, Any] = {
            "index": 0,
            "message": {"role": "assistant", "content": reply.content},
            "finish_reason": reply.finish_reason,
        }
        if reply.tool_calls:
            choice["message"]["tool_calls"] = reply.tool_calls
        tokens = _tokens(said.encode())
        body: dict[str, Any] = {
            "object": "chat.completion",
            "model": self.model,
            "choices": [choice],
            "usage": {
                "prompt_tokens": len(_tokens(prompt)),
                "completion_tokens": len(tokens),
                "prompt_tokens_details": {"cached_tokens": cached},
            },
        }
        if asked.get("return_token_ids"):
            body["prompt_token_ids"] = _tokens(prompt)
            choice["token_ids"] = tokens
        if asked.get("logprobs"):
            content = [{"token": "", "logprob": -(token % 97) / 97} for token in tokens]
            choice["logprobs"] = {"content": content}
        return body

    def _answer(self, came: FakeRequest) -> FakeReply:
        key = came.idempotency_key
        if key in self._answered:
            return self._answered[key]
        if callable(self._script):
            reply = self._script(came)
        else:
            if self._position >= len(self._script):
                raise ConfigError(f"the fake server's script ends after {self._position} replies.")
            reply = self._script[self._position]
            self._position += 1
        if isinstance(reply, str):
            reply = FakeReply(content=reply)
        if key:
            self._answered[key] = reply
        return reply

    def _cached_tokens(self, session_id: str, prompt: bytes, said: str) -> int:
        seen = self._seen.setdefault(session_id, [])
        shared = max((_shared_bytes(prompt, earlier) for earlier in seen), default=0)
        seen.append(prompt + said.encode())
        return shared // _TOKEN_BYTES


class _Server(uvicorn.Server):
    """A server that leaves the process's signal handlers alone."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


class _Dropped(Response):
    """A response that promises more bytes than it sends."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", b"application/json"), (b"content-length", b"1000")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b'{"choices": [', "more_body": False})


def _faulty(fault: Fault, came: FakeRequest) -> Response:
    if fault is Fault.DROPPED:
        return _Dropped()
    status, body = {
        Fault.RATE_LIMITED: (429, b'{"error": {"message": "slow down"}}'),
        Fault.SERVER_ERROR: (500, b"oops"),
        Fault.SILENT: (503, b""),
        Fault.TRUNCATED: (200, b'{"choices": [{"message": {"content": "he'),
        Fault.WRONG_TYPES: (200, b'{"choices": "none"}'),
        Fault.NOT_UTF8: (200, b"\xff\xfe\x80{"),
        Fault.NO_CHOICES: (200, b'{"choices": []}'),
        Fault.HUGE: (200, b" " * (_HUGE_BYTES if fault is Fault.HUGE else 0)),
        Fault.OVERFLOW: (400, b'{"error": {"code": "context_length_exceeded"}}'),
        Fault.UNAUTHORIZED: (401, f'{{"error": "bad key {came.authorization}"}}'.encode()),
    }[fault]
    headers = {"Retry-After": "0"} if fault is Fault.RATE_LIMITED else None
    return Response(body, status_code=status, headers=headers, media_type="application/json")


def _serialize(messages: list[dict[str, Any]]) -> bytes:
    """Return the prompt as an append-only chat template would write it."""
    turns = [f"<|{turn['role']}|>{''.join(_words(turn['content']))}<|end|>" for turn in messages]
    return ("".join(turns) + "<|assistant|>").encode()


def _words(content: str | list[dict[str, Any]]) -> Iterator[str]:
    if isinstance(content, str):
        yield content
        return
    for part in content:
        if part["type"] == "text":
            yield part["text"]
        else:
            digest = hashlib.sha256(part["image_url"]["url"].encode()).hexdigest()
            yield f"<|image {digest}|>"


def _tokens(data: bytes) -> list[int]:
    return [
        int.from_bytes(data[start : start + _TOKEN_BYTES], "big")
        for start in range(0, len(data), _TOKEN_BYTES)
    ]


def _shared_bytes(left: bytes, right: bytes) -> int:
    """Return the length of the longest common prefix, by bisection."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[:middle] == right[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
