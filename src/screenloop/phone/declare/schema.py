"""Whether a JSON value fits a JSON schema, for the part of JSON Schema that tools use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

KNOWN = frozenset(
    "type enum const anyOf minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength "
    "maxLength pattern items minItems maxItems properties required additionalProperties title "
    "description default examples".split()
)
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def misfits(value: Any, schema: dict[str, Any], where: str = "") -> Iterator[str]:
    """Yield why a value does not fit, as phrases; nothing when it does.

    A keyword outside `KNOWN` is reported too: a schema that cannot be read accepts nothing.
    """
    at = where or "the value"
    for keyword in sorted(schema.keys() - KNOWN):
        yield f"{at} has a schema with {keyword!r}, which is not understood"
    if "anyOf" in schema and all(any(misfits(value, s, where)) for s in schema["anyOf"]):
        yield f"{at} fits none of its alternatives"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at} is {value!r}, not one of {schema['enum']}"
    if "const" in schema and value != schema["const"]:
        yield f"{at} is {value!r}, not {schema['const']!r}"
    if "type" in schema and not _is_a(value, schema["type"]):
        yield f"{at} is {value!r}, not of type {schema['type']}"
        return
    if isinstance(value, str):
        yield from _text(value, schema, at)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from _number(value, schema, at)
    elif isinstance(value, list):
        yield from _array(value, schema, where)
    elif isinstance(value, dict):
        yield from _object(value, schema, where)


def _is_a(value: Any, name: str) -> bool:
    if isinstance(value, bool) and name in ("integer", "number"):
        return False
    return isinstance(value, _TYPES[name])


def _text(value: str, schema: dict[str, Any], at: str) -> Iterator[str]:
    if len(value) < schema.get("minLength", 0):
        yield f"{at} is shorter than {schema['minLength']}"
    if len(value) > schema.get("maxLength", len(value)):
        yield f"{at} is longer than {schema['maxLength']}"
    if "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{at} is {value!r}, which does not match {schema['pattern']!r}"


def _number(value: float, schema: dict[str, Any], at: str) -> Iterator[str]:
    if value < schema.get("minimum", value):
        yield f"{at} is below {schema['minimum']}"
    if value > schema.get("maximum", value):
        yield f"{at} is above {schema['maximum']}"
    if "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
        yield f"{at} is not above {schema['exclusiveMinimum']}"
    if "exclusiveMaximum" in schema and value >= schema["exclusiveMaximum"]:
        yield f"{at} is not below {schema['exclusiveMaximum']}"
    if "multipleOf" in schema and value % schema["multipleOf"]:
        yield f"{at} is no multiple of {schema['multipleOf']}"


def _array(value: list[Any], schema: dict[str, Any], where: str) -> Iterator[str]:
    if len(value) < schema.get("minItems", 0):
        yield f"{where or 'the value'} has fewer than {schema['minItems']} items"
    if len(value) > schema.get("maxItems", len(value)):
        yield f"{where or 'the value'} has more than {schema['maxItems']} items"
    for number, item in enumerate(value):
        yield from misfits(item, schema.get("items", {}), f"{where}[{number}]")


def _object(value: dict[str, Any], schema: dict[str, Any], where: str) -> Iterator[str]:
    parts = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{where or 'the value'} lacks {name!r}"
    for name, part in value.items():
        inner = f"{where}.{name}" if where else name
        if name in parts:
            yield from misfits(part, parts[name], inner)
        elif schema.get("additionalProperties", True) is False:
            yield f"{where or 'the value'} has {name!r}, which is not declared"
        elif isinstance(schema.get("additionalProperties"), dict):
            yield from misfits(part, schema["additionalProperties"], inner)
