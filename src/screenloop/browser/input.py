"""Mouse and keyboard of one page, as a person's hands would use them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from screenloop.actions import Button
from screenloop.browser.cdp import Params, Result
from screenloop.browser.keys import KeyPress, character_key, modifier_bit, needs_shift
from screenloop.browser.page import BrowserTab

_BUTTON_BIT: dict[Button, int] = {"left": 1, "right": 2, "middle": 4}
_SHIFT = 8


class Mouse:
    """The pointer of one page; points are CSS pixels of the viewport."""

    def __init__(self, page: BrowserTab) -> None:
        self._page = page

    async def move(self, x: float, y: float, *, held: Button | None = None) -> None:
        """Move the pointer, with a button held or not."""
        await self._page.send_aligned("Input.dispatchMouseEvent", _moved(x, y, held))

    async def down(self, x: float, y: float, button: Button = "left", count: int = 1) -> None:
        # The page takes a move in with its next frame or the next press, whichever is first.
        await asyncio.gather(
            self._post(_moved(x, y, None)), self._post(_button("mousePressed", x, y, button, count))
        )

    async def up(self, x: float, y: float, button: Button = "left", count: int = 1) -> None:
        await self._post(_button("mouseReleased", x, y, button, count))

    async def click(self, x: float, y: float, button: Button = "left", count: int = 1) -> None:
        """Move to the point and click there `count` times."""
        events = [_moved(x, y, None)]
        for number in range(1, count + 1):
            events.append(_button("mousePressed", x, y, button, number))
            events.append(_button("mouseReleased", x, y, button, number))
        await asyncio.gather(*(self._post(event) for event in events))

    async def wheel(self, x: float, y: float, dx: float, dy: float) -> None:
        """Scroll what lies under the point by CSS pixels."""
        await self._page.send_aligned(
            "Input.dispatchMouseEvent",
            {"type": "mouseWheel", "x": x, "y": y, "deltaX": dx, "deltaY": dy},
        )

    def _post(self, event: Params) -> asyncio.Future[Result]:
        return self._page.session.post("Input.dispatchMouseEvent", event)


def _moved(x: float, y: float, held: Button | None) -> Params:
    return {
        "type": "mouseMoved",
        "x": x,
        "y": y,
        "button": held or "none",
        "buttons": _BUTTON_BIT[held] if held else 0,
    }


def _button(kind: str, x: float, y: float, button: Button, count: int) -> Params:
    return {
        "type": kind,
        "x": x,
        "y": y,
        "button": button,
        "buttons": _BUTTON_BIT[button] if kind == "mousePressed" else 0,
        "clickCount": count,
    }


class Keyboard:
    """The keys of one page."""

    def __init__(self, page: BrowserTab) -> None:
        self._page = page

    async def type(self, text: str) -> None:
        """Type the text key by key; characters that no US key has are entered as they are."""
        posted: list[asyncio.Future[Result]] = []
        for character in text:
            press = character_key(character)
            if press is None:
                posted.append(self._page.session.post("Input.insertText", {"text": character}))
            else:
                held = _SHIFT if needs_shift(character) else 0
                posted += [self._post(press, held, down=True), self._post(press, held, down=False)]
        await asyncio.gather(*posted)

    async def press(self, *keys: KeyPress) -> None:
        """Press keys together, in this order, and let them go in reverse."""
        held = 0
        posted: list[asyncio.Future[Result]] = []
        for key in keys:
            held |= modifier_bit(key)
            posted.append(self._post(key, held, down=True))
        for key in reversed(keys):
            held &= ~modifier_bit(key)
            posted.append(self._post(key, held, down=False))
        await asyncio.gather(*posted)

    async def command(self, commands: Sequence[str]) -> None:
        """Give the focused field editing commands, e.g. `selectAll`."""
        await self._page.session.send(
            "Input.dispatchKeyEvent", {"type": "rawKeyDown", "commands": list(commands)}
        )

    def _post(self, press: KeyPress, held: int, *, down: bool) -> asyncio.Future[Result]:
        # With ctrl, alt or meta held a key is a command and types nothing.
        text = press.text if down and not held & ~_SHIFT else ""
        event = {
            "type": ("keyDown" if text else "rawKeyDown") if down else "keyUp",
            "modifiers": held,
            "key": press.key,
            "code": press.code,
            "windowsVirtualKeyCode": press.number,
        }
        if text:
            event |= {"text": text, "unmodifiedText": text}
        return self._page.session.post("Input.dispatchKeyEvent", event)
