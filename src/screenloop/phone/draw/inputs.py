"""Widgets that hold a value of the page: fields, switches, chips, steppers, sliders.

They are made by `Ui` (`ui.field(...)`), which knows the current value; `.value` is what an action
takes as its argument. Days and times are in `choosers`.
"""

from __future__ import annotations

from typing import Any, Literal

from screenloop.phone.commands import Both, Do, Focus, Placing, SetLocal
from screenloop.phone.draw.canvas import Box, Canvas, Node, Words
from screenloop.phone.draw.fonts import ELLIPSIS, advance_px, drawable
from screenloop.phone.draw.theme import MARGIN_PX
from screenloop.types import Struct

FieldKind = Literal["text", "number", "phone", "search"]
MONTHS = tuple(
    zip(
        "January February March April May June July August September October November "
        "December".split(),
        "一月 二月 三月 四月 五月 六月 七月 八月 九月 十月 十一月 十二月".split(),
        strict=True,
    )
)
WEEKDAYS = tuple(
    zip(
        "Mon Tue Wed Thu Fri Sat Sun".split(),
        "周一 周二 周三 周四 周五 周六 周日".split(),
        strict=True,
    )
)
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
        if self.kind == "search":
            return 60
        return 68 + (max(self.lines, self._shown_lines(d, w)) - 1) * 21

    def _shown_lines(self, d: Canvas, w: int) -> int:
        if self.lines == 1:
            return 1
        caret = CARET if self.focused else ""
        return max(1, d.lines_of(self.value + caret, w - 2 * MARGIN_PX - 28, size_px=15))

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        t = d.theme
        left, width, h = x + MARGIN_PX, w - 2 * MARGIN_PX, self.height(d, w) - 10
        search = self.kind == "search"
        border = t.tint if self.focused else ""
        d.box(left, y + 4, width, h, t.fill, radius=25 if search else 12, border=border)
        label = d.words(self.label)
        shown = "•" * len(self.value) if self.secret else self.value
        caret = CARET if self.focused else ""
        if self.focused and self.lines == 1:
            shown = _tail(drawable(shown), width - (60 if search else 28))
        if search:
            d.icon("search", left + 14, y + 18, 22, t.muted)
            text, ink = (shown + caret) or label, t.ink if shown else t.muted
            d.text(text, left + 46, y + 4, width - 60, 15, ink, line_px=h, role=None)
        else:
            color = t.tint if self.focused else t.muted
            d.text(label, left + 14, y + 10, width - 28, 12, color, role=None)
            text, ink = shown + caret, t.ink if shown + caret else t.muted
            lines = 1 if self.lines == 1 else None
            at, room = (left + 14, y + 29), width - 28
            d.text(text or self.hint, *at, room, 15, ink, line_px=21, role=None, lines=lines)
        d.node(
            Node(
                "field",
                label,
                Box(left, y + 4, width, h),
                field=self.name,
                value=self.value,
                do=Focus(field=self.name),
                selected=self.focused,
                submit=self.submit,
                multiline=self.lines > 1,
                keyboard=self.kind,
            )
        )


class Switch(Struct, frozen=True, kw_only=False):
    """A row with a switch."""

    label: Words
    value: bool
    do: Do
    subtitle: Words = ""
    icon: str = ""
    enabled: bool = True

    def height(self, d: Canvas, w: int) -> int:
        return 68 if self.subtitle else 56

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
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
            d.text(label, left, y + 11, room, 16, ink, role=None)
            d.text(subtitle, left, y + 36, room, 13, t.muted, role=None)
        else:
            d.text(label, left, y + 17, room, 16, ink, line_px=22, role=None)
        right = x + w - MARGIN_PX - 48
        top = y + (h - 28) // 2
        d.box(right, top, 48, 28, t.tint if self.value else t.line, radius=14)
        d.box(right + (24 if self.value else 4), top + 4, 20, 20, "#ffffff", radius=10)
        label = " · ".join(filter(None, (label, subtitle)))
        box, do = Box(x, y, w, h), self.do if self.enabled else None
        d.node(Node("switch", label, box, do=do, checked=self.value, enabled=self.enabled))


class Check(Struct, frozen=True, kw_only=False):
    """A row with a check box; a done one is struck through where `strike`."""

    label: Words
    value: bool
    do: Do
    subtitle: Words = ""
    strike: bool = False
    long: Do | None = None

    def height(self, d: Canvas, w: int) -> int:
        return 64 if self.subtitle else 50

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
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
        top, ink = y + (9 if subtitle else (h - 22) // 2), t.muted if done else t.ink
        d.text(label, left, top, room, 16, ink, line_px=22, strike=done, role=None)
        d.text(subtitle, left, y + 34, room, 13, t.muted, role=None)
        label = " · ".join(filter(None, (label, subtitle)))
        box = Box(x, y, w, h)
        d.node(Node("checkbox", label, box, do=self.do, long=self.long, checked=self.value))


class Chip(Struct, frozen=True, kw_only=False):
    """One of several choices."""

    words: Words
    do: Do
    selected: bool = False


class Chips(Struct, frozen=True, kw_only=False):
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
        return 44 * len(self._lines(d, w)) + 4 + (22 if self.label else 0)

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        t = d.theme
        if self.label:
            d.text(self.label, x + MARGIN_PX, y + 2, w - 32, 13, t.muted)
            y += 22
        for line in self._lines(d, w):
            for chip, left, width in line:
                fill, ink = (t.tint, t.on_tint) if chip.selected else (t.fill, t.ink)
                d.box(x + left, y + 4, width, 36, fill, radius=18)
                label = d.words(chip.words)
                d.centered(label, x + left, y + 4, width, 14, ink, line_px=36)
                box = Box(x + left, y + 2, width, 40)
                d.node(Node("chip", label, box, do=chip.do, selected=chip.selected))
            y += 44


class Stepper(Struct, frozen=True, kw_only=False):
    """A whole number with minus and plus."""

    label: Words
    value: int
    less: Do | None
    more: Do | None
    unit: Words = ""

    def height(self, d: Canvas, w: int) -> int:
        return 60

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        t = d.theme
        label = d.words(self.label)
        d.text(label, x + MARGIN_PX, y + 19, w - 190, 16, line_px=22)
        right = x + w - MARGIN_PX - 140
        d.box(right, y + 10, 140, 40, t.fill, radius=20)
        shown = f"{self.value} {d.words(self.unit)}".strip()
        d.text(shown, right + 40, y + 10, 60, 16, line_px=40, bold=True, align="center")
        sides = (("minus", right, self.less, "−"), ("plus", right + 100, self.more, "+"))
        for icon, left, do, sign in sides:
            d.icon(icon, left + 10, y + 20, 20, t.tint if do else t.line)
            box, value = Box(left, y + 8, 40, 44), str(self.value)
            enabled = do is not None
            d.node(Node("button", f"{label} {sign}", box, do=do, enabled=enabled, value=value))


class Slider(Struct, frozen=True, kw_only=False):
    """A track from 0 to 1 that is tapped or dragged."""

    label: Words
    share: float
    place: Placing
    icon: str = ""

    def height(self, d: Canvas, w: int) -> int:
        return 72

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        t = d.theme
        left = x + MARGIN_PX + (38 if self.icon else 0)
        width = x + w - MARGIN_PX - left
        if self.icon:
            d.icon(self.icon, x + MARGIN_PX, y + 32, 22, t.muted)
        label = d.words(self.label)
        percent = f"{round(self.share * 100)}%"
        d.text(label, left, y + 8, width - 50, 14, role=None)
        d.text(percent, left + width - 50, y + 8, 50, 13, t.muted, align="right", role=None)
        filled = round(width * self.share)
        d.box(left, y + 42, width, 6, t.fill, radius=3)
        d.box(left, y + 42, filled, 6, t.tint, radius=3)
        d.box(left + filled - 10, y + 35, 20, 20, t.tint, radius=10)
        d.node(Node("slider", label, Box(left, y + 28, width, 36), place=self.place, value=percent))


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
