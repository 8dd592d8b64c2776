"""The parity gate: engine and trainer must give the same log-probabilities to the same tokens.

A batch is measured before its update, on the rows that were sampled by the trainer's own weights
version. Above a limit the update is refused with the evidence: wrong weights, a wrong template, a
lost image or a mask that is off by one all show here first.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import torch
from torch import Tensor

from screenloop.train.settings import ParityLimits
from screenloop.types import Struct

WORST_TOKENS = 8
"""How many tokens the evidence names."""


class TokenDifference(Struct, frozen=True, kw_only=True):
    """One token on which engine and trainer differ."""

    row: str
    """Name of the training row."""
    position: int
    token_id: int
    engine_log_prob: float
    trainer_log_prob: float


class Parity(Struct, frozen=True, kw_only=True):
    """How far engine and trainer differ on one batch."""

    tokens: int
    mean_abs: float
    """Mean |log-probability difference|, nats."""
    max_abs: float
    k3: float
    """Mean of w - 1 - log w with w = p_trainer / p_engine."""
    worst: tuple[TokenDifference, ...] = ()
    """The tokens that differ most, worst first."""


class ParityRefusal(Struct, frozen=True, kw_only=True):
    """Why the update of a batch is refused."""

    reason: str
    parity: Parity
    limits: ParityLimits


def measure_parity(
    engine_log_probs_B_T: Tensor,
    trainer_log_probs_B_T: Tensor,
    mask_B_T: Tensor,
    token_ids_B_T: Tensor,
    rows_B: Sequence[str],
) -> Parity:
    """Measure a batch; a difference that is not a number counts as infinite."""
    where = mask_B_T.bool().nonzero()
    at = (where[:, 0], where[:, 1])
    engine = engine_log_probs_B_T.detach()[at].double()
    trainer = trainer_log_probs_B_T.detach()[at].double()
    log_ratio = trainer - engine
    gap = torch.where(log_ratio.isfinite(), log_ratio.abs(), torch.inf)
    if not len(gap):
        return Parity(tokens=0, mean_abs=0.0, max_abs=0.0, k3=0.0)
    k3 = torch.where(gap.isinf(), torch.inf, torch.special.expm1(log_ratio) - log_ratio)
    order = gap.argsort(descending=True, stable=True)[:WORST_TOKENS].tolist()
    worst = tuple(
        TokenDifference(
            row=rows_B[int(where[i, 0])],
            position=int(where[i, 1]),
            token_id=int(token_ids_B_T[where[i, 0], where[i, 1]]),
            engine_log_prob=float(engine[i]),
            trainer_log_prob=float(trainer[i]),
        )
        for i in order
        if float(gap[i]) > 0
    )
    return Parity(
        tokens=len(gap),
        mean_abs=float(gap.mean()),
        max_abs=float(gap.max()),
        k3=float(k3.mean()),
        worst=worst,
    )


def judge_parity(parity: Parity, limits: ParityLimits = ParityLimits()) -> ParityRefusal | None:
    """Return why the update must not happen, or `None` when the batch may be trained on."""
    over = [
        f"{name} {value:.3g} (limit {limit:.3g})"
        for name, value, limit in (
            ("max |difference|", parity.max_abs, limits.max_abs),
            ("mean |difference|", parity.mean_abs, limits.mean_abs),
            ("k3", parity.k3, limits.k3),
        )
        if not (isfinite(value) and value <= limit)
    ]
    if not over:
        return None
    return ParityRefusal(
        reason=(
            f"engine and trainer disagree on {parity.tokens} sampled tokens: {', '.join(over)}. "
            "They must hold the same weights, ban the same token ids and see the same prompt ids "
            "and images; the worst tokens are listed."
        ),
        parity=parity,
        limits=limits,
    )
