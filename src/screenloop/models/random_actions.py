"""A model that acts at random: the floor that every other model must beat."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection

from screenloop.actions import Action, Finish
from screenloop.envs.draws import DRAWABLE, draw_action
from screenloop.messages import ChatRequest, Reply


class RandomModel:
    """Draws a valid GUI Action for each call; equal seeds and call ids give equal replies.

    `render` is the dialect's. About one call in fifty ends the episode.
    """

    FINISH_SHARE = 0.02

    def __init__(
        self,
        render: Callable[[Action], str],
        *,
        seed: int = 0,
        kinds: Collection[str] = DRAWABLE,
        name: str = "random",
    ) -> None:
        self.name = name
        self._render = render
        self._seed = seed
        self._kinds = frozenset(kinds)

    async def complete(self, request: ChatRequest, *, deadline_s: float) -> Reply:
        """Answer with a drawn Action."""
        rng = random.Random(f"{self._seed}/{request.call_id}")
        action: Action
        if rng.random() < self.FINISH_SHARE:
            action = Finish(status=rng.choice(("success", "failure")))
        else:
            action = draw_action(rng, self._kinds)
        return Reply(text=self._render(action))

    async def preflight(self) -> None:
        """Chance is always there."""

    async def close(self) -> None:
        """Chance holds nothing."""
