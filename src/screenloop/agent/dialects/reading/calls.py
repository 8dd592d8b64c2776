"""Function-call text such as `click(point='<point>3 4</point>')`, read by a small scanner.

    call   = name "(" [ name "=" value { "," name "=" value } ] ")"
    value  = string | number | "(" values ")" | "[" values "]" | True | False | None

Strings stand in single or double quotes, with backslash escapes for quotes, backslash, n, r and t;
other backslashes stay. Arguments may come in any order. Full-width punctuation around values is
accepted. No Python is evaluated.
"""

from __future__ import annotations

import re
from typing import Any

from screenloop.agent.dialects.base import clip
from screenloop.agent.dialects.reading.jsontext import narrow_punctuation, unfence
from screenloop.errors import ParseFailure
from screenloop.types import Struct

MAX_DEPTH = 4
MAX_CALLS = 32
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_NUMBER = re.compile(r"[+-]?\d{1,15}(?:\.\d{0,15})?(?![\w.])")
_SPACE = re.compile(r"\s*")
_WORDS = {"True": True, "False": False, "None": None, "true": True, "false": False}
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", "'": "'", '"': '"'}
_CLOSE = {"(": ")", "[": "]"}
_PLAIN_RUN = {"'": re.compile(r"[^'\\]*"), '"': re.compile(r'[^"\\]*')}


class FunctionCall(Struct, frozen=True, kw_only=True):
    """One call: its name and keyword arguments."""

    name: str
    arguments: dict[str, Any]


def read_calls(text: str, shape: str) -> tuple[FunctionCall, ...]:
    """Read the calls at the start of the text; what follows the last one is ignored.

    Args:
        text: Begins with a call, apart from white space and an opening code fence.
        shape: Says in errors what was expected.

    Raises:
        ParseFailure: no call stands there, or one is malformed or cut off.
    """
    text = unfence(text.strip())
    try:
        return _read_all(text, shape)
    except ParseFailure:
        narrow = narrow_punctuation(text, "'\"")
        if narrow == text:
            raise
        return _read_all(narrow, shape)


def quote(text: str, mark: str = "'") -> str:
    """Return the text as a quoted string of the grammar."""
    out = text.replace("\\", "\\\\").replace(mark, "\\" + mark)
    for char, name in (("\n", "n"), ("\r", "r"), ("\t", "t")):
        out = out.replace(char, "\\" + name)
    return f"{mark}{out}{mark}"


def starts_call(text: str, names: frozenset[str]) -> bool:
    """Tell whether the text begins with a call of one of these names."""
    found = _NAME.match(text)
    return bool(found and found[0] in names and text[found.end() :].lstrip()[:1] in ("(", "（"))


def _read_all(text: str, shape: str) -> tuple[FunctionCall, ...]:
    scanner = _Scanner(text, shape)
    calls: list[FunctionCall] = []
    while not calls or scanner.at_call():
        if len(calls) == MAX_CALLS:
            raise ParseFailure(f"the reply holds more than {MAX_CALLS} calls")
        calls.append(scanner.call())
    return tuple(calls)


class _Scanner:
    """Reads left to right; each character is looked at a bounded number of times."""

    def __init__(self, text: str, shape: str) -> None:
        self.text = text
        self.shape = shape
        self.at = 0
        self._skip()

    def at_call(self) -> bool:
        found = _NAME.match(self.text, self.at)
        return bool(found and self.text[found.end() : found.end() + 1] == "(")

    def call(self) -> FunctionCall:
        name = self._name()
        self._expect("(")
        arguments: dict[str, Any] = {}
        while not self._take(")"):
            key = self._name()
            self._expect("=")
            if key in arguments:
                raise ParseFailure(f"{name}: the argument {clip(key, 40)!r} is given twice")
            arguments[key] = self._value(0)
            if not self._take(","):
                self._expect(")")
                break
        return FunctionCall(name=name, arguments=arguments)

    def _value(self, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise ParseFailure(f"the call is nested deeper than {MAX_DEPTH} levels")
        char = self.text[self.at : self.at + 1]
        if char in _PLAIN_RUN:
            return self._string(char)
        if char in _CLOSE:
            return self._list(_CLOSE[char], depth)
        number = _NUMBER.match(self.text, self.at)
        if number:
            self._move(number.end())
            return float(number[0]) if "." in number[0] else int(number[0])
        word = _NAME.match(self.text, self.at)
        if word and word[0] in _WORDS:
            self._move(word.end())
            return _WORDS[word[0]]
        raise self._failure("a value: a quoted string, a number or a list")

    def _list(self, close: str, depth: int) -> list[Any]:
        self._move(self.at + 1)
        items: list[Any] = []
        while not self._take(close):
            items.append(self._value(depth + 1))
            if not self._take(","):
                self._expect(close)
                break
        return items

    def _string(self, mark: str) -> str:
        out: list[str] = []
        at = self.at + 1
        while True:
            run = _PLAIN_RUN[mark].match(self.text, at)
            assert run is not None
            out.append(run[0])
            at = run.end()
            if at >= len(self.text):
                raise ParseFailure("a quoted string is not closed; the reply may be cut off")
            if self.text[at] == mark:
                self._move(at + 1)
                return "".join(out)
            escaped = self.text[at + 1 : at + 2]
            out.append(_ESCAPES.get(escaped, "\\" + escaped))
            at += 2

    def _name(self) -> str:
        found = _NAME.match(self.text, self.at)
        if not found:
            raise self._failure("a name")
        self._move(found.end())
        return found[0]

    def _expect(self, char: str) -> None:
        if not self._take(char):
            raise self._failure(repr(char))

    def _take(self, char: str) -> bool:
        if self.text[self.at : self.at + 1] != char:
            return False
        self._move(self.at + 1)
        return True

    def _move(self, at: int) -> None:
        self.at = at
        self._skip()

    def _skip(self) -> None:
        space = _SPACE.match(self.text, self.at)
        assert space is not None
        self.at = space.end()

    def _failure(self, expected: str) -> ParseFailure:
        found = self.text[self.at : self.at + 20] or "the end of the reply"
        return ParseFailure(
            f"the call is malformed: expected {expected} but found {clip(found, 40)!r}; the form "
            f"is {self.shape}"
        )
