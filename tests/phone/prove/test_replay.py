"""Flows by touches and by tools, and the schemas of the tools."""

from __future__ import annotations

from typing import Any

import pytest
from toy_app import add, home, rename, toy_device
from toy_app import app as toy

from screenloop.phone.declare.app import App, Flow
from screenloop.phone.declare.context import Ctx
from screenloop.phone.declare.document import state_hash
from screenloop.phone.declare.flow_steps import FlowStep, enter, press, tap, wait
from screenloop.phone.declare.schema import misfits
from screenloop.phone.declare.state import AppState
from screenloop.phone.declare.view import Ui
from screenloop.phone.device.boot import installed
from screenloop.phone.draw.page import Page
from screenloop.phone.draw.widgets import Button
from screenloop.phone.prove.replay import replay


class BadState(AppState):
    """Of an app whose screen does more than its tool, and whose check fails."""

    number: int = 0
    seen: int = 0


bad = App("bad", BadState, title=("Bad", "坏"), icon="star", tint="#2563eb")


@bad.action("number.up", tool="One more.", writes=["number"])
def up(s: BadState, ctx: Ctx, by: int = 1) -> None:
    s.number += by


@bad.action("number.wrong", tool="Fails.", writes=["number"], check=lambda b, a, args: False)
def wrong(s: BadState, ctx: Ctx) -> None:
    s.number = 1


@bad.action("number.no", tool="Refuses.", writes=["number"])
def no(s: BadState, ctx: Ctx) -> None:
    ctx.refuse("never on a Monday")


@bad.page("/")
def first(s: BadState, ui: Ui) -> Page:
    return Page(
        title="Bad",
        body=(
            Button(words="Up", do=up(by=3)),
            Button(words="Wrong", do=wrong()),
            Button(words="No", do=no()),
        ),
    )


def flow(*steps: FlowStep) -> Flow:
    return Flow(name="a walk", steps=steps, where="test:1")


@pytest.mark.parametrize("walk", toy.flows, ids=lambda walk: walk.name)
def test_flows_of_the_toy_replay_by_tools(walk: Flow) -> None:
    device = toy_device()
    before = state_hash(device.doc)
    report = replay(toy, walk, device)
    assert report.failures == ()
    assert report.calls
    assert state_hash(device.doc) == before
    assert device.changes() == ()


def test_a_report_holds_the_actions_and_the_time_between_them() -> None:
    report = replay(
        toy, flow(tap("New thing"), enter("name", "Kite"), wait(5), tap(add)), toy_device()
    )
    assert [call.action for call in report.calls] == ["items.add"]
    assert report.calls[0].args["name"] == "Kite"
    assert [outcome.seconds for outcome in report.outcomes] == [0, 0, 5, 0]


@pytest.mark.parametrize(
    ("step", "why"),
    [
        (tap("Nowhere"), "step 1: nothing on bad/ fits 'Nowhere'"),
        (tap(wrong), "step 1: "),
        (tap(no), "never on a Monday"),
        (enter("name", "Kite"), "step 1: there is no field 'name'"),
    ],
)
def test_a_step_that_fails_is_told_and_the_device_ends_as_it_was(step: FlowStep, why: str) -> None:
    device = toy_device(bad)
    before = state_hash(device.doc)
    report = replay(bad, flow(step), device)
    assert len(report.failures) == 1
    assert why in report.failures[0]
    assert state_hash(device.doc) == before


def test_a_screen_that_does_what_its_tools_do_not_is_told() -> None:
    device = toy_device()
    report = replay(toy, flow(tap(home), press("volume_up")), device)
    assert report.failures == ()
    assert [call.action for call in report.calls] == ["volume.set"]


def test_a_walk_that_only_looks_runs_no_action() -> None:
    assert replay(toy, flow(tap("Level"), press("back")), toy_device()).calls == ()
    assert rename.tool_name == "toy.items.rename"


@pytest.mark.parametrize(
    ("app_id", "walk"),
    [
        pytest.param(app.id, walk, id=f"{app.id}: {walk.name}")
        for app in installed().values()
        for walk in app.flows
    ],
)
def test_every_flow_of_the_apps_replays_by_tools(app_id: str, walk: Flow) -> None:
    assert replay(installed()[app_id], walk).failures == ()


@pytest.mark.parametrize(
    ("value", "schema", "fits"),
    [
        ("a", {"type": "string", "minLength": 1, "maxLength": 1}, True),
        ("", {"type": "string", "minLength": 1}, False),
        ("ab", {"type": "string", "maxLength": 1}, False),
        ("07:30", {"type": "string", "pattern": r"^\d\d:\d\d$"}, True),
        ("7:30", {"type": "string", "pattern": r"^\d\d:\d\d$"}, False),
        (3, {"type": "integer", "minimum": 1, "maximum": 3}, True),
        (4, {"type": "integer", "maximum": 3}, False),
        (0, {"type": "integer", "minimum": 1}, False),
        (1, {"type": "integer", "exclusiveMinimum": 1}, False),
        (1, {"type": "integer", "exclusiveMaximum": 1}, False),
        (3, {"type": "integer", "multipleOf": 2}, False),
        (True, {"type": "integer"}, False),
        (1.5, {"type": "number"}, True),
        ("red", {"enum": ["red", "blue"]}, True),
        ("green", {"enum": ["red", "blue"]}, False),
        ("x", {"const": "y"}, False),
        (None, {"anyOf": [{"type": "string"}, {"type": "null"}]}, True),
        (1, {"anyOf": [{"type": "string"}, {"type": "null"}]}, False),
        (["a"], {"type": "array", "items": {"type": "string"}, "minItems": 1}, True),
        ([1], {"type": "array", "items": {"type": "string"}}, False),
        ([], {"type": "array", "minItems": 1}, False),
        ([1, 2], {"type": "array", "maxItems": 1}, False),
        ({"a": 1}, {"type": "object", "properties": {"a": {"type": "integer"}}}, True),
        ({}, {"type": "object", "required": ["a"]}, False),
        ({"b": 1}, {"type": "object", "properties": {}, "additionalProperties": False}, False),
        ({"b": 1}, {"type": "object", "additionalProperties": {"type": "string"}}, False),
        (1, {"$ref": "#/$defs/Person"}, False),
    ],
)
def test_a_value_fits_a_schema_or_it_is_said_why_not(
    value: Any, schema: dict[str, Any], fits: bool
) -> None:
    why = list(misfits(value, schema))
    assert (why == []) == fits
    assert all(isinstance(phrase, str) and phrase for phrase in why)
