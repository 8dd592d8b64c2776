"""Checkpoints: everything a run needs to go on as if it had not stopped, in one file."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import torch

from screenloop.errors import ConfigError
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
    partial, learner = folder / f".{NAME}.part", checkpoint.learner
    with partial.open("wb") as file:
        torch.save(
            {
                "fingerprint": checkpoint.fingerprint,
                "counters": checkpoint.counters,
                "progress": checkpoint.progress,
                "version": learner.version,
                "weights": learner.weights,
                "reference": learner.reference,
                "value_head": learner.value_head,
                "optimiser": learner.optimiser,
            },
            file,
        )
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
        told = torch.load(path, weights_only=False)
        learner = LearnerState(**{name: told.pop(name) for name in LearnerState.__struct_fields__})
        checkpoint = Checkpoint(learner=learner, **told)
    except (OSError, RuntimeError, pickle.UnpicklingError, TypeError, KeyError, EOFError) as error:
        raise ConfigError(f"{path} cannot be read as a checkpoint: {error}") from error
    if checkpoint.fingerprint != fingerprint:
        raise ConfigError(
            f"{path} belongs to another run (recipe, settings, tasks or seed differ); resume with "
            "the same ones, or give another --out"
        )
    return checkpoint
