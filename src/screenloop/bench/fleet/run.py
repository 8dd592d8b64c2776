"""Simulation past this machine: the manager's own decisions over fleets that only take time.

Medians of resets are published figures (165 s Android, 37 s desktop, 6 s web), as are 1,000 phones
ready in 328 s and 1,000 computers in 89 s, which the spread of start times is calibrated on. All
else is the simulation's; see docs/measurements.md for the assumptions.
"""

from __future__ import annotations

import time
from pathlib import Path

from screenloop.bench.fleet.line_plot import Line, line_plot
from screenloop.bench.fleet.virtual import Demand, FleetModel, VirtualFleet
from screenloop.manager.supply.desired import PoolPlan
from screenloop.store.runs import write_whole
from screenloop.types import EnvRef, Struct

PER_HOST = 100
RESETS_S = {"mobile": 165.0, "computer": 37.0, "web": 6.0}
"""Published medians."""
READY_1000_S = {"mobile": 328.0, "computer": 89.0}
"""Published."""
SERIAL_1000_S = 1980.0
"""Published estimate for 1,000 phones started one after another on KVM, at least."""
FAULTS = (0.0, 0.005, 0.02, 0.05)
"""Shares of episodes that end in a failure of their Instance."""
HOST_DEATHS_PER_H = (0.0, 0.2)
"""Of each host."""
HOURS = 2.0
_PLOT_POINTS = 120


class Calibration(Struct, frozen=True, kw_only=True, omit_defaults=False):
    """How the spread of start times was found."""

    kind: str
    reset_median_s: float
    published_1000_s: float | None
    spread: float
    """Standard deviation of the logarithm of a start; the web's is the computers'."""
    simulated_1000_s: float
    """Mean of five seeds."""


class Supply(Struct, frozen=True, kw_only=True, omit_defaults=False):
    """How long until so many Instances were ready."""

    kind: str
    instances: int
    at_once: int
    """Instances that may be starting at the same time, over all hosts."""
    half_s: float
    ready_s: float
    bound_s: float
    """No scheduler is faster: the slowest single start, or all starts shared out evenly among the
    places."""
    one_by_one_s: float
    """One start after another."""
    ratio_to_bound: float


class Use(Struct, frozen=True, kw_only=True, omit_defaults=False):
    """How 1,000 phones were used for two hours by four Runs that always want all of them."""

    instance_faults: float
    """Share of episodes that end in a failure of their Instance."""
    host_deaths_per_h: float
    leased: float
    """Share of Instance-time under a lease, from the moment that all were ready."""
    useful: float
    """The same without attempts that came to nothing."""
    scored: int
    unscored_ratio: float
    fairness: float
    """Fewest episodes of a Run over the most."""


class FleetBench(Struct, frozen=True, kw_only=True, omit_defaults=False):
    """Everything that was simulated."""

    calibrations: tuple[Calibration, ...]
    supplies: tuple[Supply, ...]
    uses: tuple[Use, ...]
    serial_kvm_1000_s: float
    cpu_s: float
    plots: tuple[str, ...] = ()


async def run(out: Path | None = None) -> FleetBench:
    """Simulate; with a folder, plots are written there."""
    began_s = time.process_time()
    calibrations = tuple(_calibrate(kind) for kind in ("mobile", "computer"))
    spreads = {one.kind: one.spread for one in calibrations}
    spreads["web"] = spreads["computer"]
    web = _ready(_model("web", spreads["web"]), 1000, 1000, seed=0)[-1]
    calibrations += (
        Calibration(
            kind="web",
            reset_median_s=RESETS_S["web"],
            published_1000_s=None,
            spread=spreads["web"],
            simulated_1000_s=web,
        ),
    )
    supplies: list[Supply] = []
    curves: list[Line] = []
    for kind in RESETS_S:
        for instances in (1000, 20_000):
            for at_once in sorted({instances, min(instances, 2000)}, reverse=True):
                found, times = _supply(_model(kind, spreads[kind]), instances, at_once)
                supplies.append(found)
                if instances == 20_000:
                    curves.append(_curve(f"{kind}, {at_once:,} at once", times))
    uses = tuple(
        _use(_model("mobile", spreads["mobile"], faults, deaths))
        for deaths in HOST_DEATHS_PER_H
        for faults in FAULTS
    )
    plots: tuple[str, ...] = ()
    if out is not None:
        path = out / "fleet.svg"
        plot = line_plot(curves, x="seconds of virtual time", y="Instances ready")
        write_whole(path, plot.encode())
        plots = (str(path),)
    return FleetBench(
        calibrations=calibrations,
        supplies=tuple(supplies),
        uses=uses,
        serial_kvm_1000_s=SERIAL_1000_S,
        cpu_s=time.process_time() - began_s,
        plots=plots,
    )


def _model(kind: str, spread: float, faults: float = 0.0, deaths: float = 0.0) -> FleetModel:
    return FleetModel(
        kind=kind,
        reset_s=RESETS_S[kind],
        spread=spread,
        instance_faults=faults,
        host_deaths_per_h=deaths,
    )


def _plan(instances: int, at_once: int) -> PoolPlan:
    hosts = -(-instances // PER_HOST)
    return PoolPlan(
        env=EnvRef(kind="simulated", size_px=(1, 1)),
        target=instances,
        most=instances,
        per_host=PER_HOST,
        opens_at_once=max(1, at_once // hosts),
        starts_at_once=hosts,
    )


def _ready(model: FleetModel, instances: int, at_once: int, *, seed: int) -> list[float]:
    fleet = VirtualFleet(_plan(instances, at_once), model, seed=seed)
    return fleet.run(until_ready=instances).ready_at_s


def _calibrate(kind: str) -> Calibration:
    """Find the spread with which 1,000 are ready when the published ones were."""
    aim_s, low, high = READY_1000_S[kind], 0.0, 1.0
    for _ in range(16):
        spread = (low + high) / 2
        if _mean_1000_s(kind, spread) < aim_s:
            low = spread
        else:
            high = spread
    return Calibration(
        kind=kind,
        reset_median_s=RESETS_S[kind],
        published_1000_s=aim_s,
        spread=spread,
        simulated_1000_s=_mean_1000_s(kind, spread),
    )


def _mean_1000_s(kind: str, spread: float) -> float:
    times = [_ready(_model(kind, spread), 1000, 1000, seed=seed)[-1] for seed in range(5)]
    return sum(times) / len(times)


def _supply(model: FleetModel, instances: int, at_once: int) -> tuple[Supply, list[float]]:
    fleet = VirtualFleet(_plan(instances, at_once), model, seed=1)
    times = fleet.run(until_ready=instances).ready_at_s
    starts = fleet.counts.starts_s
    bound_s = max(max(starts), sum(starts) / at_once)
    return (
        Supply(
            kind=model.kind,
            instances=instances,
            at_once=at_once,
            half_s=times[instances // 2],
            ready_s=times[-1],
            bound_s=bound_s,
            one_by_one_s=sum(starts),
            ratio_to_bound=times[-1] / bound_s,
        ),
        times,
    )


def _use(model: FleetModel) -> Use:
    fleet = VirtualFleet(_plan(1000, 1000), model, demand=Demand(runs=4, workers=250), seed=2)
    fleet.run(until_ready=1000)
    before_s, before = fleet.now_s, fleet.leased_s()
    counts = fleet.run(until_s=before_s + HOURS * 3600)
    leased_s = fleet.leased_s() - before
    whole_s = 1000 * HOURS * 3600
    ended = counts.scored + counts.unscored
    by_run = list(counts.by_run.values())
    return Use(
        instance_faults=model.instance_faults,
        host_deaths_per_h=model.host_deaths_per_h,
        leased=leased_s / whole_s,
        useful=(leased_s - counts.lost_s) / whole_s,
        scored=counts.scored,
        unscored_ratio=counts.unscored / max(1, ended),
        fairness=min(by_run) / max(by_run),
    )


def _curve(name: str, times: list[float]) -> Line:
    step = max(1, len(times) // _PLOT_POINTS)
    points = [(times[i], float(i + 1)) for i in range(0, len(times), step)]
    return Line(name=name, points=((0.0, 0.0), *points, (times[-1], float(len(times)))))
