"""The phone's bundled fonts and the text arithmetic that matches them.

Screens are flat lists of absolutely positioned one-line texts, so widths are computed here and
not by a layout engine. The faces carry no kerning or other layout tables (see
``scripts/cut_fonts.py``): the width of a line is exactly the sum of its advances, in the native
renderer, in Chromium and here. Texts must be painted with ``white-space: pre``, an explicit
``line-height`` and, in Chromium, ``text-rendering: geometricPrecision``.

Nothing is read on import; tables load on first use.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from importlib import resources

import msgspec

LATIN_FAMILY = "Screenloop Sans"
CHINESE_FAMILY = "Screenloop Sans SC"
FAMILY = f"'{LATIN_FAMILY}','{CHINESE_FAMILY}'"
"""CSS ``font-family`` list, quoted for a double-quoted ``style`` attribute."""

BOX = "\u25a1"
ELLIPSIS = "\u2026"

_FIRST_CHINESE = "\u2e80"
_SPACES = "\t\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f"
_NO_LINE_START = frozenset("、。，．！？：；）］｝〉》」』】〕〗％ー々…·’”,.!?:;)]}%")
_NO_LINE_END = frozenset("（［｛〈《「『【〔〖‘“([{")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]")


class FontFile(msgspec.Struct, frozen=True, kw_only=True):
    """One single-face font file, to register with a renderer."""

    family: str
    weight: int
    name: str

    @property
    def data(self) -> bytes:
        """The OpenType bytes; read at each call."""
        return (resources.files("screenloop.phone") / "assets" / "fonts" / self.name).read_bytes()


class _WeightAdvances(msgspec.Struct, frozen=True, kw_only=True):
    one_em: str
    characters: str
    advances_units: list[int]


class _AdvanceFile(msgspec.Struct, frozen=True, kw_only=True):
    units_per_em: int
    regular: _WeightAdvances
    bold: _WeightAdvances


class _Advances(dict[str, int]):
    """Advance of each drawable character; any other is drawn as a box and is as wide."""

    def __missing__(self, character: str) -> int:
        return self[BOX]


class _Drawings(dict[int, int | str | None]):
    """What ``str.translate`` puts for a code point: itself if drawable, else a box."""

    def __missing__(self, code: int) -> str:
        return BOX


def font_files() -> tuple[FontFile, ...]:
    """Return the bundled faces, Latin before Chinese, in the order of ``FAMILY``."""
    return tuple(
        FontFile(
            family=family, weight=weight, name=f"{family.lower().replace(' ', '-')}-{weight}.otf"
        )
        for family in (LATIN_FAMILY, CHINESE_FAMILY)
        for weight in (400, 700)
    )


def advance_px(text: str, size_px: float, bold: bool = False) -> float:
    """Return the width of ``text`` set in one line, in px.

    Characters outside the fonts count as the box that ``drawable`` puts for them.
    """
    units = sum(map(_advances(bold).__getitem__, text))
    return units * size_px / _advance_file().units_per_em


def wrap(
    text: str, width_px: float, size_px: float, bold: bool = False, max_lines: int | None = None
) -> tuple[str, ...]:
    """Break ``text`` into lines at most ``width_px`` wide.

    Greedy: breaks at newlines, after spaces, and between Chinese characters except before
    closing or after opening punctuation; a longer word is broken where it must be. Spaces at a
    break vanish, so no line ends in one; a blank paragraph is an empty line. A line is wider
    than ``width_px`` only where one character is.

    Args:
        text: Text to break.
        width_px: Room for a line.
        size_px: Font size.
        bold: Whether the text is set in weight 700.
        max_lines: Most lines to return; the last ends in an ellipsis where text is left out.

    Raises:
        ValueError: ``max_lines`` is below one, or ``size_px`` is not positive.
    """
    if max_lines is not None and max_lines < 1:
        raise ValueError(f"max_lines must be at least 1, not {max_lines}")
    limit_units = _limit_units(width_px, size_px)
    advances = _advances(bold)
    if max_lines is not None:
        text = text.rstrip(" \n")
    lines: list[str] = []
    for paragraph in text.split("\n"):
        if sum(map(advances.__getitem__, paragraph)) <= limit_units:
            lines.append(paragraph.rstrip(" "))
        else:
            lines.extend(_break_paragraph(paragraph, limit_units, advances, max_lines))
        if max_lines is not None and len(lines) > max_lines:
            last = _with_ellipsis(lines[max_lines - 1], limit_units, advances)
            return (*lines[: max_lines - 1], last)
    return tuple(lines)


def clip(text: str, width_px: float, size_px: float, bold: bool = False) -> str:
    """Return ``text`` as one line of at most ``width_px``, cut with an ellipsis if too long.

    Newlines become spaces. Where not even the ellipsis fits, the ellipsis is returned.

    Raises:
        ValueError: ``size_px`` is not positive.
    """
    limit_units = _limit_units(width_px, size_px)
    advances = _advances(bold)
    line = text.replace("\n", " ").rstrip(" ")
    if sum(map(advances.__getitem__, line)) <= limit_units:
        return line
    return _with_ellipsis(line, limit_units, advances)


def drawable(text: str) -> str:
    """Return ``text`` with every character outside the bundled fonts as a visible box.

    Accents are composed, tabs and typographic spaces become plain spaces, and joiners and
    variation selectors vanish, so an emoji gives one box for each visible part. Newlines and
    no-break spaces stay. Idempotent.
    """
    if text.isascii() and text.isprintable():
        return text
    composed = _INVISIBLE.sub("", unicodedata.normalize("NFC", text))
    return composed.translate(_drawings())


def _limit_units(width_px: float, size_px: float) -> int:
    if size_px <= 0:
        raise ValueError(f"size_px must be positive, not {size_px}")
    return int(width_px * _advance_file().units_per_em / size_px + 1e-6)


def _break_paragraph(
    paragraph: str, limit_units: int, advances: _Advances, max_lines: int | None
) -> list[str]:
    lines: list[str] = []
    start = units = 0
    break_at = break_units = 0
    no_start, no_end = _NO_LINE_START, _NO_LINE_END
    previous = " "
    for index, character in enumerate(paragraph):
        advance = advances[character]
        if character == " ":
            units += advance
            previous = character
            continue
        if previous == " " or (
            (character >= _FIRST_CHINESE or previous >= _FIRST_CHINESE)
            and character not in no_start
            and previous not in no_end
        ):
            break_at, break_units = index, units
        while units + advance > limit_units and index > start:
            end = break_at if break_at > start else index
            units = units - break_units if end == break_at else 0
            line = paragraph[start:end].rstrip(" ")
            if line:
                lines.append(line)
                if max_lines is not None and len(lines) > max_lines:
                    return lines
            start = end
            break_units = 0
        units += advance
        previous = character
    lines.append(paragraph[start:].rstrip(" "))
    return lines


def _with_ellipsis(line: str, limit_units: int, advances: _Advances) -> str:
    room_units = limit_units - advances[ELLIPSIS]
    units = 0
    for index, character in enumerate(line):
        units += advances[character]
        if units > room_units:
            return line[:index].rstrip(" ") + ELLIPSIS
    return line.rstrip(" ") + ELLIPSIS


@functools.cache
def _advance_file() -> _AdvanceFile:
    path = resources.files("screenloop.phone") / "assets" / "fonts" / "advances.json"
    return msgspec.json.decode(path.read_bytes(), type=_AdvanceFile)


@functools.cache
def _advances(bold: bool) -> _Advances:
    file = _advance_file()
    weight = file.bold if bold else file.regular
    advances = _Advances(dict.fromkeys(weight.one_em, file.units_per_em))
    advances.update(zip(weight.characters, weight.advances_units, strict=True))
    return advances


@functools.cache
def _drawings() -> _Drawings:
    drawings = _Drawings({ord(character): ord(character) for character in _advances(False)})
    drawings.update(dict.fromkeys(map(ord, _SPACES), " "))
    drawings.update({ord("\n"): "\n", ord("\r"): None})
    return drawings
