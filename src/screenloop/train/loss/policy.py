"""Policy losses, per token: PPO clip (clip-higher, dual clip), GSPO, CISPO, REINFORCE; pure.

Each returns the loss of every token; `aggregate.token_weights` says what a token weighs. Weights
for the mismatch of rollout and trainer (`mismatch.rollout_weights`) multiply the loss.
"""

from __future__ import annotations

import torch
from msgspec.structs import replace
from torch import Tensor

from screenloop.errors import ConfigError
from screenloop.registry import find
from screenloop.train.loss.masking import masked_mean, row_mean
from screenloop.train.settings import Clip
from screenloop.types import Struct

_LOG_RATIO_BOUND = 20.0
_LOG_SEQUENCE_RATIO_MAX = 10.0


class PolicyLoss(Struct, frozen=True, kw_only=True):
    """Loss of each token, and figures over the tokens that count."""

    loss_B_T: Tensor
    clip_fraction: float
    """Share of tokens on which the clip decided."""
    clip_fraction_lower: float = 0.0
    """Share of tokens on which the dual clip decided."""
    approx_kl: float
    """Mean of log pi_old - log pi: how far the policy moved in this update."""


def ppo_loss(
    log_probs_B_T: Tensor,
    old_log_probs_B_T: Tensor,
    advantages_B_T: Tensor,
    mask_B_T: Tensor,
    *,
    clip: Clip = Clip(),
) -> PolicyLoss:
    """Return L_t = max(-rho A, -clip(rho, 1 - low, 1 + high) A), rho = exp(log pi - log pi_old).

    Schulman et al., arXiv:1707.06347, eq. 7; with unequal bounds DAPO's clip-higher. For A < 0 the
    dual clip bounds it: min(L_t, -c A). The log-ratio is bound to +-20.
    """
    log_ratio_B_T = (log_probs_B_T - old_log_probs_B_T).clamp(-_LOG_RATIO_BOUND, _LOG_RATIO_BOUND)
    ratio_B_T = log_ratio_B_T.exp()
    plain_B_T = -advantages_B_T * ratio_B_T
    bound_B_T = -advantages_B_T * ratio_B_T.clamp(1 - clip.low, 1 + clip.high)
    loss_B_T = torch.maximum(plain_B_T, bound_B_T)
    lower = 0.0
    if clip.dual is not None:
        floor_B_T = -advantages_B_T * clip.dual
        is_lower_B_T = (advantages_B_T < 0) & (loss_B_T > floor_B_T)
        lower = float(masked_mean(is_lower_B_T.float(), mask_B_T))
        loss_B_T = torch.where(is_lower_B_T, floor_B_T, loss_B_T)
    return PolicyLoss(
        loss_B_T=loss_B_T,
        clip_fraction=float(masked_mean((bound_B_T > plain_B_T).float(), mask_B_T)),
        clip_fraction_lower=lower,
        approx_kl=_moved(log_ratio_B_T, mask_B_T),
    )


def gspo_loss(
    log_probs_B_T: Tensor,
    old_log_probs_B_T: Tensor,
    advantages_B_T: Tensor,
    mask_B_T: Tensor,
    *,
    clip: Clip = Clip(low=3e-4, high=4e-4, dual=None),
) -> PolicyLoss:
    """Return the clipped loss with one ratio a sequence, s_i = exp(mean_t log rho_t).

    Zheng et al., arXiv:2507.18071, eq. 5-7, in the token form: s_it = sg[s_i] pi_t / sg[pi_t] has
    the value of s_i and lets each token's advantage act on that token. A sequence is one row. The
    ratio moves far less than a token's, so the bounds are small. Aggregate with
    `seq-mean-token-mean`. There is no dual clip.

    Raises:
        ConfigError: a dual clip is asked for.
    """
    if clip.dual is not None:
        raise ConfigError("GSPO has no dual clip; set clip.dual to null.")
    log_ratio_B_T = log_probs_B_T - old_log_probs_B_T
    sequence_B_1 = row_mean(log_ratio_B_T, mask_B_T).detach().unsqueeze(-1)
    ratio_B_T = (
        (log_probs_B_T - log_probs_B_T.detach() + sequence_B_1).clamp(max=_LOG_SEQUENCE_RATIO_MAX)
    ).exp()
    plain_B_T = -advantages_B_T * ratio_B_T
    bound_B_T = -advantages_B_T * ratio_B_T.clamp(1 - clip.low, 1 + clip.high)
    return PolicyLoss(
        loss_B_T=torch.maximum(plain_B_T, bound_B_T),
        clip_fraction=float(masked_mean((bound_B_T > plain_B_T).float(), mask_B_T)),
        approx_kl=_moved(log_ratio_B_T, mask_B_T),
    )


def cispo_loss(
    log_probs_B_T: Tensor,
    old_log_probs_B_T: Tensor,
    advantages_B_T: Tensor,
    mask_B_T: Tensor,
    *,
    clip: Clip = Clip(dual=None),
) -> PolicyLoss:
    """Return -sg[clip(rho, 1 - low, 1 + high)] A log pi: the weight is clipped, not the gradient.

    MiniMax, arXiv:2506.13585, eq. 4-5. Every token keeps a gradient. There is no dual clip.

    Raises:
        ConfigError: a dual clip is asked for.
    """
    if clip.dual is not None:
        raise ConfigError("CISPO has no dual clip; set clip.dual to null.")
    log_ratio_B_T = (log_probs_B_T - old_log_probs_B_T).clamp(-_LOG_RATIO_BOUND, _LOG_RATIO_BOUND)
    ratio_B_T = log_ratio_B_T.exp().detach()
    bound_B_T = ratio_B_T.clamp(1 - clip.low, 1 + clip.high)
    return PolicyLoss(
        loss_B_T=-bound_B_T * advantages_B_T * log_probs_B_T,
        clip_fraction=float(masked_mean((bound_B_T != ratio_B_T).float(), mask_B_T)),
        approx_kl=_moved(log_ratio_B_T, mask_B_T),
    )


def reinforce_loss(
    log_probs_B_T: Tensor,
    old_log_probs_B_T: Tensor,
    advantages_B_T: Tensor,
    mask_B_T: Tensor,
    *,
    clip: Clip | None = None,
) -> PolicyLoss:
    """Return -A log pi: the plain policy gradient, on policy only (Williams, 1992); no clip."""
    return PolicyLoss(
        loss_B_T=-advantages_B_T * log_probs_B_T,
        clip_fraction=0.0,
        approx_kl=_moved(log_probs_B_T - old_log_probs_B_T, mask_B_T),
    )


BUILT_IN = {"ppo": ppo_loss, "gspo": gspo_loss, "cispo": cispo_loss, "reinforce": reinforce_loss}


def policy_loss(
    kind: str,
    log_probs_B_T: Tensor,
    old_log_probs_B_T: Tensor,
    advantages_B_T: Tensor,
    mask_B_T: Tensor,
    *,
    clip: Clip,
    weights_B_T: Tensor | None = None,
) -> PolicyLoss:
    """Return the loss of this kind, each token's multiplied by its weight.

    Raises:
        ConfigError: a dotted path leads nowhere, or its function returns something else.
    """
    function = BUILT_IN[kind] if kind in BUILT_IN else find("loss", kind, {})
    result = function(log_probs_B_T, old_log_probs_B_T, advantages_B_T, mask_B_T, clip=clip)
    if not isinstance(result, PolicyLoss) or result.loss_B_T.shape != mask_B_T.shape:
        raise ConfigError(f"policy loss {kind} must return a PolicyLoss with one loss a token")
    if weights_B_T is None:
        return result
    return replace(result, loss_B_T=result.loss_B_T * weights_B_T.detach())


def _moved(log_ratio_B_T: Tensor, mask_B_T: Tensor) -> float:
    return float(masked_mean(-log_ratio_B_T.detach(), mask_B_T))
