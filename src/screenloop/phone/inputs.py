"""Widgets that hold a value of the page: fields, switches, chips, steppers, dates and times.

They are made by `Ui` (`ui.field(...)`), which knows the current value; `.value` is what an action
takes as its argument.
"""

from __future__ import annotations

import calendar
from datetime import date
from typing import Any, Literal

from screenloop.phone.canvas import Box, Canvas, Node, Words
from screenloop.phone.do import Both, Do, Focus, SetLocal
from screenloop.phone.fonts import ELLIPSIS, advance_px, drawable
from screenloop.phone.theme import MARGIN_PX
from screenloop.types import Struct

FieldKind = Literal["text", "number", "phone", "search"]
MONTHS = (
    ("January", "一月"), ("February", "二月"), ("March", "三月"), ("April", "四月"),
    ("May", "五月"), ("June", "六月"), ("July", "七月"), ("August", "八月"),
    ("September", "九月"), ("October", "十月"), ("November", "十一月"), ("December", "十二月"),
)  # fmt: skip
WEEKDAYS = (
    ("Mon", "周一"), ("Tue", "周二"), ("Wed", "周三"), ("Thu", "周四"), ("Fri", "周五"),
    ("Sat", "周六"), ("Sun", "周日"),
)  # fmt: skip


CARET = "|"


class Field(Struct, frozen=True, kw_only=True):
    """A text field with a floating label."""

    name: str
    value: str
    label: Words
    hint: Words = ""
    kind: FieldKind = "text"
    lines: int = 1
    focused: bool = False
    submit: Do | None = None
    """What enter does."""
    secret: bool = False

    def height(self, d: Canvas, w: int) -> int:
        """Return its height."""
        if self.kind == "search":
            return 60
        return 68 + (max(self.lines, self._shown_lines(d, w)) - 1) * 21

    def _shown_lines(self, d: Canvas, w: int) -> int:
        if self.lines == 1:
            return 1
        caret = CARET if self.focused else ""
        return max(1, d.lines_of(self.value + caret, w - 2 * MARGIN_PX - 28, size_px=15))

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        """Draw it."""
        t = d.theme
        left, width, h = x + MARGIN_PX, w - 2 * MARGIN_PX, self.height(d, w) - 10
        search = self.kind == "search"
        d.box(
            left, y + 4, width, h, t.fill, radius=25 if search else 12,
            border=t.tint if self.focused else "",
        )  # fmt: skip
        label = d.words(self.label)
        shown = "•" * len(self.value) if self.secret else self.value
        caret = CARET if self.focused else ""
        if self.focused and self.lines == 1:
            shown = _tail(drawable(shown), width - (60 if search else 28))
        if search:
            d.icon("search", left + 14, y + 18, 22, t.muted)
            d.text(
                (shown + caret) or label, left + 46, y + 4, width - 60, size_px=15, line_px=h,
                color=t.ink if shown else t.muted, role=None,
            )  # fmt: skip
        else:
            color = t.tint if self.focused else t.muted
            d.text(label, left + 14, y + 10, width - 28, size_px=12, color=color, role=None)
            d.text(
                (shown + caret) or self.hint, left + 14, y + 29, width - 28, size_px=15,
                line_px=21, color=t.ink if shown + caret else t.muted, role=None,
                lines=1 if self.lines == 1 else None,
            )  # fmt: skip
        d.node(
            Node(
                role="field", label=label, box=Box(left, y + 4, width, h), field=self.name,
                value=self.value, do=Focus(field=self.name), selected=self.focused,
                submit=self.submit, multiline=self.lines > 1, keyboard=self.kind,
            )
        )  # fmt: skip


class Switch(Struct, frozen=True, kw_only=True):
    """A row with a switch."""

    label: Words
    value: bool
    do: Do
    subtitle: Words = ""
    icon: str = ""
    enabled: bool = True

    def height(self, d: Canvas, w: int) -> int:
        """Return its height."""
        return 68 if self.subtitle else 56

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        """Draw it."""
        t = d.theme
        h = self.height(d, w)
        left = x + MARGIN_PX
        if self.icon:
            d.icon(self.icon, left, y + (h - 24) // 2, 24, t.muted)
            left += 42
        room = x + w - MARGIN_PX - 64 - left
        ink = t.ink if self.enabled else t.muted
        label, subtitle = d.words(self.label), d.words(self.subtitle)
        if subtitle:
            d.text(label, left, y + 11, room, size_px=16, color=ink, role=None)
            d.text(subtitle, left, y + 36, room, size_px=13, color=t.muted, role=None)
        else:
            d.text(label, left, y + 17, room, size_px=16, line_px=22, color=ink, role=None)
        right = x + w - MARGIN_PX - 48
        top = y + (h - 28) // 2
        d.box(right, top, 48, 28, t.tint if self.value else t.line, radius=14)
        d.box(right + (24 if self.value else 4), top + 4, 20, 20, "#ffffff", radius=10)
        d.node(
            Node(
                role="switch", label=" · ".join(filter(None, (label, subtitle))),
                box=Box(x, y, w, h), checked=self.value, enabled=self.enabled,
                do=self.do if self.enabled else None,
            )
        )  # fmt: skip


class Check(Struct, frozen=True, kw_only=True):
    """A row with a check box; a done one is struck through where `strike`."""

    label: Words
    value: bool
    do: Do
    subtitle: Words = ""
    strike: bool = False
    long: Do | None = None

    def height(self, d: Canvas, w: int) -> int:
        """Return its height."""
        return 64 if self.subtitle else 50

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        """Draw it."""
        t = d.theme
        h = self.height(d, w)
        top = y + (h - 24) // 2
        if self.value:
            d.box(x + MARGIN_PX, top, 24, 24, t.tint, radius=7)
            d.icon("check", x + MARGIN_PX + 4, top + 4, 16, t.on_tint)
        else:
            d.box(x + MARGIN_PX, top, 24, 24, radius=7, border=t.muted)
        label, subtitle = d.words(self.label), d.words(self.subtitle)
        left, room = x + MARGIN_PX + 40, w - 2 * MARGIN_PX - 40
        done = self.value and self.strike
        d.text(
            label, left, y + (9 if subtitle else (h - 22) // 2), room, size_px=16, line_px=22,
            color=t.muted if done else t.ink, strike=done, role=None,
        )  # fmt: skip
        d.text(subtitle, left, y + 34, room, size_px=13, color=t.muted, role=None)
        d.node(
            Node(
                role="checkbox", label=" · ".join(filter(None, (label, subtitle))),
                box=Box(x, y, w, h), checked=self.value, do=self.do, long=self.long,
            )
        )  # fmt: skip


class Chip(Struct, frozen=True, kw_only=True):
    """One of several choices."""

    words: Words
    do: Do
    selected: bool = False


class Chips(Struct, frozen=True, kw_only=True):
    """Choices side by side, in as many lines as they need."""

    chips: tuple[Chip, ...]
    value: Any = None
    """The chosen value, where the chips set a value of the page."""
    label: Words = ""

    def _lines(self, d: Canvas, w: int) -> list[list[tuple[Chip, int, int]]]:
        lines: list[list[tuple[Chip, int, int]]] = [[]]
        left = MARGIN_PX
        for chip in self.chips:
            width = min(w - 2 * MARGIN_PX, int(advance_px(d.words(chip.words), 14)) + 30)
            if left + width > w - MARGIN_PX and lines[-1]:
                lines.append([])
                left = MARGIN_PX
            lines[-1].append((chip, left, width))
            left += width + 8
        return lines

    def height(self, d: Canvas, w: int) -> int:
        """Return its height."""
        return 44 * len(self._lines(d, w)) + 4 + (22 if self.label else 0)

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        """Draw it."""
        t = d.theme
        if self.label:
            d.text(self.label, x + MARGIN_PX, y + 2, w - 32, size_px=13, color=t.muted)
            y += 22
        for line in self._lines(d, w):
            for chip, left, width in line:
                fill, ink = (t.tint, t.on_tint) if chip.selected else (t.fill, t.ink)
                d.box(x + left, y + 4, width, 36, fill, radius=18)
                label = d.words(chip.words)
                d.text(
                    label, x + left, y + 4, width, size_px=14, line_px=36, color=ink,
                    align="center", role=None,
                )  # fmt: skip
                d.node(
                    Node(
                        role="chip", label=label, box=Box(x + left, y + 2, width, 40),
                        do=chip.do, selected=chip.selected,
                    )
                )  # fmt: skip
            y += 44


class Stepper(Struct, frozen=True, kw_only=True):
    """A whole number with minus and plus."""

    label: Words
    value: int
    less: Do | None
    more: Do | None
    unit: Words = ""

    def height(self, d: Canvas, w: int) -> int:
        """Return its height."""
        return 60

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        """Draw it."""
        t = d.theme
        label = d.words(self.label)
        d.text(label, x + MARGIN_PX, y + 19, w - 190, size_px=16, line_px=22)
        right = x + w - MARGIN_PX - 140
        d.box(right, y + 10, 140, 40, t.fill, radius=20)
        shown = f"{self.value} {d.words(self.unit)}".strip()
        d.text(shown, right + 40, y + 10, 60, size_px=16, line_px=40, bold=True, align="center")
        sides = (("minus", right, self.less, "−"), ("plus", right + 100, self.more, "+"))
        for icon, left, do, sign in sides:
            d.icon(icon, left + 10, y + 20, 20, t.tint if do else t.line)
            d.node(
                Node(
                    role="button", label=f"{label} {sign}", box=Box(left, y + 8, 40, 44), do=do,
                    enabled=do is not None, value=str(self.value),
                )
            )  # fmt: skip


def _draw_popup(d: Canvas, height: int, close: Do) -> tuple[int, int, int]:
    """Dim the screen and draw an empty dialog; return its left, top and width."""
    screen_w, screen_h = d.size_px
    d.limit(0, screen_h)
    d.box(0, 0, screen_w, screen_h, "#000000", opacity=0.45)
    d.node(Node(role="dialog", label="", box=Box(0, 0, screen_w, screen_h), do=close, blocks=True))
    width = screen_w - 56
    left, top = 28, (screen_h - height) // 2
    d.box(left, top, width, height, d.theme.surface, radius=24)
    d.node(Node(role="dialog", label="", box=Box(left, top, width, height), blocks=True))
    return left, top, width


def _draw_cells(
    d: Canvas, cells: list[tuple[str, Do | None, bool]], columns: int, x: int, y: int, w: int,
    *, prefix: str = "", row_px: int = 42,
) -> None:  # fmt: skip
    """Draw small round choices in a grid."""
    t = d.theme
    cell = w // columns
    for number, (label, do, chosen) in enumerate(cells):
        left, top = x + number % columns * cell, y + number // columns * row_px
        if chosen:
            d.box(left + (cell - 36) // 2, top + 3, 36, 36, t.tint, radius=18)
        color = t.on_tint if chosen else t.ink if do else t.muted
        d.text(
            label, left, top, cell, size_px=14, line_px=42, color=color, align="center",
            role=None if do else "text",
        )  # fmt: skip
        if do is not None:
            d.node(
                Node(
                    role="button", label=prefix + label, box=Box(left, top, cell, row_px), do=do,
                    selected=chosen,
                )
            )  # fmt: skip


class DateField(Struct, frozen=True, kw_only=True):
    """A day, chosen in a month calendar."""

    name: str
    label: Words
    value: str
    """ISO date."""
    opened: str = ""
    """The month shown (`YYYY-MM`) while the calendar is open."""

    def height(self, d: Canvas, w: int) -> int:
        """Return its height."""
        return 64

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        """Draw it."""
        day = date.fromisoformat(self.value)
        shown = f"{d.words(WEEKDAYS[day.weekday()])} {day.day} {d.words(MONTHS[day.month - 1])}"
        _draw_closed(
            d, x, y, w, "calendar", self.label, f"{shown} {day.year}",
            SetLocal(values={f"{self.name}.open": self.value[:7]}),
        )  # fmt: skip
        if self.opened:
            d.later(lambda: self._draw_open(d))

    def _draw_open(self, d: Canvas) -> None:
        name = self.name
        left, top, w = _draw_popup(d, 412, SetLocal(values={f"{name}.open": ""}))
        year, month = map(int, self.opened.split("-"))
        heading = f"{d.words(MONTHS[month - 1])} {year}"
        d.text(heading, left, top + 18, w, size_px=17, bold=True, align="center", role="heading")
        for icon, dx, label, step in (
            ("chevron_left", 12, ("Previous month", "上个月"), -1),
            ("chevron_right", w - 56, ("Next month", "下个月"), 1),
        ):
            index = year * 12 + month - 1 + step
            target = f"{index // 12}-{index % 12 + 1:02d}"
            d.icon(icon, left + dx + 10, top + 18, 24, d.theme.ink)
            d.node(
                Node(
                    role="button", label=d.words(label), box=Box(left + dx, top + 8, 44, 44),
                    do=SetLocal(values={f"{name}.open": target}),
                )
            )  # fmt: skip
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
        """Return its height."""
        return 64

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        """Draw it."""
        opening = SetLocal(values={f"{self.name}.open": "hour"})
        _draw_closed(d, x, y, w, "clock", self.label, self.value, opening)
        if self.opened:
            d.later(lambda: self._draw_open(d))

    def _draw_open(self, d: Canvas) -> None:
        name = self.name
        is_hour = self.opened == "hour"
        left, top, w = _draw_popup(d, 352, SetLocal(values={f"{name}.open": ""}))
        words = ("Hour", "小时") if is_hour else ("Minute", "分钟")
        d.text(
            f"{d.words(words)} · {self.value}", left, top + 18, w, size_px=17, bold=True,
            align="center", role="heading",
        )  # fmt: skip
        hour, minute = self.value.split(":")
        cells: list[tuple[str, Do | None, bool]] = []
        if is_hour:
            for number in range(24):
                new = f"{number:02d}"
                do = SetLocal(values={name: f"{new}:{minute}", f"{name}.open": "minute"})
                cells.append((new, do, new == hour))
        else:
            for number in range(0, 60, 5):
                new = f"{number:02d}"
                do = SetLocal(values={name: f"{hour}:{new}", f"{name}.open": ""})
                cells.append((new, do, new == minute))
        _draw_cells(
            d, cells, 6 if is_hour else 4, left + 12, top + 64, w - 24,
            prefix=d.words(words) + " ", row_px=64,
        )  # fmt: skip


def _draw_closed(
    d: Canvas, x: int, y: int, w: int, icon: str, label: Words, shown: str, do: Do
) -> None:
    """Draw a field that opens a chooser."""
    t = d.theme
    left, width = x + MARGIN_PX, w - 2 * MARGIN_PX
    d.box(left, y + 4, width, 56, t.fill, radius=12)
    words = d.words(label)
    d.text(words, left + 14, y + 10, width - 60, size_px=12, color=t.muted, role=None)
    d.text(shown, left + 14, y + 29, width - 60, size_px=15, line_px=21, role=None)
    d.icon(icon, left + width - 38, y + 20, 24, t.muted)
    d.node(Node(role="button", label=words, box=Box(left, y + 4, width, 56), do=do, value=shown))


def _tail(text: str, width_px: int) -> str:
    """Return the end of a line that is being typed, where all of it and the caret do not fit."""
    room_px = width_px - advance_px(CARET, 15)
    if advance_px(text, 15) <= room_px:
        return text
    room_px -= advance_px(ELLIPSIS, 15)
    start = len(text)
    while start and advance_px(text[start - 1 :], 15) <= room_px:
        start -= 1
    return ELLIPSIS + text[start:]


def clearing(do: Do, *names: str) -> Do:
    """Return a Do that also empties values of the page, e.g. a message field after sending."""
    return Both(first=do, then=SetLocal(values=dict.fromkeys(names, "")))
