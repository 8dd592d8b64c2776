"""The live phone page: the real server, a real browser, a person's mouse and keyboard."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from live_server import Server
from playwright.sync_api import Browser, Locator, Page, Request, sync_playwright

from screenloop.browser.binary import find_chromium

pytestmark = pytest.mark.browser
SIZES = {"desktop": (1280, 1000), "laptop": (1280, 720), "phone": (412, 915), "small": (360, 740)}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_chromium(), args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


class Live:
    """A page with the phone, and everything it complained about or asked the network for."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.strangers: list[str] = []
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self._note(request, url))
        page.goto(url)
        self.route.filter(has_text="/").wait_for()
        page.evaluate("document.fonts.ready")

    def _note(self, request: Request, url: str) -> None:
        address = request.url.replace("ws://", "http://")
        if not address.startswith((url, "data:")):
            self.strangers.append(request.url)

    @property
    def route(self) -> Locator:
        return self.page.locator("#route")

    @property
    def phone(self) -> Locator:
        return self.page.locator("#phone")

    def tap(self, words: str) -> None:
        """Click the middle of a painted text."""
        self.phone.get_by_text(words, exact=True).last.click()

    def press(self, x: float, y: float, **options: Any) -> None:
        """Click a point in layout pixels."""
        box = self.phone.bounding_box()
        assert box is not None
        scale = box["width"] / 412
        self.page.mouse.click(box["x"] + x * scale, box["y"] + y * scale, **options)

    def at(self, route: str) -> None:
        """Wait until this page of an app is in front."""
        self.route.filter(has_text=re.compile(f"^{re.escape(route)}$")).wait_for(timeout=120_000)

    def command(self, name: str) -> None:
        self.page.click(f"[data-command={name}]")

    def require_quiet(self) -> None:
        assert self.complaints == []
        assert self.strangers == []


@pytest.fixture
def live(chromium: Browser, server: Server) -> Iterator[Live]:
    page = chromium.new_page(viewport={"width": 1280, "height": 1000})
    live = Live(page, server.url)
    live.command("reset")
    live.at("os/")
    yield live
    page.close()


def open_contacts(live: Live) -> None:
    """Touch the launcher's first docked icon."""
    live.press(60, 815)
    live.at("contacts/")


# ---- a person uses it ------------------------------------------------------------------------


def test_a_click_on_an_icon_opens_its_app_and_escape_goes_back(live: Live) -> None:
    open_contacts(live)
    assert "tap" in live.page.inner_text("#effect")
    live.page.keyboard.press("Escape")
    live.at("os/")
    live.require_quiet()


def test_a_field_is_typed_into_by_keyboard_and_the_log_tells_what_changed(live: Live) -> None:
    open_contacts(live)
    live.press(367, 766)
    live.at("contacts/new")
    live.tap("Name")
    live.page.keyboard.type("Zoe <b>Young</b>")
    live.page.keyboard.press("Backspace")
    live.phone.get_by_text("Zoe <b>Young</b|").wait_for()
    live.page.keyboard.press("Escape")
    live.tap("Save")
    live.at("contacts/p/{person}")
    row = live.page.locator("#log li").first
    row.wait_for()
    assert "contacts.people.person21" in row.inner_text()
    assert "Zoe <b>Young</b" in row.inner_text()
    assert live.phone.locator("b").count() == 0
    live.require_quiet()


def test_the_wheel_and_a_drag_scroll(live: Live) -> None:
    open_contacts(live)
    first = live.phone.inner_text()
    live.phone.hover()
    live.page.mouse.wheel(0, 400)
    live.page.wait_for_function(
        "(before) => document.getElementById('phone').innerText !== before", arg=first
    )
    box = live.phone.bounding_box()
    assert box is not None
    x, y = box["x"] + 200, box["y"] + 300
    live.page.mouse.move(x, y)
    live.page.mouse.down()
    live.page.mouse.move(x, y + 480, steps=4)
    live.page.mouse.up()
    live.page.wait_for_function(
        "(before) => document.getElementById('phone').innerText === before", arg=first
    )
    assert "swipe" in live.page.inner_text("#effect")
    live.require_quiet()


def test_holding_the_button_is_a_long_press(live: Live) -> None:
    open_contacts(live)
    live.press(200, 240, delay=700)
    live.page.locator("#effect.bad").filter(has_text="long press").wait_for()
    live.require_quiet()


def test_a_touch_that_does_nothing_says_so(live: Live) -> None:
    live.press(200, 180)
    live.page.locator("#effect.bad").filter(has_text="nothing").wait_for()
    live.require_quiet()


def test_keeping_and_restoring_a_state(live: Live) -> None:
    open_contacts(live)
    live.command("keep")
    live.page.locator("#restore:not([disabled])").wait_for()
    live.page.keyboard.press("Home")
    live.at("os/")
    live.command("restore")
    live.at("contacts/")
    live.command("reset")
    live.at("os/")
    live.require_quiet()


def test_the_language_and_the_theme_can_be_switched(live: Live) -> None:
    open_contacts(live)
    live.command("language")
    live.phone.get_by_text("通讯录", exact=True).wait_for()
    light = live.page.screenshot(clip={"x": 200, "y": 200, "width": 40, "height": 40})
    live.command("theme")
    live.phone.locator("[style*='#111214']").first.wait_for(state="attached")
    dark = live.page.screenshot(clip={"x": 200, "y": 200, "width": 40, "height": 40})
    assert light != dark
    live.require_quiet()


def test_a_side_button_answers_the_keyboard_and_the_phone_does_not(live: Live) -> None:
    open_contacts(live)
    live.page.focus("[data-command=reset]")
    live.page.keyboard.press("Space")
    live.at("os/")
    live.require_quiet()


@pytest.mark.parametrize("size", SIZES)
def test_the_page_fits_its_window(chromium: Browser, server: Server, size: str) -> None:
    width, height = SIZES[size]
    page = chromium.new_page(viewport={"width": width, "height": height})
    live = Live(page, server.url)
    live.command("reset")
    live.at("os/")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    box = live.phone.bounding_box()
    assert box is not None
    assert box["width"] <= width
    if width > 480:
        assert box["y"] + box["height"] <= height, "the whole phone is seen without scrolling"
    assert box["width"] / box["height"] == pytest.approx(412 / 915, rel=0.01)
    live.press(60, 815)
    live.at("contacts/")
    live.require_quiet()
    page.close()


# ---- more than one page, and the end ----------------------------------------------------------


def test_two_pages_show_the_same_phone(live: Live, chromium: Browser, server: Server) -> None:
    other = Live(chromium.new_page(viewport={"width": 1280, "height": 1000}), server.url)
    open_contacts(live)
    other.at("contacts/")
    other.page.keyboard.press("Home")
    live.at("os/")
    live.require_quiet()
    other.require_quiet()
    other.page.close()


def test_an_interrupt_ends_the_server_although_a_page_is_open(chromium: Browser) -> None:
    server = Server()
    page = chromium.new_page()
    live = Live(page, server.url)
    assert live.route.inner_text() == "os/"
    status, errors = server.stop()
    assert status == 130
    assert "Traceback" not in errors
    page.locator("body.lost").wait_for()
    page.close()
