"""JSON as models write it: strict values, tolerant wrapping; never anything but ParseFailure.

Accepted besides plain JSON: code fences around it, full-width punctuation outside strings, raw
line breaks inside strings. Refused, because no record could hold it: a key given twice, NaN and
infinities, whole numbers beyond 64 bits, half a surrogate pair, nesting without end.
"""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec

from screenloop.agent.dialects.base import clip
from screenloop.errors import ParseFailure

_WIDE = str.maketrans("｛｝［］：，（）＝＜＞", "{}[]:,()=<>")
_STRAIGHT = {"“": '"', "”": '"', "＂": '"', "‘": "'", "’": "'", "＇": "'"}


def read_object(text: str, what: str) -> tuple[dict[str, Any], str]:
    """Read the JSON object at the start of the text; return it and the text behind it.

    Args:
        text: Begins with the object, apart from white space and an opening code fence.
        what: Names the object in errors, e.g. `the action`.

    Raises:
        ParseFailure: no object stands there, or it is malformed or cut off.
    """
    body = unfence(text.strip())
    try:
        return _decode(body, what)
    except ParseFailure:
        narrow = narrow_punctuation(body)
        if narrow == body:
            raise
        return _decode(narrow, what)


def unfence(text: str) -> str:
    """Return the text without an opening code fence and its language word."""
    if not text.startswith("```"):
        return text
    body = text[3:]
    word = body.split("\n", 1)[0].strip()
    if word.isalpha():
        body = body.lstrip()[len(word) :]
    return body.lstrip()


def narrow_punctuation(text: str, quotes: str = '"') -> str:
    """Return the text with full-width punctuation outside of quoted strings made ASCII.

    Curly quotes become straight ones of the same kind; `quotes` are the kinds that open a string.
    """
    out: list[str] = []
    quote = ""
    escaped = False
    for char in text:
        if quote:
            straight = _STRAIGHT.get(char, char)
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == quote or (quote not in quotes and straight == _STRAIGHT[quote]):
                quote, char = "", straight
        else:
            straight = _STRAIGHT.get(char, char)
            if straight in quotes:
                quote, char = char, straight
            else:
                char = char.translate(_WIDE)
        out.append(char)
    return "".join(out)


def _decode(body: str, what: str) -> tuple[dict[str, Any], str]:
    try:
        value, end = _DECODER.raw_decode(body)
        msgspec.json.encode(value)
    except RecursionError:
        raise ParseFailure(f"{what} is nested too deeply to be read") from None
    except json.JSONDecodeError as error:
        at = error.pos
        near = body[max(0, at - 20) : at + 20]
        raise ParseFailure(
            f"{what} must be a JSON object, but it is malformed or cut off at character {at}: "
            f"{error.msg} near {clip(near, 60)!r}"
        ) from None
    except (UnicodeEncodeError, OverflowError):
        raise ParseFailure(f"{what} holds half a character or a number beyond 64 bits") from None
    except ValueError as error:
        raise ParseFailure(f"{what} cannot be read as JSON: {clip(str(error), 120)}") from None
    if not isinstance(value, dict):
        raise ParseFailure(f"{what} must be a JSON object, not {clip(value, 60)}")
    return value, body[end:]


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key is given twice in one object")
    return value


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is no JSON number")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError("a number is too large")
    return value


_DECODER = json.JSONDecoder(
    object_pairs_hook=_once, parse_constant=_no_constant, parse_float=_finite, strict=False
)
