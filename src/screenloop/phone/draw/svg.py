"""The drawings of the package: SVG files whose elements are put into other SVG."""

from __future__ import annotations

from functools import cache
from importlib import resources


@cache
def names_of(folder: str) -> tuple[str, ...]:
    """Return the names of the drawings in a folder of `assets`."""
    files = (resources.files("screenloop.phone") / "assets" / folder).iterdir()
    return tuple(sorted(file.name.removesuffix(".svg") for file in files))


@cache
def elements_of(folder: str, name: str) -> str:
    """Return what is inside a drawing's `<svg>`, on one line."""
    path = resources.files("screenloop.phone") / "assets" / folder / f"{name}.svg"
    file = path.read_text("utf-8")
    inside = file[file.index(">") + 1 : file.rindex("</svg>")]
    return "".join(line.strip() for line in inside.splitlines())
