"""tiny_text: a policy that reads element lists learns to touch the right one, in about a minute.

Qwen3-VL's text tower at hidden 64 and 2 layers, on real screens of the mocked phone: ticking lines
of a checklist, starring contacts; held back are other worlds and an app that is never trained on.
A warm-up on a few demonstrations stops at a measured 35 to 50 %; reinforcement learning does the
rest.
"""

from __future__ import annotations

import hashlib
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
from screenloop.train.recipes.touches import CLOCK, PAGES, tasks_of, touch
from screenloop.train.settings import KlSettings, LearningSettings, LossSettings
from screenloop.train.tasks_split import overlap
from screenloop.types import Task

TRAIN = range(400)
VALIDATION = range(1000, 1100)
TEST = range(2000, 2150)
UNSEEN = range(60)
SHOWN = 0.4
"""Share of the goals that are demonstrated; the others are left to reinforcement learning."""
RARELY = 1
VOCABULARY = 400

SETTINGS = TrainSettings(
    learning=LearningSettings(
        loss=LossSettings(clip=Clip(low=0.2, high=0.28), entropy=0.01),
        kl=KlSettings(place="loss", kind="k3", coefficient=1e-3),
        curriculum=CurriculumSettings(
            attempts=8,
            attempts_unsolved=8,
            least_weight=0.25,
            shares={"settings": 13.0, "messages": 1.0, "notes": 1.0, "shop": 1.0},
        ),
    ),
    warm_up=WarmUpSettings(
        batch=64, learning_rate=1e-3, max_steps=400, stop_from=0.38, watch_above=0.3, check_steps=8
    ),
    optimiser=OptimiserSettings(learning_rate=5e-4, warm_up_updates=5),
    rollout=RolloutSettings(groups=16, max_tokens=6),
    updates=120,
    stop_at=0.97,
    evaluate_every=10,
    checkpoint_every=10,
)


def tasks() -> TaskSets:
    """Return the tasks: training, validation and test differ in lists, unseen ones in the app."""
    train = tasks_of("known", PAGES, TRAIN)
    validation = _apart(train, tasks_of("known", PAGES, VALIDATION))
    return TaskSets(
        train=train,
        validation=validation,
        test=_apart((*train, *validation), tasks_of("known", PAGES, TEST)),
        unseen=tasks_of("clock", CLOCK, UNSEEN),
        shown=_shown(train),
    )


def policy(sets: TaskSets, seed: int) -> Policy:
    """Make the untrained policy; its tokenizer knows the words of the screens."""
    words = frequent_words(_texts((*sets.train, *sets.unseen)), VOCABULARY)
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
        plan=touch,
    )


def _shown(train: Sequence[Task]) -> tuple[Task, ...]:
    """Return what is demonstrated: all tasks of some goals, by hash, until they are the wanted
    share, and a few of each other goal."""
    goals: dict[str, list[Task]] = {}
    for task in train:
        # "turn on" and "turn off" go together: the touch is the same.
        words = task.goal.text.removeprefix("turn on").removeprefix("turn off").strip()
        goals.setdefault(words, []).append(task)
    chosen: list[Task] = []
    rare: list[Task] = []
    for words in sorted(goals, key=lambda words: hashlib.sha256(words.encode()).digest()):
        if len(chosen) + len(goals[words]) <= SHOWN * len(train):
            chosen += goals[words]
        else:
            rare += goals[words][:RARELY]
    return (*chosen, *rare)


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
