"""How much of each prompt the one before already held, from the messages alone; pure.

Prompts are cut into role marks, words and pictures. What two prompts share is their longest common
beginning, piece by piece, and inside the first piece of words that differs up to where it does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

from screenloop.agent.screen import image_tokens
from screenloop.messages import ImagePart, Message
from screenloop.types import SizePx

BYTES_PER_TOKEN = 4
TURN_TOKENS = 4
Piece = str | ImagePart
"""What a prompt is made of, in order: role marks, words and pictures."""


class Counting(Protocol):
    """What pieces of a prompt cost in tokens."""

    turn_tokens: int
    """A turn's role marks."""

    def text(self, text: str) -> int:
        """Return the tokens of some words."""
        ...

    def image(self, size_px: SizePx) -> int:
        """Return the tokens of a picture."""
        ...

    def shared(self, one: str, two: str) -> int:
        """Return how many tokens two texts begin with alike."""
        ...


class ByteCounting:
    """4 UTF-8 bytes a token, 32x32 pixels an image token, 4 tokens a turn: no tokenizer needed."""

    turn_tokens = TURN_TOKENS

    def text(self, text: str) -> int:
        """Return the tokens of some words, rounded up."""
        return math.ceil(len(text.encode()) / BYTES_PER_TOKEN)

    def image(self, size_px: SizePx) -> int:
        """Return the tokens of a picture by the Qwen3-VL rule."""
        return image_tokens(size_px)

    def shared(self, one: str, two: str) -> int:
        """Return the whole tokens that two texts begin with alike."""
        return _same(one.encode(), two.encode()) // BYTES_PER_TOKEN


def pieces(messages: Sequence[Message], counting: Counting) -> list[tuple[Piece, int]]:
    """Return the pieces of a prompt with their tokens."""
    found: list[tuple[Piece, int]] = []
    for message in messages:
        found.append((f"<{message.role}>", counting.turn_tokens))
        for part in message.parts:
            if isinstance(part, ImagePart):
                found.append((part, counting.image(part.size_px)))
            else:
                found.append((part.text, counting.text(part.text)))
    return found


def prompt_tokens(messages: Sequence[Message], counting: Counting) -> int:
    """Return the tokens of a prompt."""
    return sum(tokens for _, tokens in pieces(messages, counting))


def reuse(prompts: Sequence[Sequence[Message]], counting: Counting) -> tuple[int, int]:
    """Return all prompt tokens of an Episode, and those that the prompt before already held."""
    total = cached = 0
    before: list[tuple[Piece, int]] = []
    for prompt in prompts:
        now = pieces(prompt, counting)
        total += sum(tokens for _, tokens in now)
        cached += _common(before, now, counting)
        before = now
    return total, cached


def _common(
    before: Sequence[tuple[Piece, int]], now: Sequence[tuple[Piece, int]], counting: Counting
) -> int:
    shared = 0
    for (old, _), (new, tokens) in zip(before, now, strict=False):
        if old == new:
            shared += tokens
            continue
        if isinstance(old, str) and isinstance(new, str):
            shared += counting.shared(old, new)
        break
    return shared


def _same(one: bytes, two: bytes) -> int:
    return next(
        (i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b),
        min(len(one), len(two)),
    )
