"""Where widgets put themselves: absolute boxes to paint, to touch, and to read aloud.

Layout is ours: every box is an integer rectangle computed in Python, and text is broken into lines
with the bundled fonts' own widths. A renderer only paints the flat list; hit-testing, the
accessibility tree and the explorer need no renderer at all (docs/decisions/0001).
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Literal

from msgspec.structs import replace

from screenloop.phone.commands import Do, Placing
from screenloop.phone.draw.fonts import clip, drawable, wrap
from screenloop.phone.draw.images import icon_key, picture_key
from screenloop.phone.draw.theme import Theme
from screenloop.types import SizePx, Struct

Words = str | tuple[str, str]
"""What a person reads: one text, or (English, Chinese)."""
Align = Literal["left", "center", "right"]
Role = Literal[
    "text",
    "button",
    "link",
    "field",
    "switch",
    "checkbox",
    "tab",
    "chip",
    "slider",
    "image",
    "icon",
    "row",
    "key",
    "dialog",
    "heading",
]


class Box(Struct, frozen=True, kw_only=False):
    """A rectangle in CSS pixels."""

    x: int
    y: int
    w: int
    h: int

    def holds(self, x: float, y: float) -> bool:
        """Whether the point lies inside."""
        return self.x <= x < self.x + self.w and self.y <= y < self.y + self.h

    @property
    def center(self) -> tuple[int, int]:
        """The middle pixel."""
        return self.x + self.w // 2, self.y + self.h // 2


class Node(Struct, frozen=True, kw_only=False):
    """One thing on the screen: what accessibility tells and, where bound, what a touch does."""

    role: Role
    label: str
    box: Box
    do: Do | None = None
    long: Do | None = None
    """On a long press."""
    double: Do | None = None
    """On a double tap; without it a double tap is two taps."""
    swipe_left: Do | None = None
    swipe_right: Do | None = None
    place: Placing | None = None
    """On a touch along a track."""
    pinch: Placing | None = None
    """On a pinch, from its scale."""
    field: str = ""
    """Name of the text field."""
    submit: Do | None = None
    """On enter in this field."""
    multiline: bool = False
    keyboard: str = "text"
    value: str = ""
    checked: bool | None = None
    enabled: bool = True
    selected: bool = False
    blocks: bool = False
    """Takes the touch even where it does nothing (a sheet above a page)."""


class Canvas:
    """Collects boxes for one screen; later ones lie on top."""

    def __init__(self, size_px: SizePx, theme: Theme, lang: str, *, paint: bool = True) -> None:
        self.size_px = size_px
        self.theme = theme
        self.lang = lang
        self.paint = paint
        self.html: list[str] = []
        self.nodes: list[Node] = []
        self.images: dict[str, None] = {}
        """Keys of the images to draw, in order; see `images.image_bytes`."""
        self._top = 0
        self._bottom = size_px[1]
        self._later: list[Callable[[], None]] = []

    # ---- words and limits ------------------------------------------------------------------

    def words(self, words: Words) -> str:
        """Return the text in the device's language, foreign glyphs replaced by boxes."""
        if isinstance(words, tuple):
            words = words[1] if self.lang == "zh" else words[0]
        return drawable(words)

    def limit(self, top: int, bottom: int) -> None:
        """From now on keep touches and texts between two heights; paint may overhang a bar."""
        self._top, self._bottom = max(0, top), min(self.size_px[1], bottom)

    def later(self, draw: Callable[[], None]) -> None:
        """Draw something above all else of the page, e.g. a dialog of a field."""
        self._later.append(draw)

    def flush(self) -> None:
        """Draw what was put off."""
        pending, self._later = self._later, []
        for draw in pending:
            draw()

    def _hidden(self, y: int, h: int) -> bool:
        return y + h <= self._top or y >= self._bottom

    # ---- touch and tree --------------------------------------------------------------------

    def node(self, node: Node) -> None:
        """Add something that can be read or touched, cut to the visible part."""
        box = node.box
        top, bottom = max(box.y, self._top), min(box.y + box.h, self._bottom)
        left, right = max(box.x, 0), min(box.x + box.w, self.size_px[0])
        if top >= bottom or left >= right:
            return
        if (left, top, right - left, bottom - top) != (box.x, box.y, box.w, box.h):
            node = replace(node, box=Box(left, top, right - left, bottom - top))
        self.nodes.append(node)

    # ---- paint -----------------------------------------------------------------------------

    def box(
        self,
        x: int,
        y: int,
        w: int,
        h: int,
        fill: str = "",
        *,
        radius: int = 0,
        border: str = "",
        shadow: int = 0,
        opacity: float = 1.0,
    ) -> None:
        """Paint a rectangle; `shadow` is its height above the page in px."""
        if not self.paint or self._hidden(y - shadow, h + 2 * shadow):
            return
        style = f"left:{x}px;top:{y}px;width:{w}px;height:{h}px"
        if fill:
            style += f";background:{fill}"
        if radius:
            style += f";border-radius:{radius}px"
        if border:
            style += f";border:1px solid {border};box-sizing:border-box"
        if shadow:
            style += f";box-shadow:0 {shadow // 2}px {shadow * 2}px rgba(16,20,30,0.18)"
        if opacity < 1:
            style += f";opacity:{opacity}"
        self.html.append(f'<div class="b" style="{style}"></div>')

    def text(
        self,
        words: Words,
        x: int,
        y: int,
        w: int,
        size_px: int = 15,
        color: str = "",
        *,
        line_px: int = 0,
        bold: bool = False,
        align: Align = "left",
        lines: int | None = 1,
        role: Role | None = "text",
        strike: bool = False,
    ) -> int:
        """Paint text in up to `lines` lines (`None`: as many as it takes); return its height."""
        text = self.words(words)
        if not text:
            return 0
        line_px = line_px or round(size_px * 1.4)
        broken = (
            (clip(text, w, size_px, bold),) if lines == 1 else wrap(text, w, size_px, bold, lines)
        )
        height = line_px * len(broken)
        if self._hidden(y, height):
            return height
        if role is not None:
            self.node(Node(role=role, label=text, box=Box(x, y, w, height)))
        if self.paint:
            common = f"font-size:{size_px}px;line-height:{line_px}px;height:{line_px}px"
            common += f";color:{color or self.theme.ink}"
            if bold:
                common += ";font-weight:700"
            if strike:
                common += ";text-decoration:line-through"
            if align != "left":
                common += f";text-align:{align}"
            for number, line in enumerate(broken):
                top = y + number * line_px
                if line and not self._hidden(top, line_px):
                    self.html.append(
                        f'<div class="t" style="left:{x}px;top:{top}px;width:{w}px;{common}">'
                        f"{escape(line, quote=False)}</div>"
                    )
        return height

    def centered(
        self,
        words: Words,
        x: int,
        y: int,
        w: int,
        size_px: int,
        color: str = "",
        *,
        line_px: int = 0,
        bold: bool = False,
    ) -> None:
        """Paint one line in the middle of a width; the widget's own node says it aloud."""
        self.text(
            words, x, y, w, size_px, color, line_px=line_px, bold=bold, align="center", role=None
        )

    def lines_of(
        self, words: Words, w: int, size_px: int, *, bold: bool = False, lines: int | None = None
    ) -> int:
        """Return how many lines a text takes."""
        text = self.words(words)
        if not text:
            return 0
        return 1 if lines == 1 else len(wrap(text, w, size_px, bold, lines))

    def icon(self, name: str, x: int, y: int, size_px: int = 24, color: str = "") -> None:
        """Paint an icon."""
        if not self.paint or self._hidden(y, size_px):
            return
        self._image(icon_key(name, size_px, color or self.theme.ink), x, y, size_px, size_px)

    def picture(
        self, kind: str, seed: int, x: int, y: int, w: int, h: int, *, radius: int = 0
    ) -> None:
        """Paint a generated picture at display size."""
        if not self.paint or self._hidden(y, h):
            return
        self._image(picture_key(kind, seed, w, h), x, y, w, h, radius)

    def _image(self, key: str, x: int, y: int, w: int, h: int, radius: int = 0) -> None:
        self.images[key] = None
        style = f"left:{x}px;top:{y}px;width:{w}px;height:{h}px"
        if radius:
            style += f";border-radius:{radius}px"
        self.html.append(f'<img class="b" src="{key}" style="{style}">')
