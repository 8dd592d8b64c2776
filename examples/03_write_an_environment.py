"""Write an Environment, a lamp with one switch, and let the checker try the contract on it.

Run it: .venv/bin/python examples/03_write_an_environment.py
"""

import asyncio
import io
from collections.abc import Sequence

from PIL import Image

from screenloop.actions import Action, Tap
from screenloop.criteria import Value
from screenloop.envs.checker import check_environment
from screenloop.errors import EnvironmentFault, UnsupportedAction
from screenloop.store.blobs import MemoryBlobs
from screenloop.types import (
    Effect, EnvRef, EnvSpec, Evidence, Goal, Observation, SnapshotKey, Start, StepResult, Task, Want,
)  # fmt: skip

SIZE_PX = (64, 64)


class Lamp:
    """Implements `envs.base.Environment`; nothing to inherit from."""

    def __init__(self, blobs: MemoryBlobs) -> None:
        self.spec = EnvSpec(kind="lamp", size_px=SIZE_PX, actions=frozenset({"tap"}))
        self._blobs = blobs
        self._is_on: bool | None = None

    async def reset(self, start: Start | SnapshotKey, *, deadline_s: float) -> Observation:
        self._is_on = False
        return await self.observe(deadline_s=deadline_s)

    async def observe(self, want: Sequence[Want] = ("frame",), *, deadline_s: float) -> Observation:
        picture = io.BytesIO()
        Image.new("RGB", SIZE_PX, "gold" if self._is_on else "black").save(picture, "PNG")
        frame = self._blobs.put(picture.getvalue(), "png")
        return Observation(frame=frame, size_px=SIZE_PX, state_hash=str(self._is_on))

    async def step(self, action: Action, *, action_id: str, deadline_s: float) -> StepResult:
        if not isinstance(action, Tap):
            raise UnsupportedAction("a lamp can only be tapped")
        self._is_on = not self._is_on
        seen = await self.observe(deadline_s=deadline_s)
        return StepResult(effect=Effect(ok=True, executed="switch"), observation=seen)

    async def evidence(self, *, deadline_s: float) -> Evidence:
        return Evidence(before={"lamp": {"on": False}}, after={"lamp": {"on": self._is_on}})

    async def snapshot(self, *, deadline_s: float) -> SnapshotKey:
        raise EnvironmentFault("a lamp keeps no snapshots")

    async def close(self) -> None:
        self._is_on = None


async def main() -> None:
    blobs = MemoryBlobs()
    task = Task(
        id="lamp/light@1", env=EnvRef(kind="lamp", size_px=SIZE_PX), goal=Goal(text="Light!"),
        checks=(Value(says="it is light", app="lamp", path="on", to=True),),
    )  # fmt: skip

    async def open_instance() -> Lamp:
        return Lamp(blobs)

    report = await check_environment(open_instance, [Start(task=task)], blobs=blobs)
    for finding in report.findings:
        print("ok    " if finding.passed else "BROKEN", finding.rule, finding.detail)


if __name__ == "__main__":
    asyncio.run(main())
