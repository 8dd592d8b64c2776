"""The templates over gallery, wallet and shop, alone and with other apps."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from screenloop.actions import Answer, Tool
from screenloop.phone.device.boot import installed
from screenloop.suites.phone_core.across import media as between_media
from screenloop.suites.phone_core.across import money as between_money
from screenloop.suites.phone_core.across import shopping as between_shopping
from screenloop.suites.phone_core.apps import gallery, shop, shop_orders, wallet
from screenloop.suites.phone_core.template import Template, build
from screenloop.types import Task

PACKS = (
    gallery.pack,
    wallet.pack,
    shop.pack,
    shop_orders.pack,
    between_money.pack,
    between_shopping.pack,
    between_media.pack,
)
TEMPLATES = {name: t for pack in PACKS for name, t in pack.templates.items()}
SEEDS = range(10)
SAME_GOAL = {"largest_document", "cost_of_cart", "cost_of_wishes", "unstar_all_but_one"}
"""Their goals name nothing of the world; what is right differs all the same."""


def _tasks(template: Template) -> list[Task]:
    return [build(template, seed, None) for seed in SEEDS]


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
def test_template_builds_in_every_world_and_differs_between_worlds(template: Template) -> None:
    tasks = _tasks(template)
    assert len({repr((task.params, task.checks, task.golden)) for task in tasks}) > 1
    if template.name not in SAME_GOAL:
        assert len({task.goal.text for task in tasks}) > 1


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
def test_goal_is_in_the_words_of_a_person(template: Template) -> None:
    apps = installed().values()
    tools = {name for app in apps for name in (*app.actions, *app.queries) if "." in name}
    for task in _tasks(template):
        own = re.sub(r'"[^"]*"', "", task.goal.text)
        assert not set(re.findall(r"[a-z_]+\.[a-z_]+", own)) & tools
        assert not re.search(r"\b(button|tool|screen|widget|[a-z]+\d+)\b", own)
        assert own[-1] in ".? "


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
def test_tags_name_the_apps_that_the_solution_uses(template: Template) -> None:
    task = build(template, 0, None)
    used = {step.name.partition(".")[0] for step in task.golden if isinstance(step, Tool)}
    assert used <= set(template.apps)


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
def test_a_question_is_looked_up_before_it_is_answered(template: Template) -> None:
    golden = build(template, 0, None).golden
    for before, step in pairwise(golden):
        assert not isinstance(step, Answer) or isinstance(before, Tool)
    assert not isinstance(golden[0], Answer)


def test_each_app_has_enough_templates() -> None:
    alone = [t.apps for t in TEMPLATES.values()]
    assert alone.count(("gallery",)) >= 7
    assert alone.count(("wallet",)) >= 8
    assert sum(apps[0] == "shop" for apps in alone) >= 8
    assert sum(len(apps) > 1 for apps in alone) >= 8
