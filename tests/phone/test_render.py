from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from html import unescape

import pytest

from screenloop.errors import ConfigError
from screenloop.phone.device.boot import installed, new_device
from screenloop.phone.device.device import Device
from screenloop.phone.device.screen import SIZE_PX, Screen
from screenloop.phone.draw.canvas import Canvas
from screenloop.phone.draw.icons import icon_names
from screenloop.phone.draw.imagery import PICTURE_KINDS
from screenloop.phone.draw.images import icon_key, image_bytes, picture_key
from screenloop.phone.draw.theme import theme
from screenloop.phone.show.render import NativeRenderer, body_html, paint, shared_native

APPS = tuple(app for app in installed() if app != "os")
IN_ANOTHER_PROCESS = """
import hashlib
from screenloop.phone.device.boot import new_device
from screenloop.phone.show.render import paint, shared_native
for name in {names!r}:
    device = new_device()
    device.open(name)
    frame = paint(shared_native(), device.painted(), {size!r})
    print(hashlib.sha256(frame.rgba).hexdigest())
"""


def front(app: str) -> Screen:
    device = new_device()
    device.open(app)
    return device.painted()


def digest(screen: Screen, size_px: tuple[int, int] = SIZE_PX) -> str:
    return hashlib.sha256(paint(shared_native(), screen, size_px).rgba).hexdigest()


# ---- the same screen gives the same pixels ---------------------------------------------------


@pytest.mark.parametrize("app", APPS)
def test_painting_a_screen_twice_gives_equal_pixels(app: str) -> None:
    assert digest(front(app)) == digest(front(app))


@pytest.mark.parametrize("size_px", [SIZE_PX, (1080, 2400)])
def test_another_process_and_another_order_give_equal_pixels(size_px: tuple[int, int]) -> None:
    here = [digest(front(app), size_px) for app in APPS]
    text = IN_ANOTHER_PROCESS.format(names=APPS[::-1], size=size_px)
    run = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=True, timeout=60
    )
    assert run.stdout.split() == here[::-1]


def test_threads_that_paint_at_once_give_the_pixels_of_one() -> None:
    screens = [front(app) for app in APPS] * 3
    alone = [digest(screen) for screen in screens]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(digest, screens)) == alone


def test_different_screens_give_different_pixels() -> None:
    assert len({digest(front(app)) for app in APPS}) == len(APPS)


@pytest.mark.parametrize("size_px", [SIZE_PX, (824, 1830), (1080, 2400)])
async def test_a_frame_has_exactly_the_pixels_of_its_size(size_px: tuple[int, int]) -> None:
    frame = await NativeRenderer().render(front("contacts"), size_px)
    assert frame.size_px == size_px
    assert len(frame.rgba) == 4 * size_px[0] * size_px[1]
    assert set(frame.rgba[3::4]) == {255}, "a phone's screen is nowhere transparent"
    assert frame.image().size == size_px


def test_a_frame_that_is_a_little_taller_repeats_its_last_row() -> None:
    frame = paint(shared_native(), front("contacts"), (1080, 2400))
    row = 4 * 1080
    rows = [frame.rgba[at : at + row] for at in range(2396 * row, 2400 * row, row)]
    assert rows[1] == rows[2] == rows[3]


def test_a_frame_is_stored_as_jpeg_or_png() -> None:
    frame = paint(shared_native(), front("contacts"))
    assert frame.encode("jpeg", 90).startswith(b"\xff\xd8")
    assert frame.encode("png").startswith(b"\x89PNG")
    assert len(frame.encode("jpeg", 40)) < len(frame.encode("jpeg", 95))


# ---- words that look like markup -------------------------------------------------------------

HOSTILE = (
    "<script>alert(1)</script>",
    "</div></div><img src=x onerror=y>",
    '<img class="b" src="x">',
    "a & b &amp; c",
    "&lt;b&gt;",
    "{{x}} ${y}",
    "\"quoted\" 'single'",
    "]]> <!-- x -->",
)


@pytest.mark.parametrize("words", HOSTILE)
def test_words_are_never_markup(words: str) -> None:
    canvas = Canvas(SIZE_PX, theme("#2563eb", False), "en")
    canvas.text(words, 0, 0, 400, size_px=12)
    (element,) = canvas.html
    inner = element[element.index(">") + 1 : element.rindex("</div>")]
    assert "<" not in inner
    assert unescape(inner) == words


@pytest.mark.parametrize("words", HOSTILE)
def test_typed_markup_is_painted_as_text(words: str) -> None:
    device = new_device()
    device.open("contacts")
    device.doc = _typing(device, words).doc
    screen = device.painted()
    tags = set(re.findall(r"<(/?\w+)", body_html(screen, "image/")))
    assert tags <= {"div", "/div", "img"}
    sources = re.findall(r'<img class="b" src="([^"]*)"', body_html(screen, "image/"))
    assert sources == [
        f"image/{k}" for k in re.findall(r'<img class="b" src="([^"]*)"', screen.html)
    ]
    assert {source.removeprefix("image/") for source in sources} == set(screen.images)
    assert paint(shared_native(), screen).rgba != paint(shared_native(), front("contacts")).rgba


def _typing(device: Device, words: str) -> Device:
    field = device.screen.field("text")
    assert field is not None
    device.tap(*field.box.center)
    assert device.type_text(words).ok
    return device


# ---- images ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", icon_names())
def test_every_icon_can_be_had_by_its_key(name: str) -> None:
    assert image_bytes(icon_key(name, 24, "#1a1c20")).startswith(b"<svg")


@pytest.mark.parametrize("kind", PICTURE_KINDS)
def test_every_kind_of_picture_can_be_had_by_its_key(kind: str) -> None:
    assert image_bytes(picture_key(kind, 3, 120, 80)).startswith(b"<svg")


@pytest.mark.parametrize("app", APPS)
def test_every_image_of_a_screen_can_be_had(app: str) -> None:
    screen = front(app)
    assert screen.images
    for key in screen.images:
        assert image_bytes(key).startswith(b"<svg")


@pytest.mark.parametrize(
    "key",
    [
        "",
        "icon",
        "icon/home/24",
        "icon/home/24/000000/x",
        "icon/no_such_icon/24/000000",
        "icon/home/x/000000",
        "icon/home/24/red",
        'icon/home/24/000000"onload="x',
        "art/no_such_kind/1/10/10",
        "art/wallpaper/1/0/10",
        "art/wallpaper/1/10/99999",
        "art/wallpaper/x/10/10",
        "../../etc/passwd",
        "https://example.org/a.png",
        "icon/home/24/000000\n",
    ],
)
def test_what_is_no_image_key_is_refused(key: str) -> None:
    with pytest.raises(ConfigError, match=r"no image key|icon|no picture"):
        image_bytes(key)


def test_an_unknown_icon_on_a_page_is_refused_before_it_is_painted() -> None:
    canvas = Canvas(SIZE_PX, theme("#2563eb", False), "en")
    canvas.icon("no_such_icon", 0, 0)
    screen = Screen(
        nodes=(),
        region=front("contacts").region,
        route="test/",
        html="".join(canvas.html),
        images=tuple(canvas.images),
    )
    with pytest.raises(ConfigError, match="no_such_icon"):
        paint(shared_native(), screen)


# ---- touch -----------------------------------------------------------------------------------


def test_the_tree_and_the_touches_are_the_same_with_and_without_paint() -> None:
    for app in APPS:
        device = new_device()
        device.open(app)
        bare, painted = device.screen, device.painted()
        assert bare.html == ""
        assert painted.html
        assert repr(bare.nodes) == repr(painted.nodes) or [
            (n.role, n.label, n.box) for n in bare.nodes
        ] == [(n.role, n.label, n.box) for n in painted.nodes]
        assert bare.region == painted.region
