"""Typed reading of a call's arguments: each getter returns the value or says what is wrong."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from screenloop.actions import Action, ActionBase, Point, action_from, tag_of
from screenloop.agent.dialects.base import CoordinateSpace, DialectContext, clip
from screenloop.errors import ParseFailure


class Fields:
    """The arguments of one call, read under a dialect's coordinate space."""

    def __init__(
        self, verb: str, values: Mapping[str, Any], space: CoordinateSpace, context: DialectContext
    ) -> None:
        self.verb = verb
        self._values = values
        self._space = space
        self._context = context

    def has(self, name: str) -> bool:
        """Tell whether the argument is given (null counts as not given)."""
        return self._values.get(name) is not None

    def point(self, *names: str, boxes: bool = False) -> Point:
        """Return a point as shares of the frame, from the first of the names that is given.

        Args:
            names: The argument's names.
            boxes: Whether `[x1, y1, x2, y2]` is accepted too and stands for its centre.
        """
        value = self._first(names, "[x, y]")
        if isinstance(value, Sequence) and not isinstance(value, str):
            if len(value) == 2:
                return self._read(names[0], value[0], value[1])
            if len(value) == 4 and boxes:
                one = self._read(names[0], value[0], value[1])
                two = self._read(names[0], value[2], value[3])
                return (one[0] + two[0]) / 2, (one[1] + two[1]) / 2
        raise ParseFailure(
            f"{self.verb}: {names[0]} must be two numbers [x, y], not {clip(value, 60)}"
        )

    def optional_point(self, *names: str, boxes: bool = False) -> Point | None:
        return self.point(*names, boxes=boxes) if any(map(self.has, names)) else None

    def text(self, *names: str, empty: bool = True) -> str:
        value = self._first(names, "a string")
        if not isinstance(value, str):
            raise ParseFailure(f"{self.verb}: {names[0]} must be a string, not {clip(value, 60)}")
        if not value and not empty:
            raise ParseFailure(f"{self.verb}: {names[0]} must not be empty")
        return value

    def optional_text(self, *names: str) -> str:
        return self.text(*names) if any(map(self.has, names)) else ""

    def number(self, name: str, *, low: float, high: float, default: float | None = None) -> float:
        if default is not None and not self.has(name):
            return default
        value = self._first((name,), "a number")
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ParseFailure(f"{self.verb}: {name} must be a number, not {clip(value, 60)}")
        if not (low <= value <= high and math.isfinite(value)):
            raise ParseFailure(
                f"{self.verb}: {name} is {clip(value, 40)}, outside {clip(low, 20)} to "
                f"{clip(high, 20)}"
            )
        return float(value)

    def choice(self, name: str, choices: Mapping[str, Any]) -> Any:
        """Return what the string, in any case, stands for."""
        word = self.text(name)
        try:
            return choices[word.strip().lower()]
        except KeyError:
            raise ParseFailure(
                f"{self.verb}: {name} is {clip(word, 40)!r}; expected one of {', '.join(choices)}"
            ) from None

    def strings(self, name: str) -> tuple[str, ...]:
        value = self._first((name,), "a list of strings")
        if (
            not isinstance(value, list | tuple)
            or not value
            or not all(isinstance(v, str) and v for v in value)
        ):
            raise ParseFailure(
                f"{self.verb}: {name} must be a list of strings, not {clip(value, 60)}"
            )
        return tuple(value)

    def _first(self, names: Sequence[str], expected: str) -> Any:
        for name in names:
            if self.has(name):
                return self._values[name]
        raise ParseFailure(f"{self.verb} needs {names[0]!r}: {expected}")

    def _read(self, name: str, x: object, y: object) -> Point:
        try:
            return self._space.read(x, y, self._context.picture_px)
        except ParseFailure as error:
            raise ParseFailure(f"{self.verb}: {name}: {error}") from None


def is_only(action: ActionBase, *names: str) -> bool:
    """Tell whether all fields but the named ones (and `frame`) have their defaults."""
    return all(
        field.name in names or field.name == "frame" or getattr(action, field.name) == field.default
        for field in msgspec.structs.fields(action)
    )


def checked(action: Action) -> Action:
    """Return the Action if its values are within the bounds of its fields.

    Raises:
        ParseFailure: one is not; names the field.
    """
    try:
        return action_from(msgspec.to_builtins(action))
    except msgspec.ValidationError as error:
        raise ParseFailure(f"the action {tag_of(action)!r} is not valid: {error}") from None


def whole(value: float) -> int | float:
    """Return the number without a fraction that is zero."""
    return int(value) if value == int(value) else value
