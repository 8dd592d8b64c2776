"""One update of the policy: gate, loss, step. No I/O, no clock; knows Samples, not Episodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from math import isfinite
from typing import Any

import torch
from torch import Tensor

from screenloop.engine.policy import Policy
from screenloop.engine.weights import copy_weights, weights_of
from screenloop.train.aggregate import token_weights
from screenloop.train.kl import kl_estimate
from screenloop.train.loss import policy_loss
from screenloop.train.masking import masked
from screenloop.train.mismatch import rejection_mask, rollout_weights
from screenloop.train.parity import Parity, judge_parity, measure_parity
from screenloop.train.recipe import OptimiserSettings
from screenloop.train.samples import Sample
from screenloop.train.scoring import (
    Patches,
    SampledRows,
    SampledScores,
    micro_batches,
    sampled_positions,
    sampled_rows,
    score,
)
from screenloop.train.settings import LearningSettings, usual_clip
from screenloop.train.stops import Evidence, TrainingStopped
from screenloop.types import Struct


class UpdateFigures(Struct, frozen=True, kw_only=True):
    """What an update came to; means are over sampled tokens and optimiser steps."""

    loss: float = 0.0
    kl: float = 0.0
    entropy: float = 0.0
    clip_fraction: float = 0.0
    approx_kl: float = 0.0
    grad_norm: float = 0.0
    learning_rate: float = 0.0
    parity: Parity = Parity(tokens=0, mean_abs=0.0, max_abs=0.0, k3=0.0)


@dataclass
class _Sums:
    """Running sums of one optimiser step."""

    loss: float = 0.0
    kl: float = 0.0
    entropy: float = 0.0
    clip_fraction: float = 0.0
    approx_kl: float = 0.0
    tokens: float = 0.0


class Learner:
    """Owns the policy that is trained, its reference and its optimiser."""

    def __init__(
        self, policy: Policy, learning: LearningSettings, optimiser: OptimiserSettings
    ) -> None:
        self.policy = policy
        self.version = 0
        """Updates that the weights have been through."""
        self._learning = learning
        self._settings = optimiser
        self._reference = deepcopy(policy)
        self._optimiser = self._fresh_optimiser()

    # ---- state -----------------------------------------------------------------------------

    def begin(self) -> None:
        """Take the weights as they are now as the reference, with a fresh optimiser."""
        copy_weights(self._reference.model, weights_of(self.policy.model))
        self._optimiser = self._fresh_optimiser()

    def state(self) -> tuple[dict[str, Tensor], dict[str, Tensor], dict[str, Any]]:
        """Return weights, reference weights and the optimiser's state."""
        return (
            weights_of(self.policy.model),
            weights_of(self._reference.model),
            self._optimiser.state_dict(),
        )

    def restore(
        self,
        version: int,
        weights: Mapping[str, Tensor],
        reference: Mapping[str, Tensor],
        optimiser: dict[str, Any],
    ) -> None:
        """Go on from a checkpoint."""
        self.version = version
        copy_weights(self.policy.model, weights)
        copy_weights(self._reference.model, reference)
        self._optimiser = self._fresh_optimiser()
        self._optimiser.load_state_dict(optimiser)

    # ---- the update ------------------------------------------------------------------------

    def update(
        self, samples: Sequence[Sample], patches: Patches, witnesses: Sequence[Sample] = ()
    ) -> UpdateFigures:
        """Learn from the Samples of one update; the weights' version counts one up.

        Nothing has changed when it raises.

        Args:
            samples: With their advantages; none where no group taught anything.
            patches: Pixels of their pictures, and of the witnesses'.
            witnesses: Samples that the gate looks at when there is nothing to learn from.

        Raises:
            TrainingStopped: engine and trainer disagree beyond the limits, or a loss or gradient is
                no finite number.
        """
        figures = UpdateFigures()
        if samples:
            figures = self._update(samples, patches)
        elif witnesses:
            with torch.no_grad():
                scored = self._score_all(witnesses, patches, {})
            figures = UpdateFigures(parity=self._gate(witnesses, scored))
        self.version += 1
        return figures

    def _update(self, samples: Sequence[Sample], patches: Patches) -> UpdateFigures:
        settings = self._settings
        before = weights_of(self.policy.model), deepcopy(self._optimiser.state_dict())
        rate = settings.learning_rate * min(
            1.0, (self.version + 1) / max(1, settings.warm_up_updates)
        )
        for group in self._optimiser.param_groups:
            group["lr"] = rate
        single = settings.passes * settings.minibatches == 1
        old: dict[str, Tensor] = {}
        parity = UpdateFigures().parity
        if not single:
            with torch.no_grad():
                parity = self._gate(samples, self._score_all(samples, patches, old))
        sums, norms = _Sums(), []
        for _ in range(settings.passes):
            for batch in _cut(samples, settings.minibatches):
                self._optimiser.zero_grad(set_to_none=True)
                scored = self._backward(batch, patches, old, sums)
                if single:
                    parity = self._gate(samples, scored)
                norm = float(
                    torch.nn.utils.clip_grad_norm_(
                        self.policy.model.parameters(), settings.max_grad_norm
                    )
                )
                if not (isfinite(norm) and isfinite(sums.loss)):
                    self._optimiser.load_state_dict(before[1])
                    copy_weights(self.policy.model, before[0])
                    raise self._stopped(
                        f"the loss {sums.loss:g} or the gradient norm {norm:g} is no finite "
                        "number; the weights before this update are kept",
                        samples,
                    )
                norms.append(norm)
                self._optimiser.step()
        steps = settings.passes * settings.minibatches
        return UpdateFigures(
            loss=sums.loss / steps,
            kl=sums.kl / sums.tokens,
            entropy=sums.entropy / sums.tokens,
            clip_fraction=sums.clip_fraction / sums.tokens,
            approx_kl=sums.approx_kl / sums.tokens,
            grad_norm=sum(norms) / len(norms),
            learning_rate=rate,
            parity=parity,
        )

    def _score_all(
        self, samples: Sequence[Sample], patches: Patches, old: dict[str, Tensor]
    ) -> dict[str, Tensor]:
        """Score everything before the first step; fills in the old log-probabilities."""
        scored: dict[str, Tensor] = {}
        for part in micro_batches(samples, self._settings.micro_tokens):
            rows = sampled_rows([samples[i] for i in part])
            found = score(self.policy, rows.samples, patches)
            scored.update(_by_name(rows, found.log_probs_bs))
        old.update(scored)
        return scored

    def _backward(
        self,
        samples: Sequence[Sample],
        patches: Patches,
        old: Mapping[str, Tensor],
        sums: _Sums,
    ) -> dict[str, Tensor]:
        """Add up the gradient of one optimiser step; returns the log-probabilities by Sample."""
        whole = sampled_rows(samples)
        loss_settings = self._learning.loss
        weights_bs = token_weights(
            whole.mask_bs,
            loss_settings.aggregation,
            attempts_b=whole.attempts_b if loss_settings.by_attempt else None,
            length=loss_settings.length,
        )
        scored: dict[str, Tensor] = {}
        for part in micro_batches(samples, self._settings.micro_tokens):
            rows = sampled_rows([samples[i] for i in part])
            found = score(self.policy, rows.samples, patches)
            scored.update(_by_name(rows, found.log_probs_bs.detach()))
            width = rows.mask_bs.shape[1]
            loss = self._loss(rows, found, weights_bs[part, :width], old, patches, sums)
            loss.backward()  # type: ignore[no-untyped-call]
            sums.loss += float(loss.detach())
        return scored

    def _loss(
        self,
        rows: SampledRows,
        found: SampledScores,
        weights_bs: Tensor,
        old: Mapping[str, Tensor],
        patches: Patches,
        sums: _Sums,
    ) -> Tensor:
        learning = self._learning
        mask_bs = rows.mask_bs
        old_bs = self._old(rows, found, old)
        correction = None
        if learning.mismatch.weights is not None:
            correction = rollout_weights(
                old_bs, rows.rollout_log_probs_bs, mask_bs, level=learning.mismatch.weights,
                high=learning.mismatch.high, low=learning.mismatch.low,
            )  # fmt: skip
        if learning.mismatch.reject:
            mask_bs = rejection_mask(
                old_bs, rows.rollout_log_probs_bs, mask_bs, learning.mismatch.reject
            )
        told = policy_loss(
            learning.loss.kind, found.log_probs_bs, old_bs, rows.advantages_bs, mask_bs,
            clip=learning.loss.clip or usual_clip(learning.loss.kind), weights_bt=correction,
        )  # fmt: skip
        loss_bs = told.loss_bt - learning.loss.entropy * found.entropy_bs
        tokens = float(rows.mask_bs.sum())
        if learning.kl.place == "loss":
            with torch.no_grad():
                reference = score(self._reference, rows.samples, patches)
            kl_bs = kl_estimate(found.log_probs_bs, reference.log_probs_bs, learning.kl.kind)
            loss_bs = loss_bs + learning.kl.coefficient * kl_bs
            sums.kl += float(masked(kl_bs.detach(), rows.mask_bs).sum())
        sums.entropy += float(masked(found.entropy_bs.detach(), rows.mask_bs).sum())
        sums.clip_fraction += told.clip_fraction * tokens
        sums.approx_kl += told.approx_kl * tokens
        sums.tokens += tokens
        return (masked(loss_bs, mask_bs) * weights_bs).sum()

    def _old(self, rows: SampledRows, found: SampledScores, old: Mapping[str, Tensor]) -> Tensor:
        """Return the log-probabilities that ratios are taken to.

        Those before the update; of Samples drawn with older weights, what they were drawn with,
        unless importance weights correct for it.
        """
        now_bs = found.log_probs_bs.detach()
        if old:
            now_bs = torch.nn.utils.rnn.pad_sequence(
                [old[sample.name] for sample in rows.samples], batch_first=True
            )
        if self._learning.mismatch.weights is not None:
            return now_bs
        stale_b1 = torch.tensor(
            [[sample.weights_versions != (self.version, self.version)] for sample in rows.samples]
        )
        return torch.where(stale_b1, rows.rollout_log_probs_bs, now_bs)

    def _gate(self, samples: Sequence[Sample], scored: Mapping[str, Tensor]) -> Parity:
        """Compare with the engine the Samples that it drew with the very same weights.

        Raises:
            TrainingStopped: the difference is above the limits.
        """
        fresh = [s for s in samples if s.weights_versions == (self.version, self.version)]
        if not fresh:
            return UpdateFigures().parity
        rows = sampled_rows(fresh)
        trainer_bs = torch.nn.utils.rnn.pad_sequence(
            [scored[sample.name] for sample in fresh], batch_first=True
        )
        ids = torch.nn.utils.rnn.pad_sequence(
            [torch.tensor([s.token_ids[i] for i in sampled_positions(s)]) for s in fresh],
            batch_first=True,
        )
        parity = measure_parity(
            rows.rollout_log_probs_bs, trainer_bs, rows.mask_bs, ids, [s.name for s in fresh]
        )
        refusal = judge_parity(parity, self._learning.parity)
        if refusal is not None:
            raise TrainingStopped(
                f"update {self.version + 1} is refused: {refusal.reason}",
                Evidence(
                    update=self.version + 1,
                    reason=refusal.reason,
                    parity=refusal,
                    samples=tuple(samples),
                ),
            )
        return parity

    def _stopped(self, reason: str, samples: Sequence[Sample]) -> TrainingStopped:
        number = self.version + 1
        return TrainingStopped(
            f"update {number} is refused: {reason}",
            Evidence(update=number, reason=reason, samples=tuple(samples)),
        )

    def _fresh_optimiser(self) -> torch.optim.AdamW:
        settings = self._settings
        return torch.optim.AdamW(
            self.policy.model.parameters(),
            lr=settings.learning_rate,
            betas=(settings.beta1, settings.beta2),
            weight_decay=settings.weight_decay,
        )


def _by_name(rows: SampledRows, log_probs_bs: Tensor) -> dict[str, Tensor]:
    return {
        sample.name: log_probs_t[: sample.sampled]
        for sample, log_probs_t in zip(rows.samples, log_probs_bs, strict=True)
    }


def _cut(samples: Sequence[Sample], parts: int) -> list[Sequence[Sample]]:
    """Deal Samples out to minibatches, group after group, so that each sees every group."""
    return [some for i in range(parts) if (some := samples[i::parts])]
