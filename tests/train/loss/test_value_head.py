"""PPO with a value head: values, what they learn, the head in checkpoints, a whole run."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from learner_parts import bench, recipe_with, same
from msgspec.structs import replace
from train_parts import synthetic_calls
from trainer_parts import micro_settings

from screenloop.config import Window
from screenloop.report.training.metrics import UpdateLine, read_metrics
from screenloop.train.checkpoint import Checkpoint, RunCounters, read_checkpoint, save_checkpoint
from screenloop.train.data.samples import window_samples
from screenloop.train.learner import Learner
from screenloop.train.loss.scoring import score
from screenloop.train.loss.value import (
    ValueHead,
    ValueRow,
    explained_variance,
    value_rows,
    values_by_attempt,
)
from screenloop.train.preparation import prepare_update
from screenloop.train.run import train
from screenloop.train.settings import AdvantageSettings, ValueSettings

LEARNING = replace(
    micro_settings().learning,
    advantage=AdvantageSettings(estimator="ppo", lam=0.95),
    value=ValueSettings(learning_rate=0.02),
)


def ppo(**changes):
    return recipe_with(LEARNING, **changes)


def test_a_fresh_head_says_zero():
    assert ValueHead(8)(torch.randn(3, 8)).tolist() == [0.0] * 3


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 30), st.integers(1, 5), st.data())
def test_windows_are_joined_for_credit_and_taken_apart_again(steps, window, data):
    overlap = data.draw(st.integers(0, window - 1))
    samples = window_samples("a", synthetic_calls(steps, Window(steps=window, overlap=overlap)))
    total = sum(s.sampled for s in samples)
    numbers = torch.arange(float(total))
    by_sample, at = {}, 0
    for s in samples:
        by_sample[s.name] = numbers[at : at + s.sampled]
        at += s.sampled
    joined = values_by_attempt(samples, by_sample)
    # Each sampled token once, in causal order.
    assert joined == {"a": numbers.tolist()}
    rows = value_rows(samples, by_sample, {"a": [v + 1 for v in joined["a"]]})
    for s in samples:
        assert torch.equal(rows[s.name].returns_S, rows[s.name].old_S + 1)


def test_explained_variance_is_one_for_foresight_and_none_for_a_constant():
    returns = torch.tensor([0.0, 1.0, 1.0])
    seen = explained_variance([ValueRow(old_S=returns, returns_S=returns)])
    blind = explained_variance([ValueRow(old_S=torch.full((3,), 0.4), returns_S=returns)])
    assert (seen, blind) == pytest.approx((1.0, 0.0))
    assert explained_variance([ValueRow(old_S=returns, returns_S=torch.ones(3))]) == 0.0


async def test_a_value_reads_the_state_in_front_of_its_token(tmp_path):
    async with bench(ppo(), tmp_path) as parts:
        attempts = await parts.attempts(1, each=2)
        policy = parts.learner.policy
        sample = attempts[0].samples[0]
        head = ValueHead(64)
        with torch.no_grad():
            head.linear.weight.normal_()
            found = score(policy, [sample], {}, head=head)
            ids = torch.tensor([sample.token_ids])
            states = policy.model.base_model(input_ids=ids).last_hidden_state[0]
            at = [i - 1 for span in sample.spans for i in range(span.start, span.end)]
            torch.testing.assert_close(found.values_B_S[0], head(states[at]), rtol=1e-4, atol=1e-4)
        assert score(policy, [sample], {}).values_B_S is None


def paid(attempts):
    """Reward the attempts at one of the tasks: what the prompt lets a head foresee."""
    return [
        replace(a, reward=replace(a.reward, total=earned, step_rewards=(earned,)))
        for a in attempts
        for earned in [float(a.group_id.endswith("g1"))]
    ]


def drawn_by(version, attempts):
    """Return attempts as if these weights had drawn them."""
    return [
        replace(
            a, samples=tuple(replace(s, weights_versions=(version, version)) for s in a.samples)
        )
        for a in attempts
    ]


def lesson(parts, attempts):
    prepared = prepare_update(attempts, parts.learner, LEARNING, {})
    return parts.learner.update(prepared.chosen.samples, {}, (), prepared.value_rows)


async def test_the_head_learns_to_foresee_and_the_loss_falls(tmp_path):
    async with bench(ppo(), tmp_path) as parts:
        attempts = paid(await parts.attempts(1))
        figures = [lesson(parts, attempts)]
        for _ in range(16):
            figures.append(lesson(parts, drawn_by(-1, attempts)))
    assert figures[0].explained_variance == 0.0
    assert figures[-1].explained_variance > 0.8
    assert figures[-1].value_loss < figures[0].value_loss / 5


async def test_a_restored_head_goes_on_to_the_very_same_numbers(tmp_path):
    async with bench(ppo(), tmp_path) as parts:
        learner, recipe = parts.learner, parts.recipe
        lesson(parts, paid(await parts.attempts(1)))
        state = learner.state()
        assert state.value_head["linear.weight"].abs().sum() > 0
        save_checkpoint(
            tmp_path,
            Checkpoint(fingerprint="f", counters=RunCounters(update=1), progress=(), learner=state),
        )
        attempts = paid(await parts.attempts(2))
        lesson(parts, attempts)
        other = Learner(recipe.policy(recipe.tasks(), 5), LEARNING, recipe.settings.optimiser)
        other.restore(read_checkpoint(tmp_path, "f").learner)
        parts.learner = other
        lesson(parts, attempts)
        assert same(learner.state().weights, other.state().weights)
        assert same(learner.state().value_head, other.state().value_head)
        assert learner.version == other.version == 2


async def test_each_pass_and_minibatch_learns_towards_the_same_values(tmp_path):
    optimiser = replace(micro_settings().optimiser, passes=2, minibatches=2)
    async with bench(ppo(optimiser=optimiser), tmp_path) as parts:
        figures = lesson(parts, await parts.attempts(1))
        assert figures.value_loss is not None
        assert figures.clip_fraction >= 0


async def test_a_whole_run_learns_with_values_beside_playing_and_tells_them(tmp_path):
    rollout = replace(micro_settings().rollout, max_staleness=1)
    result = await train(ppo(updates=3, rollout=rollout), 3, tmp_path / "run")
    lines = [line for line in read_metrics(tmp_path / "run") if isinstance(line, UpdateLine)]
    assert result.updates == len(lines) == 3
    assert all(line.value_loss is not None and line.value_loss >= 0 for line in lines)
    assert all(line.explained_variance <= 1 for line in lines)
    # Nothing is compared, so every attempt teaches.
    assert all(line.trained == line.attempts for line in lines)
