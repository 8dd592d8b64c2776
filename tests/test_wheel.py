"""The built wheel, installed away from the source tree: its data files are complete."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "screenloop"

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wheel")]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, ROOT],
        check=True,
        capture_output=True,
        timeout=600,
    )
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the `screenloop` command of an environment that holds the wheel only.

    The dependencies are lent by this environment, whose own link to the source tree does not
    come along.
    """
    root = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", root], check=True, timeout=600)
    python = root / "bin" / "python"
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "--python",
            python,
            "install",
            "--quiet",
            "--no-deps",
            "--no-index",
            "--disable-pip-version-check",
            wheel,
        ],
        check=True,
        capture_output=True,
        timeout=600,
    )
    site = next(root.glob("lib/python*/site-packages"))
    (site / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return root / "bin" / "screenloop"


def run(command: Path, line: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [command, *line.split()], cwd=cwd, env=environ, capture_output=True, text=True, timeout=600
    )


def test_every_file_of_the_package_is_in_the_wheel(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    expected = {
        f"screenloop/{path.relative_to(PACKAGE).as_posix()}"
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert expected - names == set()
    assert not any("__pycache__" in name for name in names)
    for wanted in ("live.html", "page.js", "optimal_steps.json", "advances.json", "py.typed"):
        assert any(name.endswith(f"/{wanted}") for name in names), wanted
    assert sum(name.endswith(".otf") for name in names) >= 3
    assert any(name.endswith(".html.jinja") or "/templates/" in name for name in names)


def test_the_licence_of_the_package_and_of_its_fonts_is_in_the_wheel(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    licences = [name for name in names if ".dist-info/licenses/" in name]
    assert any(name.endswith("/LICENSE") for name in licences)
    assert any("fonts" in name for name in licences)


def test_the_installed_package_is_not_the_source_tree(installed: Path, tmp_path: Path) -> None:
    python = installed.with_name("python")
    ran = subprocess.run(
        [python, "-c", "import screenloop; print(screenloop.__file__)"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(ran.stdout.strip()).is_relative_to(installed.parent.parent)


def test_the_installed_package_evaluates(installed: Path, tmp_path: Path) -> None:
    ran = run(installed, "eval --suite fake --model oracle --json", tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["success_rate"] == 1.0


def test_the_installed_package_plays_on_phones_and_reports(installed: Path, tmp_path: Path) -> None:
    line = "eval --suite phone-core --model random --limit 1 --steps 2 --out run --json"
    ran = run(installed, line, tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["steps_mean"] == 2
    assert list((tmp_path / "run" / "blobs").rglob("*.jpg"))
    report = run(installed, "report run --json", tmp_path)
    assert report.returncode == 0, report.stderr
    assert (tmp_path / json.loads(report.stdout)["report"]).is_file()


@pytest.fixture
def served(installed: Path, tmp_path: Path) -> Iterator[str]:
    process = subprocess.Popen(
        [installed, "phone", "--port", "0"],
        cwd=tmp_path,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    found = re.search(r"http://127\.0\.0\.1:\d+/", process.stdout.readline())
    assert found
    yield found[0]
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=240)


def test_the_installed_package_serves_the_live_phone(served: str) -> None:
    def get(path: str) -> bytes:
        with urllib.request.urlopen(served + path, timeout=20) as answer:
            data: bytes = answer.read()
            return data

    page = get("").decode()
    assert 'id="phone"' in page
    fonts = re.findall(r"font/([^']+\.otf)", page)
    assert len(fonts) >= 3
    for name in fonts:
        assert get(f"font/{name}").startswith(b"OTTO")
    assert get("image/icon/home/24/1a1c20").startswith(b"<svg")
