"""The trainer's forward pass: log-probabilities and entropies of sampled tokens alone.

Only the positions in front of sampled tokens go through the vocabulary: at tiny sizes the softmax
over everything else would cost more than the network. Rows that are equal are read once, which is
most of them in a group of short attempts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from screenloop.engine.network import picture_arguments
from screenloop.engine.policy import Policy
from screenloop.engine.sampling import banned_mask, processed_logprobs
from screenloop.engine.vision import positions
from screenloop.errors import ConfigError
from screenloop.messages import Sampling
from screenloop.train.types import Sample
from screenloop.types import BlobKey, Struct

Patches = Mapping[BlobKey, Tensor]
"""Pixels of pictures, as `VisionRule.pixels` cuts them."""


class SampledScores(Struct, frozen=True, kw_only=True):
    """What the policy says about the sampled tokens.

    One row a Sample, its sampled tokens in order, padded with 0 at the end.
    """

    log_probs_B_S: Tensor
    entropy_B_S: Tensor
    """Of the distribution that each token was drawn from, in nats."""
    greedy_B_S: Tensor
    """Whether the token is the most likely one."""
    values_B_S: Tensor | None = None
    """What a value head says of the states that the tokens were drawn in."""


class SampledRows(Struct, frozen=True, kw_only=True):
    """Samples cut down to their sampled tokens, padded at the end: what losses work on."""

    samples: tuple[Sample, ...]
    mask_B_S: Tensor
    rollout_log_probs_B_S: Tensor
    advantages_B_S: Tensor
    attempts_B: Tensor
    """Index of the attempt of each row, from 0 in order of first appearance."""


def sampled_positions(sample: Sample) -> list[int]:
    """Return where the sampled tokens stand."""
    return [i for span in sample.spans for i in range(span.start, span.end)]


def sampled_rows(samples: Sequence[Sample]) -> SampledRows:
    """Lay Samples out for a loss.

    Raises:
        ConfigError: there is none, or they differ in banned ids or temperature.
    """
    if not samples:
        raise ConfigError("a batch needs at least one Sample; skip updates without any")
    if len({(sample.banned_ids, sample.temperature) for sample in samples}) > 1:
        raise ConfigError(
            "the Samples of a batch were drawn with different banned ids or temperatures; put them "
            "into separate batches"
        )
    at = [sampled_positions(sample) for sample in samples]
    numbers: dict[str, int] = {}
    return SampledRows(
        samples=tuple(samples),
        mask_B_S=_padded([[1.0] * len(row) for row in at]),
        rollout_log_probs_B_S=_padded(
            [[s.rollout_log_probs[i] for i in row] for s, row in zip(samples, at, strict=True)]
        ),
        advantages_B_S=_padded(
            [[s.advantages[i] for i in row] for s, row in zip(samples, at, strict=True)]
        ),
        attempts_B=torch.tensor([numbers.setdefault(s.attempt_id, len(numbers)) for s in samples]),
    )


def micro_batches(samples: Sequence[Sample], max_tokens: int) -> list[list[int]]:
    """Cut a batch into parts that one pass reads, equal and similar rows side by side.

    Returns indices into `samples`, each once; the same batch is always cut the same way.
    """
    order = sorted(
        range(len(samples)), key=lambda i: (len(samples[i].token_ids), samples[i].token_ids)
    )
    parts: list[list[int]] = []
    unique: set[tuple[int, ...]] = set()
    for index in order:
        row = samples[index].token_ids
        if not parts or len(unique | {row}) * len(row) > max_tokens:
            parts.append([])
            unique = set()
        unique.add(row)
        parts[-1].append(index)
    return parts


def drawn_log_probs(
    logits_N_V: Tensor, *, banned_ids: Sequence[int] = (), temperature: float = 1.0
) -> Tensor:
    """Return the log-probabilities of the distribution that tokens were drawn from.

    It is the sampler's own function, so that both exclude the same ids: a vision token that is
    sampled breaks the training forward, and one that is only banned in the sampler shifts every
    log-probability.

    Raises:
        ConfigError: the temperature is not above 0, or a banned id is outside the vocabulary.
    """
    if not temperature > 0:
        raise ConfigError(
            f"temperature {temperature:g} has no distribution to learn from; sample above 0."
        )
    banned_V = banned_mask(banned_ids, logits_N_V.shape[-1], logits_N_V.device)
    return processed_logprobs(logits_N_V, Sampling(temperature=temperature), banned_V)


def entropy(log_probs_N_V: Tensor) -> Tensor:
    """Return the entropy of each distribution, in nats."""
    # A banned id has p = 0 and log p = -inf; its product would be NaN, in the gradient too.
    finite_N_V = torch.where(
        log_probs_N_V.isneginf(), torch.zeros_like(log_probs_N_V), log_probs_N_V
    )
    return -(log_probs_N_V.exp() * finite_N_V).sum(dim=-1)


def score(
    policy: Policy, samples: Sequence[Sample], patches: Patches, *, head: nn.Module | None = None
) -> SampledScores:
    """Run the network over Samples, with gradients where they are on.

    Args:
        policy: The network.
        samples: What it reads.
        patches: Pixels of their pictures.
        head: A value head that reads the last hidden states too.

    Raises:
        ConfigError: a picture's pixels are missing.
    """
    numbers: dict[tuple[Any, ...], int] = {}
    rows: list[Sample] = []
    of_row: list[int] = []
    for sample in samples:
        trained = tuple((span.start, span.end) for span in sample.spans)
        name = (sample.token_ids, trained, tuple(image.key for image in sample.images))
        if name not in numbers:
            numbers[name] = len(rows)
            rows.append(sample)
        of_row.append(numbers[name])
    hidden_B_T_D = _hidden(policy, rows, patches)
    at = [sampled_positions(sample) for sample in rows]
    row_N = torch.tensor([r for r, places in enumerate(at) for _ in places])
    place_N = torch.tensor([place for places in at for place in places])
    token_N = torch.tensor([rows[r].token_ids[i] for r, places in enumerate(at) for i in places])
    column_N = torch.tensor([c for places in at for c in range(len(places))])
    network: Any = policy.model
    # The state in front of a token speaks about it.
    states_N_D = hidden_B_T_D[row_N, place_N - 1]
    logits_N_V = network.get_output_embeddings()(states_N_D)
    log_probs_N_V = drawn_log_probs(
        logits_N_V, banned_ids=rows[0].banned_ids, temperature=rows[0].temperature
    )
    taken_N = log_probs_N_V.gather(-1, token_N[:, None])[:, 0]
    entropy_N = entropy(log_probs_N_V)
    greedy_N = log_probs_N_V.detach().argmax(dim=-1) == token_N
    shape = (len(rows), max(len(places) for places in at))
    index = (row_N, column_N)
    back = torch.tensor(of_row)
    values_B_S: Tensor | None = None
    if head is not None:
        values_N = head(states_N_D)
        values_B_S = values_N.new_zeros(shape).index_put(index, values_N)[back]
    return SampledScores(
        log_probs_B_S=taken_N.new_zeros(shape).index_put(index, taken_N)[back],
        entropy_B_S=entropy_N.new_zeros(shape).index_put(index, entropy_N)[back],
        greedy_B_S=torch.zeros(shape, dtype=torch.bool).index_put(index, greedy_N)[back],
        values_B_S=values_B_S,
    )


def _hidden(policy: Policy, rows: Sequence[Sample], patches: Patches) -> Tensor:
    """Return the last hidden states. Padding is at the end, where causal attention never looks."""
    lengths = [len(sample.token_ids) for sample in rows]
    ids = torch.zeros(len(rows), max(lengths), dtype=torch.long)
    places = torch.zeros(3, *ids.shape, dtype=torch.long)
    merge = 1 if policy.vision is None else policy.vision.merge
    for row, sample in enumerate(rows):
        ids[row, : lengths[row]] = torch.tensor(sample.token_ids)
        if policy.vision is not None:
            places[:, row, : lengths[row]] = positions(lengths[row], sample.images, merge)
    if policy.vision is None:
        places[:] = torch.arange(ids.shape[1])
    missing = [i.key for s in rows for i in s.images if i.key not in patches]
    if missing:
        raise ConfigError(f"the pixels of picture {missing[0]} are not at hand")
    pictures = [(image, patches[image.key]) for sample in rows for image in sample.images]
    network: Any = policy.model
    out = network.base_model(
        input_ids=ids.to(policy.device),
        position_ids=(places[0] if policy.vision is None else places).to(policy.device),
        use_cache=False,
        **picture_arguments(policy, pictures),
    )
    hidden: Tensor = out.last_hidden_state
    return hidden


def _padded(rows: Sequence[Sequence[float]]) -> Tensor:
    return torch.nn.utils.rnn.pad_sequence(
        [torch.tensor(row, dtype=torch.float32) for row in rows], batch_first=True
    )
