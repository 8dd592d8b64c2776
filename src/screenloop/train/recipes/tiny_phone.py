"""tiny_phone: a policy that sees the pixels of a phone learns tasks of two or three touches.

A Qwen3-VL of 0.6 million parameters looks at thumbnails of real mocked-phone screens. It begins
with the checkpoint that `tiny_phone_warm_up` made, which solves about half of its validation tasks;
reinforcement learning does the rest. Test tasks are the same goals in worlds that were never
trained on, with other switches, other themes and other beginnings. At this size nothing can be
read: the policy learns to know pages by their look, and where on a page a goal's place is.
"""

from __future__ import annotations

from screenloop.engine.policy import Policy, load_policy
from screenloop.envs.phone import PhoneEnvironments
from screenloop.train.recipe import (
    OptimiserSettings,
    Recipe,
    RolloutSettings,
    TaskSets,
    TrainSettings,
    WarmUpSettings,
)
from screenloop.train.recipes import tiny_phone_warm_up
from screenloop.train.recipes.checkpoints import shipped
from screenloop.train.recipes.touches import touch
from screenloop.train.settings import Clip, CurriculumSettings, LearningSettings, LossSettings

SETTINGS = TrainSettings(
    learning=LearningSettings(
        loss=LossSettings(clip=Clip(low=0.2, high=0.28), entropy=0.02),
        curriculum=CurriculumSettings(
            attempts=8,
            # Small targets are hit once in many tries: without these a group has no spread.
            attempts_unsolved=24,
            least_weight=0.2,
            # About the shares of the tasks; equal ones would starve the app with most goals.
            shares={"settings": 24.0, "messages": 1.0, "notes": 1.0, "shop": 1.0},
        ),
    ),
    warm_up=WarmUpSettings(max_steps=0),
    optimiser=OptimiserSettings(learning_rate=3e-4, warm_up_updates=5),
    rollout=RolloutSettings(groups=24, max_tokens=3),
    updates=80,
    stop_at=0.97,
    evaluate_every=20,
    checkpoint_every=10,
)


def policy(sets: TaskSets, seed: int) -> Policy:
    """Load the warmed-up policy that the package holds, in 32 bits; all seeds begin alike."""
    return load_policy(shipped("tiny_phone_warm_up"))


def recipe() -> Recipe:
    """Return the recipe."""
    return Recipe(
        name="tiny_phone",
        settings=SETTINGS,
        dialect=tiny_phone_warm_up.DIALECT,
        tasks=tiny_phone_warm_up.tasks,
        policy=policy,
        open_environments=PhoneEnvironments,
        plan=touch,
    )
