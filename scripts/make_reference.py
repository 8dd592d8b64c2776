#!/usr/bin/env python3
"""Writes docs/reference/actions.md and checks.md from the structs: the tables of the wire forms.

    .venv/bin/python scripts/make_reference.py

A test fails while a file is not current.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import get_args

import msgspec
from msgspec import inspect as types
from msgspec.structs import FieldInfo

from screenloop import criteria
from screenloop.actions import EXECUTOR, ActionBase, tag_of

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"

_HEAD = """# Actions

One closed union, one JSON form for every device, model and dialect. The tag is `type`:
`{"type": "tap", "at": [0.5, 0.25]}`. Unknown fields are refused, and a field at its default may be
left out. Coordinates are shares of the frame's width and height, from its top left corner; `frame`
names the frame (its blob key) that they belong to, and an Environment refuses one that is gone.

An Action is executed by the *environment* (where its `spec.actions` lists it; else it is refused)
or by the *rollout*, which no Environment ever sees.

This page is made by `scripts/make_reference.py` from `screenloop.actions`.

"""


def actions_table() -> str:
    """Return the Markdown table: a row for each field of each Action."""
    lines = [
        "| action | executed by | field | type | default | |",
        "|---|---|---|---|---|---|",
    ]
    for kind, executor in EXECUTOR.items():
        purpose = " ".join((inspect.getdoc(kind) or "").split()).replace("|", "\\|")
        lines.append(f"| **`{tag_of(kind)}`** | {executor} | | | | {purpose} |")
        notes = _field_notes(kind)
        for field in msgspec.structs.fields(kind):
            words = type_words(types.type_info(field.type)).replace("|", "\\|")
            note = notes.get(field.name, "")
            lines.append(f"| | | `{field.name}` | {words} | {_default(field)} | {note} |")
    return "\n".join(lines) + "\n"


_CHECKS_HEAD = """# Checks and matchers

What a Task holds to say what must be true at the end; closed, JSON, judged by `verify`. A check
has the tag `check`, a matcher the tag `is`:

```json
{"check": "added", "app": "contacts", "table": "people", "says": "Ada Park is saved",
 "where": {"name": "Ada Park", "phone": {"is": "text", "value": "555-0134", "mode": "digits"}}}
```

Where a matcher may stand, a bare value means exact equality. Every check has `says` (a sentence
for people), `weight` (default 1) and `critical` (default true). Reward r = sum(w b) / sum(w);
success needs every critical check, and that nothing changed which neither a check nor the Task's
`allowed` list (`app`, `app.table` or `app.table.field`, `*` as wildcard) accounts for. A guard that
holds from the start has weight 0.

This page is made by `scripts/make_reference.py` from `screenloop.criteria`.

"""
_SHARED = {"says", "weight", "critical"}


def checks_tables() -> str:
    """Return the Markdown tables of checks and matchers."""
    parts = []
    for title, union in (("Checks", criteria.Check), ("Matchers", criteria.Matcher)):
        lines = [f"## {title}", "", "| name | field | default | |", "|---|---|---|---|"]
        for kind in get_args(union):
            purpose = " ".join((inspect.getdoc(kind) or "").split()).replace("|", "\\|")
            lines.append(f"| **`{kind.__struct_config__.tag}`** | | | {purpose} |")
            for field in msgspec.structs.fields(kind):
                if field.name not in _SHARED:
                    lines.append(f"| | `{field.name}` | {_default(field)} | |")
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def pages() -> dict[str, str]:
    """Return every page by its file name."""
    return {"actions.md": _HEAD + actions_table(), "checks.md": _CHECKS_HEAD + checks_tables()}


def _default(field: FieldInfo) -> str:
    if field.required:
        return "required"
    if field.default_factory is not msgspec.NODEFAULT:
        return f"`{msgspec.json.encode(field.default_factory()).decode()}`"
    return f"`{msgspec.json.encode(field.default).decode()}`"


def _field_notes(kind: type[ActionBase]) -> dict[str, str]:
    """Return the text under each field of the class, where there is one."""
    notes: dict[str, str] = {}
    name = ""
    for line in map(str.strip, inspect.getsource(kind).splitlines()[1:]):
        if name and line.startswith('"""') and line.endswith('"""'):
            notes[name] = line.strip('"')
        before, colon, _ = line.partition(":")
        name = before if colon and before.isidentifier() else ""
    return notes


def type_words(found: types.Type) -> str:
    """Return a wire type in words."""
    match found:
        case types.BoolType():
            return "true or false"
        case types.NoneType():
            return "null"
        case types.IntType() | types.FloatType():
            name = "whole number" if isinstance(found, types.IntType) else "number"
            return f"{name}{_limits(found)}"
        case types.StrType():
            return f"text{_lengths(found.min_length, found.max_length, 'characters')}"
        case types.LiteralType(values=values):
            return ", ".join(f"`{value}`" for value in values)
        case types.TupleType(item_types=(types.FloatType() as side, types.FloatType())):
            return f"point `[x, y]`, each {side.ge:g} to {side.le:g}"
        case types.VarTupleType(item_type=item):
            each = f"list of ({type_words(item)})"
            return each + _lengths(found.min_length, found.max_length, "long")
        case types.DictType():
            return "object"
        case types.UnionType(types=members) if all(
            isinstance(member, types.StructType) for member in members
        ):
            return "any action but `batch`"
        case types.UnionType(types=members):
            return " or ".join(type_words(member) for member in members)
        case _:
            raise TypeError(f"{found} has no words yet; add them to type_words")


def _limits(found: types.IntType | types.FloatType) -> str:
    if found.gt is not None:
        return f", more than {found.gt:g}, at most {found.le:g}"
    if found.ge is not None:
        return f", {found.ge:g} to {found.le:g}"
    return ""


def _lengths(least: int | None, most: int | None, unit: str) -> str:
    if least is not None and most is not None:
        return f", {least} to {most} {unit}"
    if least is not None:
        return ", not empty" if least == 1 else f", at least {least} {unit}"
    return "" if most is None else f", at most {most} {unit}"


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, "utf-8")
