from __future__ import annotations

from msgspec.structs import replace

from screenloop.demo import PARTS, demo_folder
from screenloop.rollout.play import RunRequest
from screenloop.suites.catalog import find_suite, select
from screenloop.types import Budget

FAKE = RunRequest(suite="fake", model="oracle", out="runs/demo-fake")


def test_the_same_demo_goes_on_in_the_same_folder() -> None:
    assert demo_folder(FAKE) == demo_folder(FAKE)
    assert demo_folder(FAKE).startswith("runs/demo-fake-")


def test_another_configuration_starts_afresh() -> None:
    changed = (
        replace(FAKE, model="random"), replace(FAKE, limit=2), replace(FAKE, seed=1),
        replace(FAKE, budget=Budget(steps=3)),
    )  # fmt: skip
    assert len({demo_folder(request) for request in (FAKE, *changed)}) == 1 + len(changed)


def test_every_part_names_tasks_that_exist() -> None:
    for _, request in PARTS:
        suite = find_suite(request.suite)
        assert select(suite, glob=request.tasks, limit=1, seed=request.seed)
