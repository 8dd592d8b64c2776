"""Launchers by name: each form gives its launcher, every other says what was expected."""

from __future__ import annotations

from pathlib import Path

import pytest

from screenloop.errors import ConfigError
from screenloop.manager.clock import SystemClock
from screenloop.manager.hosts.base import Launcher
from screenloop.manager.hosts.local.launcher import LocalLauncher
from screenloop.manager.serve import open_launcher
from screenloop.store.blobs import FolderBlobs


def opened(name: str, folder: Path) -> Launcher:
    blobs = FolderBlobs(folder)
    local = LocalLauncher(folder, blobs=blobs)
    return open_launcher(name, local=local, blobs=blobs, clock=SystemClock())


async def test_each_form_gives_its_launcher(tmp_path: Path) -> None:
    (tmp_path / "cluster.json").write_text('{"image": "host:1", "namespace": "agents"}')
    (tmp_path / "ray.json").write_text('{"cpus": 2, "max_restarts": -1}')
    for name in ("local", f"kubernetes:{tmp_path}/cluster.json", f"ray:{tmp_path}/ray.json"):
        assert opened(name, tmp_path).name == name.partition(":")[0]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("elsewhere", "expected local"),
        ("local:x", "expected local"),
        ("kubernetes", "expected local"),
        ("ray:/no/such/file", "cannot read"),
        ("kubernetes:{}/wrong.json", "does not hold"),
    ],
)
async def test_what_is_no_launcher_says_what_was_expected(
    tmp_path: Path, name: str, words: str
) -> None:
    (tmp_path / "wrong.json").write_text('{"picture": "host:1"}')
    with pytest.raises(ConfigError, match=words):
        opened(name.format(tmp_path), tmp_path)
