import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from screenloop.errors import ConfigError
from screenloop.train.curriculum import (
    TaskProgress,
    after_group,
    attempts_for,
    choose_tasks,
    is_mastered,
    learnability,
)
from screenloop.train.data.streams import attempt_seed, stream, stream_seed
from screenloop.train.settings import CurriculumSettings

RULES = CurriculumSettings()


def _task(key="t", domain="phone", **facts):
    return TaskProgress(key=key, domain=domain, **facts)


@pytest.mark.parametrize(
    ("facts", "attempts"),
    [
        ({}, 8),
        ({"scored": 8, "successes": 8, "rate": 1.0}, 2),
        ({"scored": 8, "successes": 7, "rate": 0.81}, 2),
        ({"scored": 8, "successes": 7, "rate": 0.8}, 8),
        ({"scored": 8, "successes": 1, "rate": 0.125}, 8),
        ({"scored": 8, "successes": 0, "rate": 0.0}, 4),
        ({"scored": 7, "successes": 0, "rate": 0.0}, 8),
        ({"scored": 80, "successes": 1, "rate": 0.001}, 8),
    ],
)
def test_attempts_at_the_boundaries(facts, attempts):
    assert attempts_for(_task(**facts), RULES) == attempts


def test_attempts_can_be_fixed():
    fixed = CurriculumSettings(adaptive=False, attempts=6)
    assert attempts_for(_task(scored=8, successes=8, rate=1.0), fixed) == 6


def test_a_mastered_task_can_fall_back():
    task = after_group(_task(), [True] * 8, update=1, settings=RULES)
    assert attempts_for(task, RULES) == 2
    task = after_group(task, [False, False], update=21, settings=RULES)
    assert task.rate == pytest.approx(0.7)
    assert attempts_for(task, RULES) == 8
    assert task.last_update == 21


def test_unscored_attempts_say_nothing():
    task = after_group(_task(), [None, True, None], update=1, settings=RULES)
    assert (task.scored, task.successes, task.rate) == (1, 1, 1.0)
    assert after_group(task, [None, None], update=9, settings=RULES) == task


def test_a_full_try_may_be_spread_over_groups():
    task = after_group(_task(), [False] * 5 + [None] * 3, update=1, settings=RULES)
    assert attempts_for(task, RULES) == 8
    task = after_group(task, [False] * 3, update=2, settings=RULES)
    assert attempts_for(task, RULES) == 4
    assert attempts_for(after_group(task, [True], update=3, settings=RULES), RULES) == 8


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=8), min_size=1, max_size=9))
def test_the_success_rate_stays_a_rate(groups):
    task = _task()
    for update, group in enumerate(groups):
        task = after_group(task, group, update=update, settings=RULES)
    assert 0 <= task.rate <= 1
    assert 0 <= learnability(task) <= 0.25
    assert task.scored == sum(map(len, groups))


def _choose(tasks, count, update=0, settings=RULES, seed=0):
    return choose_tasks(tasks, count, update=update, settings=settings, stream=random.Random(seed))


def test_the_same_stream_chooses_the_same_tasks_whatever_order_they_come_in():
    tasks = [_task(f"t{i}", "phone" if i % 3 else "web") for i in range(20)]
    assert _choose(tasks, 7) == _choose(tasks[::-1], 7)
    assert len({_choose(tasks, 7, seed=seed) for seed in range(10)}) > 5


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 12))
def test_tasks_of_an_update_are_different(seed, count):
    tasks = [_task(f"t{i}", ("a", "b", "c")[i % 3], rate=i / 12, last_update=0) for i in range(12)]
    chosen = _choose(tasks, count, update=30, seed=seed)
    assert len(set(chosen)) == count


def test_tasks_are_drawn_by_what_can_be_learnt_from_them():
    tasks = [
        _task("half", rate=0.5, last_update=0),
        _task("rare", rate=0.1, last_update=0),
        _task("never", rate=0.0, last_update=0),
        _task("always", rate=0.8, last_update=0),
    ]
    drawn = Counter(_choose(tasks, 1, seed=seed)[0] for seed in range(4000))
    weights = {"half": 0.25, "rare": 0.09, "never": 0.02, "always": 0.16}
    for key, weight in weights.items():
        assert drawn[key] / 4000 == pytest.approx(weight / sum(weights.values()), abs=0.03)


def test_mastered_tasks_are_checked_again_when_due_and_not_before():
    old = _task("old", scored=8, successes=8, rate=1.0, last_update=0)
    others = [_task(f"t{i}", rate=0.5, last_update=0) for i in range(30)]
    assert is_mastered(old, RULES)
    for seed in range(20):
        assert "old" in _choose([old, *others], 4, update=20, seed=seed)
    early = sum("old" in _choose([old, *others], 4, update=19, seed=s) for s in range(200))
    assert early < 20


def test_checks_of_mastered_tasks_take_at_most_half_of_the_places():
    done = [_task(f"d{i}", scored=8, successes=8, rate=1.0, last_update=i) for i in range(10)]
    others = [_task(f"t{i}", rate=0.5, last_update=0) for i in range(10)]
    chosen = _choose([*done, *others], 6, update=100)
    assert [key for key in chosen if key.startswith("d")] == ["d0", "d1", "d2"]


def test_domains_get_their_shares_on_average():
    tasks = [_task(f"{d}{i}", d) for d in ("phone", "web", "desktop") for i in range(50)]
    shares = CurriculumSettings(shares={"phone": 0.5, "web": 0.3, "desktop": 0.2})
    drawn = Counter()
    for seed in range(1500):
        chosen = _choose(tasks, 3, settings=shares, seed=seed)
        places = Counter(key.rstrip("0123456789") for key in chosen)
        assert places["phone"] in (1, 2)
        drawn.update(places)
    assert drawn["phone"] / 4500 == pytest.approx(0.5, abs=0.02)
    assert drawn["web"] / 4500 == pytest.approx(0.3, abs=0.02)


def test_a_small_domain_leaves_its_places_to_others():
    tasks = [_task("w0", "web"), *[_task(f"p{i}", "phone") for i in range(9)]]
    chosen = _choose(tasks, 8)
    assert len(chosen) == 8
    only_web = CurriculumSettings(shares={"web": 1.0})
    assert "w0" in _choose(tasks, 4, settings=only_web)


def test_impossible_choices_are_refused():
    with pytest.raises(ConfigError, match="wants 3 different tasks but there are 2"):
        _choose([_task("a"), _task("b")], 3)
    with pytest.raises(ConfigError, match="Unknown domain in the shares 'phome'"):
        _choose([_task("a")], 1, settings=CurriculumSettings(shares={"phome": 1.0}))


def test_streams_depend_on_their_names_alone():
    first = attempt_seed(7, update=1, group=2, attempt=3)
    assert first == attempt_seed(7, update=1, group=2, attempt=3)
    others = {
        attempt_seed(8, update=1, group=2, attempt=3),
        attempt_seed(7, update=2, group=2, attempt=3),
        attempt_seed(7, update=1, group=3, attempt=3),
        attempt_seed(7, update=1, group=2, attempt=4),
        attempt_seed(7, update=12, group=3, attempt=0),
        attempt_seed(7, update=1, group=23, attempt=0),
    }
    assert len(others) == 6
    assert first not in others
    assert stream(7, "tasks", 1).random() == stream(7, "tasks", 1).random()
    assert stream_seed(7, "1") != stream_seed(7, 1)
