"""A line plot as SVG text, for pages that no script runs on."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from screenloop.types import Struct

_WIDE, _HIGH = 560, 260
_LEFT, _TOP, _LEGEND = 64, 16, 190
_COLOURS = ("#2563eb", "#ea580c", "#16a34a", "#9333ea", "#64748b", "#dc2626")
_TICKS = 5


class Line(Struct, frozen=True, kw_only=True):
    """One named line."""

    name: str
    points: tuple[tuple[float, float], ...]
    dashed: bool = False


def line_plot(lines: Sequence[Line], *, x: str, y: str) -> str:
    """Return the plot; both axes begin at 0.

    Args:
        lines: at most six.
        x: words under the horizontal axis.
        y: words above the vertical one.
    """
    far = max(px for line in lines for px, _ in line.points) or 1.0
    high = max(py for line in lines for _, py in line.points) or 1.0

    def at(px: float, py: float) -> tuple[float, float]:
        return _LEFT + px / far * _WIDE, _TOP + _HIGH - py / high * _HIGH

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_LEFT + _WIDE + _LEGEND} '
        f'{_TOP + _HIGH + 48}" font-family="sans-serif" font-size="12" fill="#475569">'
    ]
    for tick in range(_TICKS + 1):
        across, up = at(far * tick / _TICKS, high * tick / _TICKS)
        parts.append(
            f'<path d="M{_LEFT} {up:.1f}h{_WIDE}" stroke="#94a3b8" stroke-opacity="0.3"/>'
            f'<text x="{_LEFT - 6}" y="{up + 4:.1f}" text-anchor="end">{_say(high * tick / _TICKS)}'
            f'</text><text x="{across:.1f}" y="{_TOP + _HIGH + 18}" text-anchor="middle">'
            f"{_say(far * tick / _TICKS)}</text>"
        )
    parts.append(
        f'<text x="{_LEFT + _WIDE / 2}" y="{_TOP + _HIGH + 40}" text-anchor="middle">{escape(x)}'
        f'</text><text x="{_LEFT + 4}" y="{_TOP + 4}">{escape(y)}</text>'
    )
    for number, line in enumerate(lines):
        colour = _COLOURS[number % len(_COLOURS)]
        path = "L".join(f"{px:.1f} {py:.1f}" for px, py in (at(*point) for point in line.points))
        dash = ' stroke-dasharray="6 4"' if line.dashed else ""
        key = _TOP + 12 + 20 * number
        parts.append(
            f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>'
            f'<path d="M{_LEFT + _WIDE + 12} {key - 4}h24" stroke="{colour}" '
            f'stroke-width="2"{dash}/>'
            f'<text x="{_LEFT + _WIDE + 42}" y="{key}">{escape(line.name)}</text>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def _say(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 or value == 0 else f"{value:.2g}"
