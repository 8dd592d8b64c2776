"""Pages in a real browser: the clock, the isolation, the pictures, and what happens when one dies.

Each test runs where frames are drawn on demand and where the browser draws them itself.
"""

import asyncio
import io
from collections.abc import AsyncIterator
from urllib.parse import quote

import pytest
from PIL import Image

from screenloop.browser.cdp import BrowserGone
from screenloop.browser.input import Keyboard, Mouse
from screenloop.browser.keys import named_key
from screenloop.browser.launch import Browser, launch
from screenloop.browser.page import BrowserTab, PageError, Viewport, page_script
from screenloop.errors import EnvironmentFault

pytestmark = pytest.mark.browser
SMALL = Viewport(size_px=(200, 160))


@pytest.fixture(params=[True, False], ids=["drawn on demand", "drawn by itself"])
async def browser(request: pytest.FixtureRequest) -> AsyncIterator[Browser]:
    async with await launch(draw_on_demand=request.param) as browser:
        yield browser


async def loaded(browser: Browser, html: str, *, seed: int = 0) -> BrowserTab:
    page = await BrowserTab.open(browser, SMALL)
    document = "<!doctype html><meta charset=utf-8><body style='margin:0'>" + html
    await page.navigate("data:text/html," + quote(document), script=page_script(seed=seed))
    return page


async def test_time_stands_still_until_it_is_let_run(browser: Browser) -> None:
    page = await loaded(browser, "")
    await page.evaluate(
        "window.log = []; setTimeout(() => log.push('b', performance.now()), 20);"
        "setTimeout(s => log.push(s, performance.now()), 10, 'a');"
        "setInterval(() => log.push('i'), 15); 0"
    )
    first = await page.evaluate("[Date.now(), new Date().toISOString(), performance.now(), log]")
    assert first == [1735732800000, "2025-01-01T12:00:00.000Z", 0, []]
    await page.evaluate("__screenloop.advance(30)")
    assert await page.evaluate("[Date.now() - 1735732800000, log]") == [
        30,
        ["a", 10, "i", "b", 20, "i"],
    ]


async def test_animation_frames_come_sixty_times_a_second_of_page_time(browser: Browser) -> None:
    page = await loaded(browser, "")
    count = await page.evaluate(
        "(async () => { let n = 0; const f = () => { n += 1; requestAnimationFrame(f) };"
        " requestAnimationFrame(f); await __screenloop.advance(1000); return n })()"
    )
    assert count == 60


async def test_transitions_move_with_the_page_clock(browser: Browser) -> None:
    page = await loaded(browser, "<div id=d style='width:0;transition:width 1s linear'></div>")
    await page.evaluate("d.offsetWidth; d.style.width = '100px'; __screenloop.advance(0)")
    widths = []
    for _ in range(3):
        widths.append(await page.evaluate("d.offsetWidth"))
        await page.evaluate("__screenloop.advance(500)")
    assert widths == [0, 50, 100]


async def test_a_cleared_timer_does_not_run_and_a_failing_one_stops_no_other(
    browser: Browser,
) -> None:
    page = await loaded(browser, "")
    log = await page.evaluate(
        "(async () => { const log = []; onerror = m => { log.push(m); return true };"
        " clearTimeout(setTimeout(() => log.push('cleared'), 5));"
        " setTimeout(() => { throw new Error('oops') }, 5); setTimeout(() => log.push('ran'), 6);"
        " await __screenloop.advance(10); return log })()"
    )
    assert log == ["Uncaught Error: oops", "ran"]


async def test_timers_that_never_come_to_rest_are_an_error(browser: Browser) -> None:
    page = await loaded(browser, "")
    with pytest.raises(PageError, match="do not come to rest"):
        await page.evaluate(
            "for (let i = 0; i < 2000; i++) setInterval(() => 0, 1); __screenloop.advance(1000)"
        )


async def test_random_numbers_depend_on_the_seed_alone(browser: Browser) -> None:
    draw = "[Math.random(), crypto.getRandomValues(new Uint8Array(2))[0]]"
    pages = [await loaded(browser, "", seed=seed) for seed in (1, 1, 2)]
    drawn = [await page.evaluate(draw) for page in pages]
    assert drawn[0] == drawn[1] != drawn[2]


async def test_dates_behave_as_dates(browser: Browser) -> None:
    page = await loaded(browser, "")
    seen = await page.evaluate(
        "[new Date(2016, 1, 29).getDate(), new Date(0) instanceof Date, typeof Date(),"
        " Date.UTC(1970, 0, 1), new Date().constructor === Date]"
    )
    assert seen == [29, True, "string", 0, True]


async def test_a_picture_has_the_size_asked_for() -> None:
    async with await launch(scale=2.0) as browser:
        page = await BrowserTab.open(browser, Viewport(size_px=(320, 420), scale=2.0))
        await page.set_content("<body style='margin:0;background:rgb(10,200,30)'>")
        for codec in ("png", "jpeg"):
            picture = Image.open(io.BytesIO(await page.picture(codec)))
            assert picture.size == (320, 420)
            assert picture.format == codec.upper()
        assert await page.evaluate("[innerWidth, innerHeight, devicePixelRatio]") == [160, 210, 2]


async def test_the_same_page_gives_the_same_bytes(browser: Browser) -> None:
    html = "<h1>Words</h1><input value=abc autofocus><p style='filter:blur(2px)'>soft</p>"
    pages = [await loaded(browser, html) for _ in range(2)]
    pictures = [await page.picture() for page in pages for _ in range(2)]
    assert len(set(pictures)) == 1


async def test_pages_share_no_storage_and_no_clipboard(browser: Browser) -> None:
    html = "<input id=f value={}>"
    one, other = (
        await loaded(browser, html.format("secret")),
        await loaded(browser, html.format("x")),
    )
    for page, last in ((one, "c"), (other, "c"), (one, "v")):
        await page.evaluate("f.focus(); f.select()")
        keys = [key for name in ("ctrl", last) if (key := named_key(name))]
        await Keyboard(page).press(*keys)
    assert await one.evaluate("f.value") == "secret"
    assert await other.evaluate("f.value") == "x"


async def test_typing_reaches_the_page_as_key_events(browser: Browser) -> None:
    page = await loaded(browser, "<input id=f autofocus>")
    await page.evaluate(
        "window.codes = []; f.focus();"
        "f.onkeydown = e => codes.push(e.key + e.keyCode + e.shiftKey); 0"
    )
    await Keyboard(page).type("aB 1!é中")
    assert await page.evaluate("f.value") == "aB 1!é中"
    assert await page.evaluate("codes") == [
        "a65false",
        "B66true",
        " 32false",
        "149false",
        "!49true",
    ]


async def test_the_mouse_moves_presses_and_scrolls(browser: Browser) -> None:
    page = await loaded(
        browser,
        "<div id=s style='height:100px;overflow:auto'><div style='height:900px'></div></div>",
    )
    await page.evaluate(
        "window.log = []; for (const k of ['mousemove','mousedown','mouseup','contextmenu'])"
        " addEventListener(k, e => log.push([k, e.clientX, e.clientY, e.buttons])); 0"
    )
    mouse = Mouse(page)
    await mouse.move(10, 20)
    await mouse.down(10, 20, "right")
    await mouse.up(10, 20, "right")
    await mouse.wheel(50, 50, 0, 120)
    await page.draw()
    log = await page.evaluate("log")
    assert ["mousemove", 10, 20, 0] in log
    assert ["mousedown", 10, 20, 2] in log
    assert any(row[0] == "contextmenu" for row in log)
    assert await page.evaluate("s.scrollTop") == 120


async def test_a_select_opens_inside_the_page() -> None:
    async with await launch() as browser:
        page = await loaded(browser, "<select id=s><option>red<option>blue</select>")
        closed = await page.picture()
        for x, y in ((10, 10), (20, 60)):
            mouse = Mouse(page)
            await mouse.move(x, y)
            await mouse.down(x, y)
            await mouse.up(x, y)
            if y == 10:
                assert await page.picture() != closed
        assert await page.evaluate("s.value") == "blue"


async def test_native_dialogs_do_not_stop_the_page(browser: Browser) -> None:
    page = await loaded(browser, "")
    assert await page.evaluate("[alert('stop'), confirm('sure?'), prompt('name?')]") == [
        None,
        False,
        None,
    ]


async def test_a_page_that_crashes_fails_alone(browser: Browser) -> None:
    page, other = await loaded(browser, ""), await loaded(browser, "")
    with pytest.raises(BrowserGone):
        await page.session.send("Page.crash")
    with pytest.raises(BrowserGone):
        await page.evaluate("1")
    assert not page.is_alive
    assert await other.evaluate("1 + 1") == 2
    await page.close()


async def test_a_page_that_hangs_while_it_draws_is_closed_and_the_others_go_on() -> None:
    async with await launch(draw_on_demand=True) as browser:
        page, other = await loaded(browser, ""), await loaded(browser, "")
        await page.evaluate("addEventListener('mousemove', () => { for (;;); }); 0")
        with pytest.raises(BrowserGone):
            await Mouse(page).move(10, 10)
        assert not page.is_alive
        assert len(await other.picture()) > 0


async def test_a_cancelled_frame_does_not_disturb_the_next(browser: Browser) -> None:
    page, other = await loaded(browser, "<p>a"), await loaded(browser, "<p>b")
    frames = [asyncio.create_task(page.picture()) for _ in range(3)]
    await asyncio.sleep(0)
    for frame in frames:
        frame.cancel()
    await asyncio.gather(*frames, return_exceptions=True)
    pictures = await asyncio.gather(*(p.picture() for p in (page, other, page, other)))
    assert pictures[0] == pictures[2] != pictures[1] == pictures[3]


async def test_the_network_is_shut(browser: Browser) -> None:
    page = await BrowserTab.open(browser, SMALL)
    with pytest.raises(EnvironmentFault, match="cannot load"):
        await page.navigate("http://example.org/")
