"""Why a training run stopped itself, and what it left for inspection."""

from __future__ import annotations

from pathlib import Path

import msgspec

from screenloop.errors import Blame, ScreenloopError
from screenloop.train.data.samples import Sample
from screenloop.train.guard.parity import ParityRefusal
from screenloop.types import Struct


class TrainingStopped(ScreenloopError):
    """Raised when going on would spoil the policy; the last good weights are kept."""

    blame = Blame.INFRASTRUCTURE

    def __init__(self, reason: str, evidence: StopEvidence) -> None:
        super().__init__(reason)
        self.evidence = evidence


class StopEvidence(Struct, frozen=True, kw_only=True):
    """What an update was refused on."""

    update: int
    """From 1; 0 is the warm-up."""
    reason: str
    parity: ParityRefusal | None = None
    samples: tuple[Sample, ...] = ()
    """The whole batch."""


def write_evidence(folder: Path, evidence: StopEvidence) -> Path:
    """Write what stopped the run to `stopped-<update>.json`; null stands for no finite number."""
    path = folder / f"stopped-{evidence.update:06d}.json"
    path.write_bytes(msgspec.json.encode(evidence))
    return path
