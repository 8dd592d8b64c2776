"""One update of the policy: gate, loss, step. No I/O, no clock; knows Samples, not Episodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from math import isfinite
from typing import Any

import torch
from torch import Tensor, nn

from screenloop.engine.adapters import (
    LoraSettings,
    adapters_off,
    fold_adapters,
    merged_weights,
    with_adapters,
)
from screenloop.engine.policy import Policy
from screenloop.engine.weights import copy_weights, weights_of
from screenloop.train.guard.parity import Parity
from screenloop.train.guard.stops import StopEvidence, TrainingStopped, require_parity
from screenloop.train.loss.aggregate import token_weights
from screenloop.train.loss.objective import Sums, part_loss, side_by_side
from screenloop.train.loss.scoring import (
    Patches,
    SampledRows,
    SampledScores,
    micro_batches,
    sampled_rows,
    score,
)
from screenloop.train.loss.value import ValueHead, ValueRow, explained_variance, value_head
from screenloop.train.recipe import OptimiserSettings
from screenloop.train.settings import LearningSettings
from screenloop.train.types import Sample
from screenloop.types import Struct


class UpdateFigures(Struct, frozen=True, kw_only=True):
    """What an update came to; means are over sampled tokens and optimiser steps."""

    loss: float = 0.0
    kl: float = 0.0
    entropy: float = 0.0
    clip_fraction: float = 0.0
    approx_kl: float = 0.0
    grad_norm: float = 0.0
    """Of the policy's weights, before it is cut."""
    value_loss: float | None = None
    explained_variance: float | None = None
    learning_rate: float = 0.0
    parity: Parity = Parity(tokens=0, mean_abs=0.0, max_abs=0.0, k3=0.0)


class LearnerState(Struct, frozen=True, kw_only=True):
    """Everything a learner needs to go on as if it had not stopped."""

    version: int
    weights: dict[str, Tensor]
    """Adapters included."""
    reference: dict[str, Tensor]
    """Empty with adapters, whose base is the reference."""
    value_head: dict[str, Tensor]
    """Empty without one."""
    optimiser: dict[str, Any]


class Learner:
    """Owns the policy that is trained, its reference, its value head and its optimiser."""

    def __init__(
        self,
        policy: Policy,
        learning: LearningSettings,
        optimiser: OptimiserSettings,
        *,
        lora: LoraSettings | None = None,
    ) -> None:
        """Prepare.

        Args:
            policy: Is trained itself; with `lora`, a copy with adapters is.
            learning: Losses and limits.
            optimiser: Steps.
            lora: Train adapters alone.

        Raises:
            ConfigError: the network has no such layers as `lora` names.
        """
        self.policy = policy if lora is None else with_adapters(policy, lora)
        self.version = 0
        """Updates that the weights have been through."""
        self._learning = learning
        self._settings = optimiser
        self._reference = deepcopy(policy) if lora is None else None
        self._head = None if learning.value is None else value_head(self.policy)
        self._trained = [p for p in self.policy.model.parameters() if p.requires_grad]
        self._optimiser = self._fresh_optimiser()

    # ---- state -----------------------------------------------------------------------------

    def begin(self) -> None:
        """Take the policy as it is now as the reference, with a fresh optimiser.

        What adapters have learnt so far becomes part of their base.
        """
        if self._reference is None:
            fold_adapters(self.policy.model)
        else:
            copy_weights(self._reference.model, weights_of(self.policy.model))
        self._optimiser = self._fresh_optimiser()

    def weights(self) -> dict[str, Tensor]:
        """Return a copy of the policy's weights as an engine takes them, adapters merged."""
        return merged_weights(self.policy.model)

    def state(self) -> LearnerState:
        """Return a copy of the state, for a checkpoint."""
        return LearnerState(
            version=self.version,
            weights=weights_of(self.policy.model),
            reference={} if self._reference is None else weights_of(self._reference.model),
            value_head={} if self._head is None else deepcopy(self._head.state_dict()),
            optimiser=deepcopy(self._optimiser.state_dict()),
        )

    def restore(self, state: LearnerState) -> None:
        self.version = state.version
        copy_weights(self.policy.model, state.weights)
        if self._reference is not None:
            copy_weights(self._reference.model, state.reference)
        if self._head is not None:
            self._head.load_state_dict(state.value_head)
        self._optimiser = self._fresh_optimiser()
        self._optimiser.load_state_dict(state.optimiser)

    # ---- what is known before the update -----------------------------------------------------

    def reference_log_probs(self, samples: Sequence[Sample], patches: Patches) -> dict[str, Tensor]:
        """Return the reference's log-probabilities of the sampled tokens, by Sample."""
        with self._as_reference() as policy:
            return self._scored(samples, patches, policy=policy)

    def values(self, samples: Sequence[Sample], patches: Patches) -> dict[str, Tensor]:
        """Return what the value head says at the sampled tokens, by Sample."""
        return self._scored(samples, patches, head=self._head)

    # ---- the update ------------------------------------------------------------------------

    def update(
        self,
        samples: Sequence[Sample],
        patches: Patches,
        parity_samples: Sequence[Sample] = (),
        value_rows: Mapping[str, ValueRow] | None = None,
    ) -> UpdateFigures:
        """Learn from the Samples of one update; the weights' version counts one up.

        Nothing has changed when it raises.

        Args:
            samples: With their advantages; none where no group taught anything.
            patches: Pixels of their pictures.
            parity_samples: Samples that the gate looks at when there is nothing to learn from.
            value_rows: What the value head learns, by the name of the Sample.

        Raises:
            TrainingStopped: engine and trainer disagree beyond the limits, or a loss, a gradient or
                a weight is no finite number.
        """
        figures = UpdateFigures()
        if samples:
            with self._undone_if_stopped():
                figures = self._update(samples, patches, value_rows)
        elif parity_samples:
            scored = self._scored(parity_samples, patches)
            figures = UpdateFigures(parity=self._gate(parity_samples, scored))
        self.version += 1
        return figures

    def _update(
        self, samples: Sequence[Sample], patches: Patches, value_rows: Mapping[str, ValueRow] | None
    ) -> UpdateFigures:
        settings = self._settings
        share = min(1.0, (self.version + 1) / max(1, settings.warm_up_updates))
        for group, rate in zip(self._optimiser.param_groups, self._rates(), strict=True):
            group["lr"] = rate * share
        single = settings.passes * settings.minibatches == 1
        old: dict[str, Tensor] = {}
        parity = UpdateFigures().parity
        if not single:
            old = self._scored(samples, patches)
            parity = self._gate(samples, old)
        sums, norms = Sums(), []
        for _ in range(settings.passes):
            for batch in _cut(samples, settings.minibatches):
                self._optimiser.zero_grad(set_to_none=True)
                scored = self._backward(batch, patches, old, value_rows, sums)
                if single:
                    parity = self._gate(samples, scored)
                norms.append(self._cut_gradients())
                if not (isfinite(norms[-1]) and isfinite(sums.loss)):
                    raise self._stopped(
                        f"the loss {sums.loss:g} or the gradient norm {norms[-1]:g} is no finite "
                        "number; the weights before this update are kept",
                        samples,
                    )
                self._optimiser.step()
        if not all(bool(torch.isfinite(weight).all()) for weight in self._stepped()):
            raise self._stopped(
                "a weight is no finite number after the step; those before it are kept. A lower "
                "optimiser.learning_rate may help",
                samples,
            )
        steps = settings.passes * settings.minibatches
        return UpdateFigures(
            loss=sums.loss / steps,
            kl=sums.kl / sums.tokens,
            entropy=sums.entropy / sums.tokens,
            clip_fraction=sums.clip_fraction / sums.tokens,
            approx_kl=sums.approx_kl / sums.tokens,
            grad_norm=sum(norms) / len(norms),
            value_loss=None if value_rows is None else sums.value_loss / steps,
            explained_variance=(
                None if value_rows is None else explained_variance(value_rows.values())
            ),
            learning_rate=settings.learning_rate * share,
            parity=parity,
        )

    @torch.no_grad()
    def _scored(
        self,
        samples: Sequence[Sample],
        patches: Patches,
        *,
        policy: Policy | None = None,
        head: ValueHead | None = None,
    ) -> dict[str, Tensor]:
        """Return a policy's log-probabilities, or what a head says beside it, by Sample."""
        scored: dict[str, Tensor] = {}
        for part in micro_batches(samples, self._settings.micro_tokens):
            rows = sampled_rows([samples[i] for i in part])
            scores = score(policy or self.policy, rows.samples, patches, head=head)
            numbers_B_S = scores.log_probs_B_S if head is None else scores.values_B_S
            assert numbers_B_S is not None
            scored.update(_by_name(rows, numbers_B_S))
        return scored

    def _backward(
        self,
        samples: Sequence[Sample],
        patches: Patches,
        old: Mapping[str, Tensor],
        value_rows: Mapping[str, ValueRow] | None,
        sums: Sums,
    ) -> dict[str, Tensor]:
        """Add up the gradient of one optimiser step; returns the log-probabilities by Sample."""
        whole = sampled_rows(samples)
        loss_settings = self._learning.loss
        weights_B_S = token_weights(
            whole.mask_B_S,
            loss_settings.aggregation,
            attempts_B=whole.attempts_B if loss_settings.by_attempt else None,
            length=loss_settings.length,
        )
        scored: dict[str, Tensor] = {}
        for part in micro_batches(samples, self._settings.micro_tokens):
            rows = sampled_rows([samples[i] for i in part])
            reference_B_S = self._pulling(rows, patches)
            scores = score(self.policy, rows.samples, patches, head=self._head)
            scored.update(_by_name(rows, scores.log_probs_B_S.detach()))
            width = rows.mask_B_S.shape[1]
            loss = part_loss(
                rows,
                scores,
                weights_B_S[part, :width],
                self._learning,
                sums,
                old_B_S=self._old(rows, scores, old),
                reference_B_S=reference_B_S,
                value_rows=value_rows,
            )
            loss.backward()  # type: ignore[no-untyped-call]
            sums.loss += float(loss.detach())
        return scored

    @torch.no_grad()
    def _pulling(self, rows: SampledRows, patches: Patches) -> Tensor | None:
        """Return the reference's log-probabilities where the loss has a KL term."""
        if self._learning.kl.place != "loss":
            return None
        with self._as_reference() as policy:
            return score(policy, rows.samples, patches).log_probs_B_S

    @contextmanager
    def _as_reference(self) -> Iterator[Policy]:
        if self._reference is not None:
            yield self._reference
        else:
            with adapters_off(self.policy.model):
                yield self.policy

    def _old(self, rows: SampledRows, scores: SampledScores, old: Mapping[str, Tensor]) -> Tensor:
        """Return the log-probabilities that ratios are taken to.

        Those before the update; of Samples drawn with older weights, what they were drawn with,
        unless importance weights correct for it.
        """
        now_B_S = scores.log_probs_B_S.detach()
        if old:
            now_B_S = side_by_side([old[sample.name] for sample in rows.samples])
        if self._learning.mismatch.weights is not None:
            return now_B_S
        stale_B_1 = torch.tensor(
            [[sample.weights_versions != (self.version, self.version)] for sample in rows.samples]
        )
        return torch.where(stale_B_1, rows.rollout_log_probs_B_S, now_B_S)

    def _gate(self, samples: Sequence[Sample], scored: Mapping[str, Tensor]) -> Parity:
        return require_parity(samples, scored, version=self.version, limits=self._learning.parity)

    def _stopped(self, reason: str, samples: Sequence[Sample]) -> TrainingStopped:
        number = self.version + 1
        return TrainingStopped(
            f"update {number} is refused: {reason}",
            StopEvidence(update=number, reason=reason, samples=tuple(samples)),
        )

    # ---- the optimiser -----------------------------------------------------------------------

    def _stepped(self) -> list[nn.Parameter]:
        return self._trained + ([] if self._head is None else list(self._head.parameters()))

    @contextmanager
    def _undone_if_stopped(self) -> Iterator[None]:
        weights = [weight.detach().clone() for weight in self._stepped()]
        optimiser = deepcopy(self._optimiser.state_dict())
        try:
            yield
        except TrainingStopped:
            with torch.no_grad():
                for weight, kept in zip(self._stepped(), weights, strict=True):
                    weight.copy_(kept)
            self._optimiser.load_state_dict(optimiser)
            raise

    def _cut_gradients(self) -> float:
        """Bound the gradients of policy and head, each for itself; returns the policy's norm."""
        most = self._settings.max_grad_norm
        if self._head is not None:
            nn.utils.clip_grad_norm_(self._head.parameters(), most)
        return float(nn.utils.clip_grad_norm_(self._trained, most))

    def _rates(self) -> list[float]:
        """Return the full learning rate of each group of the optimiser."""
        value = self._learning.value
        return [self._settings.learning_rate, *([] if value is None else [value.learning_rate])]

    def _fresh_optimiser(self) -> torch.optim.AdamW:
        settings = self._settings
        groups = [self._trained]
        if self._head is not None:
            groups.append(list(self._head.parameters()))
        return torch.optim.AdamW(
            [
                {"params": weights, "lr": rate}
                for weights, rate in zip(groups, self._rates(), strict=True)
            ],
            betas=(settings.beta1, settings.beta2),
            weight_decay=settings.weight_decay,
        )


def _by_name(rows: SampledRows, numbers_B_S: Tensor) -> dict[str, Tensor]:
    return {
        sample.name: numbers_S[: sample.sampled]
        for sample, numbers_S in zip(rows.samples, numbers_B_S, strict=True)
    }


def _cut(samples: Sequence[Sample], parts: int) -> list[Sequence[Sample]]:
    """Deal Samples out to minibatches, group after group, so that each sees every group."""
    return [some for i in range(parts) if (some := samples[i::parts])]
