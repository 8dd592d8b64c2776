"""What a new Instance is reset to before it counts as ready."""

from __future__ import annotations

from screenloop.criteria import AnswerIs
from screenloop.types import EnvRef, Goal, Start, Task, World

WORLDS = {"fake": "default", "phone": "default", "web": "miniwob/click-test"}
"""A world that each kind surely knows; another kind is ready once it was opened."""


def ready_start(env: EnvRef) -> Start | None:
    """Return a Start that any Instance of this kind must be able to reset to."""
    world = WORLDS.get(env.kind)
    if world is None:
        return None
    return Start(
        task=Task(
            id="probe/ready@1",
            env=env,
            world=World(name=world),
            goal=Goal(text="Show the first screen."),
            checks=(AnswerIs(says="nothing is asked", to="ready"),),
        )
    )
