"""Estimators and losses from outside, by dotted path in the recipe's settings."""

import importlib
import sys
from dataclasses import replace as replace_recipe

import pytest
import short_recipe
from msgspec.structs import replace

from screenloop.errors import ConfigError
from screenloop.report.training.metrics import UpdateLine, read_metrics
from screenloop.report.training.run_files import read_recipe
from screenloop.train.run import run_recipe, train
from screenloop.train.settings import AdvantageSettings, LossSettings, read_settings

SOURCE = """
from screenloop.train.loss.policy import PolicyLoss, reinforce_loss


def centred(given):
    return given.rewards_A - given.rewards_A.mean()


def by_token(given):
    return given.mask_A_S * given.rewards_A[:, None]


def odd(given):
    return given.rewards_A[:0]


def scaled(log_probs, old, advantages, mask, *, clip):
    assert 0 < clip.high < 1
    return reinforce_loss(log_probs, old, 0.5 * advantages, mask)


def wrong(log_probs, old, advantages, mask, *, clip):
    return log_probs
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    folder = tmp_path / "outside"
    folder.mkdir()
    path = folder / "scratch_estimators.py"
    path.write_text(SOURCE)
    monkeypatch.syspath_prepend(folder)
    importlib.invalidate_caches()
    yield path
    sys.modules.pop("scratch_estimators", None)


def recipe(estimator="grpo", loss="ppo", updates=2):
    settings = short_recipe.SETTINGS
    learning = replace(
        settings.learning,
        advantage=AdvantageSettings(estimator=estimator),
        loss=replace(settings.learning.loss, kind=loss),
    )
    settings = replace(settings, learning=learning, updates=updates)
    return replace_recipe(short_recipe.recipe(), settings=settings)


async def test_a_run_learns_with_both_and_goes_on_only_with_the_same_source(module, tmp_path):
    run = tmp_path / "run"
    made = recipe("scratch_estimators:centred", "scratch_estimators:scaled")
    await train(made, 0, run)
    lines = [line for line in read_metrics(run) if isinstance(line, UpdateLine)]
    assert len(lines) == 2
    assert all(line.trained == line.attempts for line in lines), "nothing is compared"
    assert set(read_recipe(run).outside) == {
        "scratch_estimators:centred",
        "scratch_estimators:scaled",
    }
    (run / "result.json").unlink()
    again = await train(made, 0, run, resume=True)
    assert again.updates == 2
    module.write_text(SOURCE.replace("0.5", "0.25"))
    with pytest.raises(ConfigError, match=r"source of scratch_estimators:\w+ has changed since"):
        await train(made, 0, run, resume=True)


def test_the_source_is_in_the_fingerprint_and_built_in_runs_keep_theirs(module):
    tasks = short_recipe.few()
    made = recipe("scratch_estimators:centred")
    before = run_recipe(made, tasks, 0).fingerprint
    module.write_text(SOURCE + "\n# another line\n")
    assert run_recipe(made, tasks, 0).fingerprint != before
    assert run_recipe(recipe(), tasks, 0).outside == {}


async def test_what_an_outside_function_returns_is_checked(module, tmp_path):
    with pytest.raises(ConfigError, match=r"scratch_estimators:odd returned the shape \(0,\)"):
        await train(recipe("scratch_estimators:odd"), 0, tmp_path / "a")
    with pytest.raises(ConfigError, match="scratch_estimators:wrong must return a PolicyLoss"):
        await train(recipe("scratch_estimators:by_token", "scratch_estimators:wrong"), 0, tmp_path)


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("scratch_estimators:absent", "Cannot load 'scratch_estimators:absent'"),
        ("no_such_module:f", "No module named 'no_such_module'"),
        ("scratch_estimators:PolicyLoss.x", "no dotted path"),
    ],
)
async def test_a_path_that_leads_nowhere_is_refused_before_anything_runs(
    module, tmp_path, path, says
):
    for made in (recipe(path), recipe(loss=path)):
        with pytest.raises(ConfigError, match=says):
            await train(made, 0, tmp_path / "run")
        assert not (tmp_path / "run").exists()


def test_unknown_names_list_the_valid_ones():
    with pytest.raises(ConfigError, match=r"Did you mean 'grpo'\? Valid: dr_grpo, gigpo, grpo"):
        read_settings({"estimator": "grop"}, AdvantageSettings)
    with pytest.raises(ConfigError, match="Valid: cispo, gspo, ppo, reinforce"):
        read_settings({"kind": "pppo"}, LossSettings)
