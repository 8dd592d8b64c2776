"""What changed in the business state; pure.

A value of an app's data is a *table* when it maps ids to rows, a *record* when it maps fields to
plain values, otherwise a *scalar*. A table differs by whole rows (added, removed) and by fields of
rows that stay; a record by its fields; a scalar as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from msgspec.structs import replace

from screenloop.types import DiffRow
from screenloop.verify.matchers import same
from screenloop.verify.state import MISSING, app_data, is_table

_Op = Literal["add", "remove", "set"]


def diff(
    before: dict[str, Any], after: dict[str, Any], log: Sequence[DiffRow] = ()
) -> tuple[DiffRow, ...]:
    """Return the differences between two states `{app: data}`, sorted by where they are.

    `log` tells which action made which change and through which channel, where the Environment
    kept it; the differences themselves are never taken from it.

    Raises:
        TaskError: an app's data is no mapping.
    """
    rows = [
        row
        for app in sorted(before.keys() | after.keys())
        if before.get(app) is not after.get(app, MISSING)
        for row in _app_rows(app, app_data(before, app), app_data(after, app))
    ]
    return _attributed(rows, log) if log else tuple(rows)


def _app_rows(app: str, before: dict[str, Any], after: dict[str, Any]) -> Iterator[DiffRow]:
    for table in sorted(before.keys() | after.keys()):
        left, right = before.get(table, MISSING), after.get(table, MISSING)
        sides = [side for side in (left, right) if side is not MISSING]
        if all(map(is_table, sides)):
            yield from _table_rows(app, table, _mapping(left), _mapping(right))
        elif all(isinstance(side, dict) for side in sides):
            yield from _field_rows(app, table, "", _mapping(left), _mapping(right))
        elif len(sides) < 2 or not same(left, right):
            yield _row(app, table, "", "", left, right)


def _table_rows(
    app: str, table: str, before: dict[str, Any], after: dict[str, Any]
) -> Iterator[DiffRow]:
    for row_id in sorted(before.keys() | after.keys()):
        if row_id in before and row_id in after:
            yield from _field_rows(app, table, row_id, before[row_id], after[row_id])
        else:
            left, right = before.get(row_id, MISSING), after.get(row_id, MISSING)
            yield _row(app, table, row_id, "", left, right)


def _field_rows(
    app: str, table: str, row_id: str, before: dict[str, Any], after: dict[str, Any]
) -> Iterator[DiffRow]:
    for field in sorted(before.keys() | after.keys()):
        left, right = before.get(field, MISSING), after.get(field, MISSING)
        if left is MISSING or right is MISSING or not same(left, right):
            yield _row(app, table, row_id, field, left, right)


def _row(app: str, table: str, row_id: str, field: str, before: Any, after: Any) -> DiffRow:
    op: _Op = "add" if before is MISSING else "remove" if after is MISSING else "set"
    return DiffRow(
        app=app,
        table=table,
        id=row_id,
        field=field,
        op=op,
        before=None if before is MISSING else before,
        after=None if after is MISSING else after,
    )


def _mapping(side: Any) -> dict[str, Any]:
    return side if isinstance(side, dict) else {}


def _attributed(rows: Sequence[DiffRow], log: Sequence[DiffRow]) -> tuple[DiffRow, ...]:
    """Name the action of each row: the last that touched the field, else the row it is in."""
    by_field = {(entry.app, entry.table, entry.id, entry.field): entry for entry in log}
    by_row = {(entry.app, entry.table, entry.id): entry for entry in log}
    attributed = []
    for row in rows:
        entry = by_field.get((row.app, row.table, row.id, row.field))
        entry = entry or by_row.get((row.app, row.table, row.id))
        if entry is not None:
            row = replace(row, action_id=entry.action_id, channel=entry.channel)
        attributed.append(row)
    return tuple(attributed)
