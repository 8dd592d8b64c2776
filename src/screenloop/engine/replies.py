"""The ids that replies were sampled as: they go into the next prompt as they are; no torch."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

MAX_REPLIES = 20_000
"""Replies whose ids are remembered."""


class ReplyMemory:
    """The ids of replies, by the prompt they answered and their text."""

    def __init__(self, limit: int = MAX_REPLIES) -> None:
        self._limit = limit
        self._ids: OrderedDict[tuple[int, str], tuple[int, ...]] = OrderedDict()

    def remember(self, prompt_ids: Sequence[int], text: str, token_ids: Sequence[int]) -> None:
        """Keep a reply; the oldest one goes when there are too many."""
        self._ids[hash(tuple(prompt_ids)), text] = tuple(token_ids)
        if len(self._ids) > self._limit:
            self._ids.popitem(last=False)

    def recall(self, prompt_ids: Sequence[int], text: str) -> tuple[int, ...] | None:
        """Return the ids of a reply, or `None` when it was not given here."""
        return self._ids.get((hash(tuple(prompt_ids)), text))
