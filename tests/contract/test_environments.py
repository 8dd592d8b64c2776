"""Every Environment of the package keeps the rules that `envs/checker.py` tries."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from screenloop.envs.base import Environment
from screenloop.envs.checker import Trial, check_environment
from screenloop.envs.fake import FakeEnvironment
from screenloop.envs.phone import PhoneEnvironment
from screenloop.envs.web.environment import WebEnvironments
from screenloop.store.blobs import MemoryBlobs
from screenloop.suites.fake import FakeSuite
from screenloop.suites.miniwob import MiniWob
from screenloop.suites.phone_core.suite import PhoneCore
from screenloop.types import Mode, Start

WEB_TASKS = ("click-button", "enter-text", "use-slider")


def phone_starts(mode: Mode) -> list[Start]:
    """Return three starts with different templates and different worlds."""
    suite = PhoneCore()
    names = suite.names()
    picked = (names[0], names[len(names) // 2], names[-1])
    return [Start(task=suite.task(name, seed), mode=mode) for seed, name in enumerate(picked)]


@pytest.mark.parametrize("mode", ["gui_only", "hybrid"])
async def test_the_phone_keeps_every_rule(mode: Mode) -> None:
    blobs, starts = MemoryBlobs(), phone_starts(mode)

    async def open_instance() -> Environment:
        return PhoneEnvironment(starts[0].task.env, blobs)

    trial = Trial(seed=11, actions=25, deadline_s=60, hang_s=120)
    report = await check_environment(open_instance, starts, blobs=blobs, trial=trial)
    report.raise_for_failures()
    skipped = {f.rule for f in report.findings if f.detail.startswith("not applicable")}
    assert skipped <= {"evidence can be read"}, "a phone promises all that the rules ask"


async def test_the_fake_device_keeps_every_rule() -> None:
    blobs, suite = MemoryBlobs(), FakeSuite()
    starts = [Start(task=suite.task(name, seed)) for seed, name in enumerate(suite.names()[:3])]

    async def open_instance() -> Environment:
        return FakeEnvironment(blobs)

    trial = Trial(seed=5, actions=20, deadline_s=60, hang_s=120)
    report = await check_environment(open_instance, starts, blobs=blobs, trial=trial)
    report.raise_for_failures()


@pytest_asyncio.fixture
async def web() -> AsyncIterator[tuple[MemoryBlobs, WebEnvironments]]:
    blobs = MemoryBlobs()
    environments = WebEnvironments(blobs)
    yield blobs, environments
    await environments.close()


@pytest.mark.browser
async def test_web_pages_keep_every_rule(web: tuple[MemoryBlobs, WebEnvironments]) -> None:
    blobs, environments = web
    suite = MiniWob()
    starts = [Start(task=suite.task(name, seed)) for seed, name in enumerate(WEB_TASKS)]

    async def open_instance() -> Environment:
        return await environments.open(starts[0].task.env)

    trial = Trial(seed=2, actions=5, deadline_s=60, hang_s=120)
    report = await check_environment(open_instance, starts, blobs=blobs, trial=trial)
    report.raise_for_failures()
