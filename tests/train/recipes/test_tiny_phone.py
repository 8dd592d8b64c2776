from dataclasses import replace

import msgspec
import pytest

from screenloop.engine.tokenizer import END
from screenloop.train.recipe import TaskSets, require_trainable
from screenloop.train.recipes import find_recipe, tiny_phone, tiny_phone_warm_up
from screenloop.train.recipes.checkpoints import shipped
from screenloop.train.run import train

TASKS = tiny_phone_warm_up.tasks()


def test_both_recipes_are_found_by_name_and_may_run():
    for name in ("tiny_phone", "tiny_phone_warm_up"):
        recipe = find_recipe(name)
        assert recipe.name == name
        require_trainable(recipe.settings, TASKS)


def test_test_tasks_are_known_goals_in_worlds_that_were_never_trained_on():
    trained = (*TASKS.train, *TASKS.validation)
    assert not {t.world.seed for t in trained} & {t.world.seed for t in TASKS.test}
    known = {task.goal.text for task in TASKS.train}
    assert sum(task.goal.text in known for task in TASKS.test) >= 0.9 * len(TASKS.test)


def test_the_checkpoint_is_small_and_says_touches_alone():
    folder = shipped("tiny_phone_warm_up")
    assert 1_000_000 < sum(path.stat().st_size for path in folder.iterdir()) < 2_000_000
    policy = tiny_phone.policy(TASKS, seed=0)
    card = policy.card()
    assert card.dtype == "float32"
    vocab = policy.tokenizer.get_vocab()
    said = {word for word, number in vocab.items() if number not in policy.banned_ids}
    assert said == {END, *(f"<x{i}>" for i in range(21)), *(f"<y{i}>" for i in range(41))}


def test_the_checkpoint_has_the_shape_of_what_its_recipe_makes():
    made = tiny_phone_warm_up.policy(TASKS, seed=0)
    loaded = tiny_phone.policy(TASKS, seed=0)
    assert loaded.card().tokenizer_hash == made.card().tokenizer_hash
    assert loaded.card().parameters == made.card().parameters
    assert loaded.banned_ids == made.banned_ids
    assert loaded.vision == made.vision


@pytest.mark.slow
async def test_the_checkpoint_solves_about_half_and_learns_with_parity(tmp_path):
    recipe = tiny_phone.recipe()
    settings = msgspec.structs.replace(recipe.settings, updates=3, evaluate_every=10)
    few = TaskSets(
        train=TASKS.train, validation=TASKS.validation[40:44], test=TASKS.validation[:40]
    )
    short = replace(recipe, settings=settings, tasks=lambda: few)
    result = await train(short, 0, tmp_path / "run")
    assert 0.3 <= result.success_before <= 0.7
    assert result.success_after_sft == result.success_before
    assert result.groups_with_spread > 0
    assert result.parity_max <= 1e-4
