"""The value head of PPO and its loss: what an attempt is still going to earn, token by token.

The head reads the last hidden state in front of a sampled token: the state that the token was drawn
in. An attempt is one row of its sampled tokens in causal order, windows joined and each token
there once, and credit (`gae`) flows over that row: from a step back to the one before, over window
boundaries too. Each value is said in the window that trains the token, so the first one behind a
boundary reads the shorter context that the policy read there. After the last token the value is 0,
for attempts that ran out of steps as well: the step limit belongs to the Task.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from screenloop.engine.policy import Policy
from screenloop.train.loss.masking import masked_mean
from screenloop.train.types import Sample
from screenloop.types import Struct


class ValueHead(nn.Module):
    """One linear layer on the last hidden state; 0 everywhere until it learns."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width, 1)
        nn.init.zeros_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)

    def forward(self, states_N_D: Tensor) -> Tensor:
        values_N: Tensor = self.linear(states_N_D.float())[:, 0]
        return values_N


class ValueRow(Struct, frozen=True, kw_only=True):
    """What the head learns from one Sample, a number a sampled token."""

    old_S: Tensor
    """What it said before the update."""
    returns_S: Tensor
    """What it should have said."""


def value_head(policy: Policy) -> ValueHead:
    """Return a fresh head for a policy."""
    network: Any = policy.model
    width = int(network.get_output_embeddings().weight.shape[1])
    with torch.random.fork_rng(devices=[]):
        head = ValueHead(width)
    return head.to(policy.device)


def values_by_attempt(
    samples: Iterable[Sample], by_sample: Mapping[str, Tensor]
) -> dict[str, list[float]]:
    """Join numbers of sampled tokens, given by the name of the Sample, into one row an attempt.

    The Samples of an attempt must come in their order.
    """
    joined: dict[str, list[float]] = {}
    for sample in samples:
        joined.setdefault(sample.attempt_id, []).extend(by_sample[sample.name].tolist())
    return joined


def value_rows(
    samples: Sequence[Sample], values: Mapping[str, Tensor], returns: Mapping[str, Sequence[float]]
) -> dict[str, ValueRow]:
    """Return what the head learns, by the name of the Sample.

    Args:
        samples: The Samples of an attempt in their order.
        values: By the name of the Sample.
        returns: By attempt, one a sampled token, windows joined.
    """
    taken: dict[str, int] = {}
    rows: dict[str, ValueRow] = {}
    for sample in samples:
        start = taken.get(sample.attempt_id, 0)
        taken[sample.attempt_id] = start + sample.sampled
        own = returns[sample.attempt_id][start : start + sample.sampled]
        rows[sample.name] = ValueRow(old_S=values[sample.name], returns_S=torch.tensor(own))
    return rows


def explained_variance(rows: Iterable[ValueRow]) -> float:
    """Return 1 - Var(R - V) / Var(R) over all tokens: 1 is foresight, 0 no better than the mean.

    0 where all returns are the same: there is nothing to explain.
    """
    known = list(rows)
    returns_N = torch.cat([row.returns_S.double() for row in known])
    missed_N = returns_N - torch.cat([row.old_S.double() for row in known])
    variance = float(returns_N.var(correction=0))
    return 1.0 - float(missed_N.var(correction=0)) / variance if variance > 0 else 0.0


class ValueLoss(Struct, frozen=True, kw_only=True):
    """Loss of the value head per token, and how often the clip decided."""

    loss_B_T: Tensor
    clip_fraction: float


def value_loss(
    values_B_T: Tensor,
    old_values_B_T: Tensor,
    returns_B_T: Tensor,
    mask_B_T: Tensor,
    *,
    clip: float = 0.5,
) -> ValueLoss:
    """Return 1/2 max((V - R)^2, (clip(V, V_old +- clip) - R)^2) of each token.

    The clipped value loss of PPO implementations (verl's `compute_value_loss`): a step of the value
    head earns nothing beyond `clip`.
    """
    clipped_B_T = torch.minimum(
        torch.maximum(values_B_T, old_values_B_T - clip), old_values_B_T + clip
    )
    plain_B_T = (values_B_T - returns_B_T).square()
    bound_B_T = (clipped_B_T - returns_B_T).square()
    return ValueLoss(
        loss_B_T=torch.maximum(plain_B_T, bound_B_T) / 2,
        clip_fraction=float(masked_mean((bound_B_T > plain_B_T).float(), mask_B_T)),
    )
