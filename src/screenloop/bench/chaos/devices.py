"""Fake devices that write down what is done to them: the ground truth of the chaos bench.

A host process opens them by the dotted path `KIND`. Each reset and each step is one line, appended
before it is carried out, in a file that no fault touches.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec
from msgspec.structs import replace

from screenloop.actions import Action
from screenloop.envs.fake import FakeEnvironment, FakeEnvironments
from screenloop.errors import ConfigError
from screenloop.store.blobs import BlobStore
from screenloop.testing.failing_blobs import FailingBlobs
from screenloop.types import (
    BlobKey,
    EnvRef,
    EnvSpec,
    Evidence,
    Observation,
    SnapshotKey,
    Start,
    StepResult,
    Struct,
    Want,
)

KIND = "screenloop.bench.chaos.devices:LoggedDevices"
CONTROL_VARIABLE = "SCREENLOOP_CHAOS"
"""Environment variable that names the folder of the control files and of the log."""
LOG_FILE = "devices.jsonl"
FULL_FILE = "disk_full"
"""While it is there, devices cannot write a frame."""


class Deed(Struct, frozen=True, kw_only=True):
    """One thing that was done to a device."""

    device: str
    """Drawn when it was opened."""
    what: Literal["reset", "step"]
    id: str
    """Key of the Task, or the action id."""


def read_deeds(control: Path) -> Iterator[Deed]:
    """Yield what was done to all devices, in order."""
    path = control / LOG_FILE
    if path.exists():
        for line in path.read_bytes().splitlines():
            yield msgspec.json.decode(line, type=Deed)


class _SwitchedBlobs:
    """A store whose disk is full while a file is there."""

    def __init__(self, blobs: BlobStore, switch: Path) -> None:
        self._blobs = FailingBlobs(blobs)
        self._switch = switch

    def put(self, data: bytes, suffix: str) -> BlobKey:
        self._blobs.full = self._switch.exists()
        return self._blobs.put(data, suffix)

    def get(self, key: BlobKey) -> bytes:
        return self._blobs.get(key)


class _LoggedDevice:
    """One fake device; see `FakeEnvironment`."""

    def __init__(self, inner: FakeEnvironment, log: int) -> None:
        self.spec: EnvSpec = replace(inner.spec, kind=KIND)
        self._inner = inner
        self._log = log
        self._name = secrets.token_hex(6)

    async def reset(self, start: Start | SnapshotKey, *, deadline_s: float) -> Observation:
        if isinstance(start, str):
            return await self._inner.reset(start, deadline_s=deadline_s)
        self._note("reset", start.task.key)
        env = replace(start.task.env, kind="fake")
        known = replace(start, task=replace(start.task, env=env))
        return await self._inner.reset(known, deadline_s=deadline_s)

    async def observe(self, want: Sequence[Want] = ("frame",), *, deadline_s: float) -> Observation:
        return await self._inner.observe(want, deadline_s=deadline_s)

    async def step(self, action: Action, *, action_id: str, deadline_s: float) -> StepResult:
        self._note("step", action_id)
        return await self._inner.step(action, action_id=action_id, deadline_s=deadline_s)

    async def evidence(self, *, deadline_s: float) -> Evidence:
        return await self._inner.evidence(deadline_s=deadline_s)

    async def snapshot(self, *, deadline_s: float) -> SnapshotKey:
        return await self._inner.snapshot(deadline_s=deadline_s)

    async def close(self) -> None:
        await self._inner.close()

    def _note(self, what: Literal["reset", "step"], id: str) -> None:
        # One write to a file opened for appending: lines of several processes do not mix.
        deed = Deed(device=self._name, what=what, id=id)
        os.write(self._log, msgspec.json.encode(deed) + b"\n")


class LoggedDevices:
    """Opens them, in the host process."""

    def __init__(self, blobs: BlobStore, *, want: Sequence[Want] = ("frame",)) -> None:
        """Open the log.

        Raises:
            ConfigError: the environment variable is missing.
        """
        folder = os.environ.get(CONTROL_VARIABLE)
        if folder is None:
            raise ConfigError(f"${CONTROL_VARIABLE} names no folder: these devices need one")
        control = Path(folder)
        self._inner = FakeEnvironments(_SwitchedBlobs(blobs, control / FULL_FILE), want=want)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        self._log = os.open(control / LOG_FILE, flags, 0o600)

    async def open(self, env: EnvRef) -> _LoggedDevice:
        inner = await self._inner.open(replace(env, kind="fake"))
        return _LoggedDevice(inner, self._log)

    async def close(self) -> None:
        await self._inner.close()
        os.close(self._log)
