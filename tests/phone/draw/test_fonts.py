"""The bundled fonts: widths agree with the painters, and wrapping keeps its promises."""

from __future__ import annotations

import base64
import io
import shutil

import pytakumi
import pytest
from fontTools.ttLib import TTFont
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import sync_playwright

from screenloop.phone.draw.fonts import (
    BOX,
    ELLIPSIS,
    FAMILY,
    advance_px,
    clip,
    drawable,
    font_files,
    wrap,
)

CHROMIUM = shutil.which("chromium-headless-shell")
CHROMIUM_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
SAMPLES = (
    "Settings",
    "Wi-Fi, Bluetooth & network",
    "AVAVAV To Te Ty W. P, fi ffl",
    "The quick brown fox jumps over the lazy dog",
    "0123456789 11:11 10:30 3x4 -> =>",
    "€12.50 · £3.99 · ¥1,299 · $0.49",
    "Ångström, façade, naïve, œuvre",
    "Łódź Škoda Őrség Ğ İstanbul",
    "“Quoted” – dashed — text… ‘x’",
    "★★★★☆ 4.5 (1,204 reviews)",
    "✓ Done × Close − minus ± 5",
    "← ↑ → ↓ □ ■ ○ ●",
    "iiiiiiiiiiiiiiiiiiii",
    "WWWWWWWWWWWWWWWWWWWW",
    "double  space   three",
    "  leading spaces",
    "user.name+tag@example.com",
    "https://example.com/a?b=c&d=e",
    "设置",
    "无线局域网与蓝牙",
    "你好，世界！今天天气很好。",
    "（括号）《书名》【注】「引」",
    "订单编号 20240131 已发货",
    "中文 mixed with English 混排 ABC",
    "ひらがな カタカナ テスト",
    "ＡＢＣ１２３！？",
    "¥99.00 起 · 满减优惠",
    "王小婷 睿 琪 怡",
    "No. № 5 ½ ¼ ™ © ®",
    "x",
)
STYLES = ((11.0, False), (14.0, True), (16.0, False), (22.5, True))
TEXTS = st.text(alphabet="ab iW.,你好，。（）\n" + ELLIPSIS, max_size=60)
WIDTHS_PX = st.floats(min_value=1, max_value=300)


def page(size_px: float, bold: bool) -> str:
    """Return all samples as elements as wide as their text."""
    rows = "".join(
        f'<div style="position:absolute;left:0px;top:{20 * row}px;line-height:20px;'
        f'white-space:pre">{text.replace("&", "&amp;").replace(">", "&gt;")}</div>'
        for row, text in enumerate(SAMPLES)
    )
    weight = 700 if bold else 400
    return (
        f'<div style="position:absolute;left:0px;top:0px;width:2000px;height:900px;'
        f'font-family:{FAMILY};font-size:{size_px}px;font-weight:{weight}">{rows}</div>'
    )


@pytest.fixture(scope="module")
def renderer() -> pytakumi.Renderer:
    result = pytakumi.Renderer()
    for file in font_files():
        result.register_font(file.data, name=file.family, weight=file.weight)
    return result


@pytest.mark.parametrize(("size_px", "bold"), STYLES)
def test_widths_agree_with_native_renderer(
    renderer: pytakumi.Renderer, size_px: float, bold: bool
) -> None:
    tree = pytakumi.from_html(page(size_px, bold))
    root = renderer.measure(tree, width=2000, height=900)
    while len(root["children"]) == 1:
        root = root["children"][0]
    assert len(root["children"]) == len(SAMPLES)
    for text, box in zip(SAMPLES, root["children"], strict=True):
        assert box["width"] == pytest.approx(advance_px(text, size_px, bold), abs=1), text


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium-headless-shell on the path")
def test_widths_agree_with_chromium() -> None:
    faces = "".join(
        f"@font-face{{font-family:'{file.family}';font-weight:{file.weight};"
        f"src:url(data:font/otf;base64,{base64.b64encode(file.data).decode()})}}"
        for file in font_files()
    )
    css = f"<style>{faces} html{{text-rendering:geometricPrecision}}</style>"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*CHROMIUM_FLAGS])
        tab = browser.new_page()
        for size_px, bold in STYLES:
            tab.set_content(css + page(size_px, bold))
            widths_px = tab.evaluate(
                "async () => { await Promise.all([...document.fonts].map(f => f.load()));"
                "return [...document.querySelectorAll('div > div')]"
                ".map(e => e.getBoundingClientRect().width) }"
            )
            for text, width_px in zip(SAMPLES, widths_px, strict=True):
                assert width_px == pytest.approx(advance_px(text, size_px, bold), abs=1), text
        browser.close()


def test_faces_are_single_and_bundled() -> None:
    files = font_files()
    assert [(file.family, file.weight) for file in files] == [
        ("Screenloop Sans", 400),
        ("Screenloop Sans", 700),
        ("Screenloop Sans SC", 400),
        ("Screenloop Sans SC", 700),
    ]
    assert all(file.data.startswith(b"OTTO") for file in files)
    assert sum(len(file.data) for file in files) < 5_000_000


def test_faces_cannot_move_text_apart_between_painters() -> None:
    for file in font_files():
        face = TTFont(io.BytesIO(file.data))
        assert not {"GPOS", "GSUB", "kern"} & set(face.keys())
        units_per_em = face["head"].unitsPerEm
        assert face["hhea"].ascent / units_per_em == pytest.approx(0.727, abs=0.001)
        assert face["hhea"].descent == face["hhea"].lineGap == 0


def test_bold_is_wider_and_width_is_linear_in_size() -> None:
    assert advance_px("Hello", 16, bold=True) > advance_px("Hello", 16)
    assert advance_px("Hello", 32) == pytest.approx(2 * advance_px("Hello", 16))
    assert advance_px("你好", 16) == 32
    assert advance_px("", 16) == 0


@given(TEXTS, WIDTHS_PX, st.booleans())
def test_no_line_is_too_wide_or_ends_in_a_space(text: str, width_px: float, bold: bool) -> None:
    for line in wrap(text, width_px, 16, bold):
        assert advance_px(line, 16, bold) <= width_px + 1e-6 or len(line) == 1
        assert not line.endswith(" ")
        assert "\n" not in line


@given(TEXTS, WIDTHS_PX)
def test_wrapping_loses_nothing_but_space(text: str, width_px: float) -> None:
    joined = "".join(wrap(text, width_px, 16))
    assert joined.replace(" ", "") == text.replace(" ", "").replace("\n", "")


@given(TEXTS, WIDTHS_PX, st.integers(min_value=1, max_value=4))
def test_clamped_lines_are_a_prefix_and_an_ellipsis(
    text: str, width_px: float, max_lines: int
) -> None:
    text = text.replace(ELLIPSIS, "")
    whole, clamped = (
        wrap(text.rstrip(), width_px, 16),
        wrap(text, width_px, 16, max_lines=max_lines),
    )
    if len(whole) <= max_lines:
        assert clamped == whole
        return
    assert len(clamped) == max_lines
    assert clamped[:-1] == whole[: max_lines - 1]
    assert clamped[-1].endswith(ELLIPSIS)
    assert whole[max_lines - 1].startswith(clamped[-1].removesuffix(ELLIPSIS))
    assert advance_px(clamped[-1], 16) <= width_px + 1e-6 or clamped[-1] == ELLIPSIS


@given(TEXTS, WIDTHS_PX)
def test_clip_fits_one_line(text: str, width_px: float) -> None:
    line = clip(text, width_px, 16)
    assert "\n" not in line
    assert not line.endswith(" ")
    assert advance_px(line, 16) <= width_px + 1e-6 or line == ELLIPSIS


def test_wrap_breaks_where_a_reader_expects() -> None:
    assert wrap("one two three", advance_px("one two", 16), 16) == ("one two", "three")
    assert wrap("a\n\nb", 100, 16) == ("a", "", "b")
    assert wrap("你好，世界", 32, 16) == ("你", "好，", "世界")
    assert wrap("一二（三）", 48, 16) == ("一二", "（三）")
    assert wrap("", 100, 16) == ("",)
    room_px = advance_px("one two", 16)
    assert wrap("one two three", room_px, 16, max_lines=1) == (f"one t{ELLIPSIS}",)


def test_impossible_requests_are_refused() -> None:
    with pytest.raises(ValueError, match="max_lines"):
        wrap("a", 10, 16, max_lines=0)
    with pytest.raises(ValueError, match="size_px"):
        clip("a", 10, 0)


@given(st.text(max_size=40))
def test_drawable_is_idempotent(text: str) -> None:
    once = drawable(text)
    assert drawable(once) == once


def test_drawable_keeps_what_the_fonts_have_and_boxes_the_rest() -> None:
    assert drawable("Café — 你好 ★ ✓ €5\nnext") == "Café — 你好 ★ ✓ €5\nnext"
    assert drawable("cafe\u0301") == "café"
    assert drawable("hi 😀!") == f"hi {BOX}!"
    assert drawable("❤\ufe0f") == "❤"
    assert drawable("привет")[0] == BOX
    assert drawable("10:30\u202fPM\tx\r\n") == "10:30 PM x\n"
