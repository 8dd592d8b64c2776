"""What the documentation says exists: links, commands, flags, Python."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from cyclopts import App
from cyclopts.exceptions import MissingArgumentError

import screenloop
from screenloop.cli import app

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]
LINK = re.compile(r"\]\(([^)\s]+)\)")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")


def commands(text: str) -> Iterator[list[str]]:
    """Yield the words behind each `screenloop` in shell blocks and in code between the words."""
    yield from commands_in([*block_lines(text), *CODE.findall(BLOCK.sub("", text))])


def block_lines(text: str) -> list[str]:
    return [line for kind, body in BLOCK.findall(text) if kind == "sh" for line in lines(body)]


def commands_in(found: list[str]) -> Iterator[list[str]]:
    for line in found:
        words = shlex.split(line, comments=True)
        if words and Path(words[0]).name == "screenloop" and len(words) > 1:
            yield words[1:]


def lines(body: str) -> list[str]:
    return body.replace("\\\n", " ").splitlines()


def named(words: list[str]) -> tuple[App, list[str]]:
    """Return the command that words name, and what they give it."""
    chosen, rest = app, list(words)
    while rest and rest[0] in chosen:
        chosen = chosen[rest.pop(0)]
    return chosen, rest


def flags(command: App) -> set[str]:
    if command.default_command is None:
        return set()
    return {name for a in command.assemble_argument_collection() for name in a.names}


@pytest.mark.parametrize("page", NAMES)
def test_every_relative_link_leads_somewhere(page: str) -> None:
    links = [link for link in LINK.findall((ROOT / page).read_text("utf-8")) if ":" not in link]
    lost = [x for x in links if not ((ROOT / page).parent / x.partition("#")[0]).exists()]
    assert lost == []


@pytest.mark.parametrize("page", NAMES)
def test_every_command_and_flag_exists(page: str) -> None:
    for words in commands((ROOT / page).read_text("utf-8")):
        command, given = named(words)
        assert command is not app, f"there is no command: screenloop {' '.join(words)}"
        unknown = {w for w in given if w.startswith("--")} - flags(command)
        assert unknown == set(), f"screenloop {' '.join(words)}"


@pytest.mark.parametrize("page", NAMES)
def test_every_command_line_parses(page: str) -> None:
    """Between the words a command may stand without what it needs; in a block it is whole."""
    text = (ROOT / page).read_text("utf-8")
    whole = list(commands_in(block_lines(text)))
    for words in commands(text):
        try:
            app.parse_args(
                ["1" if word == "N" else word for word in words],
                exit_on_error=False,
                print_error=False,
            )
        except MissingArgumentError:
            assert words not in whole, f"screenloop {' '.join(words)}"


@pytest.mark.parametrize("page", NAMES)
def test_every_python_block_is_python(page: str) -> None:
    for kind, body in BLOCK.findall((ROOT / page).read_text("utf-8")):
        if kind == "python":
            compile(body, page, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def test_every_command_is_shown_somewhere() -> None:
    shown = {words[0] for page in PAGES for words in commands(page.read_text("utf-8"))}
    assert {name for name in app if not name.startswith("-")} - shown == set()


def test_every_page_is_reached_from_the_first_one() -> None:
    index = ROOT / "docs" / "index.md"
    reached, waiting = set(), [index, ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached or page.suffix != ".md" or not page.is_file():
            continue
        reached.add(page)
        links = LINK.findall(page.read_text("utf-8"))
        waiting += [(page.parent / x.partition("#")[0]).resolve() for x in links if ":" not in x]
    lost = {page for page in PAGES if page not in reached and page.parent.name != "decisions"}
    assert lost == set()


# ---- pages and files that are made ---------------------------------------------------------


def script(name: str, *arguments: str, timeout_s: float = 600) -> None:
    """Run a script of the project; its own words are the failure's."""
    ran = subprocess.run(
        [sys.executable, ROOT / "scripts" / name, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=timeout_s,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize(
    "name", ["make_measurements", "make_records", "make_layout", "make_migration", "lock"]
)
def test_what_scripts_write_is_current(name: str) -> None:
    script(f"{name}.py", "--check")


def test_every_file_of_measurements_is_whole() -> None:
    for file in sorted((ROOT / "docs" / "measurements").glob("[!_]*.json")):
        record = json.loads(file.read_text("utf-8"))
        for older in record.get("earlier", ()):
            assert older.keys() == {"date", "load", "figures"}, file.name
            assert older["date"] < record["date"], file.name
        assert record["figures" if "figures" in record else "note"], file.name


MOVED = re.compile(r"^\| `([\w.]+)` \| `([\w.]+)` \|$", re.MULTILINE)
RENAMED = re.compile(r"^\| `[\w.]+:\w+` \| `([\w.]+):(\w+)` \|$", re.MULTILINE)


def module_file(name: str) -> Path:
    path = ROOT / "src" / "screenloop" / name.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def test_migration_names_what_is_there_now() -> None:
    text = (ROOT / "docs" / "migration.md").read_text("utf-8")
    moved = MOVED.findall(text.partition("## Modules")[2])
    renamed = RENAMED.findall(text)
    assert len(moved) > 200
    assert [now for _, now in moved if not module_file(now).is_file()] == []
    assert len(renamed) > 30
    lost = []
    for module, now in renamed:
        body = ast.parse(module_file(module).read_text("utf-8")).body
        kinds = ast.ClassDef | ast.FunctionDef
        names = {node.name for node in body if isinstance(node, kinds)}
        lost += [f"{module}.{now}"] * (now not in names)
    assert lost == []


# ---- habits --------------------------------------------------------------------------------


def test_one_version_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert project["version"] == screenloop.__version__ == citation["version"]
    assert citation["license"] == project["license"]


def test_the_hosted_workflow_runs_what_ci_runs() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))
    made = re.findall(r"^make ([\w-]+)$", (ROOT / ".ci" / "run").read_text("utf-8"), re.MULTILINE)
    assert workflow["jobs"]["make"]["strategy"]["matrix"]["target"] == made
    rules = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert set(made) <= set(rules)


def test_hooks_use_the_projects_own_tools() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    assert [repo["repo"] for repo in hooks] == ["local"], "another one would need a network"
    entries = [hook["entry"].split()[0] for hook in hooks[0]["hooks"]]
    bin_folder = Path(sys.executable).parent
    assert {Path(entry).parent.as_posix() for entry in entries} == {".venv/bin"}
    assert [x for x in entries if not (bin_folder / Path(x).name).exists()] == []


@pytest.mark.slow
def test_the_site_builds_without_a_warning() -> None:
    script("make_site_pages.py")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", ".site/mkdocs.yml"],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    for page in ("api", "catalog/apps/notes", "catalog/suites/phone-core", "layout"):
        assert (ROOT / "site" / page / "index.html").is_file(), page
