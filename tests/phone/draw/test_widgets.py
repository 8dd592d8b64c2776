"""Every widget keeps within the room it asks for, and no text runs into another."""

from __future__ import annotations

import re
from html import unescape
from itertools import combinations
from typing import NamedTuple

import pytest

from screenloop.phone.commands import Back, Do, SetLocal
from screenloop.phone.device.screen import SIZE_PX
from screenloop.phone.draw.canvas import Box, Canvas, Node
from screenloop.phone.draw.choosers import DateField, TimeField
from screenloop.phone.draw.fonts import advance_px
from screenloop.phone.draw.inputs import Check, Chip, Chips, Field, Slider, Stepper, Switch
from screenloop.phone.draw.page import (
    Dialog,
    DialogButton,
    Fab,
    Page,
    Sheet,
    Tab,
    draw_page,
    draw_sheet,
)
from screenloop.phone.draw.rows import Avatar, Bubble, Glyph, Picture, Row, Thumb, Tile
from screenloop.phone.draw.theme import theme
from screenloop.phone.draw.widgets import (
    ActionButton,
    Banner,
    Big,
    Button,
    Card,
    Divider,
    Empty,
    Grid,
    Heading,
    IconButton,
    Line,
    Paragraph,
    Space,
    Widget,
)

DO: Do = SetLocal(values={"x": 1})
SHORT, LONG = "Bread", "A title that is far longer than any phone is wide, and then some more of it"
CHINESE = "一段很长的中文标题用来看看它会不会超出屏幕的宽度或者压到别的文字上面去了吗"


def widgets(w: str) -> dict[str, Widget]:
    """Return one of each widget, with these words wherever it takes words."""
    row = Row(title=w, subtitle=w, lead=Avatar(name=w), trailing=w, trailing_icon="star", badge=12)
    return {
        "space": Space(20),
        "text": Paragraph(words=w),
        "text centred": Paragraph(words=w, align="center", size_px=24, bold=True, lines=2),
        "heading": Heading(words=w, link=("All", "全部"), do=DO),
        "divider": Divider(),
        "avatar": Avatar(name=w, size_px=96),
        "row": row,
        "row alone": Row(title=w, trailing=w),
        "row with badge": Row(title=w, trailing=w, badge=3, lead=Glyph(icon="bell")),
        "row with picture": Row(title=w, subtitle=w, lead=Thumb(kind="wallpaper", seed=1), do=DO),
        "card": Card(children=(row, Paragraph(words=w)), do=DO, label=w),
        "button": Button(words=w, do=DO, icon="check"),
        "icon button": IconButton(icon="star", label=w, do=DO, selected=True),
        "action": ActionButton(icon="star", words=w, do=DO),
        "line": Line(children=(Paragraph(words=w), Button(words=w, do=DO)), gap_px=8, inset_px=8),
        "line by shares": Line(children=(Paragraph(words=w), Space(9)), shares=(3, 1)),
        "grid": Grid(children=tuple(ActionButton(icon="star", words=w, do=DO) for _ in range(5))),
        "picture": Picture(kind="wallpaper", seed=2, label=w, selected=True, mark="heart"),
        "tile": Tile(kind="wallpaper", seed=3, title=w, subtitle=w, note=w, do=DO),
        "bubble": Bubble(words=w, mine=True, note="09:12"),
        "bubble with picture": Bubble(words=w, mine=False, note="09:12", picture=("wallpaper", 1)),
        "empty": Empty(icon="bell", words=w),
        "slider": Slider(label=w, share=0.3, place=lambda share: DO, icon="brightness"),
        "big": Big(words="1,234.50", caption=w),
        "banner": Banner(icon="info", words=w, do=DO),
        "field": Field(name="x", value=w, label=w, focused=True),
        "field of lines": Field(name="x", value=w, label=w, lines=3, focused=True),
        "search": Field(name="x", value=w, label=w, kind="search"),
        "switch": Switch(label=w, subtitle=w, value=True, do=DO, icon="wifi"),
        "check": Check(label=w, subtitle=w, value=True, do=DO, strike=True),
        "chips": Chips(label=w, chips=tuple(Chip(words=n, do=DO) for n in (w[:18], "b", "c"))),
        "stepper": Stepper(label=w, value=12, less=DO, more=None, unit=("kg", "公斤")),
        "date": DateField(name="x", label=w, value="2026-09-30"),
        "time": TimeField(name="x", label=w, value="23:55"),
    }


NAMES = tuple(widgets(SHORT))


class Line_(NamedTuple):
    """One painted line of text: where its letters are."""

    left: float
    top: int
    right: float
    bottom: int
    text: str

    def runs_into(self, other: Line_) -> bool:
        return (
            self.left < other.right - 1
            and other.left < self.right - 1
            and self.top + 3 < other.bottom - 3
            and other.top + 3 < self.bottom - 3
        )


def lines(canvas: Canvas) -> list[Line_]:
    """Return the painted lines of text."""
    found = []
    for html in canvas.html:
        match = re.match(r'<div class="t" style="([^"]*)">(.*)</div>$', html)
        if match is None:
            continue
        style = dict(part.split(":") for part in match[1].split(";"))
        text = unescape(match[2])
        left, top, room, size, height = (
            int(style[name].removesuffix("px"))
            for name in ("left", "top", "width", "font-size", "height")
        )
        width = advance_px(text, size, "font-weight" in style)
        free = {"center": (room - width) / 2, "right": room - width}
        start = left + free.get(style.get("text-align", "left"), 0)
        found.append(Line_(start, top, start + width, top + height, text))
    return found


def boxes(canvas: Canvas) -> list[Box]:
    """Return all that is painted or touched."""
    found = [node.box for node in canvas.nodes]
    for html in canvas.html:
        numbers = dict(re.findall(r"(left|top|width|height):(-?\d+)px", html))
        found.append(Box(*(int(numbers[n]) for n in ("left", "top", "width", "height"))))
    return found


@pytest.mark.parametrize("words", [SHORT, LONG, CHINESE], ids=["short", "long", "chinese"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", [412, 300, 180])
def test_a_widget_keeps_within_its_room(name: str, words: str, width: int) -> None:
    canvas = Canvas(SIZE_PX, theme("#2563eb", False), "en")
    widget = widgets(words)[name]
    height = widget.height(canvas, width)
    widget.draw(canvas, 20, 100, width)
    assert height >= 0
    for box in boxes(canvas):
        assert box.y >= 100, box
        assert box.y + box.h <= 100 + height, (box, height)
        assert box.x >= 20 - 4, box
        assert box.x + box.w <= 20 + width + 4, box


@pytest.mark.parametrize("words", [SHORT, LONG, CHINESE], ids=["short", "long", "chinese"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", [412, 300])
def test_no_text_of_a_widget_runs_into_another(name: str, words: str, width: int) -> None:
    canvas = Canvas(SIZE_PX, theme("#2563eb", False), "en")
    widgets(words)[name].draw(canvas, 0, 100, width)
    for one, other in combinations(lines(canvas), 2):
        assert not one.runs_into(other), (one, other)
    for line in lines(canvas):
        assert line.right <= width + 1, line


@pytest.mark.parametrize("name", NAMES)
def test_the_height_does_not_depend_on_paint_or_theme(name: str) -> None:
    bare = Canvas(SIZE_PX, theme("#000000", True), "en", paint=False)
    painted = Canvas(SIZE_PX, theme("#2563eb", False), "en")
    widget = widgets(LONG)[name]
    assert widget.height(bare, 412) == widget.height(painted, 412)
    widget.draw(bare, 0, 0, 412)
    widget.draw(painted, 0, 0, 412)
    assert [n.box for n in bare.nodes] == [n.box for n in painted.nodes]
    assert bare.html == []


# ---- pages -----------------------------------------------------------------------------------


def page(words: str, dialog: bool = False) -> Page:
    ask = Dialog(
        title=words,
        text=words,
        dismiss=DO,
        buttons=(
            DialogButton(words=("Cancel", "取消"), do=DO),
            DialogButton(words=("Delete", "删除"), do=DO, danger=True),
        ),
    )
    return Page(
        title=words,
        subtitle=words,
        body=tuple(Row(title=words, do=DO) for _ in range(40)),
        actions=(IconButton(icon="star", label=words, do=DO),),
        fab=Fab(icon="plus", words=words, do=DO),
        tabs=tuple(Tab(icon="star", words=words, do=DO, badge=7) for _ in range(4)),
        footer=(Button(words=words, do=DO),),
        dialog=ask if dialog else None,
    )


@pytest.mark.parametrize("words", [SHORT, LONG, CHINESE], ids=["short", "long", "chinese"])
@pytest.mark.parametrize("depth", [1, 2])
def test_no_text_of_a_pages_bars_runs_into_another(words: str, depth: int) -> None:
    canvas = Canvas(SIZE_PX, theme("#2563eb", False), "en")
    region = draw_page(canvas, page(words), depth=depth, scroll_px=0, keyboard_px=0)
    bars = [
        line
        for line in lines(canvas)
        if line.bottom <= region.box.y or line.top >= region.box.y + region.box.h
    ]
    assert bars
    for one, other in combinations(bars, 2):
        assert not one.runs_into(other), (one, other)


def test_scrolling_stops_at_both_ends() -> None:
    for asked, shown in ((-50, 0), (0, 0), (10**6, None)):
        canvas = Canvas(SIZE_PX, theme("#2563eb", False), "en")
        region = draw_page(canvas, page(SHORT), depth=1, scroll_px=asked, keyboard_px=0)
        assert region.offset_px == (region.max_px if shown is None else shown)


def test_the_last_row_of_a_scrolled_page_can_be_reached() -> None:
    canvas = Canvas(SIZE_PX, theme("#2563eb", False), "en")
    region = draw_page(canvas, page(SHORT), depth=1, scroll_px=10**6, keyboard_px=0)
    rows = [n for n in canvas.nodes if n.role == "row"]
    last = max(rows, key=lambda n: n.box.y)
    fab = next(n for n in canvas.nodes if n.label == SHORT and n.box.w == 58)
    assert last.box.h == 52, "it is not cut"
    assert last.box.y + last.box.h <= min(region.box.y + region.box.h, fab.box.y)


def topmost(canvas: Canvas, x: int, y: int) -> Node:
    return next(n for n in reversed(canvas.nodes) if n.box.holds(x, y))


@pytest.mark.parametrize("words", [SHORT, LONG, CHINESE], ids=["short", "long", "chinese"])
def test_a_dialog_takes_all_touches_and_its_text_fits(words: str) -> None:
    canvas = Canvas(SIZE_PX, theme("#2563eb", False), "en")
    dialog = page(words, dialog=True).dialog
    assert dialog is not None
    canvas.node(Node(role="button", label="below", box=Box(0, 0, 412, 915), do=Back()))
    dialog.draw(canvas)
    for one, other in combinations(lines(canvas), 2):
        assert not one.runs_into(other), (one, other)
    for x, y in ((5, 5), (206, 457), (400, 900)):
        assert topmost(canvas, x, y).label != "below"
    buttons = [n for n in canvas.nodes if n.role == "button" and n.label in ("Cancel", "Delete")]
    assert len(buttons) == 2
    assert all(topmost(canvas, *n.box.center) is n for n in buttons)


@pytest.mark.parametrize("from_top", [True, False])
@pytest.mark.parametrize("count", [0, 3, 60])
def test_a_sheet_lies_on_the_screen_and_its_rows_in_it(from_top: bool, count: int) -> None:
    canvas = Canvas(SIZE_PX, theme("#2563eb", False), "en")
    sheet = Sheet(
        title=LONG,
        body=tuple(Row(title=SHORT, do=DO) for _ in range(count)),
        dismiss=DO,
        from_top=from_top,
    )
    region = draw_sheet(canvas, sheet, scroll_px=0)
    for node in canvas.nodes:
        assert node.box.y >= 0
        assert node.box.y + node.box.h <= SIZE_PX[1]
        if node.role == "row":
            assert region.box.y <= node.box.y
            assert node.box.y + node.box.h <= region.box.y + region.box.h
    assert region.max_px == max(0, count * 52 + 16 - region.box.h)
