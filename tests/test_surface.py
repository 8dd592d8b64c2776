"""The public surface: its names, their types, and the page that shows how to use them."""

from __future__ import annotations

import ast
import asyncio
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import screenloop
from screenloop import collect, evaluate, load_run, read_episodes

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "python.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
PARTS = ROOT / "tests" / "train"
OUR_RECIPE = 'find_recipe("tiny_text")'
SHORT_RECIPE = 'find_recipe("short_recipe:recipe")'


def imported(block: str) -> dict[str, set[str]]:
    """Return the modules that a block imports, each with the names taken from it."""
    found: dict[str, set[str]] = {}
    for node in ast.walk(ast.parse(block)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found.setdefault(alias.name, set())
        if isinstance(node, ast.ImportFrom) and node.module:
            found.setdefault(node.module, set()).update(alias.name for alias in node.names)
    return found


def can_run(block: str) -> bool:
    """Whether what a block imports is installed here; trainers need torch, which is an extra."""
    needed = {module.partition(".")[0] for module in imported(block)}
    return all(find_spec(name) for name in needed) and ("train" not in block or find_spec("torch"))


# ---- names ---------------------------------------------------------------------------------


def test_every_exported_name_is_there() -> None:
    missing = [name for name in screenloop.__all__ if getattr(screenloop, name, None) is None]
    assert missing == []
    assert set(screenloop.__all__) <= set(dir(screenloop))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        screenloop.nothing  # type: ignore[attr-defined]  # noqa: B018


def test_the_types_say_the_same_as_the_code() -> None:
    typed = ast.parse((ROOT / "src" / "screenloop" / "__init__.pyi").read_text("utf-8"))
    names: dict[str, str] = {}
    exported: list[str] = []
    for node in typed.body:
        if isinstance(node, ast.ImportFrom):
            names |= {alias.asname or "": node.module or "" for alias in node.names}
        if isinstance(node, ast.Assign):
            exported = ast.literal_eval(node.value)
    assert sorted(exported) == sorted(names) == sorted(screenloop.__all__)
    homes = {**screenloop._HOMES, "train": "screenloop.train.facade"}  # type: ignore[attr-defined]
    assert names == homes


def test_importing_it_costs_nothing() -> None:
    code = "import sys, screenloop; print(sorted({m.partition('.')[0] for m in sys.modules}))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(ast.literal_eval(run.stdout)) & {"torch", "msgspec", "rich", "pyarrow"}


def test_the_room_of_training_can_be_called_before_and_after_it_is_imported() -> None:
    import screenloop.train.extra
    from screenloop import train

    assert train is screenloop.train
    assert callable(train)


# ---- the page ------------------------------------------------------------------------------


def test_the_page_names_what_is_exported_and_nothing_else() -> None:
    words = set(re.findall(r"`(\w+)`", PAGE.read_text("utf-8")))
    taken = {name for block in BLOCKS for name in imported(block).get("screenloop", ())}
    used = {name for block in BLOCKS for name in re.findall(r"\bscreenloop\.(\w+)\(", block)}
    assert taken | used <= set(screenloop.__all__)
    assert set(screenloop.__all__) - words - taken - used == set()


@pytest.mark.slow
def test_what_the_page_shows_runs(tmp_path: Path) -> None:
    script = []
    for block in filter(can_run, BLOCKS):
        name = block.partition("\n")[0]
        if name.startswith("# ") and name.endswith(".py"):
            (tmp_path / name.removeprefix("# ")).write_text(block)
        else:
            script.append(block.replace(OUR_RECIPE, SHORT_RECIPE))
    path = f"import sys; sys.path[:0] = ['.', {str(PARTS)!r}]\n"
    (tmp_path / "page.py").write_text(path + "\n".join(script))
    run = subprocess.run(
        [sys.executable, "page.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stderr
    assert "fake/add_note@1#0 True 1.0" in run.stdout
    assert (tmp_path / "runs" / "data" / "episodes.parquet").is_file()


# ---- the functions -------------------------------------------------------------------------


def test_a_run_is_played_read_and_sealed(tmp_path: Path) -> None:
    out = str(tmp_path / "run")
    result = evaluate(suite="fake", model="oracle", limit=2, out=out)
    assert load_run(out) == result
    episodes = list(read_episodes(out))
    assert [e.start.task.key for e in episodes] == [row.task for row in result.rows]
    file = collect(suite="fake", model="oracle", limit=2, out=out)
    assert file.stat().st_size > 0
    assert len(list(read_episodes(out))) == 2


async def test_it_works_where_a_loop_runs_already(tmp_path: Path) -> None:
    assert asyncio.get_running_loop().is_running()
    result = evaluate(suite="fake", model="oracle", limit=1, out=str(tmp_path / "run"))
    assert result.rows[0].success


def test_a_training_runs_batches_are_read_episode_by_episode(tmp_path: Path) -> None:
    run = evaluate(suite="fake", model="oracle", limit=2, out=str(tmp_path / "run"))
    files = [(tmp_path / "run" / row.path).read_bytes() for row in run.rows]
    (tmp_path / "train" / "episodes").mkdir(parents=True)
    (tmp_path / "train" / "metrics.jsonl").touch()
    (tmp_path / "train" / "episodes" / "update-000001.jsonl").write_bytes(b"".join(files))
    found = [e.start.episode_id for e in read_episodes(tmp_path / "train")]
    assert found == [row.episode_id for row in run.rows]


def test_the_package_runs_as_a_module() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "screenloop", "suites", "--json"], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert '"suite":"fake"' in run.stdout
