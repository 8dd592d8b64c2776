"""From logits to a token: the processed distribution, and draws that need no shared state.

The trainer computes its log-probs with the same function, so that engine and trainer differ only
by float rounding.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import torch
from torch import Tensor

from screenloop.errors import ConfigError
from screenloop.messages import Sampling


def banned_mask(banned: Sequence[int], vocab: int, device: torch.device | str = "cpu") -> Tensor:
    """Return a boolean vector over the vocabulary, true where a token may never be sampled.

    Raises:
        ConfigError: a banned id is outside the vocabulary.
    """
    outside = [i for i in banned if not 0 <= i < vocab]
    if outside:
        raise ConfigError(f"banned id {outside[0]} is outside the vocabulary of {vocab} tokens.")
    mask = torch.zeros(vocab, dtype=torch.bool, device=device)
    mask[list(banned)] = True
    return mask


def processed_logprobs(logits: Tensor, sampling: Sampling, banned_V: Tensor) -> Tensor:
    """Return the log-probs of the distribution that tokens are drawn from, in float32.

    In this order: banned tokens get minus infinity, the rest is divided by the temperature, only
    the `top_k` most likely stay, then the smallest set whose probability reaches `top_p`; what is
    left is normalised. Temperature 0 takes the most likely token; its log-probs are those at
    temperature 1 without `top_k` and `top_p`, because a certain event would carry no information.

    Args:
        logits: `[..., vocab]`.
        sampling: Temperature, `top_p` and `top_k`.
        banned_V: From `banned_mask`.
    """
    scores = logits.float().masked_fill(banned_V, float("-inf"))
    if sampling.temperature > 0:
        scores = scores / sampling.temperature
        if sampling.top_k is not None and 0 < sampling.top_k < scores.shape[-1]:
            least = scores.topk(sampling.top_k, dim=-1).values[..., -1:]
            scores = scores.masked_fill(scores < least, float("-inf"))
        if sampling.top_p < 1:
            scores = _nucleus(scores, sampling.top_p)
    return scores.log_softmax(dim=-1)


def _nucleus(scores: Tensor, top_p: float) -> Tensor:
    ordered, order = scores.sort(dim=-1, descending=True, stable=True)
    share = ordered.softmax(dim=-1)
    # A token stays while the ones before it have not reached top_p; the first always stays.
    gone = share.cumsum(dim=-1) - share >= top_p
    gone[..., 0] = False
    return scores.masked_fill(gone.gather(-1, order.argsort(dim=-1)), float("-inf"))


def uniform(seed: int, call_id: str, index: int) -> float:
    """Return the number in [0, 1) that decides the `index`-th token of a call.

    It depends on nothing else: neither on the batch, nor on the order of requests.
    """
    digest = hashlib.sha256(f"{seed}\n{call_id}\n{index}".encode()).digest()
    return (int.from_bytes(digest[:8], "big") >> 11) / 2**53


def draw(logprobs_B_V: Tensor, uniforms: Sequence[float | None]) -> Tensor:
    """Return one token a row: by inverting the distribution, or the most likely for `None`.

    A token of probability 0 is never drawn.
    """
    shares = logprobs_B_V.double().exp()
    total = shares.cumsum(dim=-1)
    at = torch.tensor([[u or 0.0] for u in uniforms], dtype=torch.float64, device=total.device)
    drawn = torch.searchsorted(total, at * total[:, -1:], right=True)[:, 0]
    best = logprobs_B_V.argmax(dim=-1)
    # Rounding can put a draw behind the last token that has any probability.
    inside = drawn < total.shape[-1]
    wanted = torch.tensor([u is not None for u in uniforms], device=total.device)
    return torch.where(wanted & inside, drawn, best)
