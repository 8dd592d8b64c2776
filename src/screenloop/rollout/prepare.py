"""Tells models that play from a plan or a script which Task an Episode attempts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from screenloop.actions import Action
from screenloop.errors import ConfigError
from screenloop.models.base import Model
from screenloop.models.oracle import OracleModel
from screenloop.models.scripted import ScriptedModel
from screenloop.rollout.context import Prepare
from screenloop.types import Mode, Task

Plan = Callable[[Task, Mode], Awaitable[tuple[Action, ...]]]
"""Works out the Actions that solve a Task; only rollout calls it, never an agent."""


def prepare_for(model: Model, plan: Plan | None) -> Prepare | None:
    """Return what must happen before each Episode of this model; nothing for a real one.

    Raises:
        ConfigError: the oracle is to play, but the suite has no plan.
    """
    match model:
        case OracleModel() if plan is None:
            raise ConfigError(
                "the oracle needs a suite that knows its solutions; this one has none."
            )
        case OracleModel():

            async def hand_plan(episode_id: str, task: Task, mode: Mode) -> None:
                assert plan is not None
                model.set_plan(episode_id, await plan(task, mode))

            return hand_plan
        case ScriptedModel():

            async def name_task(episode_id: str, task: Task, mode: Mode) -> None:
                model.set_task(episode_id, task.id)

            return name_task
    return None
