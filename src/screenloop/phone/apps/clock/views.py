"""What only the clock draws: a dial of dots, an alarm with its switch, weekdays to choose."""

from __future__ import annotations

from math import cos, pi, sin

from screenloop.phone import kit as k

DOTS = 60
DIAL_PX = 268


class Dial(k.Struct, frozen=True, kw_only=True):
    """A ring of dots around a time; the share that is left or has gone by is lit."""

    words: str
    caption: k.Words
    share: float
    done: bool = False

    def height(self, d: k.Canvas, w: int) -> int:
        return DIAL_PX + 32

    def draw(self, d: k.Canvas, x: int, y: int, w: int) -> None:
        """Draw it in the middle of the width."""
        t = d.theme
        center_x, center_y = x + w // 2, y + 16 + DIAL_PX // 2
        radius = DIAL_PX // 2 - 8
        d.box(
            center_x - radius + 16,
            center_y - radius + 16,
            2 * radius - 32,
            2 * radius - 32,
            t.surface,
            radius=radius,
        )
        lit = round(self.share * DOTS)
        for number in range(DOTS):
            angle = 2 * pi * number / DOTS
            size = 10 if number % 5 == 0 else 6
            left = round(center_x + radius * sin(angle)) - size // 2
            top = round(center_y - radius * cos(angle)) - size // 2
            color = (t.danger if self.done else t.tint) if number < lit else t.line
            d.box(left, top, size, size, color, radius=size // 2)
        color = t.danger if self.done else t.ink
        size_px = 52 if len(self.words) <= 5 else 42
        d.centered(self.words, x, center_y - 38, w, size_px, color, line_px=64, bold=True)
        caption = d.words(self.caption)
        d.text(caption, x + 80, center_y + 30, w - 160, 15, t.muted, align="center")
        box = k.Box(center_x - 100, center_y - 38, 200, 64)
        d.node(k.Node("heading", self.words, box))


class AlarmRow(k.Struct, frozen=True, kw_only=True):
    """An alarm: a large time, what it is for, and a switch of its own."""

    time: str
    note: k.Words
    on: bool
    toggle: k.Do
    do: k.Do
    alert: bool = False

    def height(self, d: k.Canvas, w: int) -> int:
        return 98

    def draw(self, d: k.Canvas, x: int, y: int, w: int) -> None:
        """Draw it as a card."""
        t = d.theme
        left, width = x + k.MARGIN_PX, w - 2 * k.MARGIN_PX
        d.box(left, y + 4, width, 90, t.tint_soft if self.alert else t.surface, radius=20)
        ink = t.ink if self.on else t.muted
        d.text(self.time, left + 18, y + 12, 140, 34, ink, line_px=46, bold=self.on, role=None)
        note = d.words(self.note)
        d.text(note, left + 18, y + 60, width - 110, 14, t.muted, role=None)
        right, top = left + width - 68, y + 35
        d.box(right, top, 48, 28, t.tint if self.on else t.line, radius=14)
        d.box(right + (24 if self.on else 4), top + 4, 20, 20, "#ffffff", radius=10)
        label = " · ".join(part for part in (self.time, note) if part)
        d.node(k.Node("row", label, k.Box(left, y + 4, width - 84, 90), do=self.do))
        d.node(
            k.Node(
                "switch", label, k.Box(right - 16, y + 4, 84, 90), do=self.toggle, checked=self.on
            )
        )


class DayButton(k.Struct, frozen=True, kw_only=True):
    """One weekday."""

    words: tuple[str, str]
    do: k.Do
    selected: bool


class DayButtons(k.Struct, frozen=True, kw_only=True):
    """The seven weekdays; each is switched by a touch."""

    days: tuple[DayButton, ...]

    def height(self, d: k.Canvas, w: int) -> int:
        return 58

    def draw(self, d: k.Canvas, x: int, y: int, w: int) -> None:
        """Draw them side by side."""
        t = d.theme
        cell = (w - 2 * k.MARGIN_PX) // 7
        for number, day in enumerate(self.days):
            left = x + k.MARGIN_PX + number * cell
            label = d.words(day.words)
            short = label[-1] if d.lang == "zh" else label[:2]
            inset = (cell - 44) // 2
            d.box(left + inset, y + 6, 44, 44, t.tint if day.selected else t.fill, radius=22)
            d.centered(
                short, left, y + 6, cell, 14, t.on_tint if day.selected else t.ink, line_px=44
            )
            d.node(
                k.Node(
                    "checkbox", label, k.Box(left, y + 4, cell, 48), do=day.do, checked=day.selected
                )
            )


class CityRow(k.Struct, frozen=True, kw_only=True):
    """A city, how far ahead it is, and its large time."""

    name: k.Words
    note: k.Words
    clock: str
    by_day: bool
    do: k.Do

    def height(self, d: k.Canvas, w: int) -> int:
        return 88

    def draw(self, d: k.Canvas, x: int, y: int, w: int) -> None:
        """Draw it as a card that is dark where it is night."""
        t = d.theme
        left, width = x + k.MARGIN_PX, w - 2 * k.MARGIN_PX
        night = not self.by_day and not t.dark
        fill = "#232a44" if night else t.surface
        ink, muted = ("#ffffff", "#aeb6d0") if night else (t.ink, t.muted)
        d.box(left, y + 4, width, 80, fill, radius=20)
        d.icon("sun" if self.by_day else "moon", left + 18, y + 32, 24, muted)
        name, note = d.words(self.name), d.words(self.note)
        d.text(name, left + 56, y + 18, width - 190, 18, ink, bold=True, role=None)
        d.text(note, left + 56, y + 48, width - 190, 13, muted, role=None)
        d.text(
            self.clock,
            left + width - 138,
            y + 4,
            120,
            32,
            ink,
            line_px=80,
            align="right",
            role=None,
        )
        label = " · ".join((name, self.clock, note))
        d.node(k.Node("row", label, k.Box(left, y + 4, width, 80), do=self.do))
