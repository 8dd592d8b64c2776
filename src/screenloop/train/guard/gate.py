"""The parity gate of an update; see `parity` for what is measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from screenloop.train.data.samples import Sample
from screenloop.train.guard.parity import Parity, ParityLimits, judge_parity, measure_parity
from screenloop.train.guard.stops import StopEvidence, TrainingStopped
from screenloop.train.loss.objective import side_by_side
from screenloop.train.loss.scoring import sampled_positions, sampled_rows


def require_parity(
    samples: Sequence[Sample],
    scored: Mapping[str, Tensor],
    *,
    version: int,
    limits: ParityLimits,
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
    trainer_bs = side_by_side([scored[sample.name] for sample in fresh])
    ids_bs = side_by_side(
        [torch.tensor([s.token_ids[i] for i in sampled_positions(s)]) for s in fresh]
    )
    parity = measure_parity(
        rows.rollout_log_probs_bs, trainer_bs, rows.mask_bs, ids_bs, [s.name for s in fresh]
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
