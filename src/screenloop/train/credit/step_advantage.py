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

    attempts_s: Tensor
    """Index of the attempt, from 0, each attempt's rows together and in time order."""
    rewards_s: Tensor
    """Reward of the step; the outcome is on the last one."""
    anchors_s: tuple[str, ...]
    costs_s: Tensor | None = None
    """Taken off the step's own return after discounting, never off an earlier step's."""


class StepAdvantages(Struct, frozen=True, kw_only=True):
    """Advantage of each step and its two parts."""

    advantages_s: Tensor
    episode_s: Tensor
    step_s: Tensor
    anchors: AnchorFigures


def step_returns(rewards_s: Tensor, attempts_s: Tensor, gamma: float) -> Tensor:
    """Return G_t = r_t + gamma G_{t+1} inside each attempt.

    Raises:
        ConfigError: the rows of an attempt do not stand together.
    """
    owners = attempts_s.tolist()
    rewards = rewards_s.tolist()
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
    return rewards_s.new_tensor(returns)


def gigpo(
    rows: StepRows,
    scores_n: Tensor,
    groups_n: Tensor,
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
        scores_n: Score of each attempt.
        groups_n: Index of each attempt's task group, from 0.
        gamma: Discount of a step.
        omega: Weight of the step part.
        normalise: Whether both parts are divided by their group's standard deviation.
        pool_steps: Whether episode statistics count an attempt once a step, as some published
            code does; long attempts then weigh more.

    Raises:
        ConfigError: see `step_returns`.
    """
    returns_s = _returns(rows, gamma)
    counts_n = torch.bincount(rows.attempts_s, minlength=len(scores_n))
    episode_n = group_relative(
        scores_n, groups_n, normalise=normalise, rows_n=counts_n if pool_steps else None
    )
    keys = [
        (group, anchor)
        for group, anchor in zip(groups_n[rows.attempts_s].tolist(), rows.anchors_s, strict=True)
    ]
    step_s = group_relative(returns_s, _indices(keys), normalise=normalise)
    episode_s = episode_n[rows.attempts_s]
    return StepAdvantages(
        advantages_s=episode_s + omega * step_s,
        episode_s=episode_s,
        step_s=step_s,
        anchors=_figures(keys, rows.attempts_s.tolist()),
    )


def hgpo(
    rows: StepRows,
    scores_n: Tensor,
    groups_n: Tensor,
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
    returns_s = _returns(rows, gamma)
    owners = rows.attempts_s.tolist()
    group_s = groups_n[rows.attempts_s].tolist()
    pasts = _pasts(owners, rows.anchors_s, history)
    items_ks: list[Tensor] = []
    episode_s = group_relative(scores_n, groups_n, normalise=normalise)[rows.attempts_s]
    if with_episode:
        items_ks.append(episode_s)
    for k in range(1, history + 2):
        keys: list[Hashable] = [
            (group, past[-k:]) if len(past) >= k else ("too short", s)
            for s, (group, past) in enumerate(zip(group_s, pasts, strict=True))
        ]
        items_ks.append(_population_relative(returns_s, _indices(keys), normalise))
    first_k = 0 if with_episode else 1
    stacked_ks = torch.stack(items_ks)
    ks = torch.arange(first_k, first_k + len(items_ks), dtype=returns_s.dtype)
    weights_ks = torch.where(stacked_ks != 0, ((ks + 1) ** alpha).unsqueeze(-1), 0.0)
    total_s = weights_ks.sum(dim=0)
    mixed_s = (weights_ks * stacked_ks).sum(dim=0) / (total_s + EPSILON)
    anchors = _figures(list(zip(group_s, rows.anchors_s, strict=True)), owners)
    part_s = episode_s if with_episode else torch.zeros_like(mixed_s)
    return StepAdvantages(advantages_s=mixed_s, episode_s=part_s, step_s=mixed_s, anchors=anchors)


def _returns(rows: StepRows, gamma: float) -> Tensor:
    returns_s = step_returns(rows.rewards_s, rows.attempts_s, gamma)
    return returns_s if rows.costs_s is None else returns_s - rows.costs_s


def _pasts(owners: Sequence[int], anchors_s: Sequence[str], history: int) -> list[tuple[str, ...]]:
    """Return the anchor of each step after those of up to `history` steps before it."""
    pasts: list[tuple[str, ...]] = []
    for s, anchor in enumerate(anchors_s):
        goes_on = s > 0 and owners[s - 1] == owners[s]
        before = pasts[-1][-history:] if goes_on and history else ()
        pasts.append((*before, anchor))
    return pasts


def _population_relative(values_s: Tensor, groups_s: Tensor, normalise: Normalise) -> Tensor:
    centred_s = group_relative(values_s, groups_s, normalise="none")
    if normalise == "none":
        return centred_s
    sizes = torch.bincount(groups_s).to(values_s.dtype)
    squares = values_s.new_zeros(len(sizes)).index_add(0, groups_s, centred_s.square())
    return centred_s / ((squares / sizes).sqrt()[groups_s] + EPSILON)


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
