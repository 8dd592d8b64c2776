"""How Notes looks: note cards in columns of unequal heights, and the colours of the cards."""

from __future__ import annotations

from collections.abc import Sequence

from screenloop.phone import kit as k
from screenloop.phone.apps.notes.seed import Colour
from screenloop.phone.apps.notes.state import Item, Note

COLOURS: tuple[tuple[Colour, tuple[str, str], str], ...] = (
    ("plain", ("Plain", "无色"), ""),
    ("yellow", ("Yellow", "黄色"), "#e2b203"),
    ("orange", ("Orange", "橙色"), "#e8772e"),
    ("pink", ("Pink", "粉色"), "#d9568c"),
    ("purple", ("Purple", "紫色"), "#8a5cd1"),
    ("blue", ("Blue", "蓝色"), "#3b82d4"),
    ("green", ("Green", "绿色"), "#3f9a4f"),
)
MAX_LINES = 6
"""Lines of text, or of a checklist, that a card shows."""
GAP_PX = 10


def hue_of(colour: Colour) -> str:
    """Return the strong form of a note's colour; empty for a plain one."""
    return next(hue for name, _, hue in COLOURS if name == colour)


def fill_of(t: k.Theme, colour: Colour) -> str:
    """Return the background of a card."""
    hue = hue_of(colour)
    return k.mix(hue, t.surface, 0.76 if t.dark else 0.8) if hue else t.surface


class NoteCard(k.Struct, frozen=True, kw_only=True):
    """A note in small: title, the first lines, the first items, when."""

    note: Note
    items: tuple[Item, ...]
    when: str
    do: k.Do
    long: k.Do

    def _body_px(self, d: k.Canvas, w: int) -> int:
        return 19 * d.lines_of(self.note.body, w - 28, size_px=14, lines=MAX_LINES)

    def height(self, d: k.Canvas, w: int) -> int:
        title = 22 * d.lines_of(self.note.title, w - 48, size_px=16, bold=True, lines=2)
        body = self._body_px(d, w)
        shown = min(len(self.items), MAX_LINES)
        items = 24 * shown + 20 * (len(self.items) > MAX_LINES)
        return 12 + title + (6 + body if body else 0) + (8 + items if items else 0) + 36

    def draw(self, d: k.Canvas, x: int, y: int, w: int) -> None:
        t = d.theme
        h = self.height(d, w)
        d.box(x, y, w, h, fill_of(t, self.note.colour), radius=16)
        label = " · ".join(filter(None, (self.note.title, self._preview(), self.when)))
        d.node(k.Node("button", label, k.Box(x, y, w, h), do=self.do, long=self.long))
        if self.note.pinned:
            d.icon("pin", x + w - 30, y + 12, 18, t.muted)
        top = y + 12
        top += d.text(
            self.note.title, x + 14, top, w - 48, 16, line_px=22, bold=True, lines=2, role=None
        )
        if self.note.body:
            top += 6
            top += d.text(
                self.note.body, x + 14, top, w - 28, 14, line_px=19, lines=MAX_LINES, role=None
            )
        self._draw_items(d, x + 14, top + 8, w - 28)
        if self.note.remind_s:
            d.icon("alarm", x + 14, y + h - 27, 15, t.tint)
        inset = 20 if self.note.remind_s else 0
        d.text(self.when, x + 14 + inset, y + h - 28, w - 28 - inset, 12, t.muted, role=None)

    def _preview(self) -> str:
        if self.items:
            return f"{sum(i.done for i in self.items)}/{len(self.items)}"
        return self.note.body.partition("\n")[0]

    def _draw_items(self, d: k.Canvas, x: int, y: int, w: int) -> None:
        t = d.theme
        for item in self.items[:MAX_LINES]:
            icon = "checkbox_checked" if item.done else "checkbox"
            d.icon(icon, x, y + 3, 17, t.muted)
            d.text(
                item.text,
                x + 24,
                y,
                w - 24,
                14,
                t.muted if item.done else t.ink,
                line_px=24,
                strike=item.done,
                role=None,
            )
            y += 24
        left = len(self.items) - MAX_LINES
        if left > 0:
            d.text(f"+{left}", x + 24, y, w - 24, 13, t.muted, role=None)


class Board(k.Struct, frozen=True, kw_only=True):
    """Cards in two columns; the next card goes under the shorter one."""

    cards: Sequence[NoteCard]

    def _places(self, d: k.Canvas, w: int) -> list[tuple[NoteCard, int, int]]:
        cell = self._cell(w)
        ends = [0, 0]
        places = []
        for card in self.cards:
            column = 0 if ends[0] <= ends[1] else 1
            places.append((card, k.MARGIN_PX + column * (cell + GAP_PX), ends[column]))
            ends[column] += card.height(d, cell) + GAP_PX
        return places

    def _cell(self, w: int) -> int:
        return (w - 2 * k.MARGIN_PX - GAP_PX) // 2

    def height(self, d: k.Canvas, w: int) -> int:
        cell = self._cell(w)
        return max((top + card.height(d, cell) for card, _, top in self._places(d, w)), default=0)

    def draw(self, d: k.Canvas, x: int, y: int, w: int) -> None:
        for card, left, top in self._places(d, w):
            card.draw(d, x + left, y + top, self._cell(w))
