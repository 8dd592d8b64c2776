"""An Environment: a touch screen whose upper half adds a minute and whose lower half clears."""

import hashlib
import io

from PIL import Image

from screenloop.actions import Tap
from screenloop.errors import EnvironmentFault, StaleFrame, UnsupportedAction
from screenloop.types import Effect, EnvSpec, Evidence, Observation, StepResult

SIZE_PX = (96, 192)


class Timer:
    """One kitchen timer."""

    def __init__(self, blobs):
        self.spec = EnvSpec(
            kind="timer", surface="mobile", size_px=SIZE_PX, actions=frozenset({"tap"})
        )
        self._blobs = blobs
        self._first = self._minutes = 0
        self._seen = None

    async def reset(self, start, *, deadline_s):
        if isinstance(start, str):
            raise EnvironmentFault("a timer keeps no snapshots")
        self._first = self._minutes = start.task.world.seed % 3
        return await self.observe(deadline_s=deadline_s)

    async def observe(self, want=("frame",), *, deadline_s):
        picture = io.BytesIO()
        Image.new("RGB", SIZE_PX, (self._minutes * 40 % 256, 90, 120)).save(picture, "PNG")
        self._seen = self._blobs.put(picture.getvalue(), "png")
        state = hashlib.sha256(str(self._minutes).encode()).hexdigest()
        return Observation(frame=self._seen, size_px=SIZE_PX, app="timer", state_hash=state)

    async def step(self, action, *, action_id, deadline_s):
        if not isinstance(action, Tap):
            raise UnsupportedAction("a timer can only be tapped")
        if action.frame not in (None, self._seen):
            raise StaleFrame("the timer shows something else by now")
        self._minutes = self._minutes + 1 if action.at[1] < 0.5 else 0
        seen = await self.observe(deadline_s=deadline_s)
        return StepResult(effect=Effect(ok=True, executed="tap"), observation=seen)

    async def evidence(self, *, deadline_s):
        return Evidence(
            before={"timer": {"minutes": self._first}}, after={"timer": {"minutes": self._minutes}}
        )

    async def snapshot(self, *, deadline_s):
        raise EnvironmentFault("a timer keeps no snapshots")

    async def close(self):
        pass


class Timers:
    """Opens timers."""

    def __init__(self, blobs, *, want=("frame",)):
        self._blobs = blobs

    async def open(self, env):
        return Timer(self._blobs)

    async def close(self):
        pass
