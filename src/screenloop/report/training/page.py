"""The page of a training run: its gain split in two, its curves, its card."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from screenloop.config import plain
from screenloop.errors import InfraFault
from screenloop.report import words
from screenloop.report.pages import render_page
from screenloop.report.training.curves import Axis, Chart, Series, Unit, chart, even_ticks
from screenloop.report.training.gains import SET_WORDS, Gain, gains, points
from screenloop.report.training.metrics import (
    EvaluationLine,
    StageSeconds,
    UpdateLine,
    WarmUpLine,
    read_metrics,
)
from screenloop.report.training.run_files import RunRecipe, read_recipe
from screenloop.store.runs import write_whole
from screenloop.types import Struct

PAGE = "run.html"
RESULT = "result.json"
_Found = TypeVar("_Found", bound=msgspec.Struct)
_GUTTER = 0.16
"""Share of the width that the warm-up gets in front of the updates."""


class GainView(Struct, frozen=True, kw_only=True):
    """The success on one set of tasks, split into what it was gained by."""

    says: str
    tasks: int
    last: float
    """Percent, at the latest measurement."""
    parts: tuple[Part, ...]
    before: str
    by_sft: str
    by_rl: str


class Part(Struct, frozen=True, kw_only=True):
    """A stretch of the bar, in percent of its width."""

    kind: str
    """`before`, `sft`, `rl`, or `lost` where success fell."""
    left: float
    right: float


class RunView(Struct, frozen=True, kw_only=True):
    """All that the page shows."""

    title: str
    says: str
    gains: tuple[GainView, ...]
    finished: bool
    stopped: str
    """Why an update was refused; empty when none was."""
    tiles: tuple[tuple[str, str, str], ...]
    """Name, value and a small word behind it."""
    main: Chart | None
    charts: tuple[Chart, ...]
    card: tuple[tuple[str, str], ...]
    settings: tuple[tuple[str, str], ...]
    """Every setting of the recipe by its path; empty where the run does not say."""


class _Card(msgspec.Struct, frozen=True, kw_only=True):
    """What is read of `result.json`."""

    result: dict[str, Any]
    warm_up_steps: int = 0
    fingerprint: str = ""


class _Stop(msgspec.Struct, frozen=True, kw_only=True):
    """What is read of `stopped-<update>.json`."""

    update: int
    reason: str


class RunLines(Struct, frozen=True, kw_only=True):
    """The lines of a run, by kind."""

    warm_up: tuple[WarmUpLine, ...]
    evaluations: tuple[EvaluationLine, ...]
    updates: tuple[UpdateLine, ...]
    gains: tuple[Gain, ...]


class ChartSpec(Struct, frozen=True, kw_only=True):
    """A chart with one place an update."""

    title: str
    says: str
    curves: dict[str, str]
    """Name of a curve to the field of `UpdateLine` that it shows; a field of several values gives
    a curve for each."""
    unit: Unit = "number"
    stacked: bool = False


CHARTS = (
    ChartSpec(
        title="Success by domain",
        says="Sampled attempts of the training tasks, by kind of task.",
        curves={"all": "success_by_domain"},
        unit="share",
    ),
    ChartSpec(
        title="Reward",
        says="What is learnt from, and its named components; success is kept apart from it.",
        curves={"total": "reward", "components": "reward_components"},
    ),
    ChartSpec(
        title="Groups",
        says="A group teaches something only where its attempts differ in reward.",
        curves={
            "with spread": "groups_with_spread",
            "no spread": "groups_no_spread",
            "too few scored": "groups_too_few",
        },
        unit="count",
        stacked=True,
    ),
    ChartSpec(
        title="KL",
        says="Distance to the policy after the warm-up, and how far each update moved.",
        curves={"to the reference": "kl", "within the update": "approx_kl"},
    ),
    ChartSpec(
        title="Entropy",
        says="Nats a token; near 0 the policy no longer tries anything else.",
        curves={"mean": "entropy"},
    ),
    ChartSpec(
        title="Parity",
        says="Difference of log-probabilities between engine and trainer, logarithmic; above the "
        "limit an update is refused.",
        curves={"maximum": "parity_max", "mean": "parity_mean"},
        unit="power",
    ),
    ChartSpec(
        title="Prefix cache",
        says="Prompt tokens taken from the cache, by the engine's counters.",
        curves={"all": "prefix_hit_share", "own episode alone": "session_hit_share"},
        unit="share",
    ),
    ChartSpec(
        title="Seconds by stage",
        says="Wall time of each update, stages on top of each other.",
        curves={"all": "seconds"},
        unit="seconds",
        stacked=True,
    ),
)


def write_run_page(folder: Path) -> Path:
    """Write `run.html` into a training run's folder, finished or not; returns the page.

    Raises:
        InfraFault: the metrics or the result cannot be read, or the page cannot be written.
    """
    target = folder / PAGE
    write_whole(target, render_page("run", run_view(folder)).encode())
    return target


def run_view(folder: Path) -> RunView:
    """Return all that the page of a run shows.

    Raises:
        InfraFault: a file cannot be read.
    """
    lines = read_metrics(folder)
    run = RunLines(
        warm_up=tuple(line for line in lines if isinstance(line, WarmUpLine)),
        evaluations=tuple(line for line in lines if isinstance(line, EvaluationLine)),
        updates=tuple(line for line in lines if isinstance(line, UpdateLine)),
        gains=gains(lines),
    )
    card = _read(folder / RESULT, _Card) if (folder / RESULT).is_file() else None
    recipe = read_recipe(folder)
    result = {} if card is None else card.result
    name = f"{result['recipe']}, seed {result['seed']}" if result else folder.name
    updates = words.plural(len(run.updates), "update")
    return RunView(
        title=name,
        says=f"{words.plural(len(run.warm_up), 'warm-up step')}, then {updates} of "
        "reinforcement learning",
        gains=tuple(_gain_view(gain) for gain in run.gains),
        finished=card is not None,
        stopped=_stopped(folder, run),
        tiles=_tiles(run, result),
        main=_success_chart(run),
        charts=_charts(run),
        card=_card_rows(card, folder, recipe),
        settings=() if recipe is None else tuple(_flat(recipe.settings, "")),
    )


# ---- curves --------------------------------------------------------------------------------


def _success_chart(run: RunLines) -> Chart | None:
    """Draw success from the untrained policy through the warm-up to the last update."""
    last = max(1, run.updates[-1].update if run.updates else 1)
    gutter = last * _GUTTER / (1 - _GUTTER)
    steps = max(1, run.warm_up[-1].step if run.warm_up else 1)

    def place(line: EvaluationLine) -> float:
        return (
            -gutter * (1 - min(1.0, line.step / steps))
            if line.when in ("before", "warm_up")
            else float(line.update)
        )

    series = _over_updates(run.updates, "sampled, training tasks", "success")
    named = (("validation", "validation"), ("test", "test"), ("unseen", "unseen apps"))
    for of, name in named:
        some = [line for line in run.evaluations if line.of == of and line.scored]
        series.append(
            Series(
                name=f"greedy, {name}",
                xs=tuple(place(line) for line in some),
                ys=tuple(line.success for line in some),
                dots=True,
                dashed=of != "validation",
            )
        )
    ticks = [(x, f"{x:.0f}") for x in even_ticks(last) if x > 0]
    axis = Axis(
        low=-gutter, high=last, ticks=((-gutter, "start"), (0.0, "SFT"), *ticks), shade_to=0.0
    )
    return chart(
        "Success",
        "Share of attempts that solved their task. Shaded: the warm-up on demonstrations; then "
        "one place an update. Test and unseen tasks are measured at the ends alone.",
        series,
        axis,
        unit="share",
    )


def _charts(run: RunLines) -> tuple[Chart, ...]:
    updates = run.updates
    if not updates:
        return _warm_up_charts(run.warm_up)
    high = max(2, updates[-1].update)
    ticks = tuple((max(1.0, x), f"{max(1.0, x):.0f}") for x in even_ticks(high))
    axis = Axis(low=1, high=high, ticks=ticks)
    drawn = (
        chart(
            spec.title,
            spec.says,
            [
                one
                for name, field in spec.curves.items()
                for one in _over_updates(updates, name, field)
            ],
            axis,
            unit=spec.unit,
            stacked=spec.stacked,
        )
        for spec in CHARTS
    )
    return (*(one for one in drawn if one is not None), *_warm_up_charts(run.warm_up))


def _warm_up_charts(lines: Sequence[WarmUpLine]) -> tuple[Chart, ...]:
    if not lines:
        return ()
    high = max(2, lines[-1].step)
    ticks = tuple((max(1.0, x), f"{max(1.0, x):.0f}") for x in even_ticks(high))
    axis = Axis(low=1, high=high, ticks=ticks, noun="step")
    xs = tuple(float(line.step) for line in lines)
    drawn = (
        chart(
            "Warm-up: loss",
            "Nats a token on demonstrations, one place a step.",
            [Series(name="loss", xs=xs, ys=tuple(line.loss for line in lines))],
            axis,
        ),
        chart(
            "Warm-up: agreement",
            "Share of demonstrated replies that the policy would give itself.",
            [Series(name="agreement", xs=xs, ys=tuple(line.agreement for line in lines))],
            axis,
            unit="share",
        ),
    )
    return tuple(one for one in drawn if one is not None)


def _over_updates(updates: Sequence[UpdateLine], name: str, field: str) -> list[Series]:
    """Return the curve of a field, or one for each key where the field holds several values."""
    values = [plain(getattr(line, field)) for line in updates]
    if not any(isinstance(value, dict) for value in values):
        return [_curve(updates, name, values)]
    keys = sorted({key for value in values for key in value})
    if field == "seconds":
        keys = list(StageSeconds.__struct_fields__)
    return [_curve(updates, key or name, [value.get(key) for value in values]) for key in keys]


def _curve(updates: Sequence[UpdateLine], name: str, values: Sequence[float | None]) -> Series:
    known = [
        (float(line.update), float(value))
        for line, value in zip(updates, values, strict=True)
        if value is not None
    ]
    return Series(name=name, xs=tuple(x for x, _ in known), ys=tuple(y for _, y in known))


def _gain_view(gain: Gain) -> GainView:
    ends = {"before": gain.before, "sft": gain.after_sft, "rl": gain.after_rl}
    parts: list[Part] = []
    at = 0.0
    for kind, share in ends.items():
        if share is None:
            continue
        to = 100 * share
        parts.append(
            Part(
                kind=kind if to >= at else "lost",
                left=round(min(at, to), 2),
                right=round(100 - max(at, to), 2),
            )
        )
        at = to
    return GainView(
        says=SET_WORDS[gain.of],
        tasks=gain.tasks,
        last=at,
        parts=tuple(parts),
        before=words.percent(gain.before),
        by_sft=points(gain.by_sft),
        by_rl=points(gain.by_rl),
    )


# ---- figures -------------------------------------------------------------------------------


def _tiles(run: RunLines, result: dict[str, Any]) -> tuple[tuple[str, str, str], ...]:
    updates = run.updates
    prompt = sum(line.prompt_tokens for line in updates)
    cached = sum(line.cached_tokens for line in updates)
    unscored = sum(line.unscored for line in updates)
    spread = sum(line.groups_with_spread for line in updates)
    groups = sum(line.groups for line in updates)
    wall_s = result.get("wall_s")
    cpu_s = [line.cpu_s for line in run.evaluations] + [line.cpu_s for line in updates]
    return (
        ("updates", words.count(len(updates)), ""),
        (
            "attempts",
            words.count(sum(line.attempts for line in updates)),
            f"{unscored} unscored" if unscored else "",
        ),
        ("groups with spread", words.count(spread), f"of {words.count(groups)}"),
        ("tokens trained", words.count(sum(line.sampled_tokens for line in updates)), ""),
        ("prefix-cache hit", words.percent(cached / prompt if prompt else None), ""),
        (
            "parity, maximum",
            f"{max(line.parity_max for line in updates):.1e}" if updates else "–",
            "",
        ),
        ("CPU time", words.seconds(max(cpu_s) if cpu_s else None), ""),
        ("wall time", words.seconds(wall_s), ""),
    )


def _card_rows(
    card: _Card | None, folder: Path, recipe: RunRecipe | None
) -> tuple[tuple[str, str], ...]:
    rows = [("run", folder.name)]
    if card is None:
        rows.append(("state", "not finished"))
    else:
        rows += [
            (name.replace("_", " "), _plain(value))
            for name, value in card.result.items()
            if name != "run_dir"
        ]
        rows.append(("warm-up steps", words.count(card.warm_up_steps)))
    if recipe is not None:
        if card is None:
            rows += [("recipe", recipe.name), ("seed", str(recipe.seed))]
        window = f"{recipe.window.steps} steps, {recipe.window.overlap} shared"
        rows += [("dialect", recipe.dialect), ("window", window)]
        rows += [
            (f"{name} tasks", words.count(len(keys))) for name, keys in recipe.tasks.items() if keys
        ]
    fingerprint = recipe.fingerprint if recipe is not None else card.fingerprint if card else ""
    return (*rows, ("fingerprint", fingerprint)) if fingerprint else tuple(rows)


def _flat(settings: dict[str, Any], path: str) -> Iterator[tuple[str, str]]:
    """Yield each setting under its whole path, in the order of the recipe."""
    for name, value in settings.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", _written(value)


def _written(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else msgspec.json.encode(value).decode()


def _plain(value: object) -> str:
    return "–" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def _stopped(folder: Path, run: RunLines) -> str:
    """Return why an update was refused, where none was learnt from since."""
    last = run.updates[-1].update if run.updates else 0
    stops = [_read(path, _Stop) for path in sorted(folder.glob("stopped-*.json"))]
    later = [stop for stop in stops if stop.update > last]
    return f"Update {later[-1].update} was refused: {later[-1].reason}" if later else ""


def _read(path: Path, kind: type[_Found]) -> _Found:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.DecodeError) as error:
        raise InfraFault(f"cannot read {path}: {error}") from error
