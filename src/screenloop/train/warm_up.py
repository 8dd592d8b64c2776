"""The supervised warm-up: learn from demonstrations, stop at a measured success."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from math import isfinite
from typing import Any

import torch

from screenloop.engine.policy import Policy
from screenloop.report.training.metrics import WarmUpLine
from screenloop.train.data.streams import stream
from screenloop.train.guard.stops import StopEvidence, TrainingStopped
from screenloop.train.loss.scoring import Patches, micro_batches, sampled_rows, score
from screenloop.train.recipe import WarmUpSettings
from screenloop.train.types import Sample
from screenloop.types import Struct


class WarmUpStep(Struct, frozen=True, kw_only=True):
    """What one step of the warm-up came to."""

    step: int
    loss: float
    agreement: float
    """Share of the batch whose replies the policy would give itself, token for token."""


class WarmUp:
    """A policy that learns from demonstrations, step by step; can go back to the last mark."""

    def __init__(self, policy: Policy, settings: WarmUpSettings, *, seed: int) -> None:
        self.step = 0
        self._policy = policy
        self._settings = settings
        self._seed = seed
        self._trained = [p for p in policy.model.parameters() if p.requires_grad]
        self._optimiser = torch.optim.AdamW(
            self._trained, lr=settings.learning_rate, betas=(0.9, 0.95), weight_decay=0
        )
        self._marked: dict[str, Any] = {}
        self.mark()

    def mark(self) -> None:
        self._marked = {
            "step": self.step,
            "model": deepcopy(self._policy.model.state_dict()),
            "optimiser": deepcopy(self._optimiser.state_dict()),
        }

    @property
    def since_mark(self) -> int:
        return self.step - int(self._marked["step"])

    def back(self) -> int:
        """Return to the mark; says how many steps were undone."""
        undone = self.step - int(self._marked["step"])
        self.step = int(self._marked["step"])
        self._policy.model.load_state_dict(self._marked["model"])
        self._optimiser.load_state_dict(deepcopy(self._marked["optimiser"]))
        return undone

    def learn(self, demonstrations: Sequence[Sample], patches: Patches) -> WarmUpStep:
        """Take one step on a batch drawn from the demonstrations.

        Args:
            demonstrations: What is drawn from.
            patches: Pixels of their pictures.

        Raises:
            TrainingStopped: the loss or the gradient is no finite number; the policy is back at the
                mark.
        """
        draw = stream(self._seed, "warm-up", self.step)
        batch = draw.choices(demonstrations, k=self._settings.batch)
        tokens = sum(sample.sampled for sample in batch)
        loss = 0.0
        agreed: dict[int, bool] = {}
        self._optimiser.zero_grad(set_to_none=True)
        for part in micro_batches(batch, 65_536):
            rows = sampled_rows([batch[i] for i in part])
            scores = score(self._policy, rows.samples, patches)
            nll = -(scores.log_probs_B_S * rows.mask_B_S).sum() / tokens
            nll.backward()  # type: ignore[no-untyped-call]
            loss += float(nll.detach())
            same_B = (scores.greedy_B_S | ~rows.mask_B_S.bool()).all(dim=-1).tolist()
            agreed.update(zip(part, same_B, strict=True))
        norm = float(torch.nn.utils.clip_grad_norm_(self._trained, 1.0))
        if not (isfinite(loss) and isfinite(norm)):
            raise self._stopped(loss, norm, batch)
        self._optimiser.step()
        self.step += 1
        return WarmUpStep(step=self.step, loss=loss, agreement=sum(agreed.values()) / len(batch))

    def _stopped(self, loss: float, norm: float, batch: Sequence[Sample]) -> TrainingStopped:
        step = self.step + 1
        self.back()
        reason = (
            f"the loss {loss:g} or the gradient norm {norm:g} is no finite number; the policy is "
            f"back at step {self.step}. A lower warm_up.learning_rate may help"
        )
        return TrainingStopped(
            f"step {step} of the warm-up is refused: {reason}",
            StopEvidence(update=0, reason=reason, samples=tuple(batch)),
        )


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
    trainee: WarmUp, demonstrations: Sequence[Sample], settings: WarmUpSettings, seams: WarmUpSeams
) -> int:
    """Warm a policy up; returns the steps that it came to.

    Raises:
        TrainingStopped: a loss is no finite number; the policy is as it was at the last mark.
    """
    samples = list(demonstrations)
    patches = dict(seams.patches(samples))
    stretch = settings.check_steps
    agreement = 0.0
    while trainee.step < settings.max_steps:
        step = trainee.learn(samples, patches)
        # The mean over a few batches; one alone is too noisy to act on.
        agreement += 0.3 * (step.agreement - agreement)
        seams.tell(
            WarmUpLine(
                step=step.step, loss=step.loss, agreement=step.agreement, samples=len(samples)
            )
        )
        if agreement < settings.watch_above:
            if trainee.since_mark >= stretch:
                trainee.mark()
            continue
        if trainee.since_mark < stretch:
            continue
        success = await seams.measure(trainee.step)
        if success > settings.stop_to and stretch > 1:
            trainee.back()
            stretch = max(1, stretch // 2)
            continue
        if success >= settings.stop_from:
            break
        trainee.mark()
        collected = await seams.collect(trainee.step)
        patches |= seams.patches(collected)
        samples += collected
    return trainee.step
