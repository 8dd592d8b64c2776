"""The widgets that pages are made of: frozen values that know their height and draw themselves.

Widths are given, heights follow from the content in whole pixels, so a page needs no layout pass
of a renderer. Here are text, buttons and what holds other widgets. `rows` shows one thing each,
`inputs` and `choosers` hold values, `page` has the bars, the dialogs and the Page itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from screenloop.phone.commands import Do
from screenloop.phone.draw.canvas import Align, Box, Canvas, Node, Words
from screenloop.phone.draw.theme import MARGIN_PX, mix
from screenloop.types import Struct


class Widget(Protocol):
    """Anything that can be put on a page."""

    def height(self, d: Canvas, w: int) -> int:
        """Return its height at a width."""
        ...

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        """Draw it with its top left corner at a point."""
        ...


def stack_height(d: Canvas, widgets: Sequence[Widget], w: int, gap: int = 0) -> int:
    """Return the height of widgets drawn one under the other."""
    return sum(v.height(d, w) for v in widgets) + gap * max(0, len(widgets) - 1)


def draw_stack(d: Canvas, widgets: Sequence[Widget], x: int, y: int, w: int, gap: int = 0) -> None:
    """Draw widgets one under the other."""
    for widget in widgets:
        widget.draw(d, x, y, w)
        y += widget.height(d, w) + gap


class Space(Struct, frozen=True, kw_only=False):
    """Empty room."""

    px: int = 12

    def height(self, d: Canvas, w: int) -> int:
        return self.px

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        """Draw nothing."""


class Paragraph(Struct, frozen=True, kw_only=False):
    """A paragraph, or a single line."""

    words: Words
    size_px: int = 15
    bold: bool = False
    muted: bool = False
    color: str = ""
    align: Align = "left"
    lines: int | None = None
    inset_px: int = MARGIN_PX
    pad_px: int = 4
    """Room above and below."""

    def height(self, d: Canvas, w: int) -> int:
        room = w - 2 * self.inset_px
        count = d.lines_of(self.words, room, self.size_px, bold=self.bold, lines=self.lines)
        return count * round(self.size_px * 1.4) + 2 * self.pad_px

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        d.text(
            self.words,
            x + self.inset_px,
            y + self.pad_px,
            w - 2 * self.inset_px,
            self.size_px,
            self.color or (d.theme.muted if self.muted else d.theme.ink),
            bold=self.bold,
            align=self.align,
            lines=self.lines,
        )


class Heading(Struct, frozen=True, kw_only=False):
    """The small title above a group, with an optional link on the right."""

    words: Words
    link: Words = ""
    do: Do | None = None

    def height(self, d: Canvas, w: int) -> int:
        return 40

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        left, room = x + MARGIN_PX, w - 2 * MARGIN_PX - (90 if self.do else 0)
        d.text(self.words, left, y + 14, room, 13, d.theme.tint, bold=True, role="heading")
        if self.do is not None:
            label = d.words(self.link)
            start = x + w - MARGIN_PX - 110
            d.text(label, start, y + 14, 110, 13, d.theme.muted, align="right", role=None)
            d.node(Node("link", label, Box(x + w - 126, y + 4, 120, 36), do=self.do))


class Divider(Struct, frozen=True, kw_only=True):
    """A thin line."""

    inset_px: int = MARGIN_PX

    def height(self, d: Canvas, w: int) -> int:
        return 1

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        d.box(x + self.inset_px, y, w - self.inset_px, 1, d.theme.line)


class Card(Struct, frozen=True, kw_only=False):
    """A raised surface that holds other widgets."""

    children: tuple[Widget, ...]
    do: Do | None = None
    label: Words = ""
    """What the card is called when it can be touched."""
    pad_px: int = 4
    fill: str = ""

    def height(self, d: Canvas, w: int) -> int:
        return stack_height(d, self.children, w - 2 * MARGIN_PX) + 2 * self.pad_px + 12

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        inner = w - 2 * MARGIN_PX
        h = self.height(d, w) - 12
        d.box(x + MARGIN_PX, y, inner, h, self.fill or d.theme.surface, radius=16)
        if self.do is not None:
            box = Box(x + MARGIN_PX, y, inner, h)
            d.node(Node("button", d.words(self.label), box, do=self.do))
        draw_stack(d, self.children, x + MARGIN_PX, y + self.pad_px, inner)


class Button(Struct, frozen=True, kw_only=False):
    """A wide button."""

    words: Words
    do: Do
    kind: Literal["filled", "tonal", "plain", "danger"] = "filled"
    icon: str = ""
    enabled: bool = True
    inset_px: int = MARGIN_PX

    def height(self, d: Canvas, w: int) -> int:
        return 60

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        t = d.theme
        fill, ink = {
            "filled": (t.tint, t.on_tint),
            "tonal": (t.tint_soft, t.tint),
            "plain": ("", t.tint),
            "danger": (mix(t.danger, t.surface, 0.88), t.danger),
        }[self.kind]
        if not self.enabled:
            fill, ink = t.fill, t.muted
        left, width = x + self.inset_px, w - 2 * self.inset_px
        d.box(left, y + 6, width, 48, fill, radius=24)
        label = d.words(self.words)
        inset = 0
        if self.icon:
            start = left + width // 2 - 14 - 4 * len(label)
            d.icon(self.icon, max(left + 8, start), y + 20, 20, ink)
            inset = 26
        d.centered(label, left + inset, y + 6, width - inset, 15, ink, line_px=48, bold=True)
        box, do = Box(left, y + 6, width, 48), self.do if self.enabled else None
        d.node(Node("button", label, box, do=do, enabled=self.enabled))


class IconButton(Struct, frozen=True, kw_only=False):
    """A round button with an icon; the label is read aloud."""

    icon: str
    label: Words
    do: Do
    color: str = ""
    selected: bool = False

    def place(self, d: Canvas, x: int, y: int, size_px: int = 44) -> None:
        if self.selected:
            d.box(x + 2, y + 2, size_px - 4, size_px - 4, d.theme.tint_soft, radius=size_px // 2)
        inset = (size_px - 24) // 2
        color = self.color or (d.theme.tint if self.selected else d.theme.ink)
        d.icon(self.icon, x + inset, y + inset, 24, color)
        box = Box(x, y, size_px, size_px)
        d.node(Node("button", d.words(self.label), box, do=self.do, selected=self.selected))

    def height(self, d: Canvas, w: int) -> int:
        return 48

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        """Draw it in the middle of the width, with its label under it where there is room."""
        self.place(d, x + (w - 44) // 2, y + 2)


class ActionButton(Struct, frozen=True, kw_only=False):
    """A round tinted button with its name under it, for rows of main actions."""

    icon: str
    words: Words
    do: Do
    selected: bool = False

    def height(self, d: Canvas, w: int) -> int:
        return 84

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        t = d.theme
        left = x + (w - 48) // 2
        fill, ink = (t.tint, t.on_tint) if self.selected else (t.tint_soft, t.tint)
        d.box(left, y + 6, 48, 48, fill, radius=24)
        d.icon(self.icon, left + 13, y + 19, 22, ink)
        label = d.words(self.words)
        d.centered(label, x, y + 58, w, 12, t.ink)
        d.node(Node("button", label, Box(x, y + 2, w, 80), do=self.do, selected=self.selected))


class Line(Struct, frozen=True, kw_only=False):
    """Widgets side by side, equally wide (or by `shares`)."""

    children: tuple[Widget, ...]
    shares: tuple[int, ...] = ()
    gap_px: int = 0
    inset_px: int = 0

    def _widths(self, w: int) -> list[int]:
        shares = self.shares or (1,) * len(self.children)
        room = w - 2 * self.inset_px - self.gap_px * (len(shares) - 1)
        return [room * share // sum(shares) for share in shares]

    def height(self, d: Canvas, w: int) -> int:
        pairs = zip(self.children, self._widths(w), strict=True)
        return max((c.height(d, cw) for c, cw in pairs), default=0)

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        left = x + self.inset_px
        for child, width in zip(self.children, self._widths(w), strict=True):
            child.draw(d, left, y, width)
            left += width + self.gap_px


class Grid(Struct, frozen=True, kw_only=False):
    """Widgets in rows of `columns`."""

    children: tuple[Widget, ...]
    columns: int = 2
    gap_px: int = 8
    inset_px: int = MARGIN_PX

    def _cell(self, w: int) -> int:
        return (w - 2 * self.inset_px - self.gap_px * (self.columns - 1)) // self.columns

    def height(self, d: Canvas, w: int) -> int:
        cell = self._cell(w)
        heights = [
            max(c.height(d, cell) for c in self.children[i : i + self.columns])
            for i in range(0, len(self.children), self.columns)
        ]
        return sum(heights) + self.gap_px * len(heights)

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        cell = self._cell(w)
        for i in range(0, len(self.children), self.columns):
            row = self.children[i : i + self.columns]
            for column, child in enumerate(row):
                child.draw(d, x + self.inset_px + column * (cell + self.gap_px), y, cell)
            y += max(c.height(d, cell) for c in row) + self.gap_px


class Empty(Struct, frozen=True, kw_only=False):
    """What a list shows when there is nothing in it."""

    icon: str
    words: Words

    def height(self, d: Canvas, w: int) -> int:
        return 200

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        d.box(x + w // 2 - 40, y + 32, 80, 80, d.theme.fill, radius=40)
        d.icon(self.icon, x + w // 2 - 18, y + 54, 36, d.theme.muted)
        d.text(self.words, x + 32, y + 128, w - 64, 15, d.theme.muted, align="center", lines=2)


class Big(Struct, frozen=True, kw_only=False):
    """A large figure with a caption: a balance, a timer, a date."""

    words: Words
    caption: Words = ""
    color: str = ""

    def height(self, d: Canvas, w: int) -> int:
        return 104 if self.caption else 80

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        color = self.color or d.theme.ink
        d.text(self.words, x, y + 12, w, 40, color, bold=True, align="center")
        d.text(self.caption, x, y + 70, w, 14, d.theme.muted, align="center")


class Banner(Struct, frozen=True, kw_only=False):
    """A tinted note across the page."""

    icon: str
    words: Words
    do: Do | None = None

    def height(self, d: Canvas, w: int) -> int:
        return max(44, d.lines_of(self.words, w - 92, size_px=14) * 20 + 24) + 12

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        h = self.height(d, w) - 12
        d.box(x + MARGIN_PX, y + 6, w - 2 * MARGIN_PX, h, d.theme.tint_soft, radius=14)
        d.icon(self.icon, x + MARGIN_PX + 12, y + 6 + (h - 22) // 2, 22, d.theme.tint)
        label = d.words(self.words)
        d.text(label, x + 60, y + 18, w - 92, 14, line_px=20, lines=None, role=None)
        box = Box(x + MARGIN_PX, y + 6, w - 2 * MARGIN_PX, h)
        d.node(Node("button" if self.do else "text", label, box, do=self.do))
