"""miniwob_click: a policy that sees the pixels of pages in a real browser learns where to click.

A Qwen3-VL of half a million parameters, on three pages of MiniWoB++: a button of any size anywhere,
the x of a dialog, and the first, second or third text field. Training, validation and test tasks
are other seeds of these pages; one page is never trained on. A warm-up on demonstrations stops at a
measured success; reinforcement learning does the rest. Every attempt opens its page anew, so the
browser, not the network, is what the time goes to.
"""

from __future__ import annotations

from dataclasses import replace

import msgspec

from screenloop.engine.policy import Policy
from screenloop.engine.tiny import PIXEL_SIZE, tiny_pixels
from screenloop.engine.tokenizer import END, TinyWords
from screenloop.train.recipe import (
    OptimiserSettings,
    Recipe,
    RolloutSettings,
    TaskSets,
    TrainSettings,
    WarmUpSettings,
)
from screenloop.train.recipes.page_clicks import ORDINALS, ClickPages, click_tasks
from screenloop.train.settings import Clip, CurriculumSettings, LearningSettings, LossSettings

PAGES = ("click-dialog", "click-test", "focus-text-2")
UNSEEN_PAGES = ("focus-text",)
TRAIN = range(3000)
VALIDATION = range(10_000, 10_048)
TEST = range(20_000, 20_099)
UNSEEN = range(30_000, 30_030)
SIZE = msgspec.structs.replace(PIXEL_SIZE, layers=2)
WHITE, SPREAD = 1.0, 0.25
"""Pixels are read as their distance from a white page, in quarters of the scale: the page is 0, and
thin grey borders are far from it. Read around middle grey, they would hardly show."""
GOAL_WORDS = tuple(
    "click the button focus into input textbox close dialog box by clicking x".split()
)

SETTINGS = TrainSettings(
    learning=LearningSettings(
        loss=LossSettings(clip=Clip(low=0.2, high=0.28), entropy=0.005),
        curriculum=CurriculumSettings(attempts=8, attempts_unsolved=8, attempts_mastered=4),
    ),
    warm_up=WarmUpSettings(
        demonstrations=150, batch=32, stop_from=0.42, stop_to=0.6, watch_above=0.08, check_steps=16
    ),
    optimiser=OptimiserSettings(learning_rate=2e-4, warm_up_updates=5),
    rollout=RolloutSettings(groups=16, max_tokens=3),
    updates=36,
    stop_at=0.95,
    evaluate_every=12,
    checkpoint_every=4,
)


def tasks() -> TaskSets:
    """Return the tasks: training, validation and test differ in seeds, unseen ones in the page."""
    return TaskSets(
        train=click_tasks(PAGES, TRAIN),
        validation=click_tasks(PAGES, VALIDATION),
        test=click_tasks(PAGES, TEST),
        unseen=click_tasks(UNSEEN_PAGES, UNSEEN),
    )


def policy(sets: TaskSets, seed: int) -> Policy:
    """Make the untrained policy; it can say places, and nothing else."""
    words = TinyWords(words=(*GOAL_WORDS, *ORDINALS))
    made = tiny_pixels(words, seed=seed, size=SIZE)
    assert made.vision is not None
    vision = msgspec.structs.replace(made.vision, mean=(WHITE,) * 3, std=(SPREAD,) * 3)
    said = {END, *(place for place in words.places() if place[1] in "xy")}
    # One click is all that a task takes: exploring other words would teach nothing.
    return replace(made, banned_ids=made.ids_besides(said), vision=vision)


def recipe() -> Recipe:
    """Return the recipe."""
    pages = ClickPages()
    return Recipe(
        name="miniwob_click",
        settings=SETTINGS,
        dialect="tiny",
        tasks=tasks,
        policy=policy,
        open_environments=pages.open,
        plan=pages.click,
    )
