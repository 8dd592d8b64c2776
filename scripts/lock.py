#!/usr/bin/env python3
"""Write scripts/dev-constraints.txt: the version of every package of the development environment.

    python scripts/lock.py              add what is missing, keep the versions that are there
    python scripts/lock.py --upgrade    the newest of all that fit together, but for PINNED
    python scripts/lock.py --check      exit with 1 where the file misses a package named here

Versions are what pip would install afresh on this machine with this Python. Packages that only
some systems need (a CUDA build's own, for one) are not held where this machine needs none.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "scripts" / "dev-constraints.txt"
PINNED = {"torch": "2.13.0"}
"""Moved by hand only: reference values and shipped policies were made with it."""
_HEAD = """# Every package of the development environment; made by scripts/lock.py (`make lock`).
# `make test`, `make lint` and `make demo` install under it.
"""


def normal(name: str) -> str:
    """Return a package's name as the index compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def locked() -> dict[str, str]:
    """Return the versions that the file holds."""
    lines = (line.partition("#")[0].strip() for line in LOCK.read_text("utf-8").splitlines())
    pairs = (line.partition("==")[::2] for line in lines if line)
    return {normal(name): version for name, version in pairs}


def named() -> set[str]:
    """Return the packages that pyproject.toml names for development, this one left out."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    found: set[str] = set()
    waiting = [*project["dependencies"], *extras["dev"]]
    while waiting:
        form = re.match(r"([\w.-]+)(?:\[([\w,-]+)\])?", waiting.pop())
        assert form is not None
        name, wanted = normal(form[1]), (form[2] or "").split(",")
        if name == normal(project["name"]):
            waiting += [line for extra in wanted for line in extras[extra]]
        else:
            found.add(name)
    return found


def resolve(constraints: dict[str, str]) -> dict[str, str]:
    """Return the versions that pip chooses for a fresh development environment.

    Raises:
        SystemExit: pip finds none that fit together; its own words say why.
    """
    with tempfile.TemporaryDirectory() as scratch:
        limits, report = Path(scratch) / "limits.txt", Path(scratch) / "report.json"
        limits.write_text(text(constraints), "utf-8")
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed"]
        options = ["--quiet", "--disable-pip-version-check", "--report", str(report)]
        ran = subprocess.run([*command, *options, "-c", str(limits), f"{ROOT}[dev]"], check=False)
        if ran.returncode:
            raise SystemExit("pip finds no versions that fit together")
        chosen = [entry["metadata"] for entry in json.loads(report.read_text("utf-8"))["install"]]
    found = {normal(one["name"]): one["version"].partition("+")[0] for one in chosen}
    found.pop("screenloop")
    return found


def text(versions: dict[str, str]) -> str:
    """Return the lines of the file, without its head."""
    return "".join(f"{name}=={version}\n" for name, version in sorted(versions.items()))


def main() -> None:
    """Write the file, or check it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions")
    parser.add_argument("--check", action="store_true", help="only say what is missing")
    given = parser.parse_args()
    if given.check:
        wrong = {*named()} - locked().keys()
        moved = {name for name, version in PINNED.items() if locked().get(name) != version}
        if wrong or moved:
            sys.exit(f"{LOCK.name} is not current: {', '.join(sorted(wrong | moved))}; `make lock`")
        return
    before = locked()
    after = resolve(PINNED if given.upgrade else {**before, **PINNED})
    LOCK.write_text(_HEAD + text(after), "utf-8")
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            print(f"{name}: {before.get(name, 'new')} -> {after.get(name, 'gone')}")


if __name__ == "__main__":
    main()
