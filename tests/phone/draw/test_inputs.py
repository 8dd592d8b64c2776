from __future__ import annotations

import re
from html import unescape

import pytest

from screenloop.phone.device.boot import new_device
from screenloop.phone.device.device import Device
from screenloop.phone.device.screen import SIZE_PX
from screenloop.phone.draw.canvas import Canvas
from screenloop.phone.draw.choosers import DateField, TimeField
from screenloop.phone.draw.fonts import advance_px
from screenloop.phone.draw.inputs import Field
from screenloop.phone.draw.theme import theme

LONG = "a long text that does not fit on one line of a phone and goes on and on until its end"


def drawn(field: Field) -> list[str]:
    """Return the texts that a field paints, at the width of a page."""
    canvas = Canvas(SIZE_PX, theme("#2563eb", False), "en")
    field.draw(canvas, 0, 0, 412)
    return [
        unescape(found) for found in re.findall(r'class="t"[^>]*>([^<]*)<', "".join(canvas.html))
    ]


def field(value: str, *, focused: bool, lines: int = 1, kind: str = "text") -> Field:
    return Field(
        name="x",
        value=value,
        label="Label",
        focused=focused,
        lines=lines,
        kind=kind,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("kind", ["text", "search"])
def test_what_is_being_typed_shows_its_end_and_the_caret(kind: str) -> None:
    shown = drawn(field(LONG, focused=True, kind=kind))[-1]
    assert shown.endswith("until its end|")
    assert shown.startswith("…")
    assert advance_px(shown, 15) <= 412 - 32 - 28


def test_a_text_that_is_not_being_typed_shows_its_beginning() -> None:
    shown = drawn(field(LONG, focused=False))[-1]
    assert shown.startswith("a long text")
    assert shown.endswith("…")


def test_a_short_text_is_shown_as_it_is() -> None:
    assert drawn(field("milk", focused=True))[-1] == "milk|"
    assert drawn(field("milk", focused=False))[-1] == "milk"
    assert drawn(field("", focused=False)) == ["Label"]


@pytest.mark.parametrize("words", [1, 5, 12, 13, 14, 40])
@pytest.mark.parametrize("focused", [True, False])
def test_a_field_of_several_lines_is_as_tall_as_what_it_shows(words: int, focused: bool) -> None:
    canvas = Canvas(SIZE_PX, theme("#2563eb", False), "en")
    made = field(" ".join(["word"] * words), focused=focused, lines=2)
    made.draw(canvas, 0, 0, 412)
    (node,) = [n for n in canvas.nodes if n.role == "field"]
    bottoms = [
        int(top) + int(height)
        for top, height in re.findall(
            r'class="t"[^>]*?top:(\d+)px[^>]*?height:21px;height:(\d+)', "".join(canvas.html)
        )
    ]
    assert max(bottoms) <= node.box.y + node.box.h


def test_a_secret_is_never_painted() -> None:
    made = Field(name="pin", value="4711", label="PIN", secret=True, focused=True)
    assert drawn(made)[-1] == "••••|"


# ---- choosers --------------------------------------------------------------------------------


def opened(widget: DateField | TimeField) -> dict[str, object]:
    """Return what each cell of an open chooser sets, by its label."""
    canvas = Canvas(SIZE_PX, theme("#2563eb", False), "en")
    widget.draw(canvas, 0, 100, 412)
    canvas.flush()
    return {n.label: getattr(n.do, "values", None) for n in canvas.nodes if n.do}


def test_a_month_offers_each_of_its_days_and_its_neighbours() -> None:
    found = opened(DateField(name="day", label="Day", value="2028-02-10", opened="2028-02"))
    assert found["29"] == {"day": "2028-02-29", "day.open": ""}
    assert "30" not in found
    assert found["Previous month"] == {"day.open": "2028-01"}
    assert found["Next month"] == {"day.open": "2028-03"}


def test_a_year_goes_on_after_december() -> None:
    found = opened(DateField(name="day", label="Day", value="2026-12-24", opened="2026-12"))
    assert found["Next month"] == {"day.open": "2027-01"}
    found = opened(DateField(name="day", label="Day", value="2026-01-01", opened="2026-01"))
    assert found["Previous month"] == {"day.open": "2025-12"}


def test_a_time_is_chosen_by_hour_and_then_minute() -> None:
    found = opened(TimeField(name="at", label="At", value="09:30", opened="hour"))
    assert found["Hour 23"] == {"at": "23:30", "at.open": "minute"}
    found = opened(TimeField(name="at", label="At", value="23:30", opened="minute"))
    assert found["Minute 05"] == {"at": "23:05", "at.open": ""}
    assert "Minute 07" not in found


# ---- the soft keyboard -------------------------------------------------------------------------


def typing(name: str) -> Device:
    device = new_device()
    device.open("contacts")
    fab = next(n for n in device.screen.nodes if n.label == "New contact")
    device.tap(*fab.box.center)
    node = device.screen.field(name)
    assert node is not None
    device.tap(*node.box.center)
    return device


def press(device: Device, *labels: str) -> None:
    for label in labels:
        node = next(n for n in device.screen.reachable() if n.role == "key" and n.label == label)
        assert device.tap(*node.box.center).ok


def value(device: Device) -> str:
    return str(device.doc.page.locals[device.doc.focus])


def test_a_word_can_be_typed_by_touching_keys() -> None:
    device = typing("name")
    press(
        device,
        "Shift",
        "Z",
        "o",
        "e",
        "Space",
        "Symbols",
        "4",
        "2",
        "!",
        "Symbols",
        "x",
        "Backspace",
    )
    assert value(device) == "Zoe 42!"


def test_a_number_has_keys_of_its_own() -> None:
    device = typing("phone")
    press(device, "+", "1", "0", "-", "9", "Backspace", "5")
    assert value(device) == "+10-5"
    labels = {n.label for n in device.screen.nodes if n.role == "key"}
    assert "a" not in labels


def test_the_keyboard_can_be_lowered_and_the_text_stays() -> None:
    device = typing("name")
    press(device, "a", "Hide keyboard")
    assert device.doc.focus == ""
    node = device.screen.field("name")
    assert node is not None
    assert node.value == "a"


@pytest.mark.parametrize("name", ["name", "phone"])
def test_every_key_can_be_reached_and_none_overlaps(name: str) -> None:
    keys = [n for n in typing(name).screen.nodes if n.role == "key"]
    reachable = typing(name).screen.reachable()
    assert len([n for n in reachable if n.role == "key"]) == len(keys)
    for one in keys:
        assert sum(other.box.holds(*one.box.center) for other in keys) == 1
