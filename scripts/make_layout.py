#!/usr/bin/env python3
"""Write docs/layout.md from the import contracts in pyproject.toml and the rooms' docstrings.

python scripts/make_layout.py            write the page
python scripts/make_layout.py --check    exit with 1 while it is not current
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from made_page import write_or_check

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
PAGE = ROOT / "docs" / "layout.md"

_HEAD = """# Layout

What lies where, and who may import whom. Imports go downward only: a part of the package imports
from rows below its own, never from its own row or from above. `make lint` holds the tree to it,
function bodies and `TYPE_CHECKING` included. Why the rooms are cut this way is in
[decision 5](decisions/0005-rooms.md).

This page is made by `scripts/make_layout.py` from the import contracts in `pyproject.toml` and from
the first lines of the modules."""

_FORBIDDEN = """## Forbidden besides

Some imports would go downward and are forbidden all the same:"""

Contract = dict[str, Any]


def contracts() -> list[Contract]:
    """Return the import contracts of the project."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    found: list[Contract] = project["tool"]["importlinter"]["contracts"]
    return found


def purpose(module: str) -> str:
    """Return the first line of a module's docstring, as one sentence for a table."""
    path = SOURCE / module.replace(".", "/")
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    if not file.is_file():
        raise SystemExit(f"the import contract names {module}, which does not exist")
    text = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""
    return text.partition("\n")[0].replace("|", "\\|")


def layers(contract: Contract, container: str) -> Iterator[str]:
    """Yield the lines of a table of layers, the uppermost first."""
    yield from ("| row | part | what for |", "|---|---|---|")
    for number, layer in enumerate(contract["layers"], 1):
        for name in re.split(r"[|:]", layer):
            name = name.strip(" ()")
            yield f"| {number} | `{name}` | {purpose(f'{container}.{name}')} |"


def rooms() -> Iterator[str]:
    """Yield a list entry for each folder of Python, deeper ones indented."""
    package = SOURCE / "screenloop"
    for file in sorted(package.glob("*/**/__init__.py")):
        parts = file.parent.relative_to(package).parts
        name = ".".join(file.parent.relative_to(SOURCE).parts)
        yield f"{'  ' * (len(parts) - 1)}- `{'/'.join(parts)}/`: {purpose(name)}"


def forbidden(contract: Contract) -> str:
    """Return one sentence about a contract that forbids imports."""
    targets = ", ".join(
        f"`{name.removeprefix('screenloop.')}`" for name in sorted(contract["forbidden_modules"])
    )
    sources = ", ".join(
        f"`{name.removeprefix('screenloop.')}`" for name in sorted(contract["source_modules"])
    )
    through = " themselves" if contract.get("allow_indirect_imports") else ", not even indirectly"
    return f"- **{contract['name']}**: {sources} import none of {targets}{through}."


def page() -> str:
    """Return the whole page."""
    found = contracts()
    parts = [_HEAD]
    for contract in found:
        for container in contract.get("containers", ()) if contract["type"] == "layers" else ():
            inner = container.removeprefix("screenloop").removeprefix(".")
            title = f"Inside `{inner.replace('.', '/')}/`" if inner else "From top to bottom"
            parts += [f"## {title}", "\n".join(layers(contract, container))]
    parts += ["## Rooms", "\n".join(rooms()), _FORBIDDEN]
    parts.append("\n".join(forbidden(one) for one in found if one["type"] == "forbidden"))
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    write_or_check(PAGE, page, __doc__)
