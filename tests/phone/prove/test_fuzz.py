"""The monkey: what must hold on every app whatever is touched."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest
from toy_app import toy_device

from screenloop.actions import decode_action, encode_action
from screenloop.errors import EnvironmentFault
from screenloop.phone.declare.app import App, AppAction, Query
from screenloop.phone.declare.context import Ctx
from screenloop.phone.declare.state import AppState
from screenloop.phone.declare.view import Ui
from screenloop.phone.device.boot import installed, new_device
from screenloop.phone.device.gestures import run_action
from screenloop.phone.draw.page import Page
from screenloop.phone.draw.widgets import Button
from screenloop.phone.prove.fuzz import choose, fuzz, random_args, replayed
from screenloop.types import DiffRow


class LeakyState(AppState):
    """Of an app that keeps a list and changes it in place."""

    names: list[str] = []


leaky = App("leaky", LeakyState, title=("Leaky", "漏"), icon="star", tint="#2563eb")


@leaky.action("names.add", tool="Add a name.", writes=["names"])
def add_name(s: LeakyState, ctx: Ctx) -> None:
    s.names.append("Kite")


@leaky.page("/")
def first(s: LeakyState, ui: Ui) -> Page:
    return Page(title="Leaky", body=[Button(words=f"Add {n}", do=add_name()) for n in range(9)])


@pytest.mark.parametrize("seed", range(6))
def test_nothing_breaks_on_the_toy(seed: int) -> None:
    report = fuzz(toy_device(quantum_ms=1000), seed=seed, steps=120)
    assert report.failures == ()
    assert report.changes


@pytest.mark.parametrize("app_id", list(installed()))
def test_nothing_breaks_in_any_app(app_id: str) -> None:
    device = new_device()
    device.open(app_id)
    device.end()
    report = fuzz(device, seed=1, steps=150)
    assert report.failures == ()
    assert report.refused < report.actions


def test_the_device_ends_as_it_was_and_a_seed_names_its_run() -> None:
    device = toy_device()
    before = device.doc
    first_run, second = (fuzz(device, seed=4, steps=40) for _ in range(2))
    assert first_run == second
    assert device.doc is before
    assert fuzz(device, seed=5, steps=40).final_hash != first_run.final_hash


def test_data_that_is_changed_in_place_is_found() -> None:
    device = toy_device(leaky)
    device.open("leaky")
    device.end()
    report = fuzz(device, seed=2, steps=60)
    assert any("changed the state that was kept" in failure for failure in report.failures)


def test_rows_are_applied_to_data_without_changing_it() -> None:
    data = {"toy": {"level": 1, "items": {"item1": {"name": "a"}, "item2": {"name": "b"}}}}
    rows = [
        DiffRow(app="toy", table="level", op="set", before=1, after=2),
        DiffRow(app="toy", table="items", id="item1", field="name", op="set", after="c"),
        DiffRow(app="toy", table="items", id="item2", op="remove"),
        DiffRow(app="toy", table="items", id="item3", op="add", after={"name": "d"}),
    ]
    after = {"toy": {"level": 2, "items": {"item1": {"name": "c"}, "item3": {"name": "d"}}}}
    assert replayed(data, rows) == after
    assert data["toy"]["level"] == 1


@pytest.mark.parametrize("op", ["set", "remove"])
def test_a_row_about_what_is_not_there_is_a_fault(op: str) -> None:
    row = msgspec.convert({"app": "toy", "table": "items", "id": "item9", "op": op}, DiffRow)
    with pytest.raises(EnvironmentFault, match="item9"):
        replayed({"toy": {"items": {}}}, [row])


def test_random_arguments_are_mostly_good_calls() -> None:
    device = new_device()
    rng = random.Random(3)
    good = bad = 0
    for app in installed().values():
        parts: list[AppAction[Any] | Query] = [*app.actions.values(), *app.queries.values()]
        for part in parts:
            for _ in range(3):
                args = random_args(device, part, rng)
                try:
                    part.signature.convert(args)
                    good += 1
                except msgspec.ValidationError:
                    bad += 1
    assert good > bad > 0


def test_a_reported_action_can_be_done_again() -> None:
    device = toy_device()
    rng = random.Random(0)
    for _ in range(30):
        action = choose(device, rng)
        assert decode_action(encode_action(action)) == action
        run_action(device, action)
