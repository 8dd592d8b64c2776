"""What an update came to, put together into its line of `metrics.jsonl`; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from screenloop.report.training.metrics import StageSeconds, UpdateLine
from screenloop.train.credit.groups import select_groups
from screenloop.train.learner import UpdateFigures
from screenloop.train.preparation import PreparedUpdate
from screenloop.train.types import AttemptReward, PlayedAttempt, TrainAttempt
from screenloop.types import Struct


class PlayedBatch(Struct, frozen=True, kw_only=True):
    """The attempts of one update, played."""

    played: tuple[PlayedAttempt, ...]
    seconds: float
    before: dict[str, int]
    after: dict[str, int]
    """The engine's counters."""


class UpdateOutcome(Struct, frozen=True, kw_only=True):
    """One update, as the trainer saw it."""

    update: int
    batch: PlayedBatch
    attempts: tuple[TrainAttempt, ...]
    prepared: PreparedUpdate
    figures: UpdateFigures
    version: int
    """Of the weights that the update began with."""
    held_out: float | None
    """Success on the validation tasks, where it was measured."""
    seconds: StageSeconds
    """Wall seconds by stage."""
    cpu_s: float
    """CPU seconds of the whole run so far."""


def update_line(outcome: UpdateOutcome) -> UpdateLine:
    """Return the line of an update."""
    batch, chosen, figures = outcome.batch, outcome.prepared.chosen, outcome.figures
    rewards = [a.reward for a in outcome.attempts if a.reward is not None]
    components = mean_components(rewards)
    costs = outcome.prepared.costs
    if costs is not None and rewards:
        paid = sum(sum(row) for row in costs.by_attempt.values())
        components["kl"] = -paid / len(rewards)
    used = {name: batch.after[name] - batch.before[name] for name in batch.after}
    prompt = max(1, used["prompt_tokens"])
    counts = chosen.counts
    versions = [s.weights_versions[0] for s in chosen.samples]
    return UpdateLine(
        update=outcome.update,
        success=sum(r.success for r in rewards) / max(1, len(rewards)),
        success_by_domain=by_domain(batch.played),
        held_out=outcome.held_out,
        reward=sum(r.total for r in rewards) / max(1, len(rewards)) + components.get("kl", 0.0),
        reward_components=components,
        attempts=counts.attempts,
        unscored=counts.unscored,
        parse_errors=sum(
            step.parse_error is not None for one in batch.played for step in one.episode.steps
        ),
        groups=counts.groups,
        groups_with_spread=groups_with_spread(outcome.attempts),
        groups_too_few=counts.too_few,
        groups_no_spread=counts.no_spread,
        trained=counts.trained,
        samples=len(chosen.samples),
        sampled_tokens=sum(s.sampled for s in chosen.samples),
        read_tokens=sum(len(s.token_ids) for s in chosen.samples),
        loss=figures.loss,
        kl=figures.kl if costs is None else costs.mean_kl,
        entropy=figures.entropy,
        clip_fraction=figures.clip_fraction,
        approx_kl=figures.approx_kl,
        grad_norm=figures.grad_norm,
        value_loss=figures.value_loss,
        explained_variance=figures.explained_variance,
        anchor_sizes={} if chosen.anchors is None else chosen.anchors.sizes,
        anchor_singletons=None if chosen.anchors is None else chosen.anchors.singleton_share,
        learning_rate=figures.learning_rate,
        parity_max=figures.parity.max_abs,
        parity_mean=figures.parity.mean_abs,
        parity_k3=figures.parity.k3,
        staleness=outcome.version - min(versions) if versions else 0,
        prompt_tokens=used["prompt_tokens"],
        cached_tokens=used["cached_tokens"],
        decoded_tokens=used["decoded_tokens"],
        prefix_hit_share=used["cached_tokens"] / prompt,
        session_hit_share=used["session_cached_tokens"] / prompt,
        seconds=outcome.seconds,
        cpu_s=outcome.cpu_s,
    )


def domain_of(tags: dict[str, str]) -> str:
    """Return what curves go by: the task's domain."""
    return tags.get("domain", "")


def by_domain(played: Sequence[PlayedAttempt]) -> dict[str, float]:
    """Return the share of solved among scored attempts, by domain."""
    scored: Counter[str] = Counter()
    solved: Counter[str] = Counter()
    for one in played:
        if one.success is not None:
            domain = domain_of(one.planned.task.tags)
            scored[domain] += 1
            solved[domain] += one.success
    return {domain: solved[domain] / count for domain, count in sorted(scored.items())}


def groups_with_spread(attempts: Sequence[TrainAttempt]) -> int:
    """Return how many groups have scored attempts that earned different rewards.

    Estimators that compare inside groups train on just these; others on all.
    """
    return select_groups(attempts).counts.kept


def mean_components(rewards: Sequence[AttemptReward]) -> dict[str, float]:
    """Return the mean of each named reward component."""
    names = sorted({name for reward in rewards for name in reward.components})
    return {
        name: sum(reward.components.get(name, 0.0) for reward in rewards) / len(rewards)
        for name in names
    }
