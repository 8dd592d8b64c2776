"""Advantages of single steps from states that several attempts reached: GiGPO and HGPO; pure.

A row here is one step of one attempt; rows of an attempt stand together in time order. An anchor
is the hash of what the policy saw before the step (see `anchors`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

import torch
from torch import Tensor

from screenloop.errors import ConfigError
from screenloop.train.credit.group_advantage import EPSILON, group_relative
from screenloop.train.settings import Normalise
from screenloop.train.types import AnchorFigures
from screenloop.types import Struct


class StepRows(Struct, frozen=True, kw_only=True):
    """The steps of all attempts of an update."""

    attempts_E: Tensor
    """Index of the attempt, from 0, each attempt's rows together and in time order."""
    rewards_E: Tensor
    """Reward of the step; the outcome is on the last one."""
    anchors_E: tuple[str, ...]
    costs_E: Tensor | None = None
    """Taken off the step's own return after discounting, never off an earlier step's."""


class StepAdvantages(Struct, frozen=True, kw_only=True):
    """Advantage of each step and its two parts."""

    advantages_E: Tensor
    episode_E: Tensor
    step_E: Tensor
    anchors: AnchorFigures


def step_returns(rewards_E: Tensor, attempts_E: Tensor, gamma: float) -> Tensor:
    """Return G_t = r_t + gamma G_{t+1} inside each attempt.

    Raises:
        ConfigError: the rows of an attempt do not stand together.
    """
    owners = attempts_E.tolist()
    rewards = rewards_E.tolist()
    returns = [0.0] * len(rewards)
    closed: set[int] = set()
    for s in reversed(range(len(rewards))):
        goes_on = s + 1 < len(rewards) and owners[s + 1] == owners[s]
        if not goes_on and owners[s] in closed:
            raise ConfigError(
                f"the steps of attempt {owners[s]} do not stand together; sort the rows by attempt "
                "and time."
            )
        closed.add(owners[s])
        returns[s] = rewards[s] + gamma * returns[s + 1] if goes_on else rewards[s]
    return rewards_E.new_tensor(returns)


def gigpo(
    rows: StepRows,
    scores_A: Tensor,
    groups_A: Tensor,
    *,
    gamma: float = 0.95,
    omega: float = 1.0,
    normalise: Normalise = "none",
    pool_steps: bool = False,
) -> StepAdvantages:
    """Return A = A_episode + omega A_step for each step.

    Feng et al., arXiv:2505.10978, eq. 3-8. A_episode compares the attempts' scores inside the task
    group; A_step compares the discounted returns of the steps of a task group that began at the
    same anchor. A step alone at its anchor has A_step = 0; an attempt alone in its group has
    A_episode = 0.

    Args:
        rows: The steps.
        scores_A: Score of each attempt.
        groups_A: Index of each attempt's task group, from 0.
        gamma: Discount of a step.
        omega: Weight of the step part.
        normalise: Whether both parts are divided by their group's standard deviation.
        pool_steps: Whether episode statistics count an attempt once a step, as some published
            code does; long attempts then weigh more.

    Raises:
        ConfigError: see `step_returns`.
    """
    returns_E = _returns(rows, gamma)
    counts_A = torch.bincount(rows.attempts_E, minlength=len(scores_A))
    episode_A = group_relative(
        scores_A, groups_A, normalise=normalise, rows_A=counts_A if pool_steps else None
    )
    keys = [
        (group, anchor)
        for group, anchor in zip(groups_A[rows.attempts_E].tolist(), rows.anchors_E, strict=True)
    ]
    step_E = group_relative(returns_E, _indices(keys), normalise=normalise)
    episode_E = episode_A[rows.attempts_E]
    return StepAdvantages(
        advantages_E=episode_E + omega * step_E,
        episode_E=episode_E,
        step_E=step_E,
        anchors=_figures(keys, rows.attempts_E.tolist()),
    )


def hgpo(
    rows: StepRows,
    scores_A: Tensor,
    groups_A: Tensor,
    *,
    history: int = 2,
    gamma: float = 0.95,
    alpha: float = 1.0,
    normalise: Normalise = "std",
    with_episode: bool = False,
) -> StepAdvantages:
    """Return A = sum_k w_k a_k: comparisons among steps that also share the k-1 states before.

    HGPO, as its published recipe computes it. For k = 1 .. history + 1, steps of a task group are
    grouped by their last k anchors; a_k = (G - mean) / (std + 1e-6) with the population's standard
    deviation, over groups of two and more. w_k is proportional to (k + 1)^alpha over the k whose
    a_k is not 0. "Same screen, different history" thus weighs less than "same screen, same
    history". `with_episode` adds the attempt's group-relative score as k = 0.

    Raises:
        ConfigError: see `step_returns`.
    """
    returns_E = _returns(rows, gamma)
    owners = rows.attempts_E.tolist()
    group_E = groups_A[rows.attempts_E].tolist()
    pasts = _pasts(owners, rows.anchors_E, history)
    items_K_E: list[Tensor] = []
    episode_E = group_relative(scores_A, groups_A, normalise=normalise)[rows.attempts_E]
    if with_episode:
        items_K_E.append(episode_E)
    for k in range(1, history + 2):
        keys: list[Hashable] = [
            (group, past[-k:]) if len(past) >= k else ("too short", s)
            for s, (group, past) in enumerate(zip(group_E, pasts, strict=True))
        ]
        items_K_E.append(_population_relative(returns_E, _indices(keys), normalise))
    first_k = 0 if with_episode else 1
    stacked_K_E = torch.stack(items_K_E)
    ks = torch.arange(first_k, first_k + len(items_K_E), dtype=returns_E.dtype)
    weights_K_E = torch.where(stacked_K_E != 0, ((ks + 1) ** alpha).unsqueeze(-1), 0.0)
    total_E = weights_K_E.sum(dim=0)
    mixed_E = (weights_K_E * stacked_K_E).sum(dim=0) / (total_E + EPSILON)
    anchors = _figures(list(zip(group_E, rows.anchors_E, strict=True)), owners)
    part_E = episode_E if with_episode else torch.zeros_like(mixed_E)
    return StepAdvantages(advantages_E=mixed_E, episode_E=part_E, step_E=mixed_E, anchors=anchors)


def _returns(rows: StepRows, gamma: float) -> Tensor:
    returns_E = step_returns(rows.rewards_E, rows.attempts_E, gamma)
    return returns_E if rows.costs_E is None else returns_E - rows.costs_E


def _pasts(owners: Sequence[int], anchors_E: Sequence[str], history: int) -> list[tuple[str, ...]]:
    """Return the anchor of each step after those of up to `history` steps before it."""
    pasts: list[tuple[str, ...]] = []
    for s, anchor in enumerate(anchors_E):
        goes_on = s > 0 and owners[s - 1] == owners[s]
        before = pasts[-1][-history:] if goes_on and history else ()
        pasts.append((*before, anchor))
    return pasts


def _population_relative(values_E: Tensor, groups_E: Tensor, normalise: Normalise) -> Tensor:
    centred_E = group_relative(values_E, groups_E, normalise="none")
    if normalise == "none":
        return centred_E
    sizes = torch.bincount(groups_E).to(values_E.dtype)
    squares = values_E.new_zeros(len(sizes)).index_add(0, groups_E, centred_E.square())
    return centred_E / ((squares / sizes).sqrt()[groups_E] + EPSILON)


def _indices(keys: Sequence[Hashable]) -> Tensor:
    numbers: dict[Hashable, int] = {}
    return torch.tensor([numbers.setdefault(key, len(numbers)) for key in keys], dtype=torch.long)


def _figures(keys: Sequence[Hashable], owners: Sequence[int]) -> AnchorFigures:
    sizes = Counter(keys)
    attempts: dict[Hashable, set[int]] = {}
    for key, owner in zip(keys, owners, strict=True):
        attempts.setdefault(key, set()).add(owner)
    return AnchorFigures(
        steps=len(keys),
        groups=len(sizes),
        singletons=sum(1 for size in sizes.values() if size == 1),
        within_one_attempt=sum(
            1 for key, size in sizes.items() if size > 1 and len(attempts[key]) == 1
        ),
        sizes=dict(sorted(Counter(sizes.values()).items())),
    )
