"""A learner that trains adapters: what moves, what the engine gets, what a run keeps."""

from copy import deepcopy

import torch
from learner_parts import bench, recipe_with, rewarded, same, shown, trainer_of
from msgspec.structs import replace
from trainer_parts import micro_settings

from screenloop.engine.adapters import LoraSettings
from screenloop.engine.weights import weights_of
from screenloop.train.checkpoint import Checkpoint, RunCounters, read_checkpoint, save_checkpoint
from screenloop.train.learner import Learner
from screenloop.train.settings import KlSettings

LORA = LoraSettings(rank=4, alpha=8)
OPTIMISER = replace(micro_settings().optimiser, learning_rate=5e-3, warm_up_updates=0)


def adapted(**changes):
    return recipe_with(lora=LORA, optimiser=OPTIMISER, **changes)


async def samples_of(parts, number):
    return rewarded([s for a in await parts.attempts(number) for s in a.samples])


async def test_the_engine_draws_with_merged_weights_and_the_gate_agrees(tmp_path):
    async with bench(adapted(), tmp_path) as parts:
        learner = parts.learner
        base = weights_of(learner.policy.model)
        for number in range(1, 5):
            samples = await samples_of(parts, number)
            assert {s.weights_versions for s in samples} == {(number - 1, number - 1)}
            figures = learner.update(samples, {})
            assert 0 < figures.parity.max_abs <= 1e-4
            assert figures.parity.tokens == sum(s.sampled for s in samples)
        moved = weights_of(learner.policy.model)
        changed = {name for name in base if not torch.equal(base[name], moved[name])}
        assert changed
        assert all("lora_" in name for name in changed)
        assert not same(learner.weights(), parts.engine.policy.model.state_dict())


async def test_the_reference_is_the_base_that_the_warm_up_left(tmp_path):
    async with bench(adapted(), tmp_path) as parts:
        learner = parts.learner
        samples = await samples_of(parts, 1)
        start = learner.reference_log_probs(samples, {})
        learner.update(samples, {})
        again = learner.reference_log_probs(samples, {})
        assert same(start, again)
        # What was learnt before `begin` belongs to the base from there on.
        learner.begin()
        now = learner.reference_log_probs(samples, {})
        assert not same(start, now)
        held = weights_of(learner.policy.model)
        for name, value in learner.weights().items():
            assert torch.equal(
                value, held.get(name.replace(".weight", ".base_layer.weight"), value)
            )


async def test_a_pull_towards_the_reference_needs_no_second_network(tmp_path):
    learning = replace(micro_settings().learning, kl=KlSettings(place="loss", coefficient=0.1))
    async with bench(adapted(learning=learning), tmp_path) as parts:
        first = parts.learner.update(await samples_of(parts, 1), {})
        second = parts.learner.update(await samples_of(parts, 2), {})
        assert abs(first.kl) < 1e-6 < second.kl
        assert parts.learner.state().reference == {}


async def test_a_restored_learner_goes_on_to_the_very_same_numbers(tmp_path):
    recipe = adapted()
    async with bench(recipe, tmp_path) as parts:
        learner = parts.learner
        learner.update(await samples_of(parts, 1), {})
        save_checkpoint(
            tmp_path,
            Checkpoint(
                fingerprint="f", counters=RunCounters(), progress=(), learner=learner.state()
            ),
        )
        samples = await samples_of(parts, 2)
        learner.update(samples, {})
        other = Learner(
            recipe.policy(recipe.tasks(), 9), recipe.settings.learning, OPTIMISER, lora=LORA
        )
        other.restore(read_checkpoint(tmp_path, "f").learner)
        other.update(deepcopy(samples), {})
        assert same(learner.state().weights, other.state().weights)
        assert same(learner.weights(), other.weights())


async def test_a_whole_run_warms_up_and_learns_with_adapters_alone(tmp_path):
    recipe = adapted(updates=3)
    async with bench(recipe, tmp_path) as parts:
        untrained = weights_of(recipe.policy(recipe.tasks(), 0).model)
        trainer = trainer_of(parts, tmp_path)
        await trainer.begin(lambda: shown(parts))
        assert trainer.counters.warm_up_steps > 0
        warm = parts.learner.weights()
        await trainer.learn()
        assert trainer.counters.update == 3
        assert 0 < trainer.counters.parity_max <= 1e-4
        # Layers without adapters never moved; those with them did, in both phases.
        ends = parts.learner.weights()
        moved = {name for name in warm if not torch.equal(untrained[name], warm[name])}
        assert moved == {n for n in untrained if n.split(".")[-2] in LORA.targets}
        assert {name for name in ends if not torch.equal(warm[name], ends[name])} <= moved
        held = parts.engine.policy.model.state_dict()
        assert all(torch.equal(held[name], value) for name, value in ends.items())
