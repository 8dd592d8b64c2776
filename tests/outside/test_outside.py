"""A package outside of screenloop adds one of each thing: installed, not edited in."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

PACKAGE = Path(__file__).parent / "kitchen"
SOURCE = Path(__file__).parents[2] / "src"
LIMIT_S = 120
BROKEN = """
[project]
name = "screenloop-cellar"
version = "1.0"
[project.entry-points."screenloop.suites"]
cellar = "cellar:Cellar"
fake = "cellar:Cellar"
[project.entry-points."screenloop.environments"]
cellar = "cellar:Cellars"
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
"""

RECIPE = """
from dataclasses import replace
from msgspec.structs import replace as changed
import short_recipe


def recipe():
    short = short_recipe.recipe()
    learning = short.settings.learning
    learning = changed(
        learning,
        advantage=changed(learning.advantage, estimator="{estimator}"),
        loss=changed(learning.loss, kind="{loss}"),
    )
    return replace(short, settings=changed(short.settings, learning=learning, updates=1))
"""

pytestmark = pytest.mark.xdist_group("outside")


@dataclass(frozen=True)
class Ran:
    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Shell = Callable[..., Ran]


def install(package: Path, site: Path) -> None:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    options = ["--no-build-isolation", "--disable-pip-version-check", "--target", str(site)]
    subprocess.run([*command, *options, str(package)], check=True, timeout=LIMIT_S)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder that the package is installed into."""
    root = tmp_path_factory.mktemp("outside")
    shutil.copytree(PACKAGE, root / "kitchen")
    install(root / "kitchen", root / "site")
    return root / "site"


@pytest.fixture(scope="module")
def broken_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a package that cannot be imported."""
    root = tmp_path_factory.mktemp("broken")
    package = root / "cellar"
    package.mkdir()
    (package / "pyproject.toml").write_text(BROKEN)
    (package / "cellar.py").write_text('"""A cellar."""\n\nCellar = wine\n')
    with (package / "pyproject.toml").open("a") as file:
        file.write('[tool.hatch.build.targets.wheel]\ninclude = ["cellar.py"]\n')
    install(package, root / "site")
    return root / "site"


def environment(*sites: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (SOURCE, *sites)))}


@pytest.fixture
def shell(site: Path, tmp_path: Path) -> Shell:
    def run(*words: str, sites: tuple[Path, ...] = (site,)) -> Ran:
        done = subprocess.run(
            [sys.executable, "-m", "screenloop", *words],
            cwd=tmp_path,
            env=environment(*sites),
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    return run


def test_its_suite_is_listed_with_its_package(shell: Shell) -> None:
    rows = {row["suite"]: row for row in shell("suites", "--json").json["suites"]}
    assert rows["kitchen"] == {
        "suite": "kitchen",
        "version": "7",
        "env": "timer",
        "tasks": 2,
        "package": "screenloop-kitchen",
    }
    assert {row["package"] for name, row in rows.items() if name != "kitchen"} == {"screenloop"}


@pytest.mark.parametrize(
    ("suite", "model", "dialect"),
    [
        ("kitchen", "patient", "shouts"),
        ("kitchen.suite:Kitchen", "kitchen.model:Patient", "kitchen.dialect:Shouts"),
    ],
)
def test_its_model_plays_its_suite_in_its_dialect(
    shell: Shell, tmp_path: Path, suite: str, model: str, dialect: str
) -> None:
    ran = shell(
        "eval", "--suite", suite, "--model", model, "--dialect", dialect, "--out", "run", "--json"
    )
    assert ran.status == 0, ran.err
    assert (ran.json["success_rate"], ran.json["scored"]) == (1.0, 2)
    manifest = json.loads((tmp_path / "run" / "result.json").read_text())["manifest"]
    config = manifest["config"]
    assert config["harness"]["suite"] == "kitchen"
    assert config["harness"]["suite_version"] == "7"
    tasks = ["kitchen/cook_an_egg@2#0", "kitchen/stay_even@2#0"]
    assert config["harness"]["tasks"] == tasks
    assert (config["model"], config["dialect"]) == (model, dialect)
    sources = dict(entry.split("=") for entry in config["outside"])
    assert set(sources) == {suite, model, dialect, "timer", "even"}
    assert all(len(source) == 16 for source in sources.values())
    episodes = sorted(path.name for path in (tmp_path / "run" / "episodes").iterdir())
    assert len(episodes) == 2
    assert all("-kitchen-" in name for name in episodes)
    (first, _) = sorted((tmp_path / "run" / "episodes").rglob("episode.jsonl"))
    assert "You see a mobile screen." in first.read_text()


def test_its_agent_decides_without_a_model(shell: Shell) -> None:
    for agent in ("looker", "kitchen.agent:Looker"):
        ran = shell("eval", "--suite", "kitchen", "--agent", agent, "--out", agent[:7], "--json")
        assert ran.status == 0, ran.err
        assert (ran.json["success_rate"], ran.json["scored"]) == (1.0, 2)


def test_its_verifiers_are_proven_its_judge_too(shell: Shell) -> None:
    ran = shell("proof", "--suite", "kitchen", "--json")
    assert ran.status == 0, ran.err
    assert (ran.json["accepted"], ran.json["rejected"]) == (2, 0)
    assert ran.json["mutants"] == ran.json["mutants_killed"] > 0


def test_its_dialect_and_environment_keep_their_contracts(site: Path) -> None:
    program = """
import asyncio
from kitchen.dialect import Shouts
from kitchen.suite import Kitchen
from kitchen.timer import Timer
from screenloop.agent.dialects.checker import check_dialect
from screenloop.envs.checker import check_environment
from screenloop.store.blobs import MemoryBlobs
from screenloop.types import Start

blobs = MemoryBlobs()
async def opened(): return Timer(blobs)
start = Start(task=Kitchen().task("cook_an_egg", 1))
asyncio.run(check_environment(opened, [start], blobs=blobs)).raise_for_failures()
broken = [finding for finding in check_dialect(Shouts()) if not finding.passed]
assert not broken, broken
"""
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(site), capture_output=True, timeout=LIMIT_S
    )
    assert done.returncode == 0, done.stderr.decode()


# ---- hosts of a manager --------------------------------------------------------------------


async def test_hosts_of_a_manager_open_its_environment_and_run_its_judge(
    shell: Shell, site: Path, tmp_path: Path
) -> None:
    served = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "screenloop", "serve", "kitchen=2", "--port", "0", "--json"),
        stdout=asyncio.subprocess.PIPE,
        cwd=tmp_path,
        env=environment(site),
    )
    try:
        assert served.stdout is not None
        async with asyncio.timeout(LIMIT_S):
            up = json.loads(await served.stdout.readline())
        words = ("eval", "--suite", "kitchen", "--model", "patient", "--dialect", "shouts")
        here = ("--manager", up["url"], "--out", "run", "--json")
        os.environ["SCREENLOOP_TOKEN"] = up["token"]
        try:
            ran = await asyncio.to_thread(shell, *words, *here)
        finally:
            del os.environ["SCREENLOOP_TOKEN"]
        assert ran.status == 0, ran.err
        assert (ran.json["success_rate"], ran.json["scored"]) == (1.0, 2)
    finally:
        served.send_signal(signal.SIGTERM)
        async with asyncio.timeout(LIMIT_S):
            assert await served.wait() == 0


@pytest.mark.parametrize(
    ("pool", "sentence"),
    [
        ("kitchen=2", "Unknown suite 'kitchen'"),
        ("kitchen.timer:Timers:96x192=2", "No module named 'kitchen'"),
    ],
)
def test_a_manager_where_it_is_not_installed_does_not_start(
    shell: Shell, pool: str, sentence: str
) -> None:
    ran = shell("serve", pool, "--port", "0", "--json", sites=())
    assert ran.status == 2
    assert sentence in " ".join(ran.err.split())
    assert "Traceback" not in ran.err


# ---- a package that cannot be imported -----------------------------------------------------


@pytest.mark.parametrize(
    ("estimator", "loss"),
    [("halves", "plain_gradient"), ("kitchen.training:halves", "kitchen.training:plain_gradient")],
)
def test_a_policy_is_trained_with_its_estimator_and_its_loss(
    shell: Shell, site: Path, tmp_path: Path, estimator: str, loss: str
) -> None:
    (tmp_path / "kitchen_recipe.py").write_text(RECIPE.format(estimator=estimator, loss=loss))
    parts = Path(__file__).parents[1] / "train"
    sites = (site, tmp_path, parts)
    ran = shell("train", "--recipe", "kitchen_recipe:recipe", "--out", "run", sites=sites)
    assert ran.status == 0, ran.err
    recipe = json.loads((tmp_path / "run" / "recipe.json").read_text())
    assert set(recipe["outside"]) == {estimator, loss}


def test_a_package_that_fails_is_named_and_the_others_go_on(
    shell: Shell, site: Path, broken_site: Path
) -> None:
    both = (site, broken_site)
    ran = shell("suites", "--json", sites=both)
    assert ran.status == 0
    assert {row["suite"] for row in ran.json["suites"]} >= {"kitchen", "fake", "phone-core"}
    lines = ran.err.splitlines()
    assert len(lines) == 2
    assert "package screenloop-cellar: its suite 'fake' is left out" in lines[0]
    assert "package screenloop-cellar: " in lines[1]
    assert lines[1].endswith("cellar.py:3: NameError: name 'wine' is not defined")
    ran = shell("eval", "--suite", "cellar", "--model", "oracle", "--json", sites=both)
    assert ran.status == 2
    assert "cellar.py:3: NameError: name 'wine' is not defined" in " ".join(ran.err.split())
    assert "Traceback" not in ran.err
    assert shell("eval", "--suite", "fake", "--model", "oracle", "--json", sites=both).status == 0
    ran = shell("serve", "cellar:10x10=1", "--port", "0", "--json", sites=both)
    assert ran.status == 2
    assert "package screenloop-cellar" in " ".join(ran.err.split())
