"""tiny_text: a policy that reads element lists learns to touch the right one, in minutes on a CPU.

Qwen3-VL's text tower at hidden 64 and 2 layers, on real screens of the mocked phone: 43 goals on
ten pages of four apps, each with other switches on or off. Held back are other such states, and an
app that is never trained on. A warm-up on demonstrations stops at a measured 38 to 50 %;
reinforcement learning does the rest. At this size the policy learns which entry belongs to which
goal on a page; it does not learn to look up any word in any list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import msgspec

from screenloop.agent.dialects.tiny.touches import LABEL_WORDS, MARKS
from screenloop.agent.elements import Element, read_elements
from screenloop.engine.policy import Policy
from screenloop.engine.tiny import tiny_text
from screenloop.engine.tokenizer import END, TinyWords, frequent_words
from screenloop.envs.phone import PhoneEnvironments, tree_of
from screenloop.phone.device.boot import new_device
from screenloop.train.data.tasks_split import apart
from screenloop.train.recipe import (
    OptimiserSettings,
    Recipe,
    RolloutSettings,
    TaskSets,
    TrainSettings,
    WarmUpSettings,
)
from screenloop.train.recipes.touches import CLOCK, PAGES, tasks_of, touch
from screenloop.train.settings import (
    Clip,
    CurriculumSettings,
    KlSettings,
    LearningSettings,
    LossSettings,
)
from screenloop.types import Task

TRAIN = range(400)
VALIDATION = range(1000, 1100)
TEST = range(2000, 2150)
UNSEEN = range(60)
VOCABULARY = 400

SETTINGS = TrainSettings(
    learning=LearningSettings(
        loss=LossSettings(clip=Clip(low=0.2, high=0.28), entropy=0.05),
        kl=KlSettings(place="loss", kind="k3", coefficient=1e-3),
        curriculum=CurriculumSettings(
            attempts=8,
            # A goal that is never hit teaches nothing, and once the others are sure it never is:
            # look for it early and hard.
            attempts_unsolved=24,
            least_weight=0.25,
            # About the shares of the tasks; equal ones would starve the page with most goals.
            shares={"settings": 13.0, "messages": 1.0, "notes": 1.0, "shop": 1.0},
        ),
    ),
    warm_up=WarmUpSettings(
        batch=64, learning_rate=3e-4, max_steps=400, stop_from=0.38, watch_above=0.3, check_steps=4
    ),
    optimiser=OptimiserSettings(learning_rate=5e-4, warm_up_updates=5),
    # One token, the mark: a reply that went on would only be unreadable, and cost passes.
    rollout=RolloutSettings(groups=24, max_tokens=1),
    updates=150,
    stop_at=0.97,
    evaluate_every=10,
    checkpoint_every=10,
)


def tasks() -> TaskSets:
    """Return the tasks: training, validation and test differ in lists, unseen ones in the app."""
    train = tasks_of("known", PAGES, TRAIN)
    validation = apart(train, tasks_of("known", PAGES, VALIDATION))
    return TaskSets(
        train=train,
        validation=validation,
        test=apart((*train, *validation), tasks_of("known", PAGES, TEST)),
        unseen=tasks_of("clock", CLOCK, UNSEEN),
    )


def policy(sets: TaskSets, seed: int) -> Policy:
    """Make the untrained policy; its tokenizer knows the words of the screens."""
    return reader_of(_texts((*sets.train, *sets.unseen)), seed)


def reader_of(texts: Iterable[str], seed: int) -> Policy:
    """Make an untrained policy that reads the words of these texts and can say marks alone."""
    made = tiny_text(TinyWords(words=frequent_words(texts, VOCABULARY)), seed=seed)
    return replace(made, banned_ids=banned(made))


def banned(policy: Policy) -> tuple[int, ...]:
    """Return all ids but those that say a touch: exploring other words would teach nothing."""
    said = {END, *(f"<e{mark}>" for mark in range(MARKS))}
    return policy.ids_besides(said)


def recipe() -> Recipe:
    """Return the recipe."""
    return Recipe(
        name="tiny_text",
        settings=SETTINGS,
        dialect="tinytree",
        tasks=tasks,
        policy=policy,
        open_environments=lambda blobs: PhoneEnvironments(blobs, want=("tree",)),
        want=("tree",),
        plan=touch,
    )


def label_of(element: Element) -> str:
    """Return the words of a label that the dialect shows."""
    return " ".join(element.label.replace(",", " ").split()[:LABEL_WORDS])


def _texts(some: Sequence[Task]) -> Iterator[str]:
    for task in some:
        device = new_device(task.world.name, task.world.seed, task.world.patches)
        tree = msgspec.json.encode(tree_of(device.screen))
        for element in read_elements(tree, task.env.size_px):
            yield label_of(element)
        yield task.goal.text
