"""Arms of the ablations: each found by name, each different from the base in one thing."""

from __future__ import annotations

import pytest

from screenloop.config import Window, plain
from screenloop.train.recipe import TaskSets, require_trainable
from screenloop.train.recipes import ablations, find_recipe
from screenloop.types import Task


def _flat(data: object, path: str = "") -> dict[str, object]:
    if isinstance(data, dict) and data:
        return {k: v for key, one in data.items() for k, v in _flat(one, f"{path}.{key}").items()}
    return {path: data}


def _changed(arm: str) -> set[str]:
    base = _flat(plain(ablations.grpo.settings))
    other = _flat(plain(ablations.ARMS[arm].settings))
    return {key for key in base | other if base.get(key) != other.get(key)}


@pytest.mark.parametrize("arm", ablations.ARMS)
def test_each_arm_is_found_by_its_dotted_path(arm: str) -> None:
    recipe = find_recipe(f"screenloop.train.recipes.ablations:{arm}")
    assert recipe.name == f"ablation_{arm}"


def test_an_arm_differs_from_the_base_in_what_its_name_says() -> None:
    assert _changed("gigpo") == {".learning.advantage.estimator"}
    assert _changed("hgpo") == {".learning.advantage.estimator"}
    assert _changed("fixed") == {".learning.curriculum.adaptive"}
    for arm in ("last_one", "last_two", "separate_touches"):
        assert not _changed(arm)
    assert ablations.last_one.window == Window(steps=1, overlap=0)
    assert ablations.last_two.window == Window(steps=2, overlap=1)


@pytest.fixture(scope="module")
def both() -> TaskSets:
    return ablations.joint_tasks()


def test_joint_training_has_the_updates_and_the_tasks_of_both_families(both: TaskSets) -> None:
    joint = ablations.joint
    assert joint.settings.updates == 2 * ablations.UPDATES
    assert joint.settings.learning.curriculum.shares == {"paths": 1.0, "touches": 1.0}
    require_trainable(joint.settings, both)
    assert {task.tags["domain"] for task in both.train} == {"paths", "touches"}
    assert {task.budget.steps for task in both.train} == {1, 2, 3}
    assert {task.budget.steps for task in both.test if _is_path(task)} == {2, 3}


def test_test_tasks_of_paths_begin_in_worlds_that_are_not_trained_on(both: TaskSets) -> None:
    trained = (*both.train, *both.validation)
    worlds = {task.world.seed for task in trained if _is_path(task)}
    assert not worlds & {task.world.seed for task in both.test if _is_path(task)}


def _is_path(task: Task) -> bool:
    return task.tags["domain"] == "paths"
