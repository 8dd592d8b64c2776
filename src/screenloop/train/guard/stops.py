"""When an update is refused and a training run stops itself, and what it leaves for inspection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import torch
from torch import Tensor

from screenloop.errors import Blame, ScreenloopError
from screenloop.train.guard.parity import Parity, ParityRefusal, judge_parity, measure_parity
from screenloop.train.loss.objective import side_by_side
from screenloop.train.loss.scoring import sampled_positions, sampled_rows
from screenloop.train.settings import ParityLimits
from screenloop.train.types import PlayedAttempt, Sample
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


def require_scored(played: Sequence[PlayedAttempt], update: int) -> None:
    """Refuse an update of which no attempt could be scored: something is broken.

    Raises:
        TrainingStopped: tells what the first attempt says.
    """
    if any(one.success is not None for one in played):
        return
    verdict = played[0].episode.verdict if played else None
    unscored = None if verdict is None else verdict.unscored
    reason = (
        f"none of its {len(played)} attempts could be scored; the first says: "
        f"{'nothing' if unscored is None else unscored.reason}"
    )
    raise _refused(update, reason)


def require_fresh(samples: Sequence[Sample], *, version: int, max_staleness: int) -> None:
    """Refuse Samples of weights that lie too far behind: the parity gate would pass over them.

    Raises:
        TrainingStopped: names the versions.
    """
    for drawn in (sample.weights_versions for sample in samples):
        if not version - max_staleness <= drawn[0] <= drawn[1] <= version:
            raise _refused(
                version + 1,
                f"attempts were drawn with weights version {drawn[0]}, the learner is at {version} "
                f"and max_staleness is {max_staleness}",
            )


def _refused(update: int, reason: str) -> TrainingStopped:
    return TrainingStopped(
        f"update {update} is refused: {reason}", StopEvidence(update=update, reason=reason)
    )


def require_parity(
    samples: Sequence[Sample], scored: Mapping[str, Tensor], *, version: int, limits: ParityLimits
) -> Parity:
    """Compare trainer and engine on the Samples that were drawn with the very same weights.

    Args:
        samples: The batch.
        scored: The trainer's log-probabilities by the name of the Sample.
        version: The trainer's weights.
        limits: What may differ.

    Raises:
        TrainingStopped: the difference is above the limits.
    """
    fresh = [s for s in samples if s.weights_versions == (version, version)]
    if not fresh:
        return Parity(tokens=0, mean_abs=0.0, max_abs=0.0, k3=0.0)
    rows = sampled_rows(fresh)
    trainer_B_S = side_by_side([scored[sample.name] for sample in fresh])
    ids_B_S = side_by_side(
        [torch.tensor([s.token_ids[i] for i in sampled_positions(s)]) for s in fresh]
    )
    parity = measure_parity(
        rows.rollout_log_probs_B_S, trainer_B_S, rows.mask_B_S, ids_B_S, [s.name for s in fresh]
    )
    refusal = judge_parity(parity, limits)
    if refusal is not None:
        raise TrainingStopped(
            f"update {version + 1} is refused: {refusal.reason}",
            StopEvidence(
                update=version + 1, reason=refusal.reason, parity=refusal, samples=tuple(samples)
            ),
        )
    return parity
