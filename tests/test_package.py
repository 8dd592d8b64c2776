"""The package as a whole: who imports whom, docstrings, imports without effects, licences."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "screenloop"
FILES = sorted(SOURCE.rglob("*.py"))
OPTIONAL = ("torch", "transformers", "peft", "safetensors", "ray", "kubernetes_asyncio", "adbutils")
"""Imported by the parts that need them only; absent on a plain installation."""


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


# ---- layers --------------------------------------------------------------------------------


def test_imports_keep_to_the_layers() -> None:
    run = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stdout + run.stderr


# ---- docstrings ----------------------------------------------------------------------------


def public(tree: ast.AST, path: str) -> Iterator[tuple[str, ast.AST]]:
    """Yield the public classes and functions of a module, and the methods of its contracts.

    A property, and a method of another class, may speak for itself by its name.
    """
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if node.name.startswith("_"):
            continue
        decorators = {ast.unparse(d) for d in node.decorator_list}
        if decorators & {"overload", "property"} or any(d.endswith(".setter") for d in decorators):
            continue
        yield f"{path}.{node.name}", node
        if isinstance(node, ast.ClassDef) and "Protocol" in map(ast.unparse, node.bases):
            yield from public(node, f"{path}.{node.name}")


def test_everything_public_says_what_it_is_for() -> None:
    missing = []
    for path in FILES:
        tree = ast.parse(path.read_text("utf-8"))
        if not ast.get_docstring(tree):
            missing.append(module_name(path))
        for name, node in public(tree, module_name(path)):
            assert isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            if not ast.get_docstring(node):
                missing.append(name)
    assert missing == []


# ---- importing -----------------------------------------------------------------------------

IMPORT_ALL = """
import asyncio, importlib, os, socket, subprocess, sys, threading

quiet_since = [False]
forbidden = {{
    "socket.connect", "socket.bind", "socket.getaddrinfo", "subprocess.Popen", "os.system",
    "os.mkdir", "os.remove", "os.rename", "shutil.rmtree", "tempfile.mkstemp", "tempfile.mkdtemp",
}}

def watch(event, args):
    if not quiet_since[0]:
        return
    writes = event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+")
    if event in forbidden or writes:
        raise RuntimeError(f"importing did {{event}} {{args}}")

# Third parties may do as they please; ours come last, under watch.
names = {names!r}
optional = {optional!r}
sys.dont_write_bytecode = True
for name in ("aiohttp", "cyclopts", "jinja2", "msgspec", "PIL.Image", "pyarrow.parquet",
             "pytakumi", "rich.console", "starlette.applications", "uvicorn", "wsproto"):
    importlib.import_module(name)
for name in optional:
    try:
        importlib.import_module(name)
    except ImportError:
        pass
before = threading.active_count()
sys.addaudithook(watch)
quiet_since[0] = True
skipped = []
for name in names:
    try:
        importlib.import_module(name)
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in optional:
            raise
        skipped.append(name)
quiet_since[0] = False
assert threading.active_count() == before, "importing started a thread"
assert asyncio.events._get_running_loop() is None
print("skipped:", *skipped)
"""


def test_nothing_happens_on_import(tmp_path: Path) -> None:
    names = [module_name(path) for path in FILES if path.name != "__main__.py"]
    text = IMPORT_ALL.format(names=names, optional=OPTIONAL)
    run = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning:screenloop", "-c", text],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    first, *more = run.stdout.splitlines()
    assert first.startswith("skipped:")
    assert more == [], "importing printed something"
    for name in first.removeprefix("skipped:").split():
        assert name.split(".")[1] in ("engine", "train"), f"{name} needs an optional package"
    assert list(tmp_path.iterdir()) == []


def test_the_command_line_starts_without_the_heavy_parts() -> None:
    text = "import sys, screenloop.cli; print(*sorted({m.partition('.')[0] for m in sys.modules}))"
    run = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert not set(run.stdout.split()) & {"torch", "transformers", "gymnasium", "selenium"}


# ---- dependencies --------------------------------------------------------------------------

COPYLEFT = re.compile(r"\b(A?GPL|LGPL|GNU|EUPL|CDDL|SSPL|OSL|CC-BY-SA)", re.IGNORECASE)
PERMISSIVE = re.compile(
    r"\b(MIT|BSD|Apache|ISC|MPL|Mozilla|PSF|Python Software Foundation|Python-2\.0|Zlib|HPND|"
    r"Unlicense|0BSD|CC0)\b",
    re.IGNORECASE,
)


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def closure(name: str) -> dict[str, Distribution]:
    """Return a distribution and everything it needs here, extras left out."""
    found: dict[str, Distribution] = {}
    waiting = [(name, frozenset[str]())]
    while waiting:
        wanted, extras = waiting.pop()
        key = normal(wanted)
        try:
            dist = distribution(wanted)
        except PackageNotFoundError:
            continue
        first_time = key not in found
        found[key] = dist
        for line in dist.requires or ():
            requirement = Requirement(line)
            marker = requirement.marker
            chosen = [
                extra
                for extra in ("", *extras)
                if marker is None or marker.evaluate({"extra": extra})
            ]
            new = normal(requirement.name) not in found
            if chosen and (new or (requirement.extras and first_time)):
                waiting.append((requirement.name, frozenset(requirement.extras)))
    return found


def licence(dist: Distribution) -> str:
    """Return what a distribution says of its licence, shortest statement first."""
    meta = dist.metadata
    expression = meta["License-Expression"] or ""
    classifiers = [
        line.rpartition("::")[2].strip()
        for line in meta.get_all("Classifier") or ()
        if line.startswith("License ::")
    ]
    text = (meta["License"] or "").strip()
    return expression or "; ".join(classifiers) or text.partition("\n")[0]


def is_permissive(said: str) -> bool:
    """Whether one of the licences offered may be used without giving back one's own source."""
    offers = re.split(r"\s+OR\s+|;", said)
    return any(PERMISSIVE.search(offer) and not COPYLEFT.search(offer) for offer in offers)


def test_the_closure_holds_what_the_project_names() -> None:
    found = closure("screenloop")
    assert {"msgspec", "starlette", "pytakumi", "pillow", "yarl", "markupsafe"} <= set(found)
    assert not {"pytest", "playwright", "mypy"} & set(found)


def test_every_runtime_dependency_has_a_permissive_licence() -> None:
    said = {name: licence(dist) for name, dist in closure("screenloop").items()}
    assert {name: text for name, text in said.items() if not is_permissive(text)} == {}


@pytest.mark.parametrize(
    ("said", "fine"),
    [
        ("MIT", True),
        ("BSD-3-Clause", True),
        ("Apache License 2.0", True),
        ("MPL-2.0", True),
        ("Mozilla Public License 2.0 (MPL 2.0)", True),
        ("MIT OR Apache-2.0", True),
        ("GPL-3.0-only", False),
        ("GNU Lesser General Public License v3 (LGPLv3)", False),
        ("AGPL-3.0", False),
        ("LGPL-2.1-or-later", False),
        ("MIT AND GPL-2.0", False),
        ("GPL-2.0-only OR MIT", True),
        ("", False),
        ("Proprietary", False),
    ],
)
def test_licences_are_told_apart(said: str, fine: bool) -> None:
    assert is_permissive(said) is fine
