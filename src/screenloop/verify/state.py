"""Reading the business state that Evidence holds: `{app: {table: {row id: row} | value}}`; pure."""

from __future__ import annotations

from typing import Any

from screenloop.errors import TaskError

Rows = dict[str, dict[str, Any]]

MISSING = object()
"""What stands at a path that leads nowhere."""


def is_table(value: object) -> bool:
    """Whether a value is a table: rows under ids; an empty mapping is a table without rows."""
    return isinstance(value, dict) and all(isinstance(row, dict) for row in value.values())


def app_data(state: dict[str, Any], app: str) -> dict[str, Any]:
    """Return an app's data; empty when the state does not hold the app."""
    data = state.get(app, {})
    if not isinstance(data, dict):
        raise TaskError(f"the data of app {app!r} is a {type(data).__name__}, not a mapping.")
    return data


def rows_of(state: dict[str, Any], app: str, table: str) -> Rows:
    """Return the rows of a table; none when the state does not hold it.

    Raises:
        TaskError: what stands there is no table.
    """
    rows = app_data(state, app).get(table, {})
    if not is_table(rows):
        raise TaskError(f"{app}.{table} is no table of rows: it holds plain values.")
    result: Rows = rows
    return result


def require_app(app: str, *states: dict[str, Any]) -> None:
    """Refuse the name of an app that none of the states hold.

    Raises:
        TaskError: names the apps there are.
    """
    if not any(app in state for state in states):
        known = sorted({name for state in states for name in state})
        raise TaskError(f"no app {app!r} in the evidence; there are: {', '.join(known) or 'none'}.")


def require_table(app: str, table: str, *states: dict[str, Any]) -> None:
    """Refuse the name of a table that none of the states hold.

    Raises:
        TaskError: names the tables there are.
    """
    require_app(app, *states)
    known = sorted({name for state in states for name in app_data(state, app)})
    if table not in known:
        raise TaskError(
            f"no table {table!r} in app {app!r}; there are: {', '.join(known) or 'none'}."
        )


def value_at(state: dict[str, Any], app: str, path: str) -> Any:
    """Return the value at `path` (keys and list indices joined by `/`), or `MISSING`."""
    value: Any = app_data(state, app)
    for key in path.split("/"):
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list | tuple) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            return MISSING
    return value
