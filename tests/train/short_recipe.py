"""A recipe small enough for tests of what is around a training run."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import msgspec

from screenloop.train.recipe import Recipe, RolloutSettings, TaskSets, WarmUpSettings
from screenloop.train.recipes import tiny_text

LEARNING = tiny_text.SETTINGS.learning
SETTINGS = msgspec.structs.replace(
    tiny_text.SETTINGS,
    # A few tasks need not be of every domain that the recipe gives a share.
    learning=msgspec.structs.replace(
        LEARNING, curriculum=msgspec.structs.replace(LEARNING.curriculum, shares={})
    ),
    warm_up=WarmUpSettings(demonstrations=8, batch=8, max_steps=4, check_steps=2),
    rollout=RolloutSettings(groups=2, max_tokens=4),
    updates=2,
    evaluate_every=1,
    checkpoint_every=1,
)


@lru_cache
def few() -> TaskSets:
    some = tiny_text.tasks()
    return TaskSets(
        train=some.train[:8],
        validation=some.validation[:2],
        test=some.test[:2],
        unseen=some.unseen[:2],
    )


def recipe() -> Recipe:
    return replace(tiny_text.recipe(), name="short", settings=SETTINGS, tasks=few)


def long_recipe() -> Recipe:
    settings = msgspec.structs.replace(SETTINGS, updates=10_000, evaluate_every=10_000)
    return replace(recipe(), name="long", settings=settings)
