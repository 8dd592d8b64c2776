"""What goes to a model and what comes back; independent of any server.

Images travel as blob keys and are read and encoded by the client at the last moment.
"""

from __future__ import annotations

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
        """The words of the message, images left out."""
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
    took_s: float = 0.0
    attempts: int = 1
    """How many times the request was sent."""
