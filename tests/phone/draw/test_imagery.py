"""The generated pictures: repeatable, of the asked size, and with something on them."""

from __future__ import annotations

from xml.etree import ElementTree

import pytakumi
import pytest

from screenloop.errors import ConfigError
from screenloop.phone.draw.imagery import PICTURE_KINDS, PRODUCT_KINDS, SCENE_KINDS, picture


def test_kinds_are_scenes_products_and_wallpaper() -> None:
    assert {*SCENE_KINDS, *PRODUCT_KINDS, "wallpaper"} == set(PICTURE_KINDS)
    assert len(SCENE_KINDS) >= 10
    assert len(PRODUCT_KINDS) >= 12


@pytest.mark.parametrize("kind", PICTURE_KINDS)
def test_pictures_repeat_and_differ_by_seed(kind: str) -> None:
    first = picture(kind, 7, 96, 80)
    picture.cache_clear()
    assert picture(kind, 7, 96, 80) == first
    assert len({picture(kind, seed, 96, 80) for seed in range(8)}) > 4
    assert len(first) < 8_000


@pytest.mark.parametrize("kind", PICTURE_KINDS)
def test_pictures_have_the_asked_size_and_fill_it(kind: str) -> None:
    image = picture(kind, 1, 96, 72)
    root = ElementTree.fromstring(image)
    assert (root.attrib["width"], root.attrib["height"]) == ("96", "72")
    raw = pytakumi.Renderer().render_html(
        '<img src="p" style="position:absolute;left:0px;top:0px;width:96px;height:72px">',
        width=96,
        height=72,
        format="raw",
        images={"p": image},
    )
    pixels = {raw[at : at + 4] for at in range(0, len(raw), 4)}
    assert len(raw) == 4 * 96 * 72
    assert len(pixels) > 100
    assert all(pixel[3] == 255 for pixel in pixels)


def test_impossible_pictures_are_refused() -> None:
    with pytest.raises(ConfigError, match="mountains"):
        picture("mountain", 0, 10, 10)
    with pytest.raises(ConfigError, match="positive"):
        picture("sea", 0, 0, 10)
