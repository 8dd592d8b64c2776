"""The KL in the reward: each sampled token pays for straying from the reference policy; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch import Tensor

from screenloop.train.data.samples import Sample
from screenloop.train.loss.kl import kl_estimate
from screenloop.train.loss.scoring import sampled_rows
from screenloop.train.settings import KlSettings
from screenloop.types import Struct


class KlCosts(Struct, frozen=True, kw_only=True):
    """What the sampled tokens of an update pay."""

    by_attempt: dict[str, list[float]]
    """Coefficient times KL estimate, one a sampled token in causal order, windows joined."""
    mean_kl: float
    """The mean estimate of a sampled token, without the coefficient."""


def kl_costs(
    samples: Sequence[Sample], reference: Mapping[str, Tensor], settings: KlSettings
) -> KlCosts:
    """Return what the tokens pay, so that each earns r_t - coefficient * kl_t.

    The estimate compares the policy that drew the token with the reference, as verl's
    `apply_kl_penalty` does; no gradient flows through a reward.

    Args:
        samples: The Samples of an attempt in their order.
        reference: The reference's log-probabilities by the name of the Sample.
        settings: Estimator and coefficient.
    """
    by_attempt: dict[str, list[float]] = {}
    total = 0.0
    for sample in samples:
        drawn_s = sampled_rows([sample]).rollout_log_probs_bs[0]
        kl_s = kl_estimate(drawn_s, reference[sample.name], settings.estimator)
        by_attempt.setdefault(sample.attempt_id, []).extend(
            (settings.coefficient * kl_s.double()).tolist()
        )
        total += float(kl_s.sum())
    tokens = sum(sample.sampled for sample in samples)
    return KlCosts(by_attempt=by_attempt, mean_kl=total / max(1, tokens))
