"""Estimators of KL(policy || reference) from sampled tokens, in the loss or in the reward; pure."""

from __future__ import annotations

from typing import Literal, get_args

import torch
from torch import Tensor

from screenloop.registry import unknown

KlKind = Literal["k1", "k2", "k3", "k1+", "k3+"]
"""Which estimator; `+` takes its value and the gradient of k2."""
_EXPONENT_BOUND = 20.0
_K3_BOUND = 10.0


def kl_estimate(log_probs_bt: Tensor, ref_log_probs_bt: Tensor, kind: KlKind = "k3") -> Tensor:
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
    difference = log_probs_bt - ref_log_probs_bt
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
