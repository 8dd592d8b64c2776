"""Both painters show what the state machine believes: every page of every app, twice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from PIL import ImageChops

from screenloop.browser.launch import launch
from screenloop.phone.commands import key_of
from screenloop.phone.device.boot import installed, new_device, patched
from screenloop.phone.device.device import Device
from screenloop.phone.device.screen import Screen
from screenloop.phone.prove.flows import run_step
from screenloop.phone.show.chromium import ChromiumRenderer, disagreements, native_boxes
from screenloop.phone.show.render import Frame, paint, shared_native

FAR_APART = 64
"""Grey levels by which a pixel must differ to count: edges of letters differ by less."""
BOUND = 0.002
"""The share of such pixels that a page may have; the worst seen was 0.0002."""
SWITCHES: dict[str, dict[str, Any]] = {
    "english, light": {},
    "chinese, dark": {"language": "zh", "dark": True},
}

Kind = tuple[str, str]
"""Route, or app where the keyboard is up; and `dialog` where one is open."""


def walked() -> Iterator[Device]:
    """Yield a phone in each state of each flow, and after each kind of touch of each page."""
    tried: set[tuple[str, str]] = set()
    home = new_device()
    yield from around(home, tried)
    for app in installed().values():
        for flow in app.flows:
            device = home.fork()
            device.open(app.id)
            yield from around(device, tried)
            for step in flow.steps:
                device.begin()
                run_step(device, step)
                device.end()
                yield from around(device, tried)


def around(device: Device, tried: set[tuple[str, str]]) -> Iterator[Device]:
    """Yield the phone itself, then around each touch that was not tried on such a page."""
    yield device
    route = device.screen.route
    for node in device.screen.nodes:
        for do in (node.do, node.long):
            if do is None or node.role == "key" or (route, key_of(do)) in tried:
                continue
            tried.add((route, key_of(do)))
            fork = device.fork()
            fork.begin()
            fork.perform(do)
            fork.end()
            yield from around(fork, tried)


def screens(switches: dict[str, Any]) -> dict[Kind, Screen]:
    """Return a screen of each kind, with the system's switches set."""
    patches = tuple(
        {"app": "os", "op": "set", "field": field, "value": value}
        for field, value in switches.items()
    )
    found: dict[Kind, Screen] = {}
    for device in walked():
        dialog = any(node.role == "dialog" and node.do is not None for node in device.screen.nodes)
        keyboard = f"{device.doc.front} with keyboard" if device.doc.focus else ""
        kind = (keyboard or device.screen.route, "dialog" if dialog else "")
        if kind not in found:
            found[kind] = Device(device.apps, patched(device.doc, patches)).painted()
    return found


def far_apart(one: Frame, other: Frame) -> float:
    """Return the share of pixels that differ by more than FAR_APART."""
    grey = ImageChops.difference(one.image(), other.image()).convert("L").histogram()
    return sum(grey[FAR_APART + 1 :]) / sum(grey)


def test_the_walk_sees_every_page_of_every_app() -> None:
    seen = {route for route, *_ in screens({})}
    declared = {f"{app.id}{route}" for app in installed().values() for route in app.routes}
    assert declared - seen == set()


@pytest.mark.browser
@pytest.mark.parametrize("switches", SWITCHES.values(), ids=SWITCHES)
async def test_both_painters_agree_on_every_page(switches: dict[str, Any]) -> None:
    complaints: list[str] = []
    async with await launch() as browser:
        chromium = await ChromiumRenderer.open(browser)
        for kind, screen in screens(switches).items():
            boxes = disagreements(native_boxes(screen), await chromium.boxes(screen))
            complaints += [f"{kind}: {complaint}" for complaint in boxes]
            share = far_apart(paint(shared_native(), screen), await chromium.render(screen))
            if share > BOUND:
                complaints.append(f"{kind}: {share:.2%} of the pixels are far apart")
        await chromium.close()
    assert complaints == []


def test_a_disagreement_is_told() -> None:
    boxes = native_boxes(new_device().painted())
    assert disagreements(boxes, boxes) == []
    assert "elements" in disagreements(boxes, boxes[1:])[0]
    moved = (type(boxes[0])(x=3, y=0, w=412, h=915, text_px=0), *boxes[1:])
    assert disagreements(boxes, moved)[0].startswith("element 0")
