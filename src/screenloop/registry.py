"""Short names to classes: a table of dotted paths, read only when a name is asked for.

Any dotted path `package.module:attribute` is accepted as well, so that a third party needs no
plug-in machinery.
"""

from __future__ import annotations

import difflib
import re
import traceback
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

from screenloop.errors import ConfigError, ScreenloopError

_PATH = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):([A-Za-z_]\w*)")


def unknown(what: str, name: str, valid: Iterable[str]) -> ConfigError:
    """Return the error for a name that is not known: one line that names the valid ones."""
    names = sorted(valid)
    near = difflib.get_close_matches(name, names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return ConfigError(f"Unknown {what} {name!r}.{hint} Valid: {', '.join(names)}.")


def load(path: str) -> Any:
    """Import the attribute that a dotted path `package.module:attribute` names.

    Raises:
        ConfigError: the path has another form, leads nowhere, or its module fails while it is
            imported; then says file and line.
    """
    form = _PATH.fullmatch(path)
    if form is None:
        raise ConfigError(f"{path!r} is no dotted path of the form package.module:attribute.")
    module, attribute = form.groups()
    try:
        return getattr(import_module(module), attribute)
    except ScreenloopError:
        raise
    except Exception as error:
        # A third party's module may raise anything while it is imported.
        raise ConfigError(f"Cannot load {path!r}: {_where(error)}{error}") from error


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


def _where(error: Exception) -> str:
    """Return `file:line: Type: ` of an error that a module raised; nothing for a missing one."""
    if isinstance(error, ImportError | AttributeError):
        return ""
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}: SyntaxError: "
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{last.filename}:{last.lineno}: {type(error).__name__}: "
