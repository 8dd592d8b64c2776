"""A training run of seconds: the tiny_text recipe on a handful of tasks."""

import asyncio
import sys
from pathlib import Path

from msgspec.structs import replace

from screenloop.train.recipe import Recipe, TaskSets, TrainSettings
from screenloop.train.recipes.tiny_text import recipe as tiny_text
from screenloop.train.recipes.touches import CLOCK, PAGES, tasks_of
from screenloop.train.run import train

UPDATES = 6


def few_tasks():
    return TaskSets(
        train=tasks_of("known", PAGES, range(12)),
        validation=tasks_of("known", PAGES, range(1000, 1004)),
        test=tasks_of("known", PAGES, range(2000, 2004)),
        unseen=tasks_of("clock", CLOCK, range(2)),
    )


def micro_settings(**changes) -> TrainSettings:
    base = tiny_text().settings
    curriculum = replace(base.learning.curriculum, shares={})
    settings = replace(
        base,
        learning=replace(base.learning, curriculum=curriculum),
        warm_up=replace(
            base.warm_up,
            demonstrations=8,
            batch=8,
            max_steps=6,
            watch_above=0.0,
            check_steps=3,
            collect=2,
            stop_from=1.0,
            stop_to=1.0,
        ),
        rollout=replace(base.rollout, groups=4, keep_updates=2),
        updates=UPDATES,
        evaluate_every=3,
        checkpoint_every=1,
        stop_at=1.0,
    )
    return replace(settings, **changes)


def micro(**changes) -> Recipe:
    whole = tiny_text()
    return Recipe(
        name="micro",
        settings=micro_settings(**changes),
        dialect=whole.dialect,
        window=whole.window,
        tasks=few_tasks,
        policy=whole.policy,
        open_environments=whole.open_environments,
        want=whole.want,
        plan=whole.plan,
    )


if __name__ == "__main__":
    asyncio.run(train(micro(), 3, Path(sys.argv[1]), resume="--resume" in sys.argv))
