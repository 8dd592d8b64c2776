"""Log-probabilities of sampled tokens under the processed distribution of the sampler; pure."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from screenloop.errors import ConfigError
from screenloop.types import Struct


class TokenScores(Struct, frozen=True, kw_only=True):
    """What the policy says about the tokens of a batch, aligned to the tokens."""

    log_probs_bt: Tensor
    """Of each token given those before it; column 0 has no past and is 0."""
    entropy_bt: Tensor
    """Of the distribution that each token was drawn from, in nats; column 0 is 0."""


def processed_log_probs(
    logits_btv: Tensor, *, banned_ids: Sequence[int] = (), temperature: float = 1.0
) -> Tensor:
    """Return log softmax(logits / temperature) with the banned ids taken out of the distribution.

    The sampler and the loss must exclude the same ids: a vision token that is sampled breaks the
    training forward, and one that is only banned in the sampler shifts every log-probability.

    Raises:
        ConfigError: the temperature is not above 0, or a banned id is outside the vocabulary.
    """
    if not temperature > 0:
        raise ConfigError(
            f"temperature {temperature:g} has no distribution to learn from; sample above 0."
        )
    scaled = logits_btv.float() / temperature
    if banned_ids:
        size = scaled.shape[-1]
        odd = [i for i in banned_ids if not 0 <= i < size]
        if odd:
            raise ConfigError(f"banned id {odd[0]} is outside the vocabulary of {size} tokens.")
        banned = torch.tensor(sorted(set(banned_ids)), device=scaled.device)
        scaled = scaled.index_fill(-1, banned, float("-inf"))
    return torch.log_softmax(scaled, dim=-1)


def token_scores(
    logits_btv: Tensor,
    token_ids_bt: Tensor,
    *,
    banned_ids: Sequence[int] = (),
    temperature: float = 1.0,
) -> TokenScores:
    """Score a batch of token sequences; the logits at t-1 speak about the token at t.

    Raises:
        ConfigError: see `processed_log_probs`.
    """
    all_btv = processed_log_probs(
        logits_btv[:, :-1], banned_ids=banned_ids, temperature=temperature
    )
    taken_bt = all_btv.gather(-1, token_ids_bt[:, 1:].unsqueeze(-1)).squeeze(-1)
    # A banned id has p = 0 and log p = -inf; its product would be NaN, in the gradient too.
    finite_btv = torch.where(all_btv.isneginf(), torch.zeros_like(all_btv), all_btv)
    entropy_bt = -(all_btv.exp() * finite_btv).sum(dim=-1)
    first = torch.zeros_like(taken_bt[:, :1])
    return TokenScores(
        log_probs_bt=torch.cat([first, taken_bt], dim=1),
        entropy_bt=torch.cat([first, entropy_bt], dim=1),
    )
