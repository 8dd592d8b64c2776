"""A fixture that begins a Run in a fresh folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from written_runs import RunMaker, a_config, a_task


@pytest.fixture
def new_run(tmp_path: Path) -> Callable[..., RunMaker]:
    """Begin a Run in a fresh folder."""

    def begin(
        name: str = "run",
        *,
        tasks: int = 3,
        repeats: int = 1,
        model: str = "openai:tiny",
    ) -> RunMaker:
        chosen = [a_task(number) for number in range(tasks)]
        return RunMaker(tmp_path / name, chosen, a_config(chosen, model=model, repeats=repeats))

    return begin
