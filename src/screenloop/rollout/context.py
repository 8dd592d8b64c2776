"""What all Episodes of a Run share, and what sets one attempt apart."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol

from screenloop.actions import Action, Bash
from screenloop.config import RetryPolicy
from screenloop.manager.base import Manager
from screenloop.types import Budget, Mode, Struct, Task, Want

Prepare = Callable[[str, Task, Mode], Awaitable[None]]
"""Called with the episode id before an Episode begins; hands the oracle its plan."""


class Deadlines(Struct, frozen=True, kw_only=True):
    """How long each operation of an Episode may take, in seconds."""

    lease_ttl_s: float = 1800.0
    acquire_s: float = 120.0
    prepare_s: float = 120.0
    reset_s: float = 120.0
    observe_s: float = 60.0
    step_s: float = 60.0
    evaluate_s: float = 60.0
    decide_s: float = 600.0

    def of_step(self, action: Action) -> float:
        """Return the deadline of one Action; a command may first use its own time-out."""
        return self.step_s + (action.timeout_s if isinstance(action, Bash) else 0.0)


class Person(Protocol):
    """Someone who can be asked during an Episode."""

    async def reply(self, episode_id: str, question: str) -> str:
        """Answer a question."""
        ...


class NoPerson:
    """No person is there: tells the agent to decide itself."""

    async def reply(self, episode_id: str, question: str) -> str:
        return "No person is here; decide yourself."


@dataclass(frozen=True)
class RunContext:
    """What all Episodes of a Run share: the manager, a person, clocks and deadlines."""

    manager: Manager
    person: Person = field(default_factory=NoPerson)
    deadlines: Deadlines = field(default_factory=Deadlines)
    prepare: Prepare | None = None
    clock: Callable[[], float] = time.monotonic
    """Seconds that only grow; budgets and durations are measured with it."""
    wall: Callable[[], float] = time.time
    """Seconds since 1970; written into files for people."""
    retry_pause_s: float = 1.0
    """Before an attempt that follows a failure of the infrastructure, which seldom is over at once;
    three times as long before each further one."""
    want: tuple[Want, ...] = ("frame",)
    """What an Observation must carry for the agent to act on; Instances must be opened to give it.
    """


class Attempt(Struct, frozen=True, kw_only=True):
    """One attempt at one planned Episode."""

    episode_id: str
    run_id: str
    task: Task
    repeat: int = 0
    attempt: int = 0
    seed: int = 0
    mode: Mode = "gui_only"
    budget: Budget
    retry: RetryPolicy = RetryPolicy()
    config_hash: str = ""
    harness_hash: str = ""


def episode_seed(run_seed: int, task_key: str, repeat: int) -> int:
    """Return the seed of one Episode: 48 bits of SHA-256, exact in every JSON reader."""
    digest = hashlib.sha256(f"{run_seed}\n{task_key}\n{repeat}".encode()).digest()
    return int.from_bytes(digest[:6])
