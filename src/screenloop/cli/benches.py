"""The benches of docs/measurements.md; each is imported when it runs."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path

from cyclopts import App

from screenloop.cli.output import Json, Switch, error_console, require_range, show
from screenloop.report.terminal import struct_table
from screenloop.train.facade import require_train_extra
from screenloop.types import Struct

bench = App(name="bench", help="Figures of docs/measurements.md, measured here.")


@bench.command(name="phone")
def bench_phone(*, live: int = 1000, json: Json = False) -> None:
    """Measure resets, frames and memory of mocked phones.

    Parameters
    ----------
    live
        Phones to keep alive at once.
    """
    from screenloop.bench.phone import run as measured

    _bench(measured.run(live=live), json)


@bench.command(name="web")
def bench_web(*, json: Json = False) -> None:
    """Measure resets and steps of MiniWoB++ pages, and of the peer where it is installed."""
    from screenloop.bench.web import run as measured

    _bench(measured.run(), json)


@bench.command(name="prefix")
def bench_prefix(*, engine: Switch = False, json: Json = False) -> None:
    """Count prompt tokens that windowed history lets a prefix cache reuse.

    Parameters
    ----------
    engine
        Compare with what the engine really takes from its cache, on Episodes of tiny policies.
    """
    if engine:
        require_train_extra()
        from screenloop.bench.prefix import engine as prefix_engine

        _bench(prefix_engine.run(), json)
        return
    from screenloop.bench.prefix import run as measured

    _bench(measured.run(), json)


@bench.command(name="trainer")
def bench_trainer(*, updates: int = 500, json: Json = False) -> None:
    """Watch the memory of a training run over hundreds of updates.

    Parameters
    ----------
    updates
        How many; at least 200.
    """
    require_train_extra()
    from screenloop.bench.train import memory as measured

    _bench(measured.run(updates), json)


@bench.command(name="update")
def bench_update(*, json: Json = False) -> None:
    """Time one update on window samples against one on per-step samples of the same episodes."""
    require_train_extra()
    from screenloop.bench.train import update as measured

    _bench(measured.run(), json)


@bench.command(name="leases")
def bench_leases(*, schedules: int = 10_000, json: Json = False) -> None:
    """Measure what a lease operation costs, and play random schedules of crashes against it.

    Parameters
    ----------
    schedules
        Random schedules to play.
    """
    from screenloop.bench.lease import run as measured

    _bench(measured.run(schedules=schedules), json)


@bench.command(name="http")
def bench_http(*, phones: int = 2000, json: Json = False) -> None:
    """Measure what HTTP costs: the manager's CPU an operation, and how much longer a step takes.

    Parameters
    ----------
    phones
        Phones live and leased while steps are timed.
    """
    require_range("phones", phones, 1)
    from screenloop.bench import http as measured

    _bench(measured.run(phones=phones), json)


@bench.command(name="live")
def bench_live(*, instances: int = 20_000, json: Json = False) -> None:
    """Keep many phones live at once; reset, step and judge each.

    Parameters
    ----------
    instances
        Phones.
    """
    from screenloop.bench.phone import live as measured

    require_range("instances", instances, 1)
    with error_console.status("Leasing ...") as status:

        def tell(stage: str, done: int, of: int) -> None:
            status.update(f"{stage}: {done:,} of {of:,}")

        found = asyncio.run(measured.run(instances, tell))
    show(found, json, struct_table)


@bench.command(name="fleet")
def bench_fleet(*, out: Path | None = None, json: Json = False) -> None:
    """Simulate fleets past this machine in virtual time, by the manager's own decisions.

    Parameters
    ----------
    out
        Folder to write plots to.
    """
    from screenloop.bench.fleet import run as measured

    _bench(measured.run(out), json)


@bench.command(name="chaos")
def bench_chaos(
    *, episodes: int = 300, seed: int = 0, fencing: bool = True, json: Json = False
) -> None:
    """Play episodes while hosts, manager, disk, network and clock go wrong; count what is lost.

    Parameters
    ----------
    episodes
        Episodes to play.
    seed
        Of the faults; the same one gives the same schedule.
    fencing
        Without fences, late workers are let in, and violations must be found.
    """
    from screenloop.bench.chaos import run as measured

    _bench(measured.run(episodes, seed=seed, fencing=fencing), json)


def _bench(work: Coroutine[object, object, Struct], json: bool) -> None:
    with error_console.status("Measuring ..."):
        found = asyncio.run(work)
    show(found, json, struct_table)
