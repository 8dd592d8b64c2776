"""What an update may be learnt from at all; pure."""

from __future__ import annotations

from collections.abc import Sequence

from screenloop.train.data.samples import Sample
from screenloop.train.guard.stops import StopEvidence, TrainingStopped
from screenloop.train.rollouts import Played


def require_scored(played: Sequence[Played], update: int) -> None:
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
