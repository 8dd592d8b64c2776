from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from screenloop.errors import ConfigError
from screenloop.registry import find, load, unknown

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
    import json

    assert find("fruit", "apple", TABLE) is json.loads


def test_a_dotted_path_needs_no_entry() -> None:
    import json

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
