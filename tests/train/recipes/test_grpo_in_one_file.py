from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from screenloop.train.recipes import grpo_in_one_file as recipe


def test_two_updates_run_and_the_same_seed_gives_the_same_curve() -> None:
    told: list[str] = []
    one = recipe.run(seed=5, updates=2, tell=told.append)
    assert one == recipe.run(seed=5, updates=2, tell=lambda line: None)
    assert one != recipe.run(seed=6, updates=2, tell=lambda line: None)
    assert len(one.curve) == 2
    assert one.episodes == 2 * recipe.TASKS_AN_UPDATE * recipe.ATTEMPTS_A_TASK
    assert one.parity_max < 1e-5
    assert len(told) == 4


@given(st.integers(0, 10**7))
@settings(max_examples=25, deadline=None)
def test_exactly_one_touch_of_each_task_is_right(seed: int) -> None:
    scene = recipe.scene_of(seed)
    device, elements = recipe.open_phone(scene)
    start = device.snapshot()
    rewards = []
    for element in elements:
        device.restore(start)
        rewards.append(recipe.reward_of(device, element, scene))
    assert sum(rewards) == 1
    assert elements[rewards.index(1.0)].label.lower() == scene.goal.removeprefix("tick ")


def test_words_of_unseen_lists_are_never_trained_on() -> None:
    assert not set(recipe.TRAINED) & set(recipe.UNSEEN)


def test_advantages_are_relative_to_the_group_and_need_a_spread() -> None:
    found = recipe.advantages(torch.tensor([1.0, 0.0, 0.0, 0.0]))
    assert found is not None
    assert found.tolist() == pytest.approx([1.5, -0.5, -0.5, -0.5])
    assert recipe.advantages(torch.ones(4)) is None


def test_beyond_the_clip_nothing_is_learnt() -> None:
    torch.manual_seed(0)
    policy = recipe.Pointer()
    group = recipe.play(policy, 1, torch.Generator().manual_seed(0))
    far = recipe.Group(
        seen=group.seen,
        picks_A=group.picks_A,
        log_probs_A=group.log_probs_A - 1,
        rewards_A=group.rewards_A,
    )
    loss, _ = recipe.group_loss(policy, far, torch.ones(recipe.ATTEMPTS_A_TASK))
    loss.backward()
    assert all(not p.grad.any() for p in policy.parameters() if p.grad is not None)
