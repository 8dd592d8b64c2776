"""A host process: `python -m screenloop.manager.hosts.server`, its orders as JSON on stdin.

It runs Instances behind HTTP until it is told to end by SIGTERM, or until it has heard from no
manager for so long that none will come back.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import os
import sys
from pathlib import Path

import msgspec
import uvloop

from screenloop.envs.kinds import Environments
from screenloop.errors import ConfigError, InfraFault
from screenloop.http.server import Serving, end_on_signals, listen, url_of
from screenloop.manager.clock import Clock, SystemClock, first_of
from screenloop.manager.hosts.app import HostApp
from screenloop.manager.hosts.base import HostCard, HostOrders, ready_start
from screenloop.manager.hosts.instances import InstanceHost
from screenloop.manager.hosts.local.process import facts_of, rss_mb
from screenloop.store.blob_urls import open_blobs

_LOOK_S = 1.0
"""How often the orphan timer looks."""

_log = logging.getLogger(__name__)


class OrphanTimer:
    """Knows since when no manager was heard of."""

    def __init__(self, orphan_s: float, clock: Clock) -> None:
        self._orphan_s = orphan_s
        self._clock = clock
        self._heard_s = clock.now_s()

    def heard(self) -> None:
        self._heard_s = self._clock.now_s()

    async def orphaned(self) -> None:
        """Return once none came for too long; never for a limit of 0."""
        while not self._orphan_s or self._clock.now_s() - self._heard_s < self._orphan_s:
            await self._clock.sleep(_LOOK_S)


async def run_host(
    orders: HostOrders, ended: asyncio.Event, *, clock: Clock, fencing: bool = True
) -> None:
    """Serve Instances until `ended` is set or the host is orphaned.

    Args:
        orders: what to run and where.
        ended: set to end it.
        clock: of the orphan timer and of idle times.
        fencing: False lets every fence in: only for showing that tests would see it.

    Raises:
        ConfigError: the store's URL or the address to listen on is no good.
        InfraFault: the ready file cannot be written.
    """
    plan = orders.plan
    blobs = open_blobs(plan.blobs)
    environments = Environments(blobs)
    host = InstanceHost(
        plan.host, environments.open, probe=ready_start, clock=clock, rss_mb=rss_mb, fencing=fencing
    )
    timer = OrphanTimer(orders.orphan_s, clock)
    app = HostApp(host, token=plan.token, blobs=blobs, heard=timer.heard).asgi()
    listener = listen(orders.listen, orders.port)
    try:
        async with Serving(app, listener):
            if orders.ready_file:
                write_card(Path(orders.ready_file), plan.host, url_of(listener))
            await first_of(ended.wait(), timer.orphaned())
    finally:
        await host.close()
        await environments.close()
        if orders.ready_file:
            remove_card(Path(orders.ready_file))


def write_card(path: Path, host: str, address: str) -> None:
    """Write down where this process answers; the file appears whole.

    Raises:
        InfraFault: it cannot be written.
    """
    facts = facts_of(os.getpid())
    assert facts is not None
    card = HostCard(host=host, pid=facts.pid, started_ticks=facts.started_ticks, address=address)
    partial = path.with_suffix(".part")
    try:
        partial.write_bytes(msgspec.json.encode(card))
        partial.replace(path)
    except OSError as error:
        raise InfraFault(f"cannot write {path}: {error}") from error


def remove_card(path: Path) -> None:
    """Take the card away; whoever looks for the process will see that it is gone anyway."""
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)


async def _main(orders: HostOrders, *, fencing: bool) -> None:
    await run_host(orders, end_on_signals(), clock=SystemClock(), fencing=fencing)


def main(*, fencing: bool = True) -> None:
    """Run a host as its orders say."""
    parser = argparse.ArgumentParser(prog="python -m screenloop.manager.hosts.server")
    parser.add_argument(
        "--orders", type=Path, help="file with the orders as JSON; stdin where none is named"
    )
    path: Path | None = parser.parse_args().orders
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    try:
        data = path.read_bytes() if path is not None else sys.stdin.buffer.read()
        orders = msgspec.json.decode(data, type=HostOrders)
        uvloop.run(_main(orders, fencing=fencing))
    except (OSError, msgspec.DecodeError) as error:
        sys.exit(f"no orders that can be read: {error}")
    except (ConfigError, InfraFault) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
