"""Asking a host within a deadline, again while it cannot be reached."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from screenloop.errors import DeadlinePassed, InfraFault, ScreenloopError
from screenloop.manager.clock import Clock
from screenloop.manager.failures import message_of
from screenloop.manager.hosts.base import HostUnreachable

GRACE_S = 1.0
"""How much longer than the deadline a host may take to say that it was missed."""
AGAIN_AFTER_S = (0.05, 0.1, 0.2, 0.4, 0.8)
"""Pauses before a host that cannot be reached is asked again."""

T = TypeVar("T")


async def ask(
    operation: Callable[[float], Awaitable[T]],
    *,
    where: str,
    deadline_s: float,
    clock: Clock,
    go_on: Callable[[], None] = lambda: None,
) -> T:
    """Return a host's answer.

    Args:
        operation: called with the seconds left; harmless to repeat.
        where: what is asked of whom, for failures.
        deadline_s: from now.
        clock: measures what is left, and the pauses.
        go_on: raises when asking again has become pointless.

    Raises:
        DeadlinePassed: no answer in time.
        HostUnreachable: asked again and again, the host could not be reached.
        ScreenloopError: what the host answered.
    """
    began_s = clock.now_s()
    try:
        async with asyncio.timeout(deadline_s + GRACE_S) as timer:
            for pause_s in AGAIN_AFTER_S:
                left_s = deadline_s - (clock.now_s() - began_s)
                try:
                    return await operation(max(left_s, 0.001))
                except HostUnreachable:
                    if left_s <= pause_s:
                        raise
                await clock.sleep(pause_s)
                go_on()
            left_s = deadline_s - (clock.now_s() - began_s)
            return await operation(max(left_s, 0.001))
    except ScreenloopError:
        raise
    except TimeoutError as error:
        if timer.expired():
            raise DeadlinePassed(f"{where} did not answer within {deadline_s:g} s") from error
        raise InfraFault(f"{where} failed: {message_of(error)}") from error
    except Exception as error:
        raise InfraFault(f"{where} failed: {message_of(error)}") from error
