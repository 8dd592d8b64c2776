"""`screenloop serve` with its journal in PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from postgres_server import PostgresServer

from screenloop.errors import ConfigError
from screenloop.manager.clock import SystemClock
from screenloop.manager.serve import ServeOptions, Serves, run_manager

LONG_S = 240.0


class HurriedClock(SystemClock):
    """Lets a hundred seconds pass in one."""

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / 100)


def options(state: Path, journal: str) -> ServeOptions:
    # Without pools there are no hosts: this is about managers.
    return ServeOptions(state=str(state), pools=(), token="t" * 16, port=0, journal=journal)


class Manager:
    """A manager in this process."""

    def __init__(self, state: Path, journal: str) -> None:
        self.ended = asyncio.Event()
        self._up: asyncio.Future[Serves] = asyncio.get_running_loop().create_future()
        up: Callable[[Serves], None] = self._up.set_result
        self.task = asyncio.create_task(
            run_manager(options(state, journal), self.ended, up=up, clock=HurriedClock())
        )

    async def is_up(self) -> None:
        waits: set[asyncio.Future[Any]] = {self.task, self._up}
        await asyncio.wait(waits, timeout=LONG_S, return_when=asyncio.FIRST_COMPLETED)
        assert self._up.done()

    async def ends(self) -> None:
        await asyncio.wait_for(self.task, LONG_S)


async def test_a_manager_whose_place_is_taken_ends_by_itself(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    first = Manager(tmp_path / "one", postgres.url)
    await first.is_up()
    other = Manager(tmp_path / "other", postgres.url)
    await other.is_up()
    successor = Manager(tmp_path / "one", postgres.url)
    await successor.is_up()
    await first.ends()
    assert first.ended.is_set()
    for left in (other, successor):
        assert not left.task.done()
        left.ended.set()
        await left.ends()


async def test_another_kind_of_url_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="postgresql://USER"):
        await run_manager(options(tmp_path, "mysql://h/d"), asyncio.Event())
