"""What a run keeps on disk: a checkpoint to go on from as if it had not stopped, and its policy."""

from __future__ import annotations

import os
import pickle
from dataclasses import replace
from pathlib import Path

import torch
from msgspec.structs import asdict

from screenloop.engine.local import LocalEngine
from screenloop.errors import ConfigError, InfraFault
from screenloop.report.training.metrics import EvaluationLine, Line, UpdateLine
from screenloop.report.training.run_files import POLICY
from screenloop.train.curriculum import TaskProgress
from screenloop.train.learner import LearnerState
from screenloop.types import Struct

NAME = "checkpoint.pt"


class RunCounters(Struct, frozen=True, kw_only=True):
    """What a run has done so far."""

    update: int = 0
    """Updates that are through; the version of the weights."""
    episodes: int = 0
    """Attempts that were trained on or skipped, demonstrations and measurements left out."""
    groups_with_spread: int = 0
    parity_max: float = 0.0
    cpu_s: float = 0.0
    wall_s: float = 0.0
    warm_up_steps: int = 0
    success_before: float = 0.0
    success_after_sft: float = 0.0
    unseen_before: float | None = None
    unseen_after_sft: float | None = None
    stopped_early: bool = False
    """Whether the validation success was reached."""


class Checkpoint(Struct, frozen=True, kw_only=True):
    """A run between two updates."""

    fingerprint: str
    """Of the recipe, its settings, its tasks and the seed: resuming another run is refused."""
    counters: RunCounters
    progress: tuple[TaskProgress, ...]
    learner: LearnerState


def save_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint in place of the last one; a kill leaves one of the two, whole."""
    partial = folder / f".{NAME}.part"
    stored = asdict(checkpoint)
    stored |= asdict(stored.pop("learner"))
    with partial.open("wb") as file:
        torch.save(stored, file)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(folder / NAME)


def read_checkpoint(folder: Path, fingerprint: str) -> Checkpoint | None:
    """Return the checkpoint in a folder, or `None` when there is none yet.

    Raises:
        ConfigError: it is damaged, or of another run.
    """
    path = folder / NAME
    if not path.exists():
        return None
    try:
        stored = torch.load(path, weights_only=False)
        own = {name: stored.pop(name) for name in LearnerState.__struct_fields__}
        checkpoint = Checkpoint(learner=LearnerState(**own), **stored)
    except (OSError, RuntimeError, pickle.UnpicklingError, TypeError, KeyError, EOFError) as error:
        raise ConfigError(f"{path} cannot be read as a checkpoint: {error}") from error
    if checkpoint.fingerprint != fingerprint:
        raise ConfigError(
            f"{path} belongs to another run (recipe, settings, tasks or seed differ); resume with "
            "the same ones, or give another --out"
        )
    return checkpoint


class PolicyKeeper:
    """A `Watch` that writes `policy/` after the warm-up and with every so many updates.

    Each file is replaced whole, so what a kill leaves can be loaded.
    """

    def __init__(self, folder: Path, engine: LocalEngine, *, name: str, every: int) -> None:
        """Prepare.

        Args:
            folder: Of the run.
            engine: Holds the weights that the newest attempts were drawn with.
            name: What the policy is called where it is served.
            every: Updates from one keeping to the next.
        """
        self._folder = folder
        self._engine = engine
        self._name = name
        self._every = every

    def __call__(self, line: Line) -> None:
        """Keep the policy where this line says that it is worth it."""
        match line:
            case EvaluationLine(when="after_sft", of="test"):
                self.keep()
            case UpdateLine(update=number) if number % self._every == 0:
                self.keep()

    def keep(self) -> None:
        """Write the policy as it is now.

        Raises:
            InfraFault: the disk refuses.
        """
        kept, partial = self._folder / POLICY, self._folder / f".{POLICY}.part"
        try:
            replace(self._engine.policy, name=self._name).save(partial)
            kept.mkdir(exist_ok=True)
            # The configuration goes last: without it the folder is no model yet.
            for path in sorted(partial.iterdir(), key=lambda path: path.name == "config.json"):
                path.replace(kept / path.name)
            partial.rmdir()
        except OSError as error:
            raise InfraFault(f"cannot write the policy into {kept}: {error}") from error
