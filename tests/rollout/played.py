"""An agent that plays from a list, and the fake device to play it on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from screenloop.actions import Action
from screenloop.agent.base import Assignment, Decision, Turn
from screenloop.config import HarnessConfig, RetryPolicy, RunConfig
from screenloop.envs.base import Environment
from screenloop.envs.fake import FakeEnvironment, FakeFault
from screenloop.manager.direct import DirectManager
from screenloop.messages import Message, Sampling, TextPart
from screenloop.rollout.context import Attempt, Deadlines, RunContext
from screenloop.rollout.episode import Ending, run_episode
from screenloop.store.blobs import BlobStore, MemoryBlobs
from screenloop.store.episodes import CallRecord, Episode, EpisodeWriter, read_episode
from screenloop.suites.fake import FakeSuite
from screenloop.types import Budget, EnvRef, Task, Usage


class PlayedAgent:
    """Plays from a list: Actions, a whole Decision, or a failure; keeps the turns it was shown."""

    def __init__(self, *moves: Action | Sequence[Action] | Decision | Exception) -> None:
        self.moves = list(moves)
        self.turns: list[Turn] = []
        self.assignment: Assignment | None = None

    def begin(self, assignment: Assignment) -> None:
        self.assignment = assignment
        self.turns = []

    async def decide(self, turn: Turn, *, deadline_s: float) -> Decision:
        self.turns.append(turn)
        move = self.moves[turn.step_index] if turn.step_index < len(self.moves) else self.moves[-1]
        if isinstance(move, Exception):
            raise move
        if isinstance(move, Decision):
            return move
        return Decision(actions=tuple(move) if isinstance(move, list | tuple) else (move,))  # type: ignore[arg-type]


class Clock:
    """A clock that goes on by a fixed amount with each look."""

    def __init__(self, tick_s: float = 0.0) -> None:
        self.now_s = 0.0
        self.tick_s = tick_s

    def __call__(self) -> float:
        self.now_s += self.tick_s
        return self.now_s


class Bench:
    """Fake devices, each with its own scripted faults, behind a Manager."""

    def __init__(
        self, *faults_of_each: Sequence[FakeFault], blobs: BlobStore | None = None
    ) -> None:
        self.blobs = blobs or MemoryBlobs()
        self.faults = list(faults_of_each)
        self.devices: list[FakeEnvironment] = []
        self.clock = Clock()
        self.manager = DirectManager(self.open)

    async def open(self, ref: EnvRef) -> Environment:
        number = len(self.devices)
        faults = self.faults[number] if number < len(self.faults) else ()
        self.devices.append(FakeEnvironment(self.blobs, faults=faults))
        return self.devices[-1]

    def setting(self, **fields: object) -> RunContext:
        base: dict[str, object] = {
            "manager": self.manager,
            "clock": self.clock,
            "wall": lambda: 1e9,
            "deadlines": Deadlines(step_s=5, reset_s=5, evaluate_s=5, decide_s=5),
        }
        return RunContext(**{**base, **fields})  # type: ignore[arg-type]


def fake_task(name: str = "add_to_counter", seed: int = 0) -> Task:
    return FakeSuite().task(name, seed)


def a_config(tasks: Sequence[Task], **fields: object) -> RunConfig:
    harness = HarnessConfig(
        suite="fake",
        suite_version="1",
        tasks=tuple(sorted(task.key for task in tasks)),
        **fields,  # type: ignore[arg-type]
    )
    return RunConfig(harness=harness, model="played")


ONCE = RetryPolicy(attempts=1)


def an_attempt(task: Task, **fields: object) -> Attempt:
    base: dict[str, object] = {
        "episode_id": "ep",
        "run_id": "run",
        "task": task,
        "budget": Budget(steps=20),
        "seed": 7,
    }
    return Attempt(**{**base, **fields})  # type: ignore[arg-type]


async def play(
    agent: PlayedAgent,
    folder: Path,
    bench: Bench | None = None,
    *,
    attempt: Attempt | None = None,
    setting: RunContext | None = None,
) -> tuple[Ending, Episode]:
    """Play one attempt; returns how it ended and what its file says."""
    bench = bench or Bench()
    path = folder / "episode.jsonl"
    writer = EpisodeWriter(path)
    try:
        ending = await run_episode(
            attempt or an_attempt(fake_task()), agent, setting or bench.setting(), writer
        )
    finally:
        writer.close()
    episode = read_episode(path)
    assert episode is not None
    return ending, episode


def a_call(step: int, usage: Usage) -> CallRecord:
    return CallRecord(
        call_id=f"ep/c{step}",
        window_index=0,
        step_index=step,
        messages=(Message(role="user", parts=(TextPart(text="now"),)),),
        sampling=Sampling(),
        model="played",
        reply="x",
        finish_reason="stop",
        usage=usage,
        took_s=0.1,
    )
