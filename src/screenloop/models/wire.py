"""The OpenAI chat completions wire form: requests out, replies in; pure.

Extensions read where a server sends them: `return_token_ids` (vLLM: `prompt_token_ids`,
`choices[].token_ids`; SGLang: both in the choice, and `metadata.weight_version`),
`logprobs.content[].id` and `timings.cache_n` (llama.cpp), `weights_version` and `screenloop`
(the project's own engine).
"""

from __future__ import annotations

import base64
import contextlib
import re
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from screenloop.messages import ChatRequest, ImageSpan, Message, Reply, TextPart, TokenStack
from screenloop.store.blobs import BlobStore
from screenloop.types import Usage


class WireFault(ValueError):
    """A server's body is not a chat completion; says where it is wrong."""


_Count = Annotated[int, Meta(ge=0, le=2**53)]
"""Of tokens; also a token's id."""


class _Loose(msgspec.Struct, frozen=True):
    """Server structs: fields that we do not read may be there."""


class _Function(_Loose, frozen=True):
    name: str = ""
    arguments: Any = None


class _ToolCall(_Loose, frozen=True):
    function: _Function = _Function()


class _Message(_Loose, frozen=True):
    content: Any = None
    tool_calls: list[_ToolCall] | None = None


class _TokenLogprob(_Loose, frozen=True):
    logprob: float
    id: _Count | None = None
    token_id: _Count | None = None


class _Logprobs(_Loose, frozen=True):
    content: list[_TokenLogprob] | None = None


class _Choice(_Loose, frozen=True):
    message: _Message
    finish_reason: str | None = None
    logprobs: _Logprobs | None = None
    token_ids: list[_Count] | None = None
    prompt_token_ids: list[_Count] | None = None


class _TokenFacts(_Loose, frozen=True):
    images: tuple[ImageSpan, ...] = ()
    banned_token_ids: tuple[_Count, ...] = ()
    token_stack: TokenStack | None = None


class _PromptDetails(_Loose, frozen=True):
    cached_tokens: _Count | None = None


class _Usage(_Loose, frozen=True):
    prompt_tokens: _Count | None = None
    completion_tokens: _Count | None = None
    prompt_tokens_details: _PromptDetails | None = None


class _Timings(_Loose, frozen=True):
    cache_n: _Count | None = None


class _Body(_Loose, frozen=True):
    choices: list[_Choice]
    usage: _Usage | None = None
    timings: _Timings | None = None
    prompt_token_ids: list[_Count] | None = None
    weights_version: str | int | None = None
    metadata: Any = None
    screenloop: _TokenFacts = _TokenFacts()


class _ModelEntry(_Loose, frozen=True):
    id: str


class _ModelList(_Loose, frozen=True):
    data: list[_ModelEntry]


_BODY = msgspec.json.Decoder(_Body)
_MODELS = msgspec.json.Decoder(_ModelList)
_SURROGATE = re.compile(
    r"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<lone>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
"""Finds escapes of half a character, as servers send them for a reply cut inside an emoji."""


def request_body(request: ChatRequest, model: str, blobs: BlobStore, *, token_facts: bool) -> bytes:
    """Return the JSON body of a request; equal requests give equal bytes.

    `token_facts` asks for token ids and log-probs; servers that do not know these fields may
    refuse the request.

    Raises:
        InfraFault: an image is not in the blob store.
    """
    sampling = request.sampling
    body: dict[str, Any] = {
        "model": model,
        "messages": [_message(message, blobs) for message in request.messages],
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "max_tokens": sampling.max_tokens,
    }
    if sampling.top_k is not None:
        body["top_k"] = sampling.top_k
    if sampling.seed is not None:
        body["seed"] = sampling.seed
    if sampling.stop:
        body["stop"] = sampling.stop
    if request.tools:
        body["tools"] = request.tools
    if token_facts:
        body["logprobs"] = True
        body["return_token_ids"] = True
    return msgspec.json.encode(body)


def read_reply(data: bytes) -> Reply:
    """Read a chat completion.

    What the model said is never judged here: empty or null content is an empty text, content of
    another type is its JSON, bytes that are not UTF-8 and escapes of half a character become
    replacement characters; parsing then says what is wrong with it. Tool calls follow the text as
    `<tool_call>` blocks.

    Raises:
        WireFault: the body is not a chat completion, or its token facts contradict each other.
    """
    try:
        body = _BODY.decode(_whole_characters(data.decode("utf-8", errors="replace")))
    except (msgspec.DecodeError, RecursionError) as error:
        raise WireFault(f"the body is no chat completion: {error}") from error
    if not body.choices:
        raise WireFault("the body holds no choice")
    choice = body.choices[0]
    token_ids, logprobs = _token_facts(choice)
    return Reply(
        text=_text(choice.message),
        finish_reason=choice.finish_reason or "unknown",
        usage=_usage(body),
        prompt_token_ids=_prompt_ids(body, choice),
        token_ids=token_ids,
        logprobs=logprobs,
        weights_version=_weights_version(body),
        images=body.screenloop.images,
        banned_token_ids=body.screenloop.banned_token_ids,
        token_stack=body.screenloop.token_stack,
    )


def read_models(data: bytes) -> tuple[str, ...]:
    """Read the ids of a model list.

    Raises:
        WireFault: the body is no model list.
    """
    try:
        return tuple(entry.id for entry in _MODELS.decode(data).data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise WireFault(f"the body is no model list: {error}") from error


def _message(message: Message, blobs: BlobStore) -> dict[str, Any]:
    if all(isinstance(part, TextPart) for part in message.parts):
        return {"role": message.role, "content": message.text}
    content: list[dict[str, Any]] = []
    for part in message.parts:
        if isinstance(part, TextPart):
            content.append({"type": "text", "text": part.text})
        else:
            encoded = base64.b64encode(blobs.get(part.key)).decode("ascii")
            url = f"data:{part.mime};base64,{encoded}"
            content.append({"type": "image_url", "image_url": {"url": url}})
    return {"role": message.role, "content": content}


def _whole_characters(text: str) -> str:
    return _SURROGATE.sub(lambda found: "\\ufffd" if found["lone"] else found[0], text)


def _text(message: _Message) -> str:
    calls = [_tool_call(call.function) for call in message.tool_calls or ()]
    return "\n".join(part for part in (_content_text(message.content), *calls) if part)


def _content_text(content: Any) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(
        isinstance(part, dict) and isinstance(part.get("text"), str) for part in content
    ):
        return "".join(part["text"] for part in content)
    return msgspec.json.encode(content).decode()


def _tool_call(function: _Function) -> str:
    arguments = function.arguments
    if isinstance(arguments, str):
        # Arguments that are no JSON stay as the model wrote them, for parsing to refuse.
        with contextlib.suppress(msgspec.DecodeError, RecursionError):
            arguments = msgspec.json.decode(arguments)
    call = msgspec.json.encode({"name": function.name, "arguments": arguments}).decode()
    return f"<tool_call>\n{call}\n</tool_call>"


def _prompt_ids(body: _Body, choice: _Choice) -> tuple[int, ...] | None:
    ids = body.prompt_token_ids if choice.prompt_token_ids is None else choice.prompt_token_ids
    return None if ids is None else tuple(ids)


def _weights_version(body: _Body) -> str | None:
    version = body.weights_version
    if version is None and isinstance(body.metadata, dict):
        version = body.metadata.get("weight_version")
    return None if version is None else str(version)


def _token_facts(choice: _Choice) -> tuple[tuple[int, ...] | None, tuple[float, ...] | None]:
    entries = choice.logprobs.content if choice.logprobs is not None else None
    logprobs = None if entries is None else tuple(entry.logprob for entry in entries)
    token_ids = None if choice.token_ids is None else tuple(choice.token_ids)
    if token_ids is None and entries:
        ids = tuple(entry.token_id if entry.id is None else entry.id for entry in entries)
        known = tuple(token_id for token_id in ids if token_id is not None)
        token_ids = known if len(known) == len(ids) else None
    if token_ids is not None and logprobs is not None and len(token_ids) != len(logprobs):
        raise WireFault(f"{len(token_ids)} token ids came with {len(logprobs)} log-probs")
    return token_ids, logprobs


def _usage(body: _Body) -> Usage:
    counts = body.usage or _Usage()
    cached = None
    if counts.prompt_tokens_details is not None:
        cached = counts.prompt_tokens_details.cached_tokens
    elif body.timings is not None:
        cached = body.timings.cache_n
    return Usage(prompt=counts.prompt_tokens, cached=cached, completion=counts.completion_tokens)
