"""Environment kinds by name, opened on demand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from screenloop.envs.base import Environment
from screenloop.errors import ConfigError
from screenloop.registry import find
from screenloop.store.blobs import BlobStore
from screenloop.types import EnvRef, Want

KINDS: dict[str, str] = {
    "phone": "screenloop.envs.phone:PhoneEnvironments",
    "web": "screenloop.envs.web.environment:WebEnvironments",
    "fake": "screenloop.envs.fake:FakeEnvironments",
}
"""Kind to the class that opens its Instances, made as `Class(blobs, want=...)`; packages add to it
by entry points of the group `screenloop.environments`, and a dotted path works as a kind as well.
"""


class Opener(Protocol):
    """Opens Instances of one kind and owns what they share."""

    async def open(self, env: EnvRef) -> Environment:
        """Return an Instance that waits for its first reset."""
        ...

    async def close(self) -> None:
        """Let go of what the Instances share."""
        ...


def find_kind(kind: str) -> Callable[..., Opener]:
    """Return the class that opens Instances of a kind.

    Raises:
        ConfigError: the kind is unknown, or it leads to something else.
    """
    made = find("environment kind", kind, KINDS)
    if not callable(made) or not hasattr(made, "open") or not hasattr(made, "close"):
        raise ConfigError(
            f"{kind!r} opens no Environments: a kind is a class with `open(env)` and `close()`, "
            "made as Class(blobs, want=...)."
        )
    opener: Callable[..., Opener] = made
    return opener


class Environments:
    """Opens Instances of any kind; a kind's machinery starts when the first one is asked for."""

    def __init__(self, blobs: BlobStore, *, want: Sequence[Want] = ("frame",)) -> None:
        """Prepare.

        Args:
            blobs: Where frames, trees and texts go.
            want: What `reset` and `step` show.
        """
        self._blobs = blobs
        self._want = tuple(want)
        self._openers: dict[str, Opener] = {}

    async def open(self, env: EnvRef) -> Environment:
        """Return an Instance.

        Raises:
            ConfigError: the kind is unknown, or what it needs is not installed.
        """
        if env.kind not in self._openers:
            self._openers[env.kind] = find_kind(env.kind)(self._blobs, want=self._want)
        return await self._openers[env.kind].open(env)

    async def close(self) -> None:
        openers, self._openers = self._openers, {}
        for opener in openers.values():
            await opener.close()
