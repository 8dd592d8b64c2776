"""What a training run tells about itself: JSON lines, one object an event.

`warm_up`, `evaluation` and `update` lines in the order of things; on resume, lines behind the
checkpoint are taken back, so that each update is there once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from screenloop.errors import InfraFault
from screenloop.types import Struct

NAME = "metrics.jsonl"
When = Literal["before", "warm_up", "after_sft", "scheduled", "after_rl"]
TaskSet = Literal["validation", "test", "unseen"]


class WarmUpLine(Struct, frozen=True, kw_only=True, tag="warm_up", tag_field="kind"):
    """One step of the warm-up."""

    step: int
    """From 1."""
    loss: float
    """Nats a token of the demonstrations."""
    agreement: float
    """Share of the batch whose replies the policy would give itself."""
    samples: int = 0
    """Samples that batches were drawn from, collected successes included."""


class EvaluationLine(Struct, frozen=True, kw_only=True, tag="evaluation", tag_field="kind"):
    """One greedy attempt at each task of a set."""

    when: When
    """Before anything was learnt, in the warm-up, after it, between updates, or at the end."""
    of: TaskSet
    """Which set of tasks was tried."""
    update: int
    """Updates so far."""
    step: int
    """Steps of the warm-up so far."""
    scored: int
    """Attempts with a verdict."""
    unscored: int
    """Attempts without one; they are in no rate."""
    successes: int
    """Scored attempts that solved their task."""
    by_domain: dict[str, float]
    """Share of solved among scored attempts, by the tasks' domain."""
    seconds: float
    """Wall seconds of the measurement."""
    cpu_s: float
    """CPU seconds of the whole run so far."""

    @property
    def success(self) -> float:
        """Share of the scored attempts that solved their task."""
        return self.successes / self.scored if self.scored else 0.0


class StageSeconds(Struct, frozen=True, kw_only=True):
    """Wall seconds of an update by stage."""

    rollout: float = 0.0
    """Playing attempts."""
    sample: float = 0.0
    """From Episodes to Samples with advantages, files included."""
    update: float = 0.0
    """Forward, backward, optimiser, weight hand-over."""
    evaluate: float = 0.0
    """Measuring on the validation tasks, where it was due."""


class UpdateLine(Struct, frozen=True, kw_only=True, tag="update", tag_field="kind"):
    """One update."""

    update: int
    """From 1."""
    success: float
    """Share of the scored attempts that solved their task, sampled at temperature 1."""
    success_by_domain: dict[str, float]
    """The same by the tasks' domain."""
    held_out: float | None = None
    """Greedy success on the validation tasks, where this update was measured."""
    reward: float
    """Mean of the composed reward."""
    reward_components: dict[str, float]
    """Mean of each."""
    attempts: int
    """Attempts played."""
    unscored: int
    """Attempts without a verdict; they are in no mean."""
    parse_errors: int
    """Steps whose reply could not be read."""
    groups: int
    """Tasks that were tried, each with a group of attempts."""
    groups_with_spread: int
    """Groups whose attempts earned different rewards."""
    groups_too_few: int
    """Groups skipped for fewer than two scored attempts."""
    groups_no_spread: int
    """Groups skipped since all rewards are equal."""
    trained: int
    """Attempts of the groups with spread."""
    samples: int
    """Training sequences."""
    sampled_tokens: int
    """Tokens in the loss."""
    read_tokens: int
    """Tokens of the Samples, context included."""
    loss: float
    """Mean over optimiser steps."""
    kl: float
    """Mean KL estimate to the reference on sampled tokens; 0 where it is off. In the reward it is
    that of all scored attempts."""
    entropy: float
    """Mean, nats a token."""
    clip_fraction: float
    """Share of tokens on which the clip decided."""
    approx_kl: float
    """How far the policy moved inside the update, before its last step."""
    grad_norm: float
    """Of the policy's weights, before it is cut."""
    value_loss: float | None = None
    """Of the value head; `None` without one."""
    explained_variance: float | None = None
    """1 - Var(return - value) / Var(return) before the update; `None` without a value head."""
    anchor_sizes: dict[int, int] = {}
    """How many anchor groups have how many steps; only where steps get credit."""
    anchor_singletons: float | None = None
    """Share of steps whose anchor nobody else reached; `None` where steps get no credit."""
    learning_rate: float
    """Of the policy in this update."""
    parity_max: float
    """Largest |log-probability of the trainer - of the engine| of a sampled token, nats."""
    parity_mean: float
    """Mean of it."""
    parity_k3: float
    """Mean of w - 1 - log w with w = p_trainer / p_engine."""
    staleness: int
    """Updates that the oldest weights of the batch lay behind."""
    prompt_tokens: int
    """Of the attempts' requests."""
    cached_tokens: int
    """Prompt tokens taken from the prefix cache."""
    decoded_tokens: int
    """Tokens that were sampled."""
    prefix_hit_share: float
    """`cached_tokens` over `prompt_tokens`, by the engine's counters."""
    session_hit_share: float
    """The same without other Episodes' help."""
    seconds: StageSeconds
    """Wall seconds by stage."""
    cpu_s: float
    """CPU seconds of the whole run so far, all threads, earlier processes included."""


Line = WarmUpLine | EvaluationLine | UpdateLine
_DECODER: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Line)


class MetricsFile:
    """Appends lines to `metrics.jsonl`; each reaches the kernel before `write` returns."""

    def __init__(self, folder: Path, *, until_update: int | None) -> None:
        """Open the file.

        Args:
            folder: Of the run.
            until_update: Keep the lines up to this update, those of a checkpoint; `None` begins
                anew.

        Raises:
            InfraFault: the disk refuses.
        """
        self._path = folder / NAME
        try:
            kept = b""
            if until_update is not None and self._path.exists():
                kept = b"".join(
                    line + b"\n"
                    for line in self._path.read_bytes().split(b"\n")[:-1]
                    if not _is_later(line, until_update)
                )
            partial = self._path.with_suffix(".part")
            partial.write_bytes(kept)
            partial.replace(self._path)
            self._file = self._path.open("ab", buffering=0)
        except OSError as error:
            raise InfraFault(f"cannot write {self._path}: {error}") from error

    def write(self, line: Line) -> None:
        """Append a line.

        Raises:
            InfraFault: the disk refuses.
        """
        try:
            self._file.write(msgspec.json.encode(line) + b"\n")
        except OSError as error:
            raise InfraFault(f"cannot write {self._path}: {error}") from error

    def close(self) -> None:
        self._file.close()


def read_metrics(folder: Path) -> tuple[Line, ...]:
    """Return the lines of a run.

    Raises:
        InfraFault: the file cannot be read, or a line is none of ours.
    """
    path = folder / NAME
    try:
        return tuple(_DECODER.decode(line) for line in path.read_bytes().splitlines() if line)
    except (OSError, msgspec.DecodeError) as error:
        raise InfraFault(f"cannot read {path}: {error}") from error


def _is_later(line: bytes, update: int) -> bool:
    read = _DECODER.decode(line)
    match read:
        case UpdateLine():
            return read.update > update
        case EvaluationLine():
            return read.update > update or read.when == "after_rl"
    return False
