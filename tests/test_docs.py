"""What the documentation says exists: links, commands, flags, Python."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from cyclopts import App

from screenloop.cli import app

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]
LINK = re.compile(r"\]\(([^)\s]+)\)")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")


def commands(text: str) -> Iterator[list[str]]:
    """Yield the words behind each `screenloop` in shell blocks and in code between the words."""
    found = [line for kind, body in BLOCK.findall(text) if kind == "sh" for line in lines(body)]
    found += CODE.findall(BLOCK.sub("", text))
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
