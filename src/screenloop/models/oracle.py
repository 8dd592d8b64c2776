"""A model that plays a known solution through the very harness that other models use."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from screenloop.actions import Action, Finish
from screenloop.errors import TaskError
from screenloop.messages import ChatRequest, Reply
from screenloop.models.calls import CallCounter, episode_of


class OracleModel:
    """Answers the n-th call of an episode with the n-th Action of its plan, then finishes.

    Rollout hands the plan over by `set_plan`, so that an agent never reads a golden solution.
    `render` is the dialect's: it writes an Action as that model family would. Where the harness
    says by `writes` how the screen at hand lets it be written (with the marks of a list, say),
    that counts.
    """

    def __init__(self, render: Callable[[Action], str], *, name: str = "oracle") -> None:
        self.name = name
        self._render = render
        self._plans: dict[str, tuple[Action, ...]] = {}
        self._calls = CallCounter()
        self._writers: dict[str, Callable[[Action], str]] = {}

    def set_plan(self, episode_id: str, actions: Sequence[Action]) -> None:
        """Say what to do in this episode; replaces an earlier plan."""
        self._plans[episode_id] = tuple(actions)

    def writes(self, call_id: str, render: Callable[[Action], str]) -> None:
        """Take what writes an Action on the screen of one call."""
        self._writers[call_id] = render

    async def complete(self, request: ChatRequest, *, deadline_s: float) -> Reply:
        """Answer with the next planned Action.

        Raises:
            TaskError: the episode has no plan: its Task has no golden solution.
        """
        episode_id = episode_of(request.call_id)
        if episode_id not in self._plans:
            raise TaskError(
                f"the oracle has no plan for episode {episode_id}: give the task a golden "
                "solution, or leave it out of an oracle run."
            )
        plan = self._plans[episode_id]
        number = self._calls.number(request.call_id)
        action = plan[number] if number < len(plan) else Finish(status="success")
        render = self._writers.pop(request.call_id, self._render)
        return Reply(text=render(action))

    async def preflight(self) -> None:
        """A plan is always there."""

    async def close(self) -> None:
        """A plan holds nothing."""
