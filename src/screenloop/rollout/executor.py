"""Carries out what an agent decided: some Actions here, the others through the Manager."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from screenloop.actions import Action, Answer, Ask, Batch, Finish, Noop, Single, pin_frame
from screenloop.errors import StaleFrame, UnsupportedAction
from screenloop.rollout.context import RunContext
from screenloop.types import Claim, DiffRow, Effect, Lease, Observation


def singles(actions: Sequence[Action]) -> Iterator[Single]:
    """Yield the Actions one by one, batches opened up."""
    for action in actions:
        if isinstance(action, Batch):
            yield from action.actions
        else:
            yield action


class ActionExecutor:
    """Executes Actions during one Episode and remembers what the agent claimed.

    Refused Actions (unsupported, or aimed at a frame that is gone) are Effects with `ok` false:
    the agent's blame, and the loop goes on. Other failures pass through.
    """

    def __init__(
        self, setting: RunContext, lease: Lease, episode_id: str, observation: Observation
    ) -> None:
        self.spec = lease.spec
        self._setting = setting
        self._lease = lease
        self._episode_id = episode_id
        self.observation = observation
        """What was seen last."""
        self.claim = Claim()
        self.ask_reply: str | None = None
        """What the person said during the last `carry_out`."""
        self.changes: tuple[DiffRow, ...] = ()
        """What the last `carry_out` changed in the business state, where the device can tell."""

    async def carry_out(self, step_index: int, actions: Sequence[Action]) -> tuple[Effect, ...]:
        """Execute in order until one fails or the Episode is over; one Effect each.

        The k-th Effect belongs to the k-th single Action, batches opened up. Only the first is
        bound to the frame it was decided on: the screen has changed for the others.
        """
        self.ask_reply, self.changes = None, ()
        effects: list[Effect] = []
        for number, action in enumerate(singles(actions)):
            loose = action if number == 0 else pin_frame(action, None)
            effects.append(await self._one(f"{self._episode_id}/{step_index}/{number}", loose))
            if not effects[-1].ok or self.claim.finish is not None or self.observation.done:
                break
        return tuple(effects)

    async def _one(self, action_id: str, action: Action) -> Effect:
        match action:
            case Ask(text=text):
                reply = await self._setting.person.reply(self._episode_id, text)
                self.ask_reply = f"{self.ask_reply}\n{reply}" if self.ask_reply else reply
                return Effect(ok=True, code="asked", message=reply, executed="asked the person")
            case Answer(text=text):
                self.claim = Claim(answer=text, finish=self.claim.finish)
                return Effect(ok=True, code="answered", executed="kept the answer")
            case Finish():
                self.claim = Claim(answer=self.claim.answer, finish=action)
                return Effect(ok=True, code="finished", executed="ended the episode")
            case Noop():
                return Effect(ok=True, code="noop", executed="did nothing")
        return await self._on_instance(action_id, action)

    async def _on_instance(self, action_id: str, action: Action) -> Effect:
        manager, deadlines = self._setting.manager, self._setting.deadlines
        try:
            result = await manager.step(
                self._lease, action_id, action, deadline_s=deadlines.of_step(action)
            )
        except UnsupportedAction as error:
            return Effect(ok=False, code="unsupported", message=str(error))
        except StaleFrame as error:
            self.observation = await manager.observe(
                self._lease, self._setting.want, deadline_s=deadlines.observe_s
            )
            return Effect(ok=False, code="stale_frame", message=str(error))
        self.observation = result.observation
        self.changes += result.changes
        return result.effect
