"""Plans of the oracle: golden solutions as Actions, and handing them to models that play them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from screenloop.actions import Action, Finish, Open, Tool
from screenloop.errors import ConfigError
from screenloop.models.base import Model
from screenloop.models.oracle import OracleModel
from screenloop.models.scripted import ScriptedModel
from screenloop.phone.device.boot import new_device
from screenloop.phone.prove.compile import permission_asked
from screenloop.phone.prove.compile import plan as plan_touches
from screenloop.rollout.context import Prepare
from screenloop.types import DiffRow, Mode, Task
from screenloop.verify.judge import is_allowed

Plan = Callable[[Task, Mode], Awaitable[tuple[Action, ...]]]
"""Works out the Actions that solve a Task; only rollout calls it, never an agent."""


async def golden_plan(task: Task, mode: Mode) -> tuple[Action, ...]:
    """Return the Actions that solve a Task, the finish included.

    On phones in `gui_only`, golden tool calls become the shortest touch path; in `hybrid` they are
    played as tool calls, each with its app in front. Elsewhere golden solutions are Actions as
    they are.

    Raises:
        ConfigError: no solution of the Task is known.
        TaskError: a golden call cannot be reached by touch.
    """
    if not task.golden:
        raise ConfigError(f"no solution of {task.id} is known, so the oracle cannot play it.")
    finish = () if isinstance(task.golden[-1], Finish) else (Finish(status="success"),)
    if task.env.kind != "phone":
        return (*task.golden, *finish)
    if mode == "hybrid":
        return (*_as_tools(task.golden), *finish)
    world = task.world
    device = new_device(world.name, world.seed, world.patches)

    def tolerate(row: DiffRow) -> bool:
        return permission_asked(row) or is_allowed(row, task.allowed)

    plan = await asyncio.to_thread(plan_touches, device, task.golden, tolerate=tolerate)
    return (*plan.actions, *finish)


def _as_tools(golden: tuple[Action, ...]) -> tuple[Action, ...]:
    actions: list[Action] = []
    front = ""
    for action in golden:
        if isinstance(action, Tool):
            app = action.name.partition(".")[0]
            if app != front:
                actions.append(Open(app=app))
                front = app
        actions.append(action)
    return tuple(actions)


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
