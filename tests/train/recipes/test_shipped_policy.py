"""Policies that the package holds: found by name, loadable, and as good as their card says."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
import torch

from screenloop.agent.dialects.tiny.touches import TinyTree
from screenloop.engine.decoder import Limits
from screenloop.engine.local import LocalEngine
from screenloop.engine.policy import load_policy
from screenloop.errors import ConfigError
from screenloop.manager.direct import DirectManager
from screenloop.messages import Sampling
from screenloop.rollout.context import RunContext
from screenloop.store.blobs import FolderBlobs
from screenloop.train.recipes import tiny_text
from screenloop.train.recipes.checkpoints import CARD, shipped, shipped_names
from screenloop.train.rollouts import Rollouts, one_each, training_config

TASKS = 40


def test_a_name_that_is_not_shipped_is_refused_with_those_that_are():
    with pytest.raises(ConfigError, match="tiny_text"):
        shipped("tiny_txt")


def test_shipped_policies_are_small():
    assert "tiny_text" in shipped_names()
    for name in shipped_names():
        assert sum(path.stat().st_size for path in shipped(name).iterdir()) < 2_000_000


def test_the_run_card_names_the_bytes_that_are_shipped():
    folder = shipped("tiny_text")
    card = (folder / CARD).read_text()
    for path in folder.iterdir():
        if path.name != CARD:
            assert hashlib.sha256(path.read_bytes()).hexdigest() in card


async def test_the_shipped_policy_solves_tasks_that_it_was_not_trained_on(tmp_path: Path):
    torch.set_num_threads(1)
    recipe = tiny_text.recipe()
    tasks = tiny_text.tasks().test[:TASKS]
    policy = load_policy(shipped("tiny_text"))
    blobs = FolderBlobs(tmp_path / "blobs")
    opener = recipe.open_environments(blobs)
    manager = DirectManager(opener.open)
    engine = LocalEngine(policy, blobs, limits=Limits(rows=64), threaded=False)
    rollouts = Rollouts(
        RunContext(manager=manager, want=recipe.want),
        blobs,
        config=training_config(
            tasks,
            dialect=TinyTree(),
            model="policy",
            window=recipe.window,
            sampling=Sampling(max_tokens=16),
        ),
        dialect=TinyTree(),
        run_id="shipped",
    )
    played = await rollouts.play(one_each("shipped", tasks), engine, temperature=0.0)
    await engine.close()
    await manager.close()
    await opener.close()
    assert len(played) == TASKS
    assert sum(bool(one.success) for one in played) / TASKS >= 0.8
