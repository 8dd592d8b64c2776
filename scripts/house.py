"""The house in figures: how large it is, how crowded, how tangled.

    python scripts/house.py            a table, with the places behind each figure
    python scripts/house.py --json     the figures alone

Lines are those of a copy with every formatter exemption removed and the formatter run, so that
dense layout does not count as less code; nothing is left out of the sum.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "screenloop"
SKIP = re.compile(r"[ \t]*# fmt: skip")
LONG_FUNCTION = 60
OPEN_ROOMS = ("phone/apps/", "suites/", "bench/", "testing/")
"""Rooms whose classes are their own affair: two apps may both have a `Note`."""


def formatted_copy(source: Path, target: Path) -> Path:
    """Copy a tree of sources, without formatter exemptions, and format it."""
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    for file in target.rglob("*.py"):
        file.write_text(SKIP.sub("", file.read_text()))
    ruff = Path(sys.executable).with_name("ruff")
    command = [str(ruff) if ruff.exists() else "ruff", "format", "--quiet", "--no-cache"]
    config = ["--config", str(ROOT / "pyproject.toml")]
    subprocess.run([*command, *config, str(target)], check=True)
    return target


def lines_in(folder: Path, pattern: str = "**/*.py") -> int:
    """Return the lines of a folder's Python files."""
    return sum(len(file.read_text().splitlines()) for file in folder.glob(pattern))


def app_lines(apps: Path) -> dict[str, int]:
    """Return the lines of each app: a folder, or files that begin with its name."""
    found: dict[str, int] = defaultdict(int)
    names = {path.stem for path in apps.iterdir() if path.stem[0] != "_"}
    for file in apps.rglob("*.py"):
        part = file.relative_to(apps).parts[0].removesuffix(".py")
        owner = part.partition("_")[0]
        if part[0] != "_":
            found[owner if owner in names else part] += len(file.read_text().splitlines())
    for shell in apps.parent.glob("shell.py"):  # older checkouts: the operating system as an app
        found["os"] = len(shell.read_text().splitlines())
    return dict(found)


def imports(source: Path) -> dict[str, set[str]]:
    """Return which module imports which, `TYPE_CHECKING` and function bodies included."""
    files = {}
    for file in source.rglob("*.py"):
        parts = file.relative_to(source).with_suffix("").parts
        files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    graph: dict[str, set[str]] = {}
    for module, file in files.items():
        graph[module] = needed = set()
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                needed.update(alias.name for alias in node.names if alias.name in files)
            elif isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    inner = f"{node.module}.{alias.name}"
                    needed.add(inner if inner in files else node.module)
        needed &= files.keys() - {module}
    return graph


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Return the groups of modules that reach each other."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            for module in graph[waiting.pop()] - seen:
                seen.add(module)
                waiting.append(module)
        return seen

    reach = {module: reached(module) for module in graph}
    groups = {
        frozenset(other for other in reach[module] if module in reach[other])
        for module in graph
        if module in reach[module]
    }
    return sorted(sorted(group) for group in groups)


def crowded(*trees: Path) -> list[tuple[int, str]]:
    """Return the folders by how many Python files each holds, the fullest first."""
    counts: dict[str, int] = defaultdict(int)
    for tree in trees:
        for file in tree.rglob("*.py"):
            counts[str(file.parent.relative_to(tree.parent))] += 1
    return sorted(((count, name) for name, count in counts.items()), reverse=True)


def long_functions(source: Path) -> list[tuple[int, str]]:
    """Return the functions over the limit, by length, the longest first."""
    found = []
    for file in source.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > LONG_FUNCTION:
                    found.append((length, f"{file.relative_to(source)}:{node.name}"))
    return sorted(found, reverse=True)


def shared_names(source: Path) -> dict[str, list[str]]:
    """Return the public class names that two files of the public rooms use for two things."""
    found = defaultdict(list)
    for file in source.rglob("*.py"):
        place = file.relative_to(source / PACKAGE).as_posix()
        if place.startswith(OPEN_ROOMS):
            continue
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(place)
    return {name: sorted(places) for name, places in found.items() if len(places) > 1}


def measure(root: Path) -> tuple[dict[str, float], dict[str, list[str]]]:
    """Return the figures of a checkout, and the places behind them."""
    source = root / "src"
    with tempfile.TemporaryDirectory() as scratch:
        copy = formatted_copy(source, Path(scratch) / "src")
        package = copy / PACKAGE
        apps = app_lines(package / "phone" / "apps")
        long = long_functions(copy)
        lines = lines_in(copy)
        phone_core = lines_in(package / "suites" / "phone_core")
    tangled = circles(imports(source))
    folders = crowded(source, root / "tests")
    shared = shared_names(source)
    figures = {
        "python_lines": lines,
        "app_lines_median": statistics.median_low(apps.values()),
        "phone_core_lines": phone_core,
        "fmt_skips": sum(len(SKIP.findall(f.read_text())) for f in source.rglob("*.py")),
        "import_circles": len(tangled),
        "files_per_folder_max": folders[0][0],
        "functions_over_60": len(long),
        "names_shared": len(shared),
    }
    places = {
        "app_lines_median": [f"{app} {count}" for app, count in sorted(apps.items())],
        "import_circles": [" ".join(group) for group in tangled],
        "files_per_folder_max": [f"{name} {count}" for count, name in folders[:8]],
        "functions_over_60": [f"{name} {length}" for length, name in long],
        "names_shared": [f"{name}: {', '.join(where)}" for name, where in sorted(shared.items())],
    }
    return figures, places


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="the figures alone, as JSON")
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout (default: this one)")
    given = parser.parse_args()
    if not (given.root / "src" / PACKAGE).is_dir():
        parser.error(f"{given.root} holds no src/{PACKAGE}")
    figures, places = measure(given.root)
    if given.json:
        print(json.dumps(figures))
        return
    for name, figure in figures.items():
        print(f"{name:22} {figure:>10,g}")
        for place in places.get(name, ()):
            print(f"    {place}")


if __name__ == "__main__":
    main()
