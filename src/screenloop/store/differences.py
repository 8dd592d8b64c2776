"""In which fields two configurations differ; pure."""

from __future__ import annotations

from typing import Any

from screenloop.config import RunConfig, plain
from screenloop.types import Struct


class ConfigDifference(Struct, frozen=True, kw_only=True):
    """One field in which two configurations differ."""

    path: str
    """Field names joined by dots."""
    before: Any = None
    after: Any = None


def config_differences(a: RunConfig, b: RunConfig) -> tuple[ConfigDifference, ...]:
    """Return every field in which the two differ, by path."""
    left, right = _flat(plain(a)), _flat(plain(b))
    return tuple(
        ConfigDifference(path=path, before=left.get(path), after=right.get(path))
        for path in sorted(left.keys() | right.keys())
        if left.get(path) != right.get(path)
    )


def _flat(value: Any, path: str = "") -> dict[str, Any]:
    if not isinstance(value, dict) or not value:
        return {path: value}
    flat: dict[str, Any] = {}
    for name, inner in value.items():
        flat.update(_flat(inner, f"{path}.{name}" if path else str(name)))
    return flat
