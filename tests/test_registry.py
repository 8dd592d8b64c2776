from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import pytest

from screenloop.errors import ConfigError
from screenloop.registry import Entry, clashes, entries, find, load, unknown

TABLE = {"apple": "json:loads", "pear": "json:dumps", "broken": "json:no_such"}


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], str]:
    """Write a module that can be imported, and return its name."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(name: str, text: str) -> str:
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.delitem(sys.modules, name, raising=False)
        return name

    return write


def test_a_name_leads_to_its_attribute() -> None:
    assert find("fruit", "apple", TABLE) is json.loads


def test_a_dotted_path_needs_no_entry() -> None:
    assert find("fruit", "json:dumps", TABLE) is json.dumps


def test_an_unknown_name_is_told_the_valid_ones_and_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"Unknown fruit 'aple'\. Did you mean 'apple'\?"):
        find("fruit", "aple", TABLE)
    assert "Valid: apple, broken, pear." in str(unknown("fruit", "zzz", TABLE))
    assert "\n" not in str(unknown("fruit", "a\nb", TABLE))


@pytest.mark.parametrize(
    "path", [":x", "json:", "..:x", "json", "a b:c", "json:loads.x", "json::x"]
)
def test_what_is_no_dotted_path_is_refused(path: str) -> None:
    with pytest.raises(ConfigError, match=r"package\.module:attribute"):
        load(path)


@pytest.mark.parametrize("path", ["no_such_module_here:x", "json:no_such", "json.no_such:x"])
def test_a_path_that_leads_nowhere_says_where_it_ended(path: str) -> None:
    with pytest.raises(ConfigError, match=r"no.such"):
        load(path)


def test_a_module_that_fails_is_named_with_file_line_and_reason(
    module: Callable[[str, str], str],
) -> None:
    name = module("fails_on_import", "x = 1\n\nraise RuntimeError('no luck')\n")
    with pytest.raises(ConfigError, match=r"fails_on_import\.py:3: RuntimeError: no luck"):
        load(f"{name}:x")


def test_a_module_that_cannot_be_read_is_named_with_file_and_line(
    module: Callable[[str, str], str],
) -> None:
    name = module("cannot_be_read", "x = 1\ny = (\n")
    with pytest.raises(ConfigError, match=r"cannot_be_read\.py:2: SyntaxError"):
        load(f"{name}:x")


def test_a_declarations_own_error_comes_through_as_it_is(
    module: Callable[[str, str], str],
) -> None:
    text = (
        "from screenloop.phone.declare.app import App\n"
        "from screenloop.phone.declare.state import AppState\n"
        "class State(AppState):\n    pass\n"
        "app = App('toy', State, title=('a', 'b'), icon='x', tint='#000000')\n"
        "@app.action('thing.do', writes=['nothing'])\n"
        "def do(s, ctx):\n    ...\n"
    )
    name = module("broken_app", text)
    with pytest.raises(ConfigError, match=r"^/.*broken_app\.py:6: action 'thing.do' writes"):
        load(f"{name}:app")


# ---- names that installed packages add -----------------------------------------------------


@pytest.fixture
def package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: Callable[[str, str], str]
) -> Callable[[str, str], None]:
    """Install a package of one module that adds the lines to `screenloop.suites`."""

    def install(name: str, lines: str, text: str = "x = 'it'\n") -> None:
        module(f"{name}_module", text)
        info = tmp_path / f"site_{name}" / f"{name}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[screenloop.suites]\n{lines}\n")
        monkeypatch.syspath_prepend(str(info.parent))

    return install


def test_an_installed_package_adds_a_name(package: Callable[..., None]) -> None:
    package("kitchen", "pots = kitchen_module:x")
    assert find("suite", "pots", TABLE) == "it"
    assert find("fruit", "apple", TABLE)
    with pytest.raises(ConfigError, match="Unknown fruit 'pots'"):
        find("fruit", "pots", TABLE)
    with pytest.raises(ConfigError, match=r"Did you mean 'pots'\? Valid: .*pear, pots\."):
        find("suite", "pot", TABLE)
    added = [entry for entry in entries("suite", TABLE) if entry.package != "screenloop"]
    assert added == [Entry(name="pots", path="kitchen_module:x", package="kitchen")]


def test_an_own_name_wins_and_the_clash_is_told(package: Callable[..., None]) -> None:
    package("orchard", "apple = orchard_module:x")
    assert find("suite", "apple", TABLE) is json.loads
    assert [entry.name for entry in entries("suite", TABLE)] == list(TABLE)
    (sentence,) = clashes("suite", TABLE)
    assert sentence.startswith("package orchard: its suite 'apple' is left out")
    assert "screenloop itself" in sentence


def test_two_packages_with_one_name_are_both_named(package: Callable[..., None]) -> None:
    package("kitchen", "pots = kitchen_module:x")
    package("garden", "pots = garden_module:x")
    with pytest.raises(ConfigError, match=r"packages garden and kitchen both add a suite 'pots'"):
        find("suite", "pots", TABLE)


@pytest.mark.parametrize(
    ("text", "last_line"),
    [
        ("x = 1\ny = nothing\n", r"\S+:2: NameError: name 'nothing' is not defined"),
        (
            "\nimport no_such_thing\n",
            r"\S+:2: ModuleNotFoundError: No module named 'no_such_thing'",
        ),
        ("def x(:\n", r"\S+:1: SyntaxError: invalid syntax"),
        ("raise SystemExit('gone')\n", r"\S+:1: SystemExit: gone"),
        ("y = 1\n", r"module 'broken_module' has no attribute 'x'"),
    ],
)
def test_a_package_that_cannot_be_imported_is_named_with_its_last_line(
    package: Callable[..., None], text: str, last_line: str
) -> None:
    package("broken", "bits = broken_module:x", text)
    with pytest.raises(ConfigError, match=f"^package broken: {last_line}$"):
        find("suite", "bits", TABLE)


# ---- names of earlier versions -------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("screenloop.envs.web:WebEnvironments", "screenloop.envs.web.environment:WebEnvironments"),
        ("screenloop.phone.do:Open", "screenloop.phone.commands:Open"),
        ("screenloop.phone.app:Action", "screenloop.phone.declare.app:AppAction"),
        ("screenloop.envs.checker:Finding", "screenloop.types:RuleFinding"),
    ],
)
def test_an_old_path_is_refused_with_the_new_one(old: str, new: str) -> None:
    with pytest.raises(ConfigError, match=f"'{re.escape(old)}' was renamed: use '{new}'"):
        load(old)


def test_what_the_table_of_old_paths_names_is_there_today() -> None:
    table = json.loads(files("screenloop").joinpath("renamed.json").read_bytes())
    for old, new in table.items():
        module, _, attribute = new.partition(":")
        assert find_spec(module) is not None, f"{old} -> {new}"
        if attribute and not module.startswith(("screenloop.train", "screenloop.engine")):
            assert hasattr(import_module(module), attribute), f"{old} -> {new}"
