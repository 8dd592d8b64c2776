"""The demo's last part, on a recipe of two updates."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console
from short_recipe import recipe

from screenloop.demo import train_and_show


def test_the_training_part_ends_with_a_curve_and_a_page_and_is_not_run_twice(
    tmp_path: Path,
) -> None:
    shown = io.StringIO()
    page = train_and_show(Console(file=shown, width=100), recipe(), tmp_path / "run")
    first = shown.getvalue()
    assert "update 2" in first
    assert "●" in first
    assert "held-out tasks" in first
    assert page.is_file()
    weights = (tmp_path / "run" / "checkpoint.pt").stat().st_mtime_ns
    again = io.StringIO()
    assert train_and_show(Console(file=again, width=100), recipe(), tmp_path / "run") == page
    assert (tmp_path / "run" / "checkpoint.pt").stat().st_mtime_ns == weights
    assert "update 2" in again.getvalue()
