"""Estimators of KL(policy || reference) from sampled tokens, in the loss or in the reward; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import get_args

import torch
from torch import Tensor

from screenloop.registry import unknown
from screenloop.train.loss.scoring import sampled_rows
from screenloop.train.settings import KlKind, KlSettings
from screenloop.train.types import Sample
from screenloop.types import Struct

_EXPONENT_BOUND = 20.0
_K3_BOUND = 10.0


def kl_estimate(log_probs_B_T: Tensor, ref_log_probs_B_T: Tensor, kind: KlKind = "k3") -> Tensor:
    """Return the estimate of each token, with d = log pi - log pi_ref.

    k1 = d; k2 = d^2 / 2; k3 = exp(-d) - 1 + d (J. Schulman, "Approximating KL divergence", 2020).
    For stability the exponent is bound to +-20 and k3 to 10, as in verl's `kl_penalty_forward`.

    The expected gradient of k1 and k3 is not the gradient of the KL; that of k2 is, on policy. The
    kinds with `+` give the value of theirs with the gradient of k2 (straight-through; verl's
    `kl_penalty`).

    Raises:
        ConfigError: unknown kind.
    """
    if kind not in get_args(KlKind):
        raise unknown("KL estimator", kind, get_args(KlKind))
    difference = log_probs_B_T - ref_log_probs_B_T
    k2 = difference.square() / 2
    if kind == "k2":
        return k2
    if kind in ("k1", "k1+"):
        value = difference
    else:
        bound = difference.clamp(-_EXPONENT_BOUND, _EXPONENT_BOUND)
        value = (torch.expm1(-bound) + bound).clamp(min=0.0, max=_K3_BOUND)
    if kind.endswith("+"):
        return k2 - k2.detach() + value.detach()
    return value


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
        drawn_S = sampled_rows([sample]).rollout_log_probs_B_S[0]
        kl_S = kl_estimate(drawn_S, reference[sample.name], settings.estimator)
        by_attempt.setdefault(sample.attempt_id, []).extend(
            (settings.coefficient * kl_S.double()).tolist()
        )
        total += float(kl_S.sum())
    tokens = sum(sample.sampled for sample in samples)
    return KlCosts(by_attempt=by_attempt, mean_kl=total / max(1, tokens))
