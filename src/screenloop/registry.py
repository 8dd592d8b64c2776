"""Short names to classes: a table of dotted paths, read only when a name is asked for.

Any dotted path `package.module:attribute` is accepted as well, so that a third party needs no
plug-in machinery.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

from screenloop.errors import ConfigError


def unknown(what: str, name: str, valid: Iterable[str]) -> ConfigError:
    """Return the error for a name that is not known: one line that names the valid ones."""
    names = sorted(valid)
    near = difflib.get_close_matches(name, names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return ConfigError(f"Unknown {what} {name!r}.{hint} Valid: {', '.join(names)}.")


def load(path: str) -> Any:
    """Import the attribute that a dotted path `package.module:attribute` names.

    Raises:
        ConfigError: the path has no colon, or leads nowhere.
    """
    module, colon, attribute = path.partition(":")
    if not colon:
        raise ConfigError(f"{path!r} is no dotted path of the form package.module:attribute.")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"Cannot load {path!r}: {error}.") from error


def find(what: str, name: str, table: Mapping[str, str]) -> Any:
    """Return what `name` stands for in the table, or what it names as a dotted path.

    Raises:
        ConfigError: the name is in neither form; lists the valid ones.
    """
    if name in table:
        return load(table[name])
    if ":" in name:
        return load(name)
    raise unknown(what, name, table)
