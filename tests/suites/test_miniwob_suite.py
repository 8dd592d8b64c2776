import msgspec
import pytest

from screenloop.criteria import Number, Value
from screenloop.errors import ConfigError
from screenloop.suites.miniwob import MiniWob
from screenloop.suites.miniwob_rules import FAMILIES, FULL, PARTIAL, success_min
from screenloop.types import Claim, Evidence, Task
from screenloop.verify.judge import judge


def test_all_registered_pages_are_tasks() -> None:
    names = MiniWob().names()
    assert len(names) == 125
    assert list(names) == sorted(set(names))
    assert {"click-test", "email-inbox", "tic-tac-toe"} <= set(names)
    left_out = {"button-delay", "chase-circle", "hover-shape", "moving-items", "simon-says"}
    assert left_out.isdisjoint(names)


def test_each_page_belongs_to_exactly_one_family() -> None:
    sorted_in = [task for family in FAMILIES for task in family.tasks]
    assert sorted(sorted_in) == list(MiniWob().names())


def test_a_task_is_pure_and_survives_its_json_form() -> None:
    suite = MiniWob()
    for name in suite.names():
        task = suite.task(name, 3)
        assert task == suite.task(name, 3)
        assert msgspec.json.decode(msgspec.json.encode(task), type=Task) == task
        assert task.key == f"miniwob/{name}@1#3"
        assert task.world.seed == 3
        assert task.tags["domain"] == "web"
        assert 10 <= task.budget.steps <= 30  # type: ignore[operator]


def test_an_unknown_page_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(ConfigError, match="Did you mean 'click-button'"):
        MiniWob().task("click-buton", 0)


@pytest.mark.parametrize(
    ("name", "raw_reward", "success"),
    [
        ("click-test", 0, False),
        ("click-test", 1, True),
        ("click-test", 1.0, True),
        ("click-test", -1, False),
        ("find-greatest", 0.1, False),
        ("click-checkboxes", 1 / 3, False),
        ("odd-or-even", 1 / 3 + 1 / 3 + 1 / 3, True),
        ("phone-book", 0.4, False),
        ("tic-tac-toe", -0.5, False),
        ("hot-cold", 0.5, False),
        ("circle-center", 0.85, True),
        ("circle-center", 0.7, False),
        ("use-colorwheel", 0.9, False),
    ],
)
def test_success_needs_the_reward_that_the_page_pays_for_a_right_answer(
    name: str, raw_reward: float, success: bool
) -> None:
    task = MiniWob().task(name, 0)
    evidence = Evidence(
        before={"miniwob": {"raw_reward": 0, "done": False}},
        after={"miniwob": {"raw_reward": raw_reward, "done": True}},
    )
    verdict = judge(task, evidence, Claim())
    assert verdict.success is success
    assert verdict.reward == float(success)
    assert verdict.side_effects == ()


def test_the_rule_of_a_task_is_its_check() -> None:
    suite = MiniWob()
    for name in suite.names():
        (check,) = suite.task(name, 0).checks
        assert isinstance(check, Value)
        assert check.to == Number(min=PARTIAL.get(name, FULL)) == Number(min=success_min(name))
