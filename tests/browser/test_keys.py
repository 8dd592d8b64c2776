import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screenloop.browser.keys import character_key, modifier_bit, named_key, needs_shift


@given(st.sampled_from(string.ascii_letters + string.digits + string.punctuation + " "))
def test_each_printable_ascii_character_has_a_key_that_types_it(character: str) -> None:
    press = character_key(character)
    assert press is not None
    assert press.text == character
    assert press.number > 0


@pytest.mark.parametrize(
    ("character", "code", "shift"),
    [("a", "KeyA", False), ("A", "KeyA", True), ("1", "Digit1", False), ("!", "Digit1", True)],
)
def test_shifted_characters_share_the_key_of_the_plain_one(
    character: str, code: str, shift: bool
) -> None:
    press = character_key(character)
    assert press is not None
    assert press.code == code
    assert needs_shift(character) is shift


@pytest.mark.parametrize("character", ["é", "中", "🙂"])
def test_characters_off_the_us_keyboard_have_no_key(character: str) -> None:
    assert character_key(character) is None


@pytest.mark.parametrize(
    ("name", "key"),
    [("Ctrl", "Control"), ("cmd", "Meta"), ("Return", "Enter"), ("ArrowUp", "ArrowUp"), ("c", "c")],
)
def test_usual_names_of_keys_are_understood(name: str, key: str) -> None:
    press = named_key(name)
    assert press is not None
    assert press.key == key


def test_an_unknown_name_is_no_key() -> None:
    assert named_key("hyperspace") is None


def test_only_modifiers_hold_a_bit() -> None:
    bits = [
        modifier_bit(press)
        for name in ("alt", "ctrl", "meta", "shift", "a", "enter")
        if (press := named_key(name))
    ]
    assert bits == [1, 2, 4, 8, 0, 0]
