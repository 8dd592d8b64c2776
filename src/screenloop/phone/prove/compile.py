"""From tool calls to touches: proves that a golden solution can be done on the screen alone.

A plan is the shortest way known, one call after the other: the search is exact enough for one call
but does not look ahead to the next, so `steps` is an upper bound of the optimum.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from screenloop.actions import Action, Answer, Ask, Finish, Noop, Open, Tool, tag_of
from screenloop.errors import TaskError
from screenloop.phone.commands import Call
from screenloop.phone.declare.document import business_hash
from screenloop.phone.declare.system import OS_ID
from screenloop.phone.device.device import Device
from screenloop.phone.device.gestures import run_action
from screenloop.phone.prove.search import find_path
from screenloop.phone.prove.search_goal import SearchGoal, call_goal, page_goal
from screenloop.phone.prove.search_steps import Tolerate
from screenloop.types import DiffRow, Struct

BUDGET = 20_000
"""Touches that are tried for one call, at most."""


class Plan(Struct, frozen=True, kw_only=True):
    """A golden solution as touches."""

    actions: tuple[Action, ...]
    tried: int = 0
    """Touches tried to find it."""

    @property
    def steps(self) -> int:
        """How many Actions it takes: the shortest known."""
        return len(self.actions)


class PlanProof(Struct, frozen=True, kw_only=True):
    """How a plan compares with the tool calls that it stands for."""

    same: bool
    """Whether both leave the same business state; on devices with a quantum of 0 they do, unless
    the plan made changes that were tolerated. Else times of records differ: let the task's checks
    judge."""
    failures: tuple[str, ...] = ()
    """Steps that did not do what the plan says."""


def permission_asked(row: DiffRow) -> bool:
    """Whether a change is an answer to a permission prompt, which only the screen asks."""
    return row.app == OS_ID and row.table == "permissions"


def plan(
    device: Device,
    golden: Sequence[Action],
    *,
    tolerate: Tolerate = permission_asked,
    budget: int = BUDGET,
) -> Plan:
    """Return touches with the same business effect as tool calls.

    Args:
        device: the phone in the task's first state; it is not changed.
        golden: tool calls, and whatever else the solution does; answers and the like stay as they
            are. A look-up is planned as the way to the page that its `shows` names.
        tolerate: which other changes are fine on the way, e.g. that a message becomes read.
        budget: touches to try for one call, at most.

    Raises:
        TaskError: a call is refused, or cannot be reached by touch; names it and the closest page.
    """
    here = device.fork()
    planned: list[Action] = []
    tried = 0
    for number, action in enumerate(golden):
        following = golden[number + 1] if number + 1 < len(golden) else None
        match action:
            case Open() if isinstance(following, Tool):
                continue
            case Answer() | Ask() | Finish() | Noop():
                planned.append(action)
            case Tool(name=name, args=args):
                goal = _goal_of(here, name, args)
                found = find_path(here, goal, tolerate=tolerate, budget=budget)
                planned.extend(found.actions)
                tried += found.tried
                here = found.device
            case _:
                done = run_action(here, action)
                if not done.effect.ok:
                    raise TaskError(
                        f"step {number} of the solution ({tag_of(action)}) does nothing: "
                        f"{done.effect.message}"
                    )
                planned.append(action)
    return Plan(actions=tuple(planned), tried=tried)


def _goal_of(device: Device, name: str, args: dict[str, Any]) -> SearchGoal:
    app_id, _, part = name.partition(".")
    app = device.apps.get(app_id)
    if app is not None and part in app.queries:
        return page_goal(device, app.queries[part], args)
    return call_goal(device, Call(app=app_id, action=part, args=args))


def run_golden(device: Device, golden: Sequence[Action]) -> tuple[str, ...]:
    """Carry out a golden solution by tools on a device; return what went wrong, as sentences."""
    return _run(device, golden, "golden")


def run_plan(device: Device, made: Plan) -> tuple[str, ...]:
    """Carry out a plan on a device; return what went wrong, as sentences."""
    return _run(device, made.actions, "plan")


def _run(device: Device, actions: Sequence[Action], what: str) -> tuple[str, ...]:
    failures = []
    for number, action in enumerate(actions):
        if isinstance(action, Answer | Ask | Finish | Noop):
            continue
        if isinstance(action, Tool) and device.doc.front != action.name.partition(".")[0]:
            run_action(device, Open(app=action.name.partition(".")[0]))
        done = run_action(device, action)
        if not done.effect.ok:
            failures.append(f"{what} step {number} ({tag_of(action)}): {done.effect.message}")
    return tuple(failures)


def prove(device: Device, golden: Sequence[Action], made: Plan) -> PlanProof:
    """Compare a plan with the tool calls it stands for, each on its own fork of a device."""
    by_touch, by_tool = device.fork(), device.fork()
    failures = (*run_plan(by_touch, made), *run_golden(by_tool, golden))
    same = business_hash(by_touch.doc) == business_hash(by_tool.doc)
    return PlanProof(same=same, failures=failures)
