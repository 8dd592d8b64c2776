"""What goes to a model and what comes back; independent of any server.

Images travel as blob keys and are read and encoded by the client at the last moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from screenloop.types import BlobKey, SizePx, Struct, Usage

Role = Literal["system", "user", "assistant"]


class TextPart(Struct, frozen=True, kw_only=True, tag="text", tag_field="kind"):
    """Words in a message."""

    text: str


class ImagePart(Struct, frozen=True, kw_only=True, tag="image", tag_field="kind"):
    """A picture in a message, already resized and encoded."""

    key: BlobKey
    mime: str
    size_px: SizePx


class Message(Struct, frozen=True, kw_only=True):
    """One turn of the conversation."""

    role: Role
    parts: tuple[TextPart | ImagePart, ...]

    @property
    def text(self) -> str:
        return "".join(p.text for p in self.parts if isinstance(p, TextPart))


class Sampling(Struct, frozen=True, kw_only=True):
    """How replies are drawn; part of the config hash."""

    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int | None = None
    max_tokens: int = 1024
    seed: int | None = None
    stop: tuple[str, ...] = ()


class ChatRequest(Struct, frozen=True, kw_only=True):
    """One model call."""

    call_id: str
    """Stable over retries, so that a server may recognise one."""
    session_id: str
    """The Episode and window: servers with a prefix cache may route by it."""
    messages: tuple[Message, ...]
    sampling: Sampling = Sampling()
    tools: tuple[dict[str, Any], ...] = ()
    """OpenAI tool declarations; constant over a Run so that the prompt prefix survives."""


class ImageSpan(Struct, frozen=True, kw_only=True):
    """Where a picture's placeholder tokens lie in the expanded ids."""

    key: BlobKey
    start: int
    length: int
    grid_thw: tuple[int, int, int]
    """Patches in time, height and width; the tokens are their product over merge^2."""

    @property
    def end(self) -> int:
        """The index after the last placeholder."""
        return self.start + self.length


class TokenStack(Struct, frozen=True, kw_only=True):
    """What turned messages into ids and ids into log-probabilities."""

    engine: str
    engine_version: str = ""
    dtype: str = "float32"
    tokenizer_hash: str
    template_hash: str
    processor_hash: str = ""
    """Empty for text-only policies."""


class Reply(Struct, frozen=True, kw_only=True):
    """What a model answered; token facts only where the server gave them."""

    text: str
    finish_reason: str = "stop"
    usage: Usage = Usage()
    prompt_token_ids: tuple[int, ...] | None = None
    token_ids: tuple[int, ...] | None = None
    logprobs: tuple[float, ...] | None = None
    """Of each sampled token, under the processed distribution."""
    weights_version: str | None = None
    images: tuple[ImageSpan, ...] = ()
    """Pictures of the whole prompt, in order; where their placeholders lie in the ids."""
    banned_token_ids: tuple[int, ...] = ()
    """Taken out of the distribution by the sampler."""
    token_stack: TokenStack | None = None
    took_s: float = 0.0
    attempts: int = 1
    """How many times the request was sent."""


def shared_length(ids: Sequence[int], before: Sequence[int]) -> int:
    """Return how many ids a prompt shares with the prompt and reply before it."""
    for index, (here, there) in enumerate(zip(ids, before, strict=False)):
        if here != there:
            return index
    return min(len(ids), len(before))
