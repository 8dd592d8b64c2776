"""Arms of the ablations on `tiny_text`'s network and dialect, each a recipe by dotted path.

    screenloop train --recipe screenloop.train.recipes.ablations:gigpo --seed 0

All arms but the touch family play tasks of two and three touches, since on one touch neither the
history nor the credit of a step says anything. An arm differs from `grpo` in the one thing that its
name says. `scripts/ablations.py` runs arms and seeds in turn and writes the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace as replace_recipe
from typing import Any

import msgspec
from msgspec.structs import replace

from screenloop.agent.elements import read_elements
from screenloop.config import Window
from screenloop.engine.policy import Policy
from screenloop.envs.phone import PhoneEnvironments, tree_of
from screenloop.phone.device.boot import new_device
from screenloop.phone.device.gestures import act
from screenloop.train.data.tasks_split import apart
from screenloop.train.recipe import Recipe, RolloutSettings, TaskSets, TrainSettings
from screenloop.train.recipes import paths, tiny_text, touches
from screenloop.train.settings import AdvantageSettings, CurriculumSettings
from screenloop.types import Task

TRAIN = range(300)
VALIDATION = range(10_000, 10_060)
TEST = range(20_000, 20_100)
TEST_WORLDS = range(100, 104)
"""Worlds that neither training nor validation begins in."""
UNSEEN = range(40)
_LEFT_OUT = frozenset({"ringtone", "notification sound", "mobile data", "network internet"})
"""Pages that would double the goals, and with them the time of every arm."""
PATHS = tuple(path for path in paths.PATHS if path.through[-1] not in _LEFT_OUT)
UPDATES = 50

SETTINGS = replace(
    tiny_text.SETTINGS,
    learning=replace(
        tiny_text.SETTINGS.learning,
        loss=replace(tiny_text.SETTINGS.learning.loss, entropy=0.02),
        # Whole paths are rarely right at first; more attempts at each would cost the budget.
        curriculum=CurriculumSettings(attempts=8, attempts_unsolved=8, least_weight=0.25),
    ),
    # Below 1: two or three right touches in a row are too rare after a short warm-up otherwise.
    rollout=RolloutSettings(groups=12, max_tokens=1, temperature=0.8),
    updates=UPDATES,
    # Arms are compared after equally many updates.
    stop_at=1.0,
    evaluate_every=25,
    checkpoint_every=10,
)


def path_tasks() -> TaskSets:
    """Return tasks of two and three touches; tests are in other worlds, unseen ones in other apps.

    The domain of a task is its family, so that joint training gives each family its curve.
    """
    train = paths.tasks_of("known", PATHS, TRAIN)
    validation = apart(train, paths.tasks_of("known", PATHS, VALIDATION))
    return TaskSets(
        train=_family("paths", train),
        validation=_family("paths", validation),
        test=_family("paths", paths.tasks_of("known", PATHS, TEST, TEST_WORLDS)),
        unseen=_family("paths", paths.tasks_of("unseen", paths.UNSEEN, UNSEEN, TEST_WORLDS)),
    )


def touch_tasks() -> TaskSets:
    """Return tasks of one touch: those of `tiny_text`."""
    made = tiny_text.tasks()
    return TaskSets(
        train=_family("touches", made.train),
        validation=_family("touches", made.validation),
        test=_family("touches", made.test),
        unseen=_family("touches", made.unseen),
    )


def joint_tasks() -> TaskSets:
    """Return the tasks of both families."""
    one, two = touch_tasks(), path_tasks()
    return TaskSets(
        train=(*one.train, *two.train),
        validation=(*one.validation, *two.validation),
        test=(*one.test, *two.test),
        unseen=(*one.unseen, *two.unseen),
    )


def policy(sets: TaskSets, seed: int) -> Policy:
    """Make the untrained policy; it knows the words of every screen on the way."""
    return tiny_text.reader_of(_texts((*sets.train, *sets.unseen)), seed)


def _arm(name: str, settings: TrainSettings = SETTINGS, window: Window = Window()) -> Recipe:
    return Recipe(
        name=f"ablation_{name}",
        settings=settings,
        dialect="tinytree",
        window=window,
        tasks=path_tasks,
        policy=policy,
        open_environments=lambda blobs: PhoneEnvironments(blobs, want=("tree",)),
        want=("tree",),
        plan=touches.touch,
    )


def _estimator(name: str) -> Recipe:
    learning = replace(SETTINGS.learning, advantage=AdvantageSettings(estimator=name))
    return _arm(name, replace(SETTINGS, learning=learning))


def _curriculum(name: str, updates: int = UPDATES, **changes: Any) -> Recipe:
    curriculum = replace(SETTINGS.learning.curriculum, **changes)
    learning = replace(SETTINGS.learning, curriculum=curriculum)
    return _arm(name, replace(SETTINGS, learning=learning, updates=updates))


grpo = _arm("grpo")
"""What the others are compared with; the path family alone."""
gigpo = _estimator("gigpo")
"""GRPO with the credit of single steps added."""
hgpo = _estimator("hgpo")
"""The credit of single steps among attempts of the same history."""
last_one = _arm("last_one", window=Window(steps=1, overlap=0))
"""The policy sees the present screen alone, a sample a step."""
last_two = _arm("last_two", window=Window(steps=2, overlap=1))
"""The policy sees the last two screens, a sample a step from the second on."""
fixed = _curriculum("fixed", adaptive=False)
"""Every task gets the same number of attempts."""
separate_touches = replace_recipe(_arm("separate_touches"), tasks=touch_tasks)
"""The touch family alone."""
joint = replace_recipe(
    _curriculum("joint", 2 * UPDATES, shares={"paths": 1.0, "touches": 1.0}), tasks=joint_tasks
)
"""Both families in one run, in equal shares and with the updates of both."""

ARMS = {
    arm.name.removeprefix("ablation_"): arm
    for arm in (grpo, gigpo, hgpo, last_one, last_two, fixed, separate_touches, joint)
}


def _family(name: str, some: Sequence[Task]) -> tuple[Task, ...]:
    return tuple(replace(task, tags={**task.tags, "domain": name}) for task in some)


def _texts(some: Sequence[Task]) -> Iterator[str]:
    for task in some:
        device = new_device(task.world.name, task.world.seed, task.world.patches)
        yield task.goal.text
        for action in task.golden:
            tree = msgspec.json.encode(tree_of(device.screen))
            for element in read_elements(tree, task.env.size_px):
                yield tiny_text.label_of(element)
            act(device, action)
