"""Names to classes: the package's own tables, and what installed packages add by entry point.

A package adds a name in its `pyproject.toml`:

    [project.entry-points."screenloop.suites"]
    kitchen = "kitchen.suite:Kitchen"

Any dotted path `package.module:attribute` is accepted in place of a name as well. Nothing is
imported before it is asked for.
"""

from __future__ import annotations

import difflib
import inspect
import json
import re
import sys
import traceback
from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import sha256
from importlib import import_module
from importlib.metadata import entry_points
from importlib.resources import files
from pathlib import Path
from typing import Any

from screenloop.errors import ConfigError, ScreenloopError
from screenloop.types import Struct

GROUPS = {
    "suite": "screenloop.suites",
    "environment kind": "screenloop.environments",
    "dialect": "screenloop.dialects",
    "model": "screenloop.models",
    "agent": "screenloop.agents",
    "estimator": "screenloop.estimators",
    "loss": "screenloop.losses",
    "judge": "screenloop.judges",
}
"""What is found to the group of entry points that adds to it."""
_PATH = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):([A-Za-z_]\w*)")


class Entry(Struct, frozen=True, kw_only=True):
    """A name that can be found, and where it comes from."""

    name: str
    path: str
    package: str = "screenloop"
    """The distribution that brings it."""


def unknown(what: str, name: str, valid: Iterable[str]) -> ConfigError:
    """Return the error for a name that is not known: one line that names the valid ones."""
    names = sorted(valid)
    near = difflib.get_close_matches(name, names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return ConfigError(f"Unknown {what} {name!r}.{hint} Valid: {', '.join(names)}.")


def is_path(text: str) -> bool:
    """Tell whether a text has the form `package.module:attribute`."""
    return _PATH.fullmatch(text) is not None


def load(path: str) -> Any:
    """Import the attribute that a dotted path `package.module:attribute` names.

    Raises:
        ConfigError: the path has another form, leads nowhere (an old name is told the new one), or
            its module fails while it is imported; then says file and line.
    """
    form = _PATH.fullmatch(path)
    if form is None:
        raise ConfigError(f"{path!r} is no dotted path of the form package.module:attribute.")
    module, attribute = form.groups()
    try:
        return getattr(import_module(module), attribute)
    except ScreenloopError:
        raise
    except (Exception, SystemExit) as error:
        # A third party's module may raise anything while it is imported.
        if isinstance(error, ImportError | AttributeError) and (new := _new_path(path)):
            raise ConfigError(f"{path!r} was renamed: use {new!r}.") from error
        raise ConfigError(f"Cannot load {path!r}: {_last_line(error)}") from error


def find(what: str, name: str, table: Mapping[str, str]) -> Any:
    """Return what `name` stands for: in the table, in an installed package, or as a dotted path.

    Raises:
        ConfigError: the name is in no form; lists the valid ones. Two packages add the same name,
            or the package that adds it cannot be imported.
    """
    if name in table:
        return load(table[name])
    if ":" in name:
        return load(name)
    outside = _outside(what)
    matches = [entry for entry in outside if entry.name == name]
    if not matches:
        raise unknown(what, name, [*table, *(entry.name for entry in outside)])
    if len(matches) > 1:
        packages = " and ".join(entry.package for entry in matches)
        raise ConfigError(
            f"the packages {packages} both add a {what} {name!r}; name it by its dotted path "
            f"({matches[0].path}), or uninstall one"
        )
    try:
        return load(matches[0].path)
    except ConfigError as error:
        raise ConfigError(f"package {matches[0].package}: {_reason(error)}") from error


def source_hash(found: Any) -> str:
    """Return 16 hex digits of the file that a class or function from outside stands in.

    Empty for one of screenloop, whose version stands for it, and for one without a file.
    """
    if found.__module__.partition(".")[0] == "screenloop":
        return ""
    try:
        file = inspect.getsourcefile(found)
    except TypeError:
        return ""
    return sha256(Path(file).read_bytes()).hexdigest()[:16] if file else ""


def entries(what: str, table: Mapping[str, str]) -> tuple[Entry, ...]:
    """Return all names of a kind: the table's, then those of installed packages."""
    own = [Entry(name=name, path=path) for name, path in table.items()]
    return (*own, *(entry for entry in _outside(what) if entry.name not in table))


def clashes(what: str, table: Mapping[str, str]) -> tuple[str, ...]:
    """Return one sentence for each name of an installed package that the table holds already."""
    return tuple(
        f"package {entry.package}: its {what} {entry.name!r} is left out, because screenloop "
        f"itself has one of that name; name it by its dotted path ({entry.path})"
        for entry in _outside(what)
        if entry.name in table
    )


def _outside(what: str) -> tuple[Entry, ...]:
    return _installed(GROUPS[what], tuple(sys.path)) if what in GROUPS else ()


@lru_cache
def _installed(group: str, search_path: tuple[str, ...]) -> tuple[Entry, ...]:
    found = {
        Entry(name=point.name, path=point.value, package=point.dist.name if point.dist else "?")
        for point in entry_points(group=group)
    }
    return tuple(sorted(found, key=lambda entry: (entry.name, entry.package)))


def _new_path(path: str) -> str | None:
    """Return the path that stands today for what one named in an earlier version."""
    renamed: dict[str, str] = json.loads(files("screenloop").joinpath("renamed.json").read_bytes())
    module, _, attribute = path.partition(":")
    now = f"{renamed.get(module, module)}:{attribute}"
    now = renamed.get(now, now)
    return None if now == path else now


def _reason(error: ConfigError) -> str:
    if error.__cause__ is None or isinstance(error.__cause__, ScreenloopError):
        return str(error)
    return _last_line(error.__cause__)


def _last_line(error: BaseException) -> str:
    """Return the last line of a traceback: `file:line: Type: message`.

    Without a place for a module or attribute that is not there.
    """
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}: SyntaxError: {error.msg}"
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename != __file__
        and not frame.filename.startswith("<frozen")
        and "importlib" not in frame.filename
    ]
    if not frames:
        return str(error)
    last = frames[-1]
    return f"{last.filename}:{last.lineno}: {type(error).__name__}: {error}"
