from __future__ import annotations

import io
from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.console import Console

from screenloop.demo import PARTS, demo_folder, run_demo, training_folder
from screenloop.errors import ConfigError
from screenloop.rollout.play import RunRequest
from screenloop.suites.catalog import find_suite, select
from screenloop.types import Budget

FAKE = RunRequest(suite="fake", model="oracle", out="runs/demo-fake")


def test_the_same_demo_goes_on_in_the_same_folder() -> None:
    assert demo_folder(FAKE) == demo_folder(FAKE)
    assert demo_folder(FAKE).startswith("runs/demo-fake-")


def test_another_configuration_starts_afresh() -> None:
    changed = (
        replace(FAKE, model="random"),
        replace(FAKE, limit=2),
        replace(FAKE, seed=1),
        replace(FAKE, budget=Budget(steps=3)),
    )
    assert len({demo_folder(request) for request in (FAKE, *changed)}) == 1 + len(changed)


def test_every_part_names_tasks_that_exist() -> None:
    for _, request in PARTS:
        suite = find_suite(request.suite)
        assert select(suite, glob=request.tasks, limit=1, seed=request.seed)


def test_other_settings_of_the_training_part_start_afresh() -> None:
    one, two = Budget(steps=1), Budget(steps=2)
    assert training_folder("tiny", one) == training_folder("tiny", one)
    assert training_folder("tiny", one) != training_folder("tiny", two)
    assert training_folder("tiny", one).parent == Path("runs")


def test_without_torch_the_demo_shows_the_rest_and_then_says_what_to_do() -> None:
    shown = io.StringIO()
    with pytest.raises(ConfigError, match=r"torch not installed.*pip install") as refused:
        run_demo(Console(file=shown, width=200), parts=(), missing=("torch",))
    assert "left out" in str(refused.value)
    assert "Next:" in shown.getvalue()
