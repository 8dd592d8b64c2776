"""tiny_text: a policy that reads element lists learns to touch the right one, in about a minute.

Qwen3-VL's text tower at hidden 64 and 2 layers, on real screens of the mocked phone: ticking lines
of a checklist, starring contacts; held back are other worlds and an app that is never trained on.
A warm-up on a few demonstrations stops at a measured 35 to 50 %; reinforcement learning does the
rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from screenloop.agent.dialects.tiny import LABEL_WORDS
from screenloop.agent.elements import read_elements
from screenloop.config import Window
from screenloop.engine.policy import Policy
from screenloop.engine.tiny import tiny_text
from screenloop.engine.tokenizer import TinyWords, frequent_words
from screenloop.envs.phone import PhoneEnvironments, tree_of
from screenloop.phone.boot import new_device
from screenloop.train.curriculum import CurriculumSettings
from screenloop.train.loss import Clip
from screenloop.train.recipe import (
    OptimiserSettings,
    Recipe,
    RolloutSettings,
    TaskSets,
    TrainSettings,
    WarmUpSettings,
)
from screenloop.train.recipes.touches import PAIR, READ, TICK, Family, tasks_of
from screenloop.train.settings import KlSettings, LearningSettings, LossSettings
from screenloop.train.tasks_split import overlap
from screenloop.types import Task

TRAINED = (TICK, READ)
UNSEEN = (PAIR,)
TRAIN = range(600)
VALIDATION = range(1000, 1064)
TEST = range(2000, 2100)
VOCABULARY = 400

SETTINGS = TrainSettings(
    learning=LearningSettings(
        loss=LossSettings(clip=Clip(low=0.2, high=0.28), entropy=0.01),
        kl=KlSettings(place="loss", kind="k3", coefficient=1e-3),
        curriculum=CurriculumSettings(attempts=8),
    ),
    warm_up=WarmUpSettings(batch=64, learning_rate=1e-3, max_steps=800),
    optimiser=OptimiserSettings(learning_rate=3e-4, warm_up_updates=5),
    rollout=RolloutSettings(groups=16, max_tokens=6),
    updates=120,
    stop_at=0.97,
    evaluate_every=10,
    checkpoint_every=10,
)


def tasks() -> TaskSets:
    """Return the tasks: training, validation and test differ in lists, unseen ones in the app."""
    train = _all(TRAINED, TRAIN)
    validation = _apart(train, _all(TRAINED, VALIDATION))
    return TaskSets(
        train=train,
        validation=validation,
        test=_apart((*train, *validation), _all(TRAINED, TEST)),
        unseen=_all(UNSEEN, TEST),
    )


def policy(sets: TaskSets, seed: int) -> Policy:
    """Make the untrained policy; its tokenizer knows the words of the screens."""
    words = frequent_words(_texts((*sets.train[::4], *sets.unseen)), VOCABULARY)
    return tiny_text(TinyWords(words=words), seed=seed)


def recipe() -> Recipe:
    """Return the recipe."""
    return Recipe(
        name="tiny_text",
        settings=SETTINGS,
        dialect="tinytree",
        window=Window(),
        tasks=tasks,
        policy=policy,
        open_environments=lambda blobs: PhoneEnvironments(blobs, want=("tree",)),
        want=("tree",),
    )


def _all(families: Sequence[Family], numbers: range) -> tuple[Task, ...]:
    return tuple(task for family in families for task in tasks_of(family, numbers))


def _apart(known: Sequence[Task], more: Sequence[Task]) -> tuple[Task, ...]:
    """Return the tasks that are not, under another number, among the known ones."""
    found = overlap(known, more)
    twice = {pair.test for pair in (*found.same_task, *found.same_problem)}
    return tuple(task for task in more if task.key not in twice)


def _texts(some: Sequence[Task]) -> Iterator[str]:
    for task in some:
        device = new_device(task.world.name, task.world.seed, task.world.patches)
        tree = msgspec.json.encode(tree_of(device.screen))
        for element in read_elements(tree, task.env.size_px):
            yield " ".join(element.label.replace(",", " ").split()[:LABEL_WORDS])
        yield task.goal.text
