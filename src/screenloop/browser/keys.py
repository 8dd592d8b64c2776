"""Names of keys, and what the browser is told when they are pressed."""

from __future__ import annotations

from screenloop.types import Struct


class KeyPress(Struct, frozen=True, kw_only=True):
    """One key as `Input.dispatchKeyEvent` takes it."""

    key: str
    code: str
    number: int
    """The Windows virtual key code, which pages read as `keyCode`."""
    text: str = ""
    """What the key types; empty for keys that type nothing."""


_ALIASES = {
    "control": "ctrl",
    "cmd": "meta",
    "command": "meta",
    "super": "meta",
    "win": "meta",
    "option": "alt",
    "return": "enter",
    "esc": "escape",
    "del": "delete",
    "up": "arrow_up",
    "down": "arrow_down",
    "left": "arrow_left",
    "right": "arrow_right",
    "arrowup": "arrow_up",
    "arrowdown": "arrow_down",
    "arrowleft": "arrow_left",
    "arrowright": "arrow_right",
    "pageup": "page_up",
    "pagedown": "page_down",
    " ": "space",
}

_NAMED = {
    "alt": KeyPress(key="Alt", code="AltLeft", number=18),
    "ctrl": KeyPress(key="Control", code="ControlLeft", number=17),
    "meta": KeyPress(key="Meta", code="MetaLeft", number=91),
    "shift": KeyPress(key="Shift", code="ShiftLeft", number=16),
    "enter": KeyPress(key="Enter", code="Enter", number=13, text="\r"),
    "tab": KeyPress(key="Tab", code="Tab", number=9),
    "escape": KeyPress(key="Escape", code="Escape", number=27),
    "backspace": KeyPress(key="Backspace", code="Backspace", number=8),
    "delete": KeyPress(key="Delete", code="Delete", number=46),
    "insert": KeyPress(key="Insert", code="Insert", number=45),
    "space": KeyPress(key=" ", code="Space", number=32, text=" "),
    "arrow_up": KeyPress(key="ArrowUp", code="ArrowUp", number=38),
    "arrow_down": KeyPress(key="ArrowDown", code="ArrowDown", number=40),
    "arrow_left": KeyPress(key="ArrowLeft", code="ArrowLeft", number=37),
    "arrow_right": KeyPress(key="ArrowRight", code="ArrowRight", number=39),
    "page_up": KeyPress(key="PageUp", code="PageUp", number=33),
    "page_down": KeyPress(key="PageDown", code="PageDown", number=34),
    "home": KeyPress(key="Home", code="Home", number=36),
    "end": KeyPress(key="End", code="End", number=35),
} | {f"f{n}": KeyPress(key=f"F{n}", code=f"F{n}", number=111 + n) for n in range(1, 13)}

_UNSHIFTED = {
    ";": ("Semicolon", 186),
    "=": ("Equal", 187),
    ",": ("Comma", 188),
    "-": ("Minus", 189),
    ".": ("Period", 190),
    "/": ("Slash", 191),
    "`": ("Backquote", 192),
    "[": ("BracketLeft", 219),
    "\\": ("Backslash", 220),
    "]": ("BracketRight", 221),
    "'": ("Quote", 222),
}
_SHIFTED = dict(zip(')!@#$%^&*(:+<_>?~{|}"', "0123456789;=,-./`[\\]'", strict=True))


def named_key(name: str) -> KeyPress | None:
    """Return the key of a name such as `enter`, `ctrl`, `a` or `+`, or `None`."""
    folded = name.lower() if len(name) > 1 else name
    folded = _ALIASES.get(folded, folded)
    if folded in _NAMED:
        return _NAMED[folded]
    return character_key(folded) if len(folded) == 1 else None


def character_key(character: str) -> KeyPress | None:
    """Return the key that types the character on a US keyboard, or `None`."""
    if character == "\n":
        return _NAMED["enter"]
    if character == "\t":
        return _NAMED["tab"]
    if character == " ":
        return _NAMED["space"]
    base = _SHIFTED.get(character, character)
    if base in _UNSHIFTED:
        code, number = _UNSHIFTED[base]
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
