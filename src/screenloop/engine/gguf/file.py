"""What a GGUF file says of itself: vocabulary, chat template, identity.

Only the head of the file is read here (key-value pairs of GGUF versions 2 and 3, little-endian);
the tensors are the library's business. A head of 300,000 strings takes well under a second.
"""

from __future__ import annotations

import hashlib
import mmap
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from screenloop.errors import ConfigError
from screenloop.types import Struct

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_STRING, _ARRAY = 8, 9
_NUMBERS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}
_CONTROL, _UNUSED = 3, 5
"""Kinds of tokens, as `tokenizer.ggml.token_type` numbers them."""
_SENSE_WORDS = ("image", "vision", "video", "audio")


class GgufCard(Struct, frozen=True, kw_only=True):
    """What a record must name of a GGUF model, and what its prompts are made with."""

    name: str
    architecture: str
    template: str
    """The chat template, in Jinja."""
    bos: str = ""
    """Text of the token that begins a text; empty where the file names none."""
    eos: str = ""
    adds_bos: bool = False
    """Whether the tokenizer puts the beginning token in front by itself."""
    markers: tuple[str, ...]
    """Texts of the control tokens."""
    banned_ids: tuple[int, ...]
    """Never sampled: tokens that stand for pictures and sounds, and ids marked as unused."""
    context_tokens: int
    """What the model was trained for; 0 where the file does not say."""
    tokenizer_hash: str
    template_hash: str
    weights_version: str
    """`sha256-` and 16 hex digits over the whole file; with those of the picture side, if any."""
    projector_version: str = ""
    """The same over the file of the picture side."""


def read_card(path: Path) -> GgufCard:
    """Read the head of a file and hash all of it.

    Raises:
        ConfigError: there is no such file, it is no GGUF file, it is one part of several, or it
            has no vocabulary or no chat template.
    """
    facts = read_head(path)
    if facts.get("split.count", 0) > 1:
        raise ConfigError(
            f"{path} is one of {facts['split.count']} parts; merge them with llama-gguf-split first"
        )
    tokens: list[str] = facts.get("tokenizer.ggml.tokens", [])
    template = facts.get("tokenizer.chat_template", "")
    for what, is_there in (("vocabulary", tokens), ("chat template", template)):
        if not is_there:
            raise ConfigError(f"{path} has no {what}; use a chat model")
    kinds: list[int] = facts.get("tokenizer.ggml.token_type", [1] * len(tokens))

    def text(key: str) -> str:
        number = facts.get(f"tokenizer.ggml.{key}_token_id")
        return tokens[number] if number is not None and number < len(tokens) else ""

    architecture = str(facts.get("general.architecture", ""))
    markers = [t for t, kind in zip(tokens, kinds, strict=False) if kind == _CONTROL and t.strip()]
    return GgufCard(
        name=path.stem,
        architecture=architecture,
        template=template,
        bos=text("bos"),
        eos=text("eos"),
        adds_bos=bool(facts.get("tokenizer.ggml.add_bos_token", False)),
        markers=tuple(markers),
        banned_ids=tuple(_banned(tokens, kinds)),
        context_tokens=int(facts.get(f"{architecture}.context_length", 0)),
        tokenizer_hash=_digest([*(f"{i} {t}" for i, t in enumerate(tokens)), *sorted(markers)]),
        template_hash=_digest([template]),
        weights_version=file_version(path),
    )


def read_head(path: Path) -> dict[str, Any]:
    """Return the key-value pairs at the head of a GGUF file.

    Raises:
        ConfigError: there is no such file, or its head is not one of GGUF version 2 or 3.
    """
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _Head(data).pairs()
    except (OSError, ValueError, struct.error, RecursionError) as error:
        raise ConfigError(f"{path} is no GGUF model that can be read: {error}") from error


class _Head:
    """Reads the values of a head one after the other."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._at = 0

    def pairs(self) -> dict[str, Any]:
        if self._data[:4] != _MAGIC:
            raise ValueError("it does not begin with GGUF")
        self._at = 4
        version, _, count = self._number("I"), self._number("Q"), self._number("Q")
        if version not in _VERSIONS:
            raise ValueError(f"version {version} of the format is not known; 2 and 3 are")
        return {self._string(): self._value(self._number("I")) for _ in range(count)}

    def _value(self, kind: int) -> Any:
        if kind == _STRING:
            return self._string()
        if kind == _ARRAY:
            inner, count = self._number("I"), self._number("Q")
            if inner in _NUMBERS:
                return self._row(_NUMBERS[inner], count)
            return [self._value(inner) for _ in range(count)]
        if kind not in _NUMBERS:
            raise ValueError(f"a value has the unknown type {kind}")
        return self._number(_NUMBERS[kind])

    def _number(self, form: str) -> Any:
        return self._row(form, 1)[0]

    def _row(self, form: str, count: int) -> list[Any]:
        if count * struct.calcsize(form) > len(self._data):
            raise ValueError(f"an array of {count} numbers is longer than the file")
        values = struct.unpack_from(f"<{count}{form}", self._data, self._at)
        self._at += count * struct.calcsize(form)
        return list(values)

    def _string(self) -> str:
        length = self._number("Q")
        raw = self._data[self._at : self._at + length]
        if len(raw) < length:
            raise ValueError("it ends inside a string")
        self._at += length
        # Some vocabularies hold pieces of characters.
        return raw.decode("utf-8", "replace")


def _banned(tokens: Sequence[str], kinds: Sequence[int]) -> list[int]:
    return [
        number
        for number, (text, kind) in enumerate(zip(tokens, kinds, strict=False))
        if kind == _UNUSED
        or (kind == _CONTROL and text[:1] == "<" and any(word in text for word in _SENSE_WORDS))
    ]


def file_version(path: Path) -> str:
    """Return `sha256-` and 16 hex digits over a whole file."""
    with path.open("rb") as file:
        return f"sha256-{hashlib.file_digest(file, 'sha256').hexdigest()[:16]}"


def _digest(lines: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode("utf-8", "replace")).hexdigest()[:16]
