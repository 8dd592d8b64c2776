import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from train_parts import task

from screenloop.errors import ConfigError
from screenloop.train.data.tasks_split import overlap, require_held_out, split_tasks
from screenloop.types import World


def _tasks(templates=8, seeds=6):
    return [
        task(f"t{t}", s, f"Do {t} with {s}.", apps=f"app{t % 4}")
        for t in range(templates)
        for s in range(seeds)
    ]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 300), st.sampled_from(["instance", "template", "app"]))
def test_no_task_is_on_both_sides_and_none_is_lost(seed, by):
    tasks = _tasks()
    try:
        split = split_tasks(tasks, by=by, held_out_share=0.4, seed=seed)
    except ConfigError:
        return
    assert sorted([*split.train, *split.held_out]) == sorted(t.key for t in tasks)
    by_key = {t.key: t for t in tasks}
    train = [by_key[key] for key in split.train]
    test = [by_key[key] for key in split.held_out]
    assert require_held_out(train, test).is_clean
    if by == "template":
        assert not {t.id for t in train} & {t.id for t in test}
    if by == "app":
        assert not {t.tags["apps"] for t in train} & {t.tags["apps"] for t in test}


def test_adding_tasks_moves_none():
    few, many = _tasks(templates=5), _tasks(templates=9)
    one = split_tasks(few, by="template", held_out_share=0.4, seed=1)
    two = split_tasks(many, by="template", held_out_share=0.4, seed=1)
    assert set(one.train) <= set(two.train)
    assert set(one.held_out) <= set(two.held_out)


def test_one_problem_under_two_names_falls_on_one_side():
    for seed in range(20):
        twins = [task("a", 0, "Tap it."), task("b", 0, "Tap it.")]
        others = [task(f"o{i}", 0, f"Other {i}.") for i in range(6)]
        split = split_tasks([*twins, *others], by="instance", held_out_share=0.5, seed=seed)
        assert {t.key for t in twins} <= set(split.train) or {t.key for t in twins} <= set(
            split.held_out
        )


def test_a_task_that_uses_a_held_out_app_is_held_out():
    tasks = [task(f"t{i}", apps=f"app{i}") for i in range(10)]
    tasks += [task("both", apps="app0+app1"), task("more", apps="app2+app3")]
    split = split_tasks(tasks, by="app", held_out_share=0.4, seed=3)
    held = {t.tags["apps"] for t in tasks if t.key in split.held_out and "+" not in t.tags["apps"]}
    for t in tasks:
        assert (t.key in split.held_out) == bool(held & set(t.tags["apps"].split("+")))


def test_overlap_by_key_and_by_problem_is_refused_and_named():
    train = [task("a", 0, "Tap the  button."), task("b", 1, "Open it.")]
    with pytest.raises(ConfigError, match=r"1 test tasks.*toy/b@1#1 is trained on as toy/b@1#1"):
        require_held_out(train, [train[1]])
    renamed = task("c", 5, "tap the button.")
    with pytest.raises(ConfigError, match=r"toy/c@1#5 is trained on as toy/a@1#0"):
        require_held_out(train, [renamed])


def test_the_same_goal_in_another_world_is_told_but_not_refused():
    train = [task("a", 0, "Tap it.")]
    other = task("a", 1, "Tap it.", world=World(seed=1))
    found = require_held_out(train, [other])
    assert found.is_clean
    assert [(p.train, p.test) for p in found.same_goal] == [("toy/a@1#0", "toy/a@1#1")]
    assert overlap(train, [task("a", 1, "Tap it.", kind="web")]).same_goal == ()


def test_splits_that_cannot_be_are_refused():
    with pytest.raises(ConfigError, match="between 0 and 1"):
        split_tasks(_tasks(), by="instance", held_out_share=1.0, seed=0)
    with pytest.raises(ConfigError, match="leaves"):
        split_tasks([task()], by="instance", held_out_share=0.5, seed=0)
    with pytest.raises(ConfigError, match="names no app"):
        split_tasks([task(apps="")], by="app", held_out_share=0.5, seed=0)
