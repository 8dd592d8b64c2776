"""The course of the warm-up: learn, measure when it is worth it, stop at a measured success."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from screenloop.report.training.metrics import WarmUpLine
from screenloop.train.data.samples import Sample
from screenloop.train.loss.scoring import Patches
from screenloop.train.recipe import WarmUpSettings
from screenloop.train.sft import WarmUp


@dataclass(frozen=True)
class WarmUpSeams:
    """What the warm-up asks of the run around it."""

    measure: Callable[[int], Awaitable[float]]
    """Gives the policy's greedy success after so many steps."""
    collect: Callable[[int], Awaitable[Sequence[Sample]]]
    """Lets the policy try training tasks itself; gives Samples of what it solved."""
    patches: Callable[[Sequence[Sample]], Patches]
    """Gives the pixels of Samples."""
    tell: Callable[[WarmUpLine], None]


async def warm_up(
    pupil: WarmUp, demonstrations: Sequence[Sample], settings: WarmUpSettings, seams: WarmUpSeams
) -> int:
    """Warm a policy up; returns the steps that it came to.

    Raises:
        TrainingStopped: a loss is no finite number; the policy is as it was at the last mark.
    """
    samples = list(demonstrations)
    patches = dict(seams.patches(samples))
    stretch = settings.check_steps
    agreement = 0.0
    while pupil.step < settings.max_steps:
        told = pupil.learn(samples, patches)
        # The mean over a few batches; one alone is too noisy to act on.
        agreement += 0.3 * (told.agreement - agreement)
        seams.tell(
            WarmUpLine(
                step=told.step, loss=told.loss, agreement=told.agreement, samples=len(samples)
            )
        )
        if agreement < settings.watch_above:
            if pupil.since_mark >= stretch:
                pupil.mark()
            continue
        if pupil.since_mark < stretch:
            continue
        success = await seams.measure(pupil.step)
        if success > settings.stop_to and stretch > 1:
            pupil.back()
            stretch = max(1, stretch // 2)
            continue
        if success >= settings.stop_from:
            break
        pupil.mark()
        collected = await seams.collect(pupil.step)
        patches |= seams.patches(collected)
        samples += collected
    return pupil.step
