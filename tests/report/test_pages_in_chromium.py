"""Report and replay pages in a real Chromium."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Request, sync_playwright

from screenloop.browser.binary import find_chromium
from screenloop.report.html import write_report
from screenloop.report.replay import write_replay

pytestmark = pytest.mark.browser
Maker = Callable[..., Any]
OWN = "document.title='owned'"
EVIL = f'</pre></script><script>{OWN}</script><img src=x onerror="{OWN}">'
SIZES = {"desktop": (1280, 800), "phone": (390, 844)}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_chromium(), args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


class Watched:
    """A page, with everything it complained about or asked the network for."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", self._note)

    def _note(self, request: Request) -> None:
        if not request.url.startswith(("file:", "data:")):
            self.requests.append(request.url)

    def open(self, path: Path, fragment: str = "") -> Page:
        self.page.goto(f"{path.as_uri()}{fragment}")
        return self.page

    def require_quiet(self) -> None:
        assert self.complaints == []
        assert self.requests == []


@pytest.fixture(params=SIZES)
def watched(chromium: Browser, request: pytest.FixtureRequest) -> Iterator[Watched]:
    width, height = SIZES[request.param]
    page = chromium.new_page(viewport={"width": width, "height": height})
    yield Watched(page)
    page.close()


def shown(page: Page) -> str:
    visible = [s for s in page.query_selector_all(".slide") if s.is_visible()]
    assert len(visible) == 1
    return visible[0].get_attribute("id") or ""


def test_the_keyboard_walks_through_a_replay(new_run: Maker, watched: Watched) -> None:
    page = watched.open(write_replay(new_run().episode(0, steps=6)))
    assert shown(page) == "step-0"
    for key, place in [
        ("ArrowRight", "step-1"),
        ("ArrowRight", "step-2"),
        ("ArrowLeft", "step-1"),
        ("End", "verdict"),
        ("ArrowRight", "verdict"),
        ("ArrowLeft", "step-5"),
        ("Home", "step-0"),
        ("ArrowLeft", "step-0"),
    ]:
        page.keyboard.press(key)
        assert shown(page) == place
        assert page.evaluate("location.hash") == f"#{place}"
    watched.require_quiet()


def test_the_strip_and_the_arrows_can_be_clicked(new_run: Maker, watched: Watched) -> None:
    page = watched.open(write_replay(new_run().episode(0, steps=4)))
    page.click("#on")
    assert shown(page) == "step-1"
    page.click(".strip button:nth-of-type(4)")
    assert shown(page) == "step-3"
    page.click(".strip .end")
    assert shown(page) == "verdict"
    assert page.is_disabled("#on")
    page.click("#back")
    assert shown(page) == "step-3"
    watched.require_quiet()


def test_an_address_leads_to_its_step(new_run: Maker, watched: Watched) -> None:
    page = watched.open(write_replay(new_run().episode(0, steps=6)), "#step-3")
    assert shown(page) == "step-3"
    watched.require_quiet()


def test_every_screenshot_is_there_and_the_tap_is_drawn_where_it_went(
    new_run: Maker, watched: Watched
) -> None:
    page = watched.open(write_replay(new_run().episode(0, steps=6)))
    broken = page.evaluate("[...document.images].filter((i) => !i.src || !i.naturalWidth).length")
    assert broken == 0
    screen = page.locator("#step-0 .screen").bounding_box()
    dot = page.locator("#step-0 .dot").bounding_box()
    assert screen is not None
    assert dot is not None
    across = (dot["x"] + dot["width"] / 2 - screen["x"]) / screen["width"]
    down = (dot["y"] + dot["height"] / 2 - screen["y"]) / screen["height"]
    assert (across, down) == (pytest.approx(0.5, abs=0.01), pytest.approx(0.4, abs=0.01))


def test_a_screen_keeps_its_shape_and_fits(new_run: Maker, watched: Watched) -> None:
    page = watched.open(write_replay(new_run().episode(0)))
    box = page.locator("#step-0 .screen").bounding_box()
    assert box is not None
    assert box["width"] / box["height"] == pytest.approx(412 / 915, rel=0.01)
    assert box["height"] <= page.viewport_size["height"]  # type: ignore[index]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_hostile_replies_run_nothing(new_run: Maker, watched: Watched) -> None:
    page = watched.open(write_replay(new_run().episode(0, reply=EVIL)))
    page.keyboard.press("End")
    assert page.title() != "owned"
    assert page.locator("#step-0 .box pre").first.text_content() == EVIL
    assert page.locator(".slide img:not([data-frame])").count() == 0
    watched.require_quiet()


def test_the_policy_stops_a_script_that_got_in_all_the_same(
    new_run: Maker, watched: Watched, tmp_path: Path
) -> None:
    page_file = write_replay(new_run().episode(0))
    tampered = tmp_path / "tampered.html"
    hole = "<script>document.title='owned'</script></body>"
    tampered.write_text(page_file.read_text().replace("</body>", hole))
    page = watched.open(tampered)
    assert page.title() != "owned"
    assert shown(page) == "step-0"


def test_the_report_leads_to_the_replays_and_back(new_run: Maker, watched: Watched) -> None:
    run = new_run(tasks=3, repeats=2)
    for number in range(3):
        for repeat in range(2):
            run.episode(number, repeat, solved=number != 1)
    page = watched.open(write_report(run.folder.root))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("#tasks a.cell").count() == 6
    page.locator("#tasks a.cell.not-solved").first.click()
    assert shown(page) == "step-0"
    page.click("header a")
    assert page.url.endswith("report.html")
    page.locator(".failure").first.click()
    assert shown(page) == "verdict"
    watched.require_quiet()


def test_tasks_can_be_found_by_word_and_by_trouble(new_run: Maker, watched: Watched) -> None:
    run = new_run(tasks=3)
    for number in range(3):
        run.episode(number, solved=number != 1)
    page = watched.open(write_report(run.folder.root, replays="none"))
    rows = page.locator("#tasks tbody tr")

    def visible() -> int:
        return sum(row.is_visible() for row in rows.all())

    assert visible() == 3
    page.fill("#words", "RAIN jacket")
    assert visible() == 1
    page.fill("#words", "no such task")
    assert visible() == 0
    assert page.is_visible("#none")
    page.fill("#words", "")
    page.check("#unsolved")
    assert visible() == 1
    watched.require_quiet()
