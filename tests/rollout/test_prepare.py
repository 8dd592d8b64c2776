"""Models that must be told which Task they play, and the card of versions."""

from __future__ import annotations

import pytest
from played import fake_task

from screenloop.actions import Action
from screenloop.errors import ConfigError
from screenloop.messages import ChatRequest
from screenloop.models.oracle import OracleModel
from screenloop.models.scripted import RandomModel
from screenloop.rollout.plans import prepare_for
from screenloop.rollout.play import machine_here, versions_here
from screenloop.types import Mode, Task


async def golden(task: Task, mode: Mode) -> tuple[Action, ...]:
    return task.golden


async def test_the_oracle_is_handed_the_plan_of_its_episode() -> None:
    model = OracleModel(lambda action: type(action).__name__)
    prepare = prepare_for(model, golden)
    assert prepare is not None
    await prepare("ep", fake_task("zero_counter"), "gui_only")
    request = ChatRequest(call_id="ep/c0", session_id="ep/w0", messages=())
    assert (await model.complete(request, deadline_s=60)).text == "Tap"


def test_an_oracle_without_a_plan_is_refused_before_anything_runs() -> None:
    with pytest.raises(ConfigError, match="oracle needs a suite"):
        prepare_for(OracleModel(str), None)


def test_other_models_are_told_nothing() -> None:
    assert prepare_for(RandomModel(str), golden) is None


def test_the_card_names_what_a_number_may_depend_on() -> None:
    assert {"python", "screenloop", "pytakumi", "pillow", "miniwob"} <= set(versions_here())
    assert all(machine_here().values())
