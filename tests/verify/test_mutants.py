"""Mutants: each is wrong in one way, and each kind is made where it applies."""

from __future__ import annotations

import copy
from typing import Any

from screenloop.actions import Answer, Tool
from screenloop.criteria import Added, AnswerIs, Changed, Check, Number, Removed, Value
from screenloop.types import Claim, EnvRef, Evidence, Goal, Task
from screenloop.verify.diff import diff
from screenloop.verify.judge import judge
from screenloop.verify.mutants import mutants

BEFORE: dict[str, Any] = {
    "shop": {
        "orders": {
            "o1": {"id": "o1", "item": "mug", "qty": 1, "day": "2026-03-02", "open": True},
            "o2": {"id": "o2", "item": "lamp", "qty": 2, "day": "2026-03-03", "open": True},
        },
        "sort": "name",
    },
    "notes": {"notes": {"n1": {"id": "n1", "title": "Milk"}}},
}


def task(*checks: Check, golden: tuple[Any, ...] = ()) -> Task:
    return Task(
        id="t/x@1",
        env=EnvRef(kind="fake", size_px=(1, 1)),
        goal=Goal(text="x"),
        checks=checks,
        golden=golden,
    )


def ending(change: Any) -> Evidence:
    after = copy.deepcopy(BEFORE)
    change(after)
    return Evidence(before=BEFORE, after=after, diff=diff(BEFORE, after))


def names(of: Task, evidence: Evidence, claim: Claim = Claim()) -> list[str]:
    assert judge(of, evidence, claim).success, "the right ending must count"
    return [m.name for m in mutants(of, evidence, claim)]


def survivors(of: Task, evidence: Evidence, claim: Claim = Claim()) -> list[str]:
    return [m.name for m in mutants(of, evidence, claim) if judge(of, m.evidence, m.claim).success]


def test_changed_row_is_dropped_swapped_and_altered() -> None:
    def change(after: dict[str, Any]) -> None:
        after["shop"]["orders"]["o1"]["qty"] = 5

    checked = task(Changed(app="shop", table="orders", ids=("o1",), to={"qty": 5}, says="five"))
    found = names(checked, ending(change))
    assert "shop.orders.o1 is not written" in found
    assert any("o2 is written instead" in name for name in found)
    assert any("qty is 6 instead of 5" in name for name in found)
    assert survivors(checked, ending(change)) == []


def test_a_check_that_does_not_look_at_the_value_lets_a_mutant_live() -> None:
    def change(after: dict[str, Any]) -> None:
        after["shop"]["orders"]["o3"] = {
            "id": "o3",
            "item": "mug",
            "qty": 3,
            "day": "2026-03-09",
            "open": True,
        }

    golden = (Tool(name="shop.order", args={"item": "mug", "qty": 3, "day": "2026-03-09"}),)
    loose = task(
        Added(app="shop", table="orders", where={"item": "mug"}, says="a mug"), golden=golden
    )
    alive = survivors(loose, ending(change))
    assert any("qty is 4" in name for name in alive)
    assert any("day is '2026-03-10'" in name for name in alive)
    where = {"item": "mug", "qty": 3, "day": "2026-03-09"}
    tight = task(Added(app="shop", table="orders", where=where, says="three mugs"), golden=golden)
    assert survivors(tight, ending(change)) == []


def test_removal_is_dropped_and_aimed_at_a_sibling() -> None:
    def change(after: dict[str, Any]) -> None:
        del after["shop"]["orders"]["o2"]

    checked = task(Removed(app="shop", table="orders", where={"item": "lamp"}, says="no lamp"))
    found = names(checked, ending(change))
    assert "shop.orders.o2 is not written" in found
    assert any("o1 is written instead" in name for name in found)
    assert survivors(checked, ending(change)) == []


def test_extra_write_elsewhere_is_a_mutant_and_dies_by_the_guard() -> None:
    def change(after: dict[str, Any]) -> None:
        after["shop"]["sort"] = "price"

    checked = task(Value(app="shop", path="sort", to="price", says="sorted"))
    extra = [m for m in mutants(checked, ending(change), Claim()) if "as well" in m.name]
    assert len(extra) == 1
    assert not judge(checked, extra[0].evidence, extra[0].claim).success


def test_answers_are_altered_and_left_out() -> None:
    def change(after: dict[str, Any]) -> None:
        return None

    checked = task(AnswerIs(to=Number(value=19), says="nineteen"), golden=(Answer(text="19"),))
    found = list(mutants(checked, ending(change), Claim(answer="There are 19.")))
    assert [m.claim.answer for m in found if m.claim.answer != "There are 19."] == [
        None,
        "There are 20.",
    ]
    assert survivors(checked, ending(change), Claim(answer="There are 19.")) == []


def test_allowed_changes_are_not_mutated() -> None:
    def change(after: dict[str, Any]) -> None:
        after["shop"]["orders"]["o1"]["qty"] = 5
        after["notes"]["notes"]["n1"]["title"] = "Milk, eggs"

    checked = Task(
        id="t/x@1",
        env=EnvRef(kind="fake", size_px=(1, 1)),
        goal=Goal(text="x"),
        checks=(Changed(app="shop", table="orders", ids=("o1",), to={"qty": 5}, says="five"),),
        allowed=("notes",),
    )
    assert not any("notes" in name for name in names(checked, ending(change)))
