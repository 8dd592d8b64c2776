"""The Model contract: anything that answers a ChatRequest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from screenloop.actions import Action
from screenloop.messages import ChatRequest, Reply


@runtime_checkable
class WritesActions(Protocol):
    """A model that plays Actions: the harness tells it how to write them on the screen at hand."""

    def writes(self, call_id: str, render: Callable[[Action], str]) -> None:
        """Take what writes an Action in the dialect, for one call."""
        ...


class Model(Protocol):
    """Anything that answers a ChatRequest: a server, a script, an oracle."""

    name: str

    async def complete(self, request: ChatRequest, *, deadline_s: float) -> Reply:
        """Answer one request.

        Raises:
            ModelUnavailable: the server cannot be reached or keeps refusing.
            DeadlinePassed: no answer came within `deadline_s`.
        """
        ...

    async def preflight(self) -> None:
        """Prove that the model can be reached before any Episode runs.

        Raises:
            ModelUnavailable: it cannot; says what was tried and what to do.
        """
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
