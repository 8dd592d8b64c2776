"""Lines of a made-up training run, as a run writes them."""

from __future__ import annotations

from pathlib import Path

import msgspec

from screenloop.report.training.metrics import (
    NAME,
    EvaluationLine,
    Line,
    StageSeconds,
    UpdateLine,
    WarmUpLine,
)


def evaluation(
    when: str, of: str, successes: int, update: int = 0, step: int = 4
) -> EvaluationLine:
    return EvaluationLine(
        when=when,
        of=of,
        update=update,
        step=step,
        scored=100,
        unscored=0,
        successes=successes,
        by_domain={"tick": successes / 100},
        seconds=1.0,
        cpu_s=5.0,
    )


def update_line(number: int, success: float = 0.5) -> UpdateLine:
    return UpdateLine(
        update=number,
        success=success,
        success_by_domain={"tick": success},
        reward=success,
        reward_components={"outcome": success},
        attempts=16,
        unscored=1,
        parse_errors=0,
        groups=4,
        groups_with_spread=3,
        groups_too_few=0,
        groups_no_spread=1,
        trained=12,
        samples=12,
        sampled_tokens=24,
        read_tokens=900,
        loss=0.1,
        kl=0.01,
        entropy=0.7,
        clip_fraction=0.0,
        approx_kl=0.0,
        grad_norm=1.0,
        learning_rate=1e-4,
        parity_max=2e-6,
        parity_mean=1e-7,
        parity_k3=0.0,
        staleness=0,
        prompt_tokens=1000,
        cached_tokens=800,
        decoded_tokens=40,
        prefix_hit_share=0.8,
        session_hit_share=0.2,
        seconds=StageSeconds(rollout=1.0, sample=0.1, update=0.5),
        cpu_s=10.0 + number,
    )


def whole_run() -> list[Line]:
    return [
        evaluation("before", "test", 2, step=0),
        evaluation("before", "unseen", 1, step=0),
        *(WarmUpLine(step=i, loss=3.0 / i, agreement=i / 8) for i in range(1, 5)),
        evaluation("warm_up", "validation", 40),
        evaluation("after_sft", "test", 42),
        evaluation("after_sft", "unseen", 11),
        *(update_line(i, success=0.4 + i / 20) for i in range(1, 11)),
        evaluation("scheduled", "validation", 90, update=10),
        evaluation("after_rl", "test", 93, update=10),
        evaluation("after_rl", "unseen", 31, update=10),
    ]


def write_lines(folder: Path, lines: list[Line]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / NAME).write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
