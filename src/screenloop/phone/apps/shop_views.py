"""What only the shop draws: the offer on top, categories, prices, sums, stars, an order's way."""

from __future__ import annotations

from screenloop.phone.canvas import Box, Canvas, Node, Words
from screenloop.phone.do import Do, SetLocal
from screenloop.phone.fonts import advance_px
from screenloop.phone.theme import MARGIN_PX, mix
from screenloop.types import Struct

STAR = "#f0a020"


class Hero(Struct, frozen=True, kw_only=True):
    """The offer at the top of the shop."""

    title: Words
    text: Words
    kind: str
    seed: int
    tint: str
    do: Do

    def height(self, d: Canvas, w: int) -> int:
        """Return its height."""
        return 148

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        """Draw it."""
        left, width = x + MARGIN_PX, w - 2 * MARGIN_PX
        ground = f"linear-gradient(120deg,{self.tint},{mix(self.tint, '#000000', 0.35)})"
        d.box(left, y + 4, width, 136, ground, radius=22)
        d.picture(self.kind, self.seed, left + width - 128, y + 14, 116, 116, radius=18)
        d.text(self.title, left + 20, y + 30, width - 160, size_px=21, line_px=26, bold=True,
               color="#ffffff", lines=2, role=None)  # fmt: skip
        d.text(self.text, left + 20, y + 90, width - 160, size_px=14, color="#ffe3d6", lines=2,
               role=None)  # fmt: skip
        label = f"{d.words(self.title)} · {d.words(self.text)}"
        box = Box(left, y + 4, width, 136)
        d.node(Node(role="button", label=label, box=box, do=self.do))


class CategoryDot(Struct, frozen=True, kw_only=True):
    """A category as a round picture with its name."""

    kind: str
    seed: int
    words: Words
    do: Do

    def height(self, d: Canvas, w: int) -> int:
        """Return its height."""
        return 96

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        """Draw it."""
        d.picture(self.kind, self.seed, x + (w - 60) // 2, y + 6, 60, 60, radius=30)
        label = d.words(self.words)
        d.text(label, x, y + 70, w, size_px=12, align="center", role=None)
        d.node(Node(role="button", label=label, box=Box(x, y, w, 94), do=self.do))


class Price(Struct, frozen=True, kw_only=True):
    """A price, with the old one struck through, and a word on the right."""

    now: str
    was: str = ""
    note: Words = ""
    note_color: str = ""

    def height(self, d: Canvas, w: int) -> int:
        """Return its height."""
        return 44

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        """Draw it."""
        left = x + MARGIN_PX
        d.text(self.now, left, y + 4, 150, size_px=26, bold=True, color=d.theme.tint)
        step = int(advance_px(self.now, 26, True)) + 10
        d.text(self.was, left + step, y + 14, 100, size_px=15, color=d.theme.muted, strike=True)
        d.text(self.note, x + w - MARGIN_PX - 150, y + 14, 150, size_px=14, align="right",
               color=self.note_color or d.theme.muted)  # fmt: skip


class SumLine(Struct, frozen=True, kw_only=True):
    """One line of a bill."""

    words: Words
    amount: str
    bold: bool = False

    def height(self, d: Canvas, w: int) -> int:
        """Return its height."""
        return 40 if self.bold else 32

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        """Draw it."""
        size = 18 if self.bold else 14
        color = d.theme.ink if self.bold else d.theme.muted
        top = y + (8 if self.bold else 6)
        label = d.words(self.words)
        d.text(label, x + 16, top, w - 140, size_px=size, bold=self.bold, color=color, role=None)
        d.text(self.amount, x + w - 136, top, 120, size_px=size, bold=self.bold, align="right",
               role=None)  # fmt: skip
        box = Box(x, y, w, self.height(d, w))
        d.node(Node(role="text", label=f"{label} · {self.amount}", box=box))


class Stars(Struct, frozen=True, kw_only=True):
    """Five stars; where a local is named, a touch sets it."""

    stars: int
    label: str
    local: str = ""

    def height(self, d: Canvas, w: int) -> int:
        """Return its height."""
        return 64 if self.local else 28

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        """Draw it."""
        size, step = (36, 56) if self.local else (18, 21)
        left = x + (w - 5 * step) // 2 if self.local else x + MARGIN_PX
        for number in range(1, 6):
            lit = number <= self.stars
            at = left + (number - 1) * step
            inset = (step - size) // 2
            color = STAR if lit else d.theme.line
            d.icon("star_filled", at + inset, y + (14 if self.local else 5), size, color)
            if self.local:
                do = SetLocal(values={self.local: number})
                name = f"{number} {'star' if number == 1 else 'stars'}"
                label = d.words((name, f"{number}星"))
                box = Box(at, y, step, 64)
                d.node(Node(role="button", label=label, box=box, do=do, selected=lit))
        if not self.local:
            d.text(self.label, left + 5 * step + 8, y + 4, w - 150, size_px=13, color=d.theme.muted)


class Way(Struct, frozen=True, kw_only=True):
    """How far an order has come: dots on a line."""

    steps: tuple[Words, ...]
    reached: int
    """Number of steps that are done."""

    def height(self, d: Canvas, w: int) -> int:
        """Return its height."""
        return 84

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        """Draw it."""
        t = d.theme
        cell = w // len(self.steps)
        first, last = x + cell // 2, x + w - cell // 2
        d.box(first, y + 26, last - first, 4, t.line, radius=2)
        if self.reached > 1:
            d.box(first, y + 26, (self.reached - 1) * cell, 4, t.tint, radius=2)
        for number, words in enumerate(self.steps):
            done = number < self.reached
            left = x + number * cell + cell // 2
            d.box(left - 12, y + 16, 24, 24, t.tint if done else t.line, radius=12)
            if done:
                d.icon("check", left - 8, y + 20, 16, t.on_tint)
            d.text(words, x + number * cell, y + 48, cell, size_px=12, align="center",
                   color=t.ink if done else t.muted)  # fmt: skip
