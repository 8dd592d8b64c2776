"""What a training run leaves behind, and what can be done with it."""

import asyncio
from contextlib import asynccontextmanager
from itertools import pairwise

import msgspec
import pytest
import short_recipe
import torch
from msgspec.structs import replace
from run_lines import evaluation, update_line, whole_run, write_lines

from screenloop.engine.local import LocalEngine
from screenloop.engine.policy import load_policy
from screenloop.engine.serving import serve
from screenloop.engine.tiny import tiny_text
from screenloop.engine.tokenizer import TinyWords
from screenloop.errors import ConfigError
from screenloop.messages import Sampling
from screenloop.report.training.page import run_view
from screenloop.report.training.run_files import POLICY, RECIPE, policy_folder, read_recipe
from screenloop.rollout.play import RunRequest, play
from screenloop.store.blobs import MemoryBlobs
from screenloop.store.episodes import read_episode
from screenloop.train.checkpoint import PolicyKeeper
from screenloop.train.data.records import call_tokens
from screenloop.train.data.samples import window_samples
from screenloop.train.loss.scoring import sampled_rows, score
from screenloop.train.recipe import RolloutSettings
from screenloop.train.run import run_recipe, train
from screenloop.types import Budget

SEED = 5


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "whole"
    asyncio.run(train(short_recipe.recipe(), SEED, folder))
    return folder


@asynccontextmanager
async def served(folder):
    """Serve what is in a folder, as `screenloop serve-model` does; gives the model's name."""
    listening = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(
        serve(folder, port=0, ready=lambda url, name: listening.set_result(f"{name}@{url}"))
    )
    try:
        yield f"openai:{await listening}"
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


def test_the_recipe_is_there_with_every_setting_and_task(finished):
    told = read_recipe(finished)
    recipe, tasks = short_recipe.recipe(), short_recipe.few()
    assert (told.name, told.seed, told.dialect, told.window) == (
        "short",
        SEED,
        "tinytree",
        recipe.window,
    )
    assert told.settings["learning"]["loss"]["clip"]["high"] == 0.28
    assert told.settings["learning"]["loss"]["length"] is None
    assert told.tasks["test"] == tuple(task.key for task in tasks.test)
    assert told == run_recipe(recipe, tasks, SEED)
    card = msgspec.json.decode((finished / "result.json").read_bytes())
    assert card["fingerprint"] == told.fingerprint


def test_another_setting_or_window_is_another_fingerprint():
    recipe, tasks = short_recipe.recipe(), short_recipe.few()
    told = run_recipe(recipe, tasks, SEED)
    changed = replace(recipe.settings, rollout=RolloutSettings(groups=3, max_tokens=4))
    others = [
        run_recipe(recipe, tasks, SEED + 1),
        run_recipe(short_recipe.replace(recipe, settings=changed), tasks, SEED),
        run_recipe(recipe, replace(tasks, unseen=()), SEED),
    ]
    assert len({told.fingerprint, *(other.fingerprint for other in others)}) == 4


def test_the_policy_comes_back_as_it_was_trained_with_what_it_may_not_say(finished):
    recipe = short_recipe.recipe()
    untrained = recipe.policy(short_recipe.few(), SEED)
    policy = load_policy(policy_folder(finished))
    assert policy.name == f"short-{SEED}"
    assert policy.banned_ids == untrained.banned_ids
    assert len(policy.banned_ids) > 100
    checkpoint = torch.load(finished / "checkpoint.pt", weights_only=False)
    for name, value in policy.model.state_dict().items():
        assert torch.equal(value, checkpoint["weights"][name])
    assert not (finished / "policy.safetensors").exists()


@pytest.mark.parametrize("inner", ["", POLICY])
async def test_a_finished_run_is_served_and_evaluated_like_any_other_model(
    finished, inner, tmp_path
):
    async with served(policy_folder(finished / inner)) as model:
        result = await play(
            RunRequest(suite="fake", model=model, dialect="tinytree", limit=1, out=str(tmp_path))
        )
    assert [row.unscored for row in result.rows] == [None]
    (path,) = tmp_path.glob("episodes/*/*/episode.jsonl")
    assert all("<e0>" in call.messages[-1].text for call in read_episode(path).calls)


async def test_what_is_collected_over_http_with_token_facts_can_be_trained_on(finished, tmp_path):
    policy = load_policy(policy_folder(finished))
    async with served(policy_folder(finished)) as model:
        await play(
            RunRequest(
                suite="fake",
                model=model.replace("openai:", "openai+tokens:"),
                dialect="tinytree",
                limit=1,
                budget=Budget(steps=12),
                sampling=Sampling(temperature=1.0, max_tokens=4),
                out=str(tmp_path),
            )
        )
    (path,) = tmp_path.glob("episodes/*/*/episode.jsonl")
    calls = call_tokens(read_episode(path).calls)
    assert {call.banned_ids for call in calls} == {policy.banned_ids}
    assert all(call.stack is not None and call.cached_tokens is not None for call in calls)
    samples = window_samples("e", calls, placeholder_id=None, merge=2)
    assert sum(sample.sampled for sample in samples) == sum(len(c.reply_ids) for c in calls) > 0
    rows = sampled_rows(samples)
    with torch.no_grad():
        scored = score(policy, rows.samples, {})
    difference = (scored.log_probs_B_S - rows.rollout_log_probs_B_S) * rows.mask_B_S
    assert float(difference.abs().max()) <= 1e-4


def test_what_holds_no_policy_says_so(tmp_path):
    with pytest.raises(ConfigError, match=r"no config\.json"):
        load_policy(policy_folder(tmp_path))
    write_lines(tmp_path, whole_run())
    with pytest.raises(ConfigError, match="keeps no policy"):
        policy_folder(tmp_path)
    (tmp_path / RECIPE).write_text("{")
    with pytest.raises(ConfigError, match=r"recipe\.json does not say"):
        read_recipe(tmp_path)


async def test_the_policy_is_kept_after_the_warm_up_and_every_so_many_updates(tmp_path):
    policy = tiny_text(TinyWords(words=("alarm",)), seed=1)
    engine = LocalEngine(policy, MemoryBlobs())
    keeper = PolicyKeeper(tmp_path, engine, name="mine", every=3)
    kept = []
    for line in [
        evaluation("before", "test", 1),
        evaluation("after_sft", "test", 1),
        *(update_line(n) for n in range(1, 7)),
    ]:
        await engine.swap(
            {name: value + 1 for name, value in policy.model.state_dict().items()}, "next"
        )
        keeper(line)
        found = tmp_path / POLICY
        kept.append((found / "model.safetensors").read_bytes() if found.exists() else b"")
    await engine.close()
    assert kept[0] == b""
    assert len(set(kept)) == 4
    assert [a != b for a, b in pairwise(kept)] == [
        True,
        False,
        False,
        True,
        False,
        False,
        True,
    ]
    assert load_policy(tmp_path / POLICY).name == "mine"


def test_the_page_of_a_run_says_what_it_was_made_of(finished):
    view = run_view(finished)
    assert ("dialect", "tinytree") in view.card
    assert ("train tasks", "8") in view.card
    assert ("learning.loss.clip.high", "0.28") in view.settings
    assert ("rollout.max_tokens", "4") in view.settings
