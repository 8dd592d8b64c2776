"""Call ids, as the models that play from a plan or a script read them."""

from __future__ import annotations


def episode_of(call_id: str) -> str:
    """Return the episode id: the part of the call id before its last `/c`."""
    episode, mark, _ = call_id.rpartition("/c")
    return episode if mark else call_id


class CallCounter:
    """Numbers the calls of each episode from 0; a repeated call keeps its number."""

    def __init__(self) -> None:
        self._numbers: dict[str, dict[str, int]] = {}

    def number(self, call_id: str) -> int:
        numbers = self._numbers.setdefault(episode_of(call_id), {})
        return numbers.setdefault(call_id, len(numbers))
