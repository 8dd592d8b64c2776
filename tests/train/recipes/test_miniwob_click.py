"""miniwob_click: its tasks, where it clicks to demonstrate, and a whole short run in a browser."""

from dataclasses import replace

import msgspec
import pytest

from screenloop.agent.elements import Element
from screenloop.engine.tokenizer import END, UNK
from screenloop.envs.web.miniwob import registered_tasks
from screenloop.errors import EnvironmentFault, TaskError
from screenloop.store.blobs import MemoryBlobs
from screenloop.train.recipe import (
    Recipe,
    RolloutSettings,
    TaskSets,
    WarmUpSettings,
    require_trainable,
)
from screenloop.train.recipes import find_recipe, miniwob_click
from screenloop.train.recipes.page_clicks import SIZE_PX, ClickPages, click_tasks, target
from screenloop.train.run import train
from screenloop.types import Start, Task


def element(role: str, x: float, y: float) -> Element:
    return Element(role=role, label="", at=(x, y), taps=True)


def pages_of(tasks: tuple[Task, ...]) -> set[str]:
    return {task.world.name.partition("/")[2] for task in tasks}


def test_the_recipe_is_found_by_name_and_may_be_trained():
    recipe = find_recipe("miniwob_click")
    require_trainable(recipe.settings, recipe.tasks())


def test_no_task_is_in_two_sets_and_one_page_is_never_trained_on():
    sets = miniwob_click.tasks()
    every = [*sets.train, *sets.validation, *sets.test, *sets.unseen]
    worlds = {(task.world.name, task.world.seed) for task in every}
    assert len(worlds) == len(every)
    trained = pages_of(sets.train)
    assert trained == pages_of(sets.validation) == pages_of(sets.test)
    assert not trained & pages_of(sets.unseen)
    assert trained | pages_of(sets.unseen) <= set(registered_tasks())


def test_the_tasks_are_the_same_every_time():
    assert miniwob_click.tasks() == miniwob_click.tasks()


def test_one_click_is_all_that_a_task_takes_and_its_name_is_not_the_benchmarks():
    for task in miniwob_click.tasks().train[:6]:
        assert task.budget.steps == 1
        assert task.optimal_steps == 1
        assert task.env.size_px == SIZE_PX
        assert not task.id.startswith("miniwob/")


def test_the_policy_can_say_places_and_nothing_else():
    policy = miniwob_click.policy(miniwob_click.tasks(), 0)
    allowed = set(policy.tokenizer.get_vocab().values()) - set(policy.banned_ids)
    said = {policy.tokenizer.convert_ids_to_tokens(number) for number in allowed}
    assert {"<x0>", "<x20>", "<y0>", "<y40>", END} <= said
    assert all(token == END or token[:2] in ("<x", "<y") for token in said)


def test_the_policy_reads_a_white_page_as_nothing():
    policy = miniwob_click.policy(miniwob_click.tasks(), 0)
    assert policy.vision is not None
    assert policy.vision.mean == (1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    "goal",
    [
        "Click the button.",
        "Focus into the 3rd input textbox.",
        'Close the dialog box by clicking the "x".',
        "Focus into the textbox.",
    ],
)
def test_the_words_of_the_goals_are_tokens_of_their_own(goal: str):
    tokenizer = miniwob_click.policy(miniwob_click.tasks(), 0).tokenizer
    tokens = tokenizer.tokenize(goal)
    assert UNK not in tokens
    assert not any(token.startswith("##") for token in tokens)


def test_the_only_thing_that_can_be_tapped_is_the_target():
    elements = (Element(role="StaticText", label="no", at=(0.1, 0.1)), element("button", 0.4, 0.6))
    assert target("Click the button.", elements) == (0.4, 0.6)


def test_fields_are_counted_from_the_top_whatever_the_order_of_the_tree():
    elements = (
        element("textbox", 0.5, 0.9),
        element("textbox", 0.5, 0.3),
        element("textbox", 0.5, 0.6),
    )
    assert target("Focus into the 1st input textbox.", elements) == (0.5, 0.3)
    assert target("Focus into the 3rd input textbox.", elements) == (0.5, 0.9)


def test_two_things_that_fit_are_refused_rather_than_guessed():
    elements = (element("button", 0.4, 0.6), element("button", 0.4, 0.8))
    with pytest.raises(TaskError, match="2 things on the page fit"):
        target("Click the button.", elements)


@pytest.mark.browser
@pytest.mark.parametrize("page", sorted({*miniwob_click.PAGES, *miniwob_click.UNSEEN_PAGES}))
async def test_the_demonstrated_click_is_the_same_twice_and_solves_its_page(page: str):
    blobs = MemoryBlobs()
    pages = ClickPages()
    opener = pages.open(blobs)
    (task,) = click_tasks((page,), (3,))
    try:
        (click,) = await pages.click(task, "gui_only")
        assert await pages.click(task, "gui_only") == (click,)
        env = await opener.open(task.env)
        await env.reset(Start(task=task), deadline_s=60)
        await env.step(click, action_id="click", deadline_s=60)
        assert (await env.evidence(deadline_s=60)).native["raw_reward"] == 1.0
    finally:
        await opener.close()


async def test_a_click_is_not_shown_before_the_pages_are_open():
    (task,) = click_tasks(("click-test",), (3,))
    with pytest.raises(EnvironmentFault, match="call open first"):
        await ClickPages().click(task, "gui_only")


def few() -> TaskSets:
    sets = miniwob_click.tasks()
    return TaskSets(
        train=sets.train[:6],
        validation=sets.validation[:3],
        test=sets.test[:3],
        unseen=sets.unseen[:1],
    )


def short_recipe() -> Recipe:
    settings = msgspec.structs.replace(
        miniwob_click.SETTINGS,
        warm_up=WarmUpSettings(demonstrations=6, batch=6, max_steps=4, check_steps=2),
        rollout=RolloutSettings(groups=2, max_tokens=3),
        updates=2,
        evaluate_every=2,
        checkpoint_every=1,
    )
    return replace(miniwob_click.recipe(), name="short_clicks", settings=settings, tasks=few)


@pytest.mark.browser
@pytest.mark.slow
async def test_a_short_run_goes_from_demonstrations_to_updates_in_a_browser(tmp_path):
    result = await train(short_recipe(), 0, tmp_path / "run")
    assert result.updates == 2
    assert result.episodes == 2 * 2 * 8
    assert result.parity_max <= 1e-4
    assert result.heldout_after_rl is not None
