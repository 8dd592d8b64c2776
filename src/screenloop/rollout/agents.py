"""Agents from outside: Python classes, named by a dotted path, that decide Actions themselves."""

from __future__ import annotations

import hashlib
import inspect
from dataclasses import dataclass
from pathlib import Path
from traceback import format_exception_only

from screenloop.agent.base import Agent
from screenloop.agent.own import OwnAgent
from screenloop.errors import ConfigError
from screenloop.models.base import Model
from screenloop.registry import find
from screenloop.store.blobs import BlobStore
from screenloop.types import Want

AGENTS: dict[str, str] = {}
"""Short names to classes: none of our own, those of installed packages are found by entry point."""
_GIVEN = ("blobs", "model")
"""What the `__init__` of an agent may take, by name."""


@dataclass(frozen=True)
class AgentClass:
    """A class that follows `agent.base.Agent`, and what decides how it acts."""

    path: str
    made: type
    takes: frozenset[str]
    """Which of `blobs` and `model` its `__init__` takes."""
    needs_model: bool
    source_hash: str

    @property
    def wants(self) -> tuple[Want, ...]:
        """The parts of the screen that it looks at: its `wants`, or the frame."""
        return tuple(getattr(self.made, "wants", ("frame",)))

    def make(self, blobs: BlobStore, model: Model | None) -> Agent:
        """Return an agent for one Episode.

        Raises:
            ConfigError: its `__init__` fails.
        """
        given = {"blobs": blobs, "model": model}
        try:
            agent = self.made(**{name: given[name] for name in sorted(self.takes)})
        except Exception as error:
            raise ConfigError(f"agent {self.path} fails in __init__: {_last(error)}") from error
        return OwnAgent(agent, self.path)

    def require_model(self, name: str) -> None:
        """Refuse a model that the agent does not ask, or none where it must have one.

        Raises:
            ConfigError: says which.
        """
        if name and "model" not in self.takes:
            raise ConfigError(
                f"agent {self.path} asks no model: leave out --model, or let its __init__ take one"
            )
        if not name and self.needs_model:
            raise ConfigError(f"agent {self.path} asks a model: name it with --model")


def find_agent(path: str) -> AgentClass:
    """Return the class that a dotted path names; nothing of it has run but its module.

    Raises:
        ConfigError: it cannot be imported, or does not follow the contract; says what is missing.
    """
    made = find("agent", path, AGENTS)
    if not isinstance(made, type):
        raise ConfigError(f"{path!r} is no agent: an agent is a class, see agent.base.Agent.")
    for name in ("begin", "decide"):
        if not callable(getattr(made, name, None)):
            raise ConfigError(
                f"{path!r} is no agent: it has no method {name}. It needs begin(assignment) and "
                "async decide(turn, *, deadline_s)."
            )
    if not inspect.iscoroutinefunction(made.decide):  # type: ignore[attr-defined]
        raise ConfigError(f"{path!r} is no agent: its decide must be an `async def`.")
    parameters = inspect.signature(made).parameters.values()
    gathers = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = {p.name for p in parameters if p.default is p.empty and p.kind not in gathers}
    if odd := sorted(needed - set(_GIVEN)):
        raise ConfigError(
            f"the __init__ of agent {path!r} needs {odd[0]!r}, but only {' and '.join(_GIVEN)} "
            "are given; give it a default"
        )
    return AgentClass(
        path=path,
        made=made,
        takes=frozenset(p.name for p in parameters if p.name in _GIVEN),
        needs_model="model" in needed,
        source_hash=_source_hash(made, path),
    )


def _source_hash(made: type, path: str) -> str:
    """Return a hash of the file that a class stands in, or of the cell of a notebook."""
    try:
        file = inspect.getsourcefile(made)
        source = Path(file).read_bytes() if file and Path(file).is_file() else None
        source = inspect.getsource(made).encode() if source is None else source
    except (OSError, TypeError) as error:
        raise ConfigError(
            f"agent {path!r} has no source that could be recorded: put it into a file"
        ) from error
    return hashlib.sha256(source).hexdigest()[:16]


def _last(error: Exception) -> str:
    """Return the last line of a traceback, on one line."""
    return " ".join(format_exception_only(error)[-1].split())
