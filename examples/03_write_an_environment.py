"""Write an Environment, a lamp with a dimmer, and let the checker try the contract on it."""

import asyncio
import io
from collections.abc import Sequence

from PIL import Image

from screenloop.actions import Action, Tap
from screenloop.envs.checker import check_environment
from screenloop.errors import EnvironmentFault, StaleFrame, UnsupportedAction
from screenloop.store.blobs import MemoryBlobs
from screenloop.suites.catalog import find_suite
from screenloop.types import Effect, EnvSpec, Evidence, Observation, Start, StepResult, Want


class Lamp:
    """Implements `envs.base.Environment`; there is nothing to inherit from."""

    spec = EnvSpec(kind="lamp", surface="mobile", size_px=(64, 64), actions=frozenset({"tap"}))
    blobs = MemoryBlobs()
    level, frame = 0, ""

    async def reset(self, start: Start | str, *, deadline_s: float) -> Observation:
        self.level = 0
        return await self.observe(deadline_s=deadline_s)

    async def observe(self, want: Sequence[Want] = (), *, deadline_s: float) -> Observation:
        Image.new("L", self.spec.size_px, self.level).save(picture := io.BytesIO(), "PNG")
        self.frame = self.blobs.put(picture.getvalue(), "png")
        return Observation(frame=self.frame, size_px=(64, 64), state_hash=str(self.level))

    async def step(self, action: Action, *, action_id: str, deadline_s: float) -> StepResult:
        if not isinstance(action, Tap):
            raise UnsupportedAction("a lamp can only be tapped")
        if action.frame not in (None, self.frame):
            raise StaleFrame("the lamp has another brightness by now; observe again")
        self.level = round(action.at[0] * 255)
        seen = await self.observe(deadline_s=deadline_s)
        return StepResult(effect=Effect(ok=True), observation=seen)

    async def evidence(self, *, deadline_s: float) -> Evidence:
        return Evidence(before={"lamp": {"level": 0}}, after={"lamp": {"level": self.level}})

    async def snapshot(self, *, deadline_s: float) -> str:
        raise EnvironmentFault("a lamp keeps no snapshots")  # so the spec says no `can_fork`

    async def close(self) -> None: ...


async def open_lamp() -> Lamp:
    return Lamp()


START = Start(task=find_suite("fake").task("zero_counter", seed=0))  # a lamp reads nothing of it
if __name__ == "__main__":
    report = asyncio.run(check_environment(open_lamp, [START], blobs=Lamp.blobs))
    print(*(f"{finding.rule}: {finding.passed}" for finding in report.findings), sep="\n")
    report.raise_for_failures()
