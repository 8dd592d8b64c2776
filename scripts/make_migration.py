#!/usr/bin/env python3
"""Write the tables of docs/migration.md from what the package itself refuses with a new name.

python scripts/make_migration.py            write them
python scripts/make_migration.py --check    exit with 1 while they are not current
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path

from made_page import write_or_check

from screenloop.suites.phone_core.suite import PhoneCore

PAGE = Path(__file__).resolve().parent.parent / "docs" / "migration.md"
MARK = "<!-- What follows is made by scripts/make_migration.py. -->\n"
PACKAGE = "screenloop."


def table(heads: str, rows: Mapping[str, str]) -> Iterator[str]:
    """Yield a table of names, sorted by the old one."""
    yield from ("", heads, "|---|---|")
    yield from (f"| `{old}` | `{new}` |" for old, new in sorted(rows.items()))


def tables() -> str:
    """Return all tables: tasks, names, modules by room."""
    renamed: dict[str, str] = json.loads(files("screenloop").joinpath("renamed.json").read_bytes())
    names: dict[str, str] = {}
    rooms: dict[str, dict[str, str]] = defaultdict(dict)
    for old, new in renamed.items():
        old, new = old.removeprefix(PACKAGE), new.removeprefix(PACKAGE)
        if ":" in old:
            names[old] = new
        else:
            rooms[old.partition(".")[0]][old] = new
    lines = ["## Tasks of phone-core, version 1 to 2"]
    lines += table("| before | now |", PhoneCore().renamed)
    lines += ["", "## Classes and functions"]
    lines += table("| before | now |", names)
    lines += ["", "## Modules"]
    for room, rows in sorted(rooms.items()):
        lines += ["", f"### {room}", *table("| before | now |", rows)]
    return "\n".join(lines) + "\n"


def page() -> str:
    """Return the page with its tables made anew; what stands above the mark is kept."""
    return f"{PAGE.read_text('utf-8').partition(MARK)[0]}{MARK}\n{tables()}"


if __name__ == "__main__":
    write_or_check(PAGE, page, __doc__)
