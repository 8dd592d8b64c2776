"""Curves as a page draws them: paths in a square of 1000, places of labels in percent; pure.

The drawing is stretched to the room there is, labels are not, so a chart reads well at any width.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from screenloop.types import Struct

Unit = Literal["share", "number", "count", "seconds", "power"]
"""How values read; `power` has a logarithmic axis."""
MAX_POINTS = 400
"""Points that a curve is drawn with at most; beyond, neighbours are averaged."""
_SIDE = 1000.0
_LEAST = 1e-12
"""Differences below this are rounding."""


class Series(Struct, frozen=True, kw_only=True):
    """Named values over an axis."""

    name: str
    xs: tuple[float, ...]
    ys: tuple[float, ...]
    dots: bool = False
    """Whether single points are marked: they are measurements, not a stream."""
    dashed: bool = False


class Axis(Struct, frozen=True, kw_only=True):
    """The horizontal axis that the charts of a page share."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    noun: str = "update"
    """What a place on it is; places up to 0 have no number."""
    shade_to: float | None = None
    """Up to here the ground is shaded: the warm-up."""


class Tick(Struct, frozen=True, kw_only=True):
    """A label on an axis."""

    at: float
    """Percent from the left, or from the bottom."""
    words: str


class Dot(Struct, frozen=True, kw_only=True):
    """A marked point, in percent from the left and from the bottom."""

    left: float
    bottom: float
    title: str


class Curve(Struct, frozen=True, kw_only=True):
    """One series, drawn."""

    name: str
    colour: int
    path: str
    area: str
    """Path of the filled ground below it; empty for a line."""
    dashed: bool
    dots: tuple[Dot, ...]
    last: str


class Chart(Struct, frozen=True, kw_only=True):
    """All that is drawn of one chart."""

    title: str
    says: str
    curves: tuple[Curve, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    shade: float
    """Percent of the width that is shaded."""
    hover: str
    """JSON of what a pointer shows: `{left, words}`, one entry a place."""


def chart(
    title: str,
    says: str,
    series: Sequence[Series],
    axis: Axis,
    *,
    unit: Unit = "number",
    stacked: bool = False,
) -> Chart | None:
    """Draw a chart; `None` where there is nothing to draw."""
    kept = [_thinned(one) for one in series if one.xs]
    if not kept:
        return None
    tops = _stack(kept) if stacked else [one.ys for one in kept]
    marks = _y_marks([y for ys in tops for y in ys], unit, from_zero=stacked)
    low, high = marks[0], marks[-1]

    def left(x: float) -> float:
        return 100 * (x - axis.low) / max(axis.high - axis.low, 1e-9)

    def bottom(y: float) -> float:
        if unit == "power":
            y = math.log10(max(y, 10.0**low))
        return 100 * min(1.0, max(0.0, (y - low) / (high - low)))

    floor: list[tuple[float, float]] = [(left(x), 0.0) for x in kept[0].xs]
    curves: list[Curve] = []
    for number, (one, ys) in enumerate(zip(kept, tops, strict=True)):
        at = [(left(x), bottom(y)) for x, y in zip(one.xs, ys, strict=True)]
        dots = tuple(
            Dot(left=round(x, 2), bottom=round(y, 2), title=f"{one.name}: {say(value, unit)}")
            for (x, y), value in zip(at, one.ys, strict=True)
        )
        curves.append(
            Curve(
                name=one.name,
                colour=number % 6,
                path=_path(at),
                area=_path([*at, *reversed(floor)]) + "Z" if stacked else "",
                dashed=one.dashed,
                dots=dots if one.dots or len(at) == 1 else (),
                last=say(one.ys[-1], unit),
            )
        )
        floor = at
    return Chart(
        title=title,
        says=says,
        curves=tuple(curves),
        x_ticks=tuple(Tick(at=round(left(x), 2), words=text) for x, text in axis.ticks),
        y_ticks=tuple(
            Tick(at=round(100 * (y - low) / (high - low), 2), words=_tick_words(y, unit))
            for y in marks
        ),
        shade=0.0 if axis.shade_to is None else round(left(axis.shade_to), 2),
        hover=_hover(kept, unit, left, axis.noun),
    )


def say(value: float, unit: Unit) -> str:
    """Return a value in words."""
    match unit:
        case "share":
            return f"{100 * value:.1f} %"
        case "count":
            return f"{value:.0f}"
        case "seconds":
            return f"{value:.2f} s"
        case "power":
            return f"{value:.1e}"
    return f"{value:.4g}"


def even_ticks(high: float, count: int = 8) -> tuple[float, ...]:
    """Return round numbers from 0 up to at most `high`."""
    step = _round_step(high / count)
    return tuple(step * i for i in range(int(high / step + 1e-9) + 1))


def _thinned(one: Series) -> Series:
    width = math.ceil(len(one.xs) / MAX_POINTS)
    if width <= 1:
        return one
    cuts = range(0, len(one.xs), width)
    return msgspec.structs.replace(
        one,
        xs=tuple(_mean(one.xs[i : i + width]) for i in cuts),
        ys=tuple(_mean(one.ys[i : i + width]) for i in cuts),
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _stack(series: Sequence[Series]) -> list[tuple[float, ...]]:
    """Return each series on top of those before; all have the same places."""
    tops: list[tuple[float, ...]] = []
    below = (0.0,) * len(series[0].ys)
    for one in series:
        below = tuple(a + b for a, b in zip(below, one.ys, strict=True))
        tops.append(below)
    return tops


def _y_marks(ys: Sequence[float], unit: Unit, *, from_zero: bool) -> list[float]:
    """Return where the horizontal lines are, the lowest and the highest included."""
    if unit == "share":
        return [0.0, 0.25, 0.5, 0.75, 1.0]
    if unit == "power":
        positive = [max(y, _LEAST) for y in ys if y > 0] or [1e-9]
        first, last = math.floor(math.log10(min(positive))), math.ceil(math.log10(max(positive)))
        return [float(i) for i in range(first, max(last, first + 1) + 1)]
    low = 0.0 if from_zero else min(0.0, *ys)
    high = max(0.0, *ys)
    if high - low < _LEAST:
        high = low + 1.0
    step = _round_step((high - low) / 4)
    if unit == "count":
        step = max(1.0, step)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [step * i for i in range(first, last + 1)]


def _round_step(rough: float) -> float:
    if rough <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)


def _tick_words(y: float, unit: Unit) -> str:
    match unit:
        case "share":
            return f"{100 * y:.0f} %"
        case "power":
            return f"1e{y:.0f}"
        case "seconds":
            return f"{y:.3g} s"
    return f"{y:.3g}"


def _path(at: Sequence[tuple[float, float]]) -> str:
    scale = _SIDE / 100
    return "M" + "L".join(f"{x * scale:.1f} {_SIDE - y * scale:.1f}" for x, y in at)


class _Hover(Struct, frozen=True, kw_only=True):
    left: float
    words: list[str]


def _hover(series: Sequence[Series], unit: Unit, left: Callable[[float], float], noun: str) -> str:
    by_x: dict[float, list[str]] = {}
    for one in series:
        for x, y in zip(one.xs, one.ys, strict=True):
            by_x.setdefault(x, []).append(f"{one.name} {say(y, unit)}")
    places = [
        _Hover(left=round(left(x), 2), words=[f"{noun} {x:.0f}", *by_x[x]] if x > 0 else by_x[x])
        for x in sorted(by_x)
    ]
    return msgspec.json.encode(places).decode()
