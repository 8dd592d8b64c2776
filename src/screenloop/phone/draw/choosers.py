"""Widgets that open a grid to choose from: a day in a month, a time of day."""

from __future__ import annotations

import calendar
from datetime import date

from screenloop.phone.commands import Do, SetLocal
from screenloop.phone.draw.canvas import Box, Canvas, Node, Role, Words
from screenloop.phone.draw.inputs import MONTHS, WEEKDAYS
from screenloop.phone.draw.theme import MARGIN_PX
from screenloop.types import Struct


class DateField(Struct, frozen=True, kw_only=True):
    """A day, chosen in a month calendar."""

    name: str
    label: Words
    value: str
    """ISO date."""
    opened: str = ""
    """The month shown (`YYYY-MM`) while the calendar is open."""

    def height(self, d: Canvas, w: int) -> int:
        return 64

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        day = date.fromisoformat(self.value)
        weekday, month = d.words(WEEKDAYS[day.weekday()]), d.words(MONTHS[day.month - 1])
        shown = f"{weekday} {day.day} {month} {day.year}"
        opening = SetLocal(values={f"{self.name}.open": self.value[:7]})
        _draw_closed(d, x, y, w, "calendar", self.label, shown, opening)
        if self.opened:
            d.later(lambda: self._draw_open(d))

    def _draw_open(self, d: Canvas) -> None:
        name = self.name
        left, top, w = _draw_popup(d, 412, SetLocal(values={f"{name}.open": ""}))
        year, month = map(int, self.opened.split("-"))
        heading = f"{d.words(MONTHS[month - 1])} {year}"
        d.text(heading, left, top + 18, w, 17, bold=True, align="center", role="heading")
        for icon, dx, label, step in (
            ("chevron_left", 12, ("Previous month", "上个月"), -1),
            ("chevron_right", w - 56, ("Next month", "下个月"), 1),
        ):
            index = year * 12 + month - 1 + step
            target = f"{index // 12}-{index % 12 + 1:02d}"
            d.icon(icon, left + dx + 10, top + 18, 24, d.theme.ink)
            box, do = Box(left + dx, top + 8, 44, 44), SetLocal(values={f"{name}.open": target})
            d.node(Node("button", d.words(label), box, do=do))
        first, days = calendar.monthrange(year, month)
        cells: list[tuple[str, Do | None, bool]] = [
            (d.words(day)[:3], None, False) for day in WEEKDAYS
        ]
        cells += [("", None, False)] * first
        for number in range(1, days + 1):
            iso = f"{self.opened}-{number:02d}"
            do = SetLocal(values={name: iso, f"{name}.open": ""})
            cells.append((str(number), do, iso == self.value))
        _draw_cells(d, cells, 7, left + 12, top + 60, w - 24)


class TimeField(Struct, frozen=True, kw_only=True):
    """A time of day: first the hour, then the minute, each in a grid."""

    name: str
    label: Words
    value: str
    """`HH:MM`, 24 hours."""
    opened: str = ""
    """`hour` or `minute` while open."""

    def height(self, d: Canvas, w: int) -> int:
        return 64

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        opening = SetLocal(values={f"{self.name}.open": "hour"})
        _draw_closed(d, x, y, w, "clock", self.label, self.value, opening)
        if self.opened:
            d.later(lambda: self._draw_open(d))

    def _draw_open(self, d: Canvas) -> None:
        name = self.name
        is_hour = self.opened == "hour"
        left, top, w = _draw_popup(d, 352, SetLocal(values={f"{name}.open": ""}))
        unit = d.words(("Hour", "小时") if is_hour else ("Minute", "分钟"))
        heading = f"{unit} · {self.value}"
        d.text(heading, left, top + 18, w, 17, bold=True, align="center", role="heading")
        hour, minute = self.value.split(":")
        cells: list[tuple[str, Do | None, bool]] = []
        for number in range(24) if is_hour else range(0, 60, 5):
            new = f"{number:02d}"
            value, following = (f"{new}:{minute}", "minute") if is_hour else (f"{hour}:{new}", "")
            do = SetLocal(values={name: value, f"{name}.open": following})
            cells.append((new, do, new == (hour if is_hour else minute)))
        columns = 6 if is_hour else 4
        _draw_cells(d, cells, columns, left + 12, top + 64, w - 24, prefix=f"{unit} ", row_px=64)


def _draw_popup(d: Canvas, height: int, close: Do) -> tuple[int, int, int]:
    """Dim the screen and draw an empty dialog; return its left, top and width."""
    screen_w, screen_h = d.size_px
    d.limit(0, screen_h)
    d.box(0, 0, screen_w, screen_h, "#000000", opacity=0.45)
    d.node(Node("dialog", "", Box(0, 0, screen_w, screen_h), do=close, blocks=True))
    width = screen_w - 56
    left, top = 28, (screen_h - height) // 2
    d.box(left, top, width, height, d.theme.surface, radius=24)
    d.node(Node("dialog", "", Box(left, top, width, height), blocks=True))
    return left, top, width


def _draw_cells(
    d: Canvas,
    cells: list[tuple[str, Do | None, bool]],
    columns: int,
    x: int,
    y: int,
    w: int,
    *,
    prefix: str = "",
    row_px: int = 42,
) -> None:
    """Draw small round choices in a grid."""
    t = d.theme
    cell = w // columns
    for number, (label, do, chosen) in enumerate(cells):
        left, top = x + number % columns * cell, y + number // columns * row_px
        if chosen:
            d.box(left + (cell - 36) // 2, top + 3, 36, 36, t.tint, radius=18)
        color = t.on_tint if chosen else t.ink if do else t.muted
        role: Role | None = None if do else "text"
        d.text(label, left, top, cell, 14, color, line_px=42, align="center", role=role)
        if do is not None:
            box = Box(left, top, cell, row_px)
            d.node(Node("button", prefix + label, box, do=do, selected=chosen))


def _draw_closed(
    d: Canvas, x: int, y: int, w: int, icon: str, label: Words, shown: str, do: Do
) -> None:
    """Draw a field that opens a chooser."""
    t = d.theme
    left, width = x + MARGIN_PX, w - 2 * MARGIN_PX
    d.box(left, y + 4, width, 56, t.fill, radius=12)
    words = d.words(label)
    d.text(words, left + 14, y + 10, width - 60, 12, t.muted, role=None)
    d.text(shown, left + 14, y + 29, width - 60, 15, line_px=21, role=None)
    d.icon(icon, left + width - 38, y + 20, 24, t.muted)
    d.node(Node("button", words, Box(left, y + 4, width, 56), do=do, value=shown))
