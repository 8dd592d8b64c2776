"""The icons: each is well-formed, visible and inside its square; a wrong name is explained."""

from __future__ import annotations

from xml.etree import ElementTree

import pytakumi
import pytest

from screenloop.errors import ConfigError
from screenloop.phone.draw.icons import icon_image, icon_names, icon_svg

CELL_PX = 40
COLUMNS = 12
WHITE = b"\xff\xff\xff\xff"


@pytest.fixture(scope="module")
def sheet() -> bytes:
    """All icons at 24 px in cells of 40 px, as raw RGBA."""
    rows = -(-len(icon_names()) // COLUMNS)
    width_px, height_px = COLUMNS * CELL_PX, rows * CELL_PX
    cells = "".join(
        f'<img src="{name}" style="position:absolute;left:{at % COLUMNS * CELL_PX + 8}px;'
        f'top:{at // COLUMNS * CELL_PX + 8}px;width:24px;height:24px">'
        for at, name in enumerate(icon_names())
    )
    return pytakumi.Renderer().render_html(
        f'<div style="position:absolute;left:0px;top:0px;width:{width_px}px;'
        f'height:{height_px}px;background:#ffffff">{cells}</div>',
        width=width_px,
        height=height_px,
        format="raw",
        images={name: icon_image(name, 24, "#111111") for name in icon_names()},
    )


def inked(sheet: bytes, at: int, margin_px: int) -> int:
    """Count the pixels of a cell that are not white, leaving out its margin."""
    left, top = at % COLUMNS * CELL_PX, at // COLUMNS * CELL_PX
    span = range(margin_px, CELL_PX - margin_px)
    width_px = COLUMNS * CELL_PX
    return sum(
        sheet[4 * offset : 4 * offset + 4] != WHITE
        for y in span
        for offset in ((top + y) * width_px + left + x for x in span)
    )


def test_there_are_enough_icons() -> None:
    assert len(icon_names()) >= 90
    assert {"back", "search", "wifi_off", "star_filled", "backspace", "pencil"} <= set(icon_names())


@pytest.mark.parametrize("name", icon_names())
def test_icon_is_well_formed(name: str) -> None:
    root = ElementTree.fromstring(icon_svg(name, 24, "#123456"))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.attrib["width"] == root.attrib["height"] == "24"
    assert len(root) > 0


def test_icons_are_painted_inside_their_square(sheet: bytes) -> None:
    for at, name in enumerate(icon_names()):
        inside, anywhere = inked(sheet, at, 8), inked(sheet, at, 0)
        assert inside > 15, name
        assert inside == anywhere, name


def test_colour_size_and_stroke_reach_the_markup() -> None:
    svg = icon_svg("plus", 32, "#ff0000", 1.5)
    assert 'stroke="#ff0000"' in svg
    assert 'width="32"' in svg
    assert 'stroke-width="1.5"' in svg
    assert icon_image("plus", 32, "#ff0000", 1.5) == svg.encode()
    assert 'fill="#ff0000"' in icon_svg("star_filled", 24, "#ff0000")
    assert 'fill="#ff0000"' not in icon_svg("star", 24, "#ff0000")


def test_unknown_name_is_explained() -> None:
    with pytest.raises(ConfigError, match="chevron_right"):
        icon_svg("chevron_rigth", 24, "#000000")
