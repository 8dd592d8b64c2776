"""Widgets that show one thing each: rows with what leads them, pictures, tiles, bubbles."""

from __future__ import annotations

from screenloop.phone.commands import Do
from screenloop.phone.draw.canvas import Box, Canvas, Node, Words
from screenloop.phone.draw.theme import MARGIN_PX, mix
from screenloop.types import Struct

AVATAR_TINTS = ("#3b6fd4", "#0f8a6d", "#b4538a", "#8a5cd1", "#c2652a", "#2a8ca3", "#6a7f2c")


class Avatar(Struct, frozen=True, kw_only=False):
    """A round badge with a person's initials, coloured by the name."""

    name: str
    size_px: int = 40

    def height(self, d: Canvas, w: int) -> int:
        return self.size_px + 16

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        self.place(d, x + (w - self.size_px) // 2, y + 8)

    def place(self, d: Canvas, x: int, y: int) -> None:
        tint = AVATAR_TINTS[sum(map(ord, self.name)) % len(AVATAR_TINTS)]
        fill = mix(tint, d.theme.surface, 0.8 if not d.theme.dark else 0.55)
        d.box(x, y, self.size_px, self.size_px, fill, radius=self.size_px // 2)
        words = self.name.split()
        initials = "".join(word[0] for word in (words[:1] + words[1:][-1:])) or "?"
        size = round(self.size_px * 0.38)
        ink = tint if not d.theme.dark else mix(tint, "#ffffff", 0.6)
        top = y + (self.size_px - round(size * 1.4)) // 2
        d.centered(initials, x, top, self.size_px, size, ink, bold=True)


class Glyph(Struct, frozen=True, kw_only=False):
    """An icon on a soft round ground."""

    icon: str
    tint: str = ""
    size_px: int = 40

    def place(self, d: Canvas, x: int, y: int) -> None:
        tint = self.tint or d.theme.tint
        fill = mix(tint, d.theme.surface, 0.86 if not d.theme.dark else 0.7)
        d.box(x, y, self.size_px, self.size_px, fill, radius=self.size_px // 3)
        inner = round(self.size_px * 0.55)
        offset = (self.size_px - inner) // 2
        d.icon(self.icon, x + offset, y + offset, inner, tint)


class Thumb(Struct, frozen=True, kw_only=False):
    """A small picture at the head of a row."""

    kind: str
    seed: int
    size_px: int = 48

    def place(self, d: Canvas, x: int, y: int) -> None:
        d.picture(self.kind, self.seed, x, y, self.size_px, self.size_px, radius=10)


Lead = Avatar | Glyph | Thumb


class Row(Struct, frozen=True, kw_only=False):
    """One line of a list: lead, title, subtitle, trailing text or icon."""

    title: Words
    subtitle: Words = ""
    lead: Lead | None = None
    trailing: Words = ""
    trailing_icon: str = ""
    badge: int = 0
    do: Do | None = None
    long: Do | None = None
    swipe_left: Do | None = None
    selected: bool = False
    bold: bool = False
    danger: bool = False

    def height(self, d: Canvas, w: int) -> int:
        if self.subtitle:
            return 68
        return 60 if self.lead else 52

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        h = self.height(d, w)
        t = d.theme
        if self.selected:
            d.box(x, y, w, h, t.tint_soft)
        left = x + MARGIN_PX
        if self.lead is not None:
            self.lead.place(d, left, y + (h - self.lead.size_px) // 2)
            left += self.lead.size_px + 14
        trailing = d.words(self.trailing)
        room = x + w - MARGIN_PX - left - (26 if self.trailing_icon else 0)
        side = min(room // 2, 24 + 8 * len(trailing)) if trailing else 0
        room -= side + (28 if self.badge else 0)
        color = t.danger if self.danger else t.ink
        title, subtitle = d.words(self.title), d.words(self.subtitle)
        if subtitle:
            d.text(title, left, y + 11, room, 16, color, bold=self.bold, role=None)
            quiet = t.ink if self.bold else t.muted
            d.text(subtitle, left, y + 36, room, 13, quiet, bold=self.bold, role=None)
        else:
            top = y + (h - 22) // 2
            d.text(title, left, top, room, 16, color, line_px=22, bold=self.bold, role=None)
        self._draw_trailing(d, x, y, w, h, trailing, side)
        label = " · ".join(part for part in (title, subtitle, trailing) if part)
        d.node(
            Node(
                "row" if self.do or self.long else "text",
                label,
                Box(x, y, w, h),
                do=self.do,
                long=self.long,
                swipe_left=self.swipe_left,
                selected=self.selected,
                value=str(self.badge) if self.badge else "",
            )
        )

    def _draw_trailing(
        self, d: Canvas, x: int, y: int, w: int, h: int, trailing: str, side: int
    ) -> None:
        t = d.theme
        right = x + w - MARGIN_PX
        if self.trailing_icon:
            d.icon(self.trailing_icon, right - 20, y + (h - 20) // 2, 20, t.muted)
            right -= 26
        if self.badge:
            top = y + (38 if self.subtitle else (h - 20) // 2)
            d.box(right - 22, top, 22, 20, t.tint, radius=10)
            d.centered(str(self.badge), right - 22, top, 22, 12, t.on_tint, line_px=20, bold=True)
            if not self.subtitle:
                right -= 28
        if trailing:
            top = y + (14 if self.subtitle else (h - 20) // 2)
            d.text(trailing, right - side, top, side, 13, t.muted, align="right", role=None)


class Picture(Struct, frozen=True, kw_only=False):
    """A generated picture, square unless `height_px` is given."""

    kind: str
    seed: int
    label: Words
    height_px: int = 0
    radius_px: int = 12
    do: Do | None = None
    long: Do | None = None
    double: Do | None = None
    swipe_left: Do | None = None
    swipe_right: Do | None = None
    selected: bool = False
    mark: str = ""
    """An icon in its corner."""

    def height(self, d: Canvas, w: int) -> int:
        return self.height_px or w

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        h = self.height(d, w)
        d.picture(self.kind, self.seed, x, y, w, h, radius=self.radius_px)
        if self.selected:
            d.box(x, y, w, h, d.theme.tint, radius=self.radius_px, opacity=0.45)
        mark = "check" if self.selected else self.mark
        if mark:
            d.box(x + w - 30, y + 6, 24, 24, "#101216", radius=12, opacity=0.55)
            d.icon(mark, x + w - 26, y + 10, 16, "#ffffff")
        d.node(
            Node(
                "image",
                d.words(self.label),
                Box(x, y, w, h),
                do=self.do,
                long=self.long,
                double=self.double,
                swipe_left=self.swipe_left,
                swipe_right=self.swipe_right,
                selected=self.selected,
            )
        )


class Tile(Struct, frozen=True, kw_only=False):
    """A product card: picture, name, price."""

    kind: str
    seed: int
    title: Words
    subtitle: Words
    do: Do
    note: Words = ""

    def height(self, d: Canvas, w: int) -> int:
        return w * 4 // 5 + 78

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        t = d.theme
        h = self.height(d, w)
        picture = w * 4 // 5
        d.box(x, y, w, h, t.surface, radius=14)
        d.picture(self.kind, self.seed, x + 6, y + 6, w - 12, picture - 6, radius=10)
        title, subtitle = d.words(self.title), d.words(self.subtitle)
        d.text(title, x + 10, y + picture + 6, w - 20, 14, lines=1, role=None)
        d.text(subtitle, x + 10, y + picture + 28, w - 20, 16, t.tint, bold=True, role=None)
        d.text(self.note, x + 10, y + picture + 52, w - 20, 12, t.muted, role=None)
        label = " · ".join(filter(None, (title, subtitle, d.words(self.note))))
        d.node(Node("button", label, Box(x, y, w, h), do=self.do))


class Bubble(Struct, frozen=True, kw_only=False):
    """One chat message, ours on the right."""

    words: Words
    mine: bool
    note: str = ""
    """Time and state, small."""
    long: Do | None = None
    picture: tuple[str, int] | None = None

    def _width(self, w: int) -> int:
        return min(w - 96, 280)

    def height(self, d: Canvas, w: int) -> int:
        lines = d.lines_of(self.words, self._width(w) - 28, size_px=15)
        return lines * 21 + 38 + (150 if self.picture else 0)

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        t = d.theme
        width = self._width(w)
        h = self.height(d, w) - 8
        left = x + w - MARGIN_PX - width if self.mine else x + MARGIN_PX
        fill, ink = (t.tint, t.on_tint) if self.mine else (t.surface, t.ink)
        d.box(left, y, width, h, fill, radius=18)
        top = y + 6
        if self.picture:
            d.picture(*self.picture, left + 6, y + 6, width - 12, 142, radius=14)
            top += 148
        used = d.text(
            self.words, left + 14, top, width - 28, 15, ink, line_px=21, lines=None, role=None
        )
        pale, top = mix(ink, fill, 0.35), top + used
        d.text(
            self.note, left + 14, top, width - 28, 11, pale, line_px=18, align="right", role=None
        )
        label = " · ".join(filter(None, (d.words(self.words), self.note)))
        box = Box(left, y, width, h)
        d.node(Node("text", label, box, long=self.long, selected=self.mine))
