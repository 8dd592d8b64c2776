"""A suite of two tasks, one of them judged by code."""

from kitchen.timer import SIZE_PX
from screenloop.actions import Tap
from screenloop.criteria import Code, Value
from screenloop.errors import ConfigError
from screenloop.types import EnvRef, Goal, Task, World

ADD, CLEAR = Tap(at=(0.5, 0.25)), Tap(at=(0.5, 0.75))


class Kitchen:
    """The suite `kitchen`."""

    name = "kitchen"
    version = "7"
    env_kind = "timer"

    def names(self):
        return ("cook_an_egg", "stay_even")

    def task(self, name, seed):
        if name not in self.names():
            raise ConfigError(f"no task {name!r} in the kitchen")
        egg = name == "cook_an_egg"
        check = (
            Value(says="the timer shows 5 minutes", app="timer", path="minutes", to=5)
            if egg
            else Code(says="the minutes are even and set", path="even", params={"least": 4})
        )
        return Task(
            id=f"kitchen/{name}@2",
            seed=seed,
            env=EnvRef(kind="timer", size_px=SIZE_PX),
            world=World(seed=seed),
            goal=Goal(text="Set the timer to 5 minutes." if egg else "Set 4 minutes."),
            checks=(check,),
            allowed=() if egg else ("timer",),
            golden=(CLEAR, *[ADD] * (5 if egg else 4)),
            tags={"domain": "kitchen", "difficulty": "easy", "apps": "timer"},
        )
