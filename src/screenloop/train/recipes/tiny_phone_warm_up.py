"""tiny_phone_warm_up: the recipe that made the checkpoint which tiny_phone begins with.

Supervised learning on demonstrations, from nothing to a measured success on validation tasks; there
is no reinforcement learning in it. The run's policy, with its weights in 16 bits, is what lies in
`checkpoints/tiny_phone_warm_up`; `store` puts it there.
"""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from dataclasses import replace

from msgspec.structs import replace as changed

from screenloop.engine.policy import Policy, load_policy
from screenloop.engine.tiny import TinySize, tiny_pixels
from screenloop.engine.tokenizer import END, TinyWords, frequent_words
from screenloop.envs.phone import PhoneEnvironments
from screenloop.report.training.run_files import POLICY
from screenloop.train.data.tasks_split import apart
from screenloop.train.recipe import Recipe, RolloutSettings, TaskSets, TrainSettings, WarmUpSettings
from screenloop.train.recipes.paths import PATHS, UNSEEN, Path, tasks_of
from screenloop.train.recipes.touches import touch
from screenloop.types import EnvRef, Task

# What devices are called differs from world to world, and thumbnails cannot be read.
KNOWN = tuple(path for path in PATHS if "bluetooth" not in path.through)
TRAIN = range(480)
VALIDATION = range(10_000, 10_080)
TEST = range(60_000, 60_150)
UNSEEN_TASKS = range(24)
WORLDS = range(8)
TEST_WORLDS = range(300, 308)
"""Never seen in training, nor in validation."""
SCREEN = EnvRef(kind="phone", size_px=(103, 229))
"""Screens are painted at a quarter of the usual size: they become thumbnails anyhow."""
DIALECT = "tinythumb"
SIZE = TinySize(hidden=96, layers=3, head_dim=24, mlp=256)

SETTINGS = TrainSettings(
    warm_up=WarmUpSettings(
        demonstrations=480,
        batch=32,
        learning_rate=5e-4,
        max_steps=400,
        stop_from=0.55,
        stop_to=0.63,
        watch_above=0.4,
        check_steps=4,
    ),
    rollout=RolloutSettings(groups=24, max_tokens=3),
    updates=0,
)


def tasks() -> TaskSets:
    """Return the tasks: test tasks are in other worlds, unseen ones in other apps."""
    train = _drawn("known", KNOWN, TRAIN, WORLDS)
    return TaskSets(
        train=train,
        validation=apart(train, _drawn("known", KNOWN, VALIDATION, WORLDS)),
        test=_drawn("known", KNOWN, TEST, TEST_WORLDS),
        unseen=_drawn("unseen", UNSEEN, UNSEEN_TASKS, WORLDS),
    )


def _drawn(name: str, paths: Sequence[Path], numbers: range, worlds: range) -> tuple[Task, ...]:
    return tuple(changed(task, env=SCREEN) for task in tasks_of(name, paths, numbers, worlds))


def policy(sets: TaskSets, seed: int) -> Policy:
    """Make the untrained policy; it can say places, and nothing else."""
    goals = (task.goal.text for task in (*sets.train, *sets.unseen))
    words = TinyWords(words=frequent_words(goals, 200))
    made = tiny_pixels(words, seed=seed, size=SIZE)
    return replace(made, banned_ids=banned(made))


def banned(policy: Policy) -> tuple[int, ...]:
    """Return all ids but those that say a touch: exploring other words would teach nothing."""
    places = {place for place in TinyWords().places() if place[1] in "xy"}
    return policy.ids_besides({END, *places})


def recipe() -> Recipe:
    """Return the recipe."""
    return Recipe(
        name="tiny_phone_warm_up",
        settings=SETTINGS,
        dialect=DIALECT,
        tasks=tasks,
        policy=policy,
        open_environments=PhoneEnvironments,
        plan=touch,
    )


def store(run: pathlib.Path, folder: pathlib.Path) -> None:
    """Write the policy of a run of this recipe with its weights in 16 bits, half the size.

    Raises:
        ConfigError: the run has no policy yet.
    """
    made = load_policy(run / POLICY, dtype="float16")
    replace(made, name="tiny_phone_warm_up").save(folder)
