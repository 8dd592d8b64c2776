"""Recipes by name: training runs that can be repeated."""

from __future__ import annotations

from screenloop.errors import ConfigError
from screenloop.registry import find
from screenloop.train.recipe import Recipe

RECIPES: dict[str, str] = {
    "miniwob_click": "screenloop.train.recipes.miniwob_click:recipe",
    "tiny_phone": "screenloop.train.recipes.tiny_phone:recipe",
    "tiny_phone_warm_up": "screenloop.train.recipes.tiny_phone_warm_up:recipe",
    "tiny_text": "screenloop.train.recipes.tiny_text:recipe",
}
"""Name to a `Recipe`, or to a function that makes one; a dotted path works as a name as well."""


def find_recipe(name: str) -> Recipe:
    """Return a recipe by name or dotted path.

    Raises:
        ConfigError: there is none, or the path leads to something else.
    """
    recipe = find("recipe", name, RECIPES)
    if callable(recipe):
        recipe = recipe()
    if not isinstance(recipe, Recipe):
        raise ConfigError(f"{name!r} is no recipe: it must be or make a train.recipe.Recipe")
    return recipe
