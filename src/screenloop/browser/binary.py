"""Finding the browser's real binary, past the shell wrappers that Debian installs."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from screenloop.errors import ConfigError

VARIABLE = "SCREENLOOP_CHROMIUM"
PACKAGE = "chromium-headless-shell"

_REAL_BINARIES = (
    "/usr/lib/chromium/chromium-headless-shell",
    "/usr/lib/chromium/chromium",
    "/usr/lib/chromium-browser/chromium-browser",
)
_NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)
_EXEC = re.compile(r"^\s*(?:exec\s+)?[\"']?(/[^\s\"']+)[\"']?", re.MULTILINE)
_SCRIPT_BYTES = 65_536


def find_chromium(
    environ: Mapping[str, str] | None = None, real_binaries: Iterable[str] = _REAL_BINARIES
) -> Path:
    """Return the browser's binary.

    Looks at `SCREENLOOP_CHROMIUM` first, then where Debian keeps the real binaries, then for the
    usual names on the PATH. A wrapper script is followed to the binary that it starts: ending a
    wrapper would leave the browser behind.

    Raises:
        ConfigError: there is none; names the package to install and the variable.
    """
    environ = os.environ if environ is None else environ
    named = environ.get(VARIABLE)
    if named:
        found = resolve_wrapper(Path(named))
        if found is None:
            raise ConfigError(
                f"{VARIABLE} is {named!r}, which is no executable browser binary. Point it at "
                f"one, or unset it and install the Debian package {PACKAGE}."
            )
        return found
    on_path = (shutil.which(name, path=environ.get("PATH")) for name in _NAMES)
    for candidate in (*real_binaries, *on_path):
        found = resolve_wrapper(Path(candidate)) if candidate else None
        if found is not None:
            return found
    raise ConfigError(
        f"No Chromium found. Install the Debian package {PACKAGE} (apt install {PACKAGE}), or "
        f"set {VARIABLE} to the binary of any Chromium."
    )


def resolve_wrapper(path: Path) -> Path | None:
    """Return the executable itself, or the one that a shell wrapper starts, or `None`."""
    seen: set[Path] = set()
    while path.is_file() and os.access(path, os.X_OK) and path not in seen:
        seen.add(path)
        with path.open("rb") as file:
            head = file.read(_SCRIPT_BYTES)
        if not head.startswith(b"#!"):
            return path.resolve()
        targets = [Path(t) for t in _EXEC.findall(head.decode("utf-8", "replace"))]
        following = [t for t in targets if t.is_file() and t not in seen]
        if not following:
            return None
        path = following[-1]
    return None
