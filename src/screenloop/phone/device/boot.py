"""Starting phones: the installed apps, the initial state of a world, and a task's patches."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import msgspec
from msgspec.structs import replace

from screenloop.errors import ConfigError, TaskError
from screenloop.phone.commands import Go
from screenloop.phone.declare.app import App
from screenloop.phone.declare.cast import START, Cast, cast
from screenloop.phone.declare.document import AppDoc, Doc, PageDoc
from screenloop.phone.declare.state import AppData
from screenloop.phone.declare.system import OS_ID
from screenloop.phone.device.device import QUANTUM_MS, Apps, Device
from screenloop.phone.device.navigation import go
from screenloop.registry import load

INSTALLED: dict[str, str] = {
    "os": "screenloop.phone.apps.os.pages:app",
    "contacts": "screenloop.phone.apps.contacts.pages:app",
    "messages": "screenloop.phone.apps.messages.pages:app",
    "notes": "screenloop.phone.apps.notes.pages:app",
    "calendar": "screenloop.phone.apps.calendar.pages:app",
    "clock": "screenloop.phone.apps.clock.pages:app",
    "settings": "screenloop.phone.apps.settings.pages:app",
    "gallery": "screenloop.phone.apps.gallery.pages:app",
    "shop": "screenloop.phone.apps.shop.pages:app",
    "wallet": "screenloop.phone.apps.wallet.pages:app",
}
"""App ids to declarations, in the order of the launcher."""


@lru_cache(maxsize=1)
def installed() -> Apps:
    """Return all apps by id, imported on first use.

    Raises:
        ConfigError: a declaration is broken; says file, line and reason.
    """
    apps: Apps = {}
    for app_id, path in INSTALLED.items():
        app = load(path)
        if not isinstance(app, App) or app.id != app_id:
            raise ConfigError(f"{path} is not the app {app_id!r}")
        apps[app_id] = app
    return apps


@lru_cache(maxsize=128)
def initial_doc(world: str, seed: int) -> Doc:
    """Return the state every device of a world starts from; shared by all of them."""
    parts = _first_parts(installed().values(), cast(world, seed))
    return Doc(
        world=world, seed=seed, clock_ms=int(START.timestamp()) * 1000, front=OS_ID, apps=parts
    )


def _first_parts(apps: Iterable[App[Any]], people: Cast) -> dict[str, AppDoc]:
    return {
        app.id: AppDoc(data=app.state.initial(people), stack=(PageDoc(path="/"),)) for app in apps
    }


def patched(doc: Doc, patches: tuple[dict[str, Any], ...], apps: Apps | None = None) -> Doc:
    """Return the state with a task's patches applied.

    A patch is `{app, table, op: add, row}`, `{app, table, op: set, id, fields}`,
    `{app, table, op: remove, id}`, `{app, field, op: set, value}`, or `{app, op: show, path}`: the
    user has this page of the app in front. `apps` are the installed ones unless given.

    Raises:
        TaskError: a patch names what does not exist or has the wrong type.
    """
    for number, patch in enumerate(patches):
        try:
            doc = _patch_one(doc, patch, apps or installed())
        except (KeyError, TypeError, msgspec.ValidationError) as error:
            raise TaskError(f"world patch {number} {patch!r} cannot be applied: {error}") from error
    return doc


def _patch_one(doc: Doc, patch: dict[str, Any], apps: Apps) -> Doc:
    app_id = patch["app"]
    part = doc.apps[app_id]
    if patch.get("op") == "show":
        return go(doc, Go(app=app_id, path=patch["path"]))
    state_type = apps[app_id].state
    names = frozenset({*state_type.tables, *state_type.scalars})
    state = state_type(part.data, cast(doc.world, doc.seed), names)
    if "field" in patch:
        if patch["field"] not in state_type.scalars:
            raise TaskError(f"app {app_id!r} has no field {patch['field']!r}")
        wanted = type(state_type.scalars[patch["field"]])
        state.write(patch["field"], msgspec.convert(patch["value"], wanted))
    else:
        _patch_table(state, state_type.tables[patch["table"]], patch)
    data: AppData = state.commit()
    return replace(doc, apps={**doc.apps, app_id: replace(part, data=data)})


def _patch_table(state: Any, table: Any, patch: dict[str, Any]) -> None:
    rows = getattr(state, table.name)
    match patch["op"]:
        case "add":
            row = msgspec.convert(patch["row"], table.row)
            if row.id:
                state.write(table.name, {**state.read(table.name), row.id: row})
            else:
                rows.add(row)
        case "set":
            old = msgspec.to_builtins(rows[patch["id"]])
            rows.put(msgspec.convert({**old, **patch["fields"]}, table.row))
        case "remove":
            rows.remove(patch["id"])
        case other:
            raise TaskError(f"a world patch cannot {other!r}; it can add, set, remove")


def new_device(
    world: str = "default",
    seed: int = 0,
    patches: tuple[dict[str, Any], ...] = (),
    *,
    apps: Iterable[App[Any]] = (),
    quantum_ms: int = QUANTUM_MS,
    strict: bool = False,
) -> Device:
    """Return a phone in a world's initial state, with `apps` beside the installed ones."""
    doc = initial_doc(world, seed)
    known = installed()
    if own := {app.id: app for app in apps}:
        known = {**known, **own}
        doc = replace(doc, apps={**doc.apps, **_first_parts(own.values(), cast(world, seed))})
    return Device(known, patched(doc, patches, known), quantum_ms=quantum_ms, strict=strict)
