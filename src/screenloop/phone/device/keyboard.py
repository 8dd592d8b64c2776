"""The soft keyboard: drawn, and typed on by touch."""

from __future__ import annotations

from screenloop.phone.commands import Back, Press
from screenloop.phone.declare.document import Keyboard
from screenloop.phone.draw.canvas import Box, Canvas, Node
from screenloop.phone.draw.theme import KEYBOARD_PX, NAV_PX

LETTERS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
SYMBOLS = ("1234567890", "@#$%&-+()", "*\"':;!?")
DIGITS = ("123", "456", "789", "+0-")
ROW_PX = 50


def draw_keyboard(d: Canvas, layout: Keyboard, kind: str) -> None:
    """Draw the keyboard at the bottom of the screen; `kind` is the focused field's."""
    w, screen_h = d.size_px
    top = screen_h - KEYBOARD_PX
    d.limit(0, screen_h)
    d.box(0, top, w, KEYBOARD_PX, d.theme.line)
    d.node(Node("dialog", "", Box(0, top, w, KEYBOARD_PX), blocks=True))
    if kind in ("number", "phone"):
        _draw_digits(d, top + 4)
    else:
        _draw_letters(d, top + 4, layout)
    _key(d, 0, screen_h - NAV_PX, w // 3, NAV_PX, "chevron_down", "Hide keyboard", Back(), True)


def _draw_digits(d: Canvas, top: int) -> None:
    w = d.size_px[0]
    width = w // 4
    for row, keys in enumerate(DIGITS):
        for column, char in enumerate(keys):
            _key(d, column * width, top + row * ROW_PX, width, ROW_PX, char, char, Press(key=char))
    side = 3 * width
    _key(d, side, top, w - side, ROW_PX, "backspace", "Backspace", Press(key="backspace"), True)
    _key(d, side, top + ROW_PX, w - side, ROW_PX, ".", ".", Press(key="."))
    _key(d, side, top + 2 * ROW_PX, w - side, ROW_PX, "/", "/", Press(key="/"))
    _key(d, side, top + 3 * ROW_PX, w - side, ROW_PX, "enter", "Enter", Press(key="enter"), True)


def _draw_letters(d: Canvas, top: int, layout: Keyboard) -> None:
    w = d.size_px[0]
    rows = SYMBOLS if layout == "symbols" else LETTERS
    width = w // 10
    for number, keys in enumerate(rows):
        left = (w - width * len(keys)) // 2
        for char in keys:
            shown = char.upper() if layout == "capitals" else char
            _key(d, left, top + number * ROW_PX, width, ROW_PX, shown, shown, Press(key=shown))
            left += width
    third = top + 2 * ROW_PX
    side = (w - width * 7) // 2
    _key(d, 0, third, side, ROW_PX, "shift", "Shift", Press(key="shift"), True)
    _key(d, w - side, third, side, ROW_PX, "backspace", "Backspace", Press(key="backspace"), True)
    last = top + 3 * ROW_PX
    other = "abc" if layout == "symbols" else "?123"
    _key(d, 0, last, 64, ROW_PX, other, "Symbols", Press(key="symbols"))
    _key(d, 64, last, 44, ROW_PX, ",", ",", Press(key=","))
    _key(d, 108, last, w - 220, ROW_PX, "", "Space", Press(key="space"))
    _key(d, w - 112, last, 44, ROW_PX, ".", ".", Press(key="."))
    _key(d, w - 68, last, 68, ROW_PX, "enter", "Enter", Press(key="enter"), True)


def _key(
    d: Canvas,
    x: int,
    y: int,
    w: int,
    h: int,
    shown: str,
    label: str,
    do: Press | Back,
    is_icon: bool = False,
) -> None:
    t = d.theme
    if not isinstance(do, Back):
        d.box(x + 3, y + 4, w - 6, h - 8, t.fill if is_icon else t.surface, radius=8)
    if is_icon:
        d.icon(shown, x + w // 2 - 11, y + h // 2 - 11, 22)
    else:
        d.centered(shown, x, y, w, 17, line_px=h)
    d.node(Node("key", label, Box(x, y, w, h), do=do))
