"""Names of keys, and what the browser is told when they are pressed."""

from __future__ import annotations

from functools import cache
from importlib import resources

import msgspec

from screenloop.types import Struct


class KeyPress(Struct, frozen=True, kw_only=True):
    """One key as `Input.dispatchKeyEvent` takes it."""

    key: str
    code: str
    number: int
    """The Windows virtual key code, which pages read as `keyCode`."""
    text: str = ""
    """What the key types; empty for keys that type nothing."""


class _KeyTable(Struct, frozen=True, kw_only=True):
    aliases: dict[str, str]
    named: dict[str, KeyPress]
    unshifted: dict[str, tuple[str, int]]
    """Punctuation of a US keyboard: code and number of the key."""


@cache
def _table() -> _KeyTable:
    file = resources.files("screenloop.browser") / "keys.json"
    return msgspec.json.decode(file.read_bytes(), type=_KeyTable)


_BLANKS = {"\n": "enter", "\t": "tab", " ": "space"}
_SHIFTED = dict(zip(')!@#$%^&*(:+<_>?~{|}"', "0123456789;=,-./`[\\]'", strict=True))


def named_key(name: str) -> KeyPress | None:
    """Return the key of a name such as `enter`, `ctrl`, `a` or `+`, or `None`."""
    folded = name.lower() if len(name) > 1 else name
    folded = _table().aliases.get(folded, folded)
    if folded in _table().named:
        return _table().named[folded]
    return character_key(folded) if len(folded) == 1 else None


def character_key(character: str) -> KeyPress | None:
    """Return the key that types the character on a US keyboard, or `None`."""
    if character in _BLANKS:
        return _table().named[_BLANKS[character]]
    base = _SHIFTED.get(character, character)
    if base in _table().unshifted:
        code, number = _table().unshifted[base]
    elif base.isascii() and base.isalnum():
        number = ord(base.upper())
        code = f"Digit{base}" if base.isdigit() else f"Key{base.upper()}"
    else:
        return None
    return KeyPress(key=character, code=code, number=number, text=character)


def needs_shift(character: str) -> bool:
    """Return whether a US keyboard types the character with shift held."""
    return character in _SHIFTED or (character.isascii() and character.isupper())


def modifier_bit(press: KeyPress) -> int:
    """Return the modifier bit that the key holds down, 0 for ordinary keys."""
    return {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}.get(press.key, 0)
