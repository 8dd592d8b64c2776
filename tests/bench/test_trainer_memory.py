import pytest

from screenloop.bench.train.memory import run, small_recipe
from screenloop.errors import ConfigError
from screenloop.train.recipe import require_trainable


async def test_too_few_updates_to_tell_growth_from_the_beginning_are_refused() -> None:
    with pytest.raises(ConfigError, match="at least 200"):
        await run(199)


def test_the_recipe_of_the_bench_can_be_trained_and_runs_to_its_end() -> None:
    recipe = small_recipe(300)
    require_trainable(recipe.settings, recipe.tasks())
    assert recipe.settings.updates == 300
    assert recipe.settings.stop_at == 1.0
    assert recipe.settings.evaluate_every > 300
