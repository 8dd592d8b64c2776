"""Training leases from a manager as from its own process: the same run, the same figures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from http_place import TOKEN, serving

from screenloop.envs.phone import PhoneEnvironments
from screenloop.errors import ConfigError
from screenloop.manager.hosts.inside import InsideLauncher
from screenloop.manager.supply.desired import PoolPlan
from screenloop.manager.supply.pooled import PooledSupply
from screenloop.manager.supply.tokens import HostTokens
from screenloop.rollout.managers import ManagerAt
from screenloop.store.blobs import FolderBlobs

pytest.importorskip("torch")

from screenloop.report.training.metrics import UpdateLine, WarmUpLine, read_metrics
from screenloop.train.recipe import Recipe, RolloutSettings, TaskSets, WarmUpSettings
from screenloop.train.recipes import tiny_text
from screenloop.train.run import instances_for, train


def short_recipe() -> Recipe:
    """Return a recipe that is over in seconds."""
    learning = tiny_text.SETTINGS.learning
    settings = msgspec.structs.replace(
        tiny_text.SETTINGS,
        learning=msgspec.structs.replace(
            learning, curriculum=msgspec.structs.replace(learning.curriculum, shares={})
        ),
        warm_up=WarmUpSettings(demonstrations=4, batch=4, max_steps=2, check_steps=1),
        rollout=RolloutSettings(groups=1, max_tokens=4),
        updates=1,
        evaluate_every=1,
        checkpoint_every=1,
    )
    some = tiny_text.tasks()
    few = TaskSets(
        train=some.train[:4],
        validation=some.validation[:1],
        test=some.test[:1],
        unseen=some.unseen[:1],
    )
    return replace(tiny_text.recipe(), name="short", settings=settings, tasks=lambda: few)


async def test_a_run_by_a_manager_learns_the_very_same(tmp_path: Path) -> None:
    recipe = short_recipe()
    here = await train(recipe, 0, tmp_path / "here")
    async with serving(tmp_path) as served:
        at = ManagerAt(url=served.url, token=TOKEN)
        there = await train(recipe, 0, tmp_path / "there", at=at)
        assert served.service.status().leases == 0
        assert served.metrics.faults.keys() <= {"agent"}
    assert (there.episodes, there.success_before, there.success_after_rl) == (
        here.episodes,
        here.success_before,
        here.success_after_rl,
    )
    losses = [
        [
            line.loss
            for line in read_metrics(tmp_path / name)
            if isinstance(line, WarmUpLine | UpdateLine)
        ]
        for name in ("here", "there")
    ]
    # Through a manager attempts share the engine's passes as they come: sums differ in order.
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)
    assert len(losses[0]) >= 2


async def test_fewer_instances_than_attempts_are_shared_and_nothing_is_left_out(
    tmp_path: Path,
) -> None:
    recipe = short_recipe()
    (task, *_) = recipe.tasks().train
    opener = PhoneEnvironments(FolderBlobs(tmp_path / "shared"), want=("tree",))
    plan = PoolPlan(env=task.env, target=3, most=3)
    async with serving(
        tmp_path,
        supply=lambda host: PooledSupply(
            [plan],
            {"phone": InsideLauncher(opener.open)},
            tokens=HostTokens(b"s" * 32),
            blobs="",
        ),
    ) as served:
        at = ManagerAt(url=served.url, token=TOKEN)
        result = await train(recipe, 0, tmp_path / "run", at=at)
    (update,) = (x for x in read_metrics(tmp_path / "run") if isinstance(x, UpdateLine))
    assert update.attempts == result.episodes > 3
    assert update.unscored == 0


async def test_a_url_that_is_none_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="http://"):
        async with instances_for(
            tiny_text.recipe(), ManagerAt(url="nowhere", token=TOKEN), FolderBlobs(tmp_path)
        ):
            raise AssertionError("there is no manager")
