"""Runs the arms of train/recipes/ablations.py over seeds, and writes their table and their plot.

    python scripts/ablations.py --out runs/ablations --seeds 0 1
    python scripts/ablations.py --out runs/ablations --table-only

Arms run one after the other, each in a process of its own, so that CPU seconds are its alone. A run
that is through is left alone, one that was cut off goes on from its checkpoint.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from screenloop.report.training.metrics import EvaluationLine, UpdateLine, read_metrics

ORDER = (
    "grpo",
    "gigpo",
    "last_two",
    "fixed",
    "hgpo",
    "separate_touches",
    "joint",
    "last_one",
)
RESULT, CHECKPOINT = "result.json", "checkpoint.pt"
TABLE, PLOT = "ablations.md", "ablations.svg"
COLOURS = ("#2f6fdf", "#d9482b", "#2a9d57", "#8a4fd3", "#c98a00", "#1a9bb0", "#c03d8f", "#666")


class Arm(msgspec.Struct, frozen=True, kw_only=True):
    """What one run of an arm came to."""

    arm: str
    seed: int
    before: float
    after_sft: float
    after_rl: float
    unseen_sft: float
    unseen_rl: float
    sft_by_family: dict[str, float]
    """Test success after the warm-up, by family of tasks."""
    rl_by_family: dict[str, float]
    updates: int
    attempts: int
    sampled: float
    """Mean success of all sampled attempts: the area under the learning curve."""
    prompt_tokens: int
    """Read by the engine, in updates."""
    computed_tokens: int
    """Of those, not taken from the prefix cache."""
    trained_tokens: int
    """Of the samples, context included."""
    cpu_s: float
    """Of the updates and the measurements on the way; warm-up and ends left out."""
    curve: tuple[float, ...]
    """Success of the sampled attempts, by update."""


def main() -> None:
    """Run what is missing, then write the table and the plot."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--out", type=Path, default=Path("runs/ablations"))
    words.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    words.add_argument("--arms", nargs="+", default=list(ORDER), choices=ORDER)
    words.add_argument("--table-only", action="store_true")
    told = words.parse_args()
    if not told.table_only:
        for seed in told.seeds:
            for arm in told.arms:
                _run(arm, seed, told.out / f"{arm}-{seed}")
    found = [
        read_arm(arm, seed, told.out / f"{arm}-{seed}")
        for arm in told.arms
        for seed in told.seeds
        if (told.out / f"{arm}-{seed}" / RESULT).exists()
    ]
    if not found:
        sys.exit(f"no finished run in {told.out}")
    (told.out / TABLE).write_text(table(found) + "\n")
    (told.out / PLOT).write_text(plot(found) + "\n")
    print(table(found))


def read_arm(arm: str, seed: int, folder: Path) -> Arm:
    """Return a finished run's figures."""
    lines = read_metrics(folder)
    updates = [line for line in lines if isinstance(line, UpdateLine)]
    ends = {(e.when, e.of): e for e in lines if isinstance(e, EvaluationLine)}
    began_s = max(e.cpu_s for (when, _), e in ends.items() if when == "after_sft")
    return Arm(
        arm=arm,
        seed=seed,
        before=ends[("before", "test")].success,
        after_sft=ends[("after_sft", "test")].success,
        after_rl=ends[("after_rl", "test")].success,
        unseen_sft=ends[("after_sft", "unseen")].success,
        unseen_rl=ends[("after_rl", "unseen")].success,
        sft_by_family=ends[("after_sft", "test")].by_domain,
        rl_by_family=ends[("after_rl", "test")].by_domain,
        updates=len(updates),
        attempts=sum(line.attempts for line in updates),
        sampled=sum(line.success for line in updates) / len(updates),
        prompt_tokens=sum(line.prompt_tokens for line in updates),
        computed_tokens=sum(line.prompt_tokens - line.cached_tokens for line in updates),
        trained_tokens=sum(line.read_tokens for line in updates),
        cpu_s=updates[-1].cpu_s - began_s,
        curve=tuple(line.success for line in updates),
    )


def table(found: Sequence[Arm]) -> str:
    """Return the table: a row a run, and the mean of each arm."""
    heads = (
        "arm",
        "seed",
        "before",
        "after SFT",
        "after RL",
        "RL adds",
        "sampled, mean",
        "unseen apps: SFT, RL",
        "attempts",
        "prompt tokens",
        "not cached",
        "trained on",
        "CPU",
    )
    rows = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for name in dict.fromkeys(one.arm for one in found):
        runs = [one for one in found if one.arm == name]
        rows += [_row(f"`{one.arm}`", str(one.seed), [one]) for one in runs]
        if len(runs) > 1:
            rows.append(_row(f"**`{name}`**", "mean", runs))
    return "\n".join(rows)


def plot(found: Sequence[Arm]) -> str:
    """Return a drawing of sampled success over the share of an arm's updates, means over seeds."""
    wide, high, left, top = 560, 300, 50, 20
    names = list(dict.fromkeys(one.arm for one in found))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide + 210} {high + 70}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{wide + 210}" height="{high + 70}" fill="#fff"/>',
    ]
    for tenth in range(0, 11, 2):
        y = top + high * (1 - tenth / 10)
        parts.append(f'<path d="M{left} {y:.1f}h{wide}" stroke="#ddd"/>')
        parts.append(
            f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{tenth * 10} %</text>'
        )
    for number, name in enumerate(names):
        curve = _smooth(_mean_curve([one.curve for one in found if one.arm == name]))
        points = " ".join(
            f"{left + wide * i / max(1, len(curve) - 1):.1f},{top + high * (1 - share):.1f}"
            for i, share in enumerate(curve)
        )
        colour, y = COLOURS[number % len(COLOURS)], top + 14 + 20 * number
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )
        parts.append(
            f'<path d="M{left + wide + 14} {y - 4}h22" stroke="{colour}" stroke-width="3"/>'
        )
        parts.append(f'<text x="{left + wide + 42}" y="{y}">{name}</text>')
    parts.append(
        f'<text x="{left + wide / 2}" y="{top + high + 34}" text-anchor="middle">'
        "share of the arm's updates; sampled success, mean of 5 updates and of the seeds</text>"
    )
    return "\n".join([*parts, "</svg>"])


def _run(arm: str, seed: int, folder: Path) -> None:
    if (folder / RESULT).exists():
        return
    resume = ["--resume"] if (folder / CHECKPOINT).exists() else []
    recipe = f"screenloop.train.recipes.ablations:{arm}"
    print(f"{arm}, seed {seed}", file=sys.stderr, flush=True)
    subprocess.run(
        [
            Path(sys.executable).with_name("screenloop"),
            "train",
            "--recipe",
            recipe,
            "--seed",
            str(seed),
            "--out",
            str(folder),
            "--json",
            *resume,
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )


def _row(name: str, seed: str, runs: Sequence[Arm]) -> str:
    def mean(field: str) -> float:
        return statistics.fmean(getattr(one, field) for one in runs)

    gain = 100 * (mean("after_rl") - mean("after_sft"))
    cells = [
        name,
        seed,
        _percent(mean("before")),
        _percent(mean("after_sft")) + _families([one.sft_by_family for one in runs]),
        _percent(mean("after_rl")) + _families([one.rl_by_family for one in runs]),
        f"{gain:+.1f} points",
        _percent(mean("sampled")),
        f"{_percent(mean('unseen_sft'))}, {_percent(mean('unseen_rl'))}",
        f"{mean('attempts'):,.0f}",
        f"{mean('prompt_tokens') / 1e6:.2f} M",
        f"{mean('computed_tokens') / 1e6:.2f} M",
        f"{mean('trained_tokens') / 1e6:.2f} M",
        f"{mean('cpu_s'):.0f} s",
    ]
    return f"| {' | '.join(cells)} |"


def _families(shares: Sequence[dict[str, float]]) -> str:
    """Return the success by family, where an arm has more than one."""
    if len(shares[0]) < 2:
        return ""
    told = (
        f"{name} {_percent(statistics.fmean(one[name] for one in shares))}"
        for name in sorted(shares[0])
    )
    return f" ({', '.join(told)})"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _mean_curve(curves: Sequence[Sequence[float]]) -> list[float]:
    return [statistics.fmean(some) for some in zip(*curves, strict=False)]


def _smooth(values: Sequence[float], over: int = 5) -> list[float]:
    return [statistics.fmean(values[max(0, i + 1 - over) : i + 1]) for i in range(len(values))]


if __name__ == "__main__":
    main()
