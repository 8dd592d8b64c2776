"""The goal of a search: how near a page is to a call or another page, what would help.

Plain rules about arguments, no search: which values differ, what an input on the page could do
about it, what may be typed, which links lead astray.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import Any, TypeGuard, get_args

import msgspec

from screenloop.errors import TaskError
from screenloop.phone.commands import Both, Call, Do, Focus, Go, PickMedia, SetLocal, calls_in
from screenloop.phone.declare.app import AppAction, Query
from screenloop.phone.declare.cast import cast
from screenloop.phone.declare.state import Record, Refers
from screenloop.phone.device.device import Device
from screenloop.phone.draw.inputs import MONTHS, WEEKDAYS
from screenloop.phone.prove.affordances import Affordance

UNKNOWN_COST = 4
"""Touches that an argument is thought to take when no input for it is in sight."""
MAX_WORDS = 3
MAX_STEPS = 40
"""Touches of a plus button that are counted, at most."""
_ID = re.compile(r"([a-z_]+)\d+")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_MONTH = re.compile(r"\d{4}-\d{2}")
_TIME = re.compile(r"\d{2}:\d{2}")


class SearchGoal:
    """What a search looks for: a call with its arguments, or a page with its values."""

    def __init__(
        self,
        device: Device,
        app: str,
        args: dict[str, Any],
        types: dict[str, Any],
        *,
        defaults: dict[str, Any],
        call: Call | None = None,
        path: str = "",
    ) -> None:
        self.app = app
        self.args = args
        """Arguments as JSON values, defaults filled in; of a page, its values."""
        self.defaults = defaults
        """What inputs that do not show their value are thought to hold."""
        self.call = call
        self.path = path
        self.references = references(types)
        self.relevant = self._relevant(device, args | {"": path.split("/")})
        """Ids and texts of the rows that the arguments name, and the arguments themselves."""
        self._prefixes = {m[1] for text in self.relevant if (m := _ID.fullmatch(text))}
        self.words = tuple(self._row_words(device))[:MAX_WORDS]
        """What could be typed into a search field to find the rows."""

    # ---- nearness ------------------------------------------------------------------------

    def same_action(self, do: Do | None) -> Call | None:
        """Return the call of the wanted action inside a Do, whatever its arguments."""
        for part in calls_in(do):
            if (
                isinstance(part, Call)
                and self.call is not None
                and (part.app == self.call.app and part.action == self.call.action)
            ):
                return part
        return None

    def is_shown(self, device: Device) -> bool:
        """Whether the wanted page is in front with the wanted values."""
        doc = device.doc
        if self.call is not None or doc.front != self.app or doc.overlay is not None:
            return False
        values = doc.page.locals
        return doc.page.path == self.path and all(
            values.get(name) == value for name, value in self.args.items()
        )

    def bound(self, device: Device, call: Call) -> dict[str, Any]:
        """Return a call's arguments as JSON values, unchecked where they do not fit yet."""
        try:
            return plain_args(device.apps[call.app].actions[call.action], call.args)
        except msgspec.ValidationError:
            return call.args

    def missing(self, device: Device, call: Call) -> list[str]:
        """Return the arguments of a call that differ from the goal's."""
        args = self.bound(device, call)
        return [name for name, value in self.args.items() if args.get(name, self) != value]

    def cost(self, name: str, now: Any, known: list[Affordance], values: dict[str, Any]) -> int:
        """Return about how many touches it takes to set an argument on this page.

        Args:
            name: the argument.
            now: its value now, where known.
            known: what the page offers.
            values: the page's locals.
        """
        target = self.args[name]
        opened = values.get(f"{name}.open", "")
        if opened:
            return _picker_cost(opened, target)
        best = UNKNOWN_COST
        if isinstance(target, list) and isinstance(now, list):
            best = max(1, _apart(target, now))
        for offer in known:
            best = min(best, _input_cost(name, target, now, offer))
        return best

    def guess(self, name: str, now: Any) -> int:
        """Return about how many touches an argument takes when no input for it is in sight."""
        target = self.args[name]
        if _is_number(target) and _is_number(now):
            return int(min(MAX_STEPS, max(1, abs(target - now))))
        return UNKNOWN_COST

    def steps_left(self, device: Device, call: Call) -> int:
        """Return how many more calls a plus or minus button needs; 0 if it is none.

        Such a button runs the wanted action with a number that is one off.
        """
        args = self.bound(device, call)
        apart = [(args.get(n), value) for n, value in self.args.items() if args.get(n) != value]
        if not all(_is_number(now) and _is_number(target) for now, target in apart):
            return 0
        return int(min(MAX_STEPS, sum(abs(target - now) for now, target in apart)))

    def shown(self, name: str, known: list[Affordance], device: Device) -> Any:
        """Return the value that an input on the page shows for an argument, `None` if unknown."""
        values = device.doc.page.locals
        if name in values:
            return values[name]
        for offer in known:
            if offer.node.field == name:
                return offer.node.value
            if not isinstance(offer.do, SetLocal):
                continue
            if f"{name}.open" in offer.do.values and name not in offer.do.values:
                value = self.args[name]
                same = offer.node.value in (value, _day_shown(value, device))
                return value if same else offer.node.value
            if name in offer.do.values and offer.node.selected:
                return offer.do.values[name]
            if _is_number(offer.do.values.get(name)) and offer.node.value.isdecimal():
                return int(offer.node.value)
        return None

    # ---- what helps ------------------------------------------------------------------------

    def helps(self, do: Do, values: dict[str, Any]) -> str:
        """Return the argument that a touch brings nearer, or an empty text."""
        for part in _parts(do):
            if isinstance(part, PickMedia) and part.local in self.args:
                return part.local if values.get(part.local) != self.args[part.local] else ""
            if not isinstance(part, SetLocal) or self._picks_other_row(part):
                continue
            for name, value in part.values.items():
                base = name.removesuffix(".open")
                if base in self.args and self._nearer(name, value, part.values, values):
                    return base
        return ""

    def _picks_other_row(self, part: SetLocal) -> bool:
        return any(
            name in self.references
            and name in self.args
            and isinstance(value, str)
            and isinstance(self.args[name], str)
            and value != self.args[name]
            for name, value in part.values.items()
        )

    def leads_astray(self, do: Do, values: dict[str, Any]) -> bool:
        """Whether a touch sets an argument to something else, or goes to another row's page."""
        for part in _parts(do):
            if isinstance(part, SetLocal):
                touched = [n for n in part.values if n.removesuffix(".open") in self.args]
                if touched and not self.helps(part, values):
                    return True
                if not touched and any(map(self._is_other_row, part.values.values())):
                    return True
            elif isinstance(part, Go) and self._is_elsewhere(part):
                return True
        return False

    def texts(self, offer: Affordance, named: set[str]) -> list[str]:
        """Return what is worth typing into a field.

        Args:
            offer: the field.
            named: arguments that have a field of their own name on the page.
        """
        field = offer.node.field
        if field in self.args:
            found = list(_spellings(self.args[field]))
        elif offer.node.keyboard == "search":
            found = list(self.words)
        else:
            others = [v for n, v in self.args.items() if n not in named and v not in ("", None)]
            found = [
                text
                for value in others
                if not (isinstance(value, str) and _ID.fullmatch(value))
                for text in _spellings(value)
            ]
        return [text for text in dict.fromkeys(found) if text != offer.node.value]

    def is_relevant(self, do: Do) -> bool:
        """Whether a touch mentions one of the rows or values of the call."""
        for part in _parts(do):
            if isinstance(part, Go) and self.relevant & set(part.path.split("/")):
                return True
            if isinstance(part, SetLocal) and self.relevant & set(map(str, part.values.values())):
                return True
        return False

    def _nearer(
        self, name: str, value: Any, together: dict[str, Any], values: dict[str, Any]
    ) -> bool:
        base = name.removesuffix(".open")
        target, now = self.args[base], values.get(base)
        if name != base:
            return self._opens_picker(base, value, together, values)
        if value == target:
            return bool(now != target or values.get(f"{base}.open"))
        if together.get(f"{base}.open") == "minute":
            return isinstance(target, str) and str(value)[:2] == target[:2]
        if _is_many(target) and (now is None or _is_many(now)) and _is_many(value):
            return _apart(target, value) < _apart(target, now or "")
        if _is_number(target) and _is_number(value):
            return not _is_number(now) or abs(value - target) < abs(now - target)
        return False

    def _opens_picker(
        self, base: str, value: Any, together: dict[str, Any], values: dict[str, Any]
    ) -> bool:
        if not value or base in together or values.get(base) == self.args[base]:
            return False
        opened = values.get(f"{base}.open", "")
        target = self.args[base]
        return not opened or _picker_cost(value, target) < _picker_cost(opened, target)

    def _is_elsewhere(self, go: Go) -> bool:
        return any(map(self._is_other_row, go.path.split("/")))

    def _is_other_row(self, value: Any) -> bool:
        """Whether a value names a row of the same kind as the wanted ones, but none of them."""
        found = _ID.fullmatch(value) if isinstance(value, str) else None
        return bool(found and found[1] in self._prefixes and value not in self.relevant)

    # ---- rows ------------------------------------------------------------------------------

    def _rows(self, device: Device, args: dict[str, Any]) -> Iterator[Record]:
        for name, table in self.references.items():
            app_id, _, rows = table.partition(".")
            part = device.doc.apps.get(app_id)
            if part is None:
                continue
            state = device.apps[app_id].state(part.data, cast(device.doc.world, device.doc.seed))
            value = args[name]
            for row_id in value if isinstance(value, list) else [value]:
                row = state.read(rows).get(row_id)
                if row is not None:
                    yield row

    def _relevant(self, device: Device, args: dict[str, Any]) -> frozenset[str]:
        found: set[str] = set()
        for value in args.values():
            found.update(map(str, value if isinstance(value, list) else [value]))
        for row in self._rows(device, args):
            found.update(str(getattr(row, field)) for field in row.__struct_fields__)
        return frozenset(text for text in found if text)

    def _row_words(self, device: Device) -> Iterator[str]:
        for row in self._rows(device, self.args):
            for field in ("title", "name", "subject", "text"):
                value = getattr(row, field, "")
                if isinstance(value, str) and 0 < len(value) <= 60:
                    yield value
                elif isinstance(value, tuple | list) and value:
                    yield str(value[0])


def call_goal(device: Device, call: Call) -> SearchGoal:
    """Return a call as something to look for.

    Raises:
        TaskError: there is no such action, or it does not take the arguments.
    """
    app = device.apps.get(call.app)
    action = app.actions.get(call.action) if app else None
    if action is None:
        raise TaskError(f"no app offers the tool {call.app}.{call.action}")
    try:
        args = plain_args(action, call.args)
    except msgspec.ValidationError as error:
        raise TaskError(f"{action.tool_name} does not take {call.args}: {error}") from error
    defaults = plain_defaults(action)
    return SearchGoal(device, call.app, args, action.signature.types, defaults=defaults, call=call)


def page_goal(device: Device, query: Query, args: dict[str, Any]) -> SearchGoal:
    """Return the page where a person sees what a query answers, as something to look for.

    Raises:
        TaskError: the query does not take the arguments.
        ConfigError: it does not say where its answer is seen.
    """
    try:
        full = plain_args(query, args)
    except msgspec.ValidationError as error:
        raise TaskError(f"{query.tool_name} does not take {args}: {error}") from error
    path, values = query.shown(full)
    shown = {name: value for name, value in values.items() if value not in ("", None)}
    types = {name: kind for name, kind in query.signature.types.items() if name in full}
    found = SearchGoal(device, query.app, full, types, defaults=plain_defaults(query), path=path)
    found.args = shown
    return found


def plain_args(part: AppAction[Any] | Query, args: dict[str, Any]) -> dict[str, Any]:
    """Return arguments as JSON values with defaults.

    Raises:
        msgspec.ValidationError: they do not fit.
    """
    plain: dict[str, Any] = msgspec.to_builtins(part.signature.convert(args))
    return plain


def plain_defaults(part: AppAction[Any] | Query) -> dict[str, Any]:
    """Return the defaults of optional arguments as JSON values."""
    fields = msgspec.structs.fields(part.signature.struct)
    plain: dict[str, Any] = msgspec.to_builtins(
        {f.name: f.default for f in fields if f.default is not msgspec.NODEFAULT}
    )
    return plain


def references(types: dict[str, Any]) -> dict[str, str]:
    """Return, for each parameter that is a row id, the table it refers to."""
    return {name: part.table for name, kind in types.items() for part in _annotations(kind)}


def _annotations(kind: Any) -> Iterator[Refers]:
    for part in get_args(kind):
        if isinstance(part, Refers):
            yield part
        else:
            yield from _annotations(part)


def _parts(do: Do) -> Iterator[Do]:
    if isinstance(do, Both):
        yield from _parts(do.first)
        yield from _parts(do.then)
    else:
        yield do


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_many(value: Any) -> TypeGuard[list[Any] | str]:
    """Whether a value is a list, or a text that may be one with commas."""
    return isinstance(value, list | str)


def _apart(a: list[Any] | str, b: list[Any] | str) -> int:
    """Return how many members two lists do not share."""
    some, others = (
        {str(v) for v in (value.split(",") if isinstance(value, str) else value) if v != ""}
        for value in (a, b)
    )
    return len(some ^ others)


def _spellings(value: Any) -> Iterator[str]:
    """Return how a value may be typed; a whole number may be cents."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, int):
        yield str(value)
        yield f"{value / 100:.2f}"
    elif isinstance(value, float):
        yield f"{value:g}"
    elif isinstance(value, list):
        yield ", ".join(map(str, value))


def _day_shown(value: Any, device: Device) -> str:
    """Return how a day chooser shows an ISO date."""
    if not (isinstance(value, str) and _DATE.fullmatch(value)):
        return ""
    day = date.fromisoformat(value)
    lang = 1 if device.system.language == "zh" else 0
    return f"{WEEKDAYS[day.weekday()][lang]} {day.day} {MONTHS[day.month - 1][lang]} {day.year}"


def _picker_cost(opened: str, target: Any) -> int:
    """Return how many touches a date or time chooser takes from what it shows."""
    if opened in ("hour", "minute"):
        return 2 if opened == "hour" else 1
    if not (
        isinstance(target, str) and _DATE.match(target) and re.fullmatch(r"\d{4}-\d{2}", opened)
    ):
        return 1
    year, month = map(int, opened.split("-"))
    return 1 + abs(12 * (year - int(target[:4])) + month - int(target[5:7]))


def _input_cost(name: str, target: Any, now: Any, offer: Affordance) -> int:
    if isinstance(offer.do, Focus):
        return 1 if offer.do.field == name else UNKNOWN_COST
    for part in _parts(offer.do):
        if isinstance(part, PickMedia) and part.local == name:
            return 3
        if not isinstance(part, SetLocal):
            continue
        if offer.gesture == "place" and name in part.values:
            return 1
        value = part.values.get(name)
        if name in part.values and value == target:
            return 1
        if _is_many(value) and _is_many(target) and f"{name}.open" not in part.values:
            left = _apart(target, now if _is_many(now) else "")
            if _apart(target, value) < left:
                return left
        if _is_number(value) and _is_number(target) and _is_number(now) and value != now:
            steps = (target - now) / (value - now)
            if steps >= 1:
                return max(1, int(-(-steps // 1)))
        opening = part.values.get(f"{name}.open")
        if opening and isinstance(target, str):
            return 3 if _TIME.fullmatch(target) else 1 + _picker_cost(opening, target)
    return UNKNOWN_COST
