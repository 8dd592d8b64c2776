"""The manager process of the chaos bench: `python -m screenloop.bench.chaos.manager`.

It is the manager that `screenloop serve` runs, besides a clock that a control file puts wrong, and
a switch that takes the fences away. Its orders come as JSON on stdin; one line on stdout says that
it is up.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
from pathlib import Path

import msgspec

from screenloop.errors import ConfigError, InfraFault
from screenloop.manager.clock import SkewedClock, SystemClock
from screenloop.manager.hosts.local.launcher import HOST_MODULE
from screenloop.manager.serve import ServeOptions, Serves, run_manager
from screenloop.manager.supply.desired import Timing
from screenloop.types import Struct

UNFENCED_HOST = "screenloop.bench.chaos.host"
SKEW_FILE = "skew_s"
_LOOK_S = 0.1


class ChaosOrders(Struct, frozen=True, kw_only=True):
    """What the process is told."""

    options: ServeOptions
    control: str
    """Folder of the control files."""
    fencing: bool
    timing: Timing


def write_skew(control: Path, skew_s: float) -> None:
    """Have the manager's clock run ahead by so many seconds, in the next life too."""
    partial = control / f"{SKEW_FILE}.part"
    partial.write_text(str(skew_s))
    partial.replace(control / SKEW_FILE)


def read_skew(control: Path) -> float:
    """Return by how much the manager's clock is to run ahead."""
    with contextlib.suppress(FileNotFoundError):
        return float((control / SKEW_FILE).read_text())
    return 0.0


async def _follow(clock: SkewedClock, control: Path, ended: asyncio.Event) -> None:
    """Follow the control file; end when nobody is left who would."""
    parent = os.getppid()
    while os.getppid() == parent:
        clock.skew_s = clock.wall_skew_s = read_skew(control)
        await asyncio.sleep(_LOOK_S)
    ended.set()


async def _main(orders: ChaosOrders) -> None:
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    clock = SkewedClock(SystemClock())
    clock.skew_s = clock.wall_skew_s = read_skew(Path(orders.control))
    following = asyncio.create_task(_follow(clock, Path(orders.control), ended))

    def up(serves: Serves) -> None:
        os.write(1, msgspec.json.encode(serves) + b"\n")

    try:
        await run_manager(
            orders.options,
            ended,
            up=up,
            clock=clock,
            timing=orders.timing,
            host_module=HOST_MODULE if orders.fencing else UNFENCED_HOST,
            fencing=orders.fencing,
        )
    finally:
        following.cancel()


def main() -> None:
    """Run a manager as its orders say."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    try:
        orders = msgspec.json.decode(sys.stdin.buffer.read(), type=ChaosOrders)
        asyncio.run(_main(orders))
    except (ConfigError, InfraFault, msgspec.DecodeError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
