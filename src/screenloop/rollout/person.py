"""Who answers when the agent asks."""

from __future__ import annotations

from typing import Protocol


class Person(Protocol):
    """Someone who can be asked during an Episode."""

    async def reply(self, episode_id: str, question: str) -> str:
        """Answer a question."""
        ...


class NoPerson:
    """No person is there: tells the agent to decide itself."""

    async def reply(self, episode_id: str, question: str) -> str:
        """Return the same sentence to every question."""
        return "No person is here; decide yourself."
