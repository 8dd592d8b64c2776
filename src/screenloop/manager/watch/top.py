"""A manager at a glance: what `screenloop top` shows."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from screenloop.manager.wire.bodies import PoolStatus, Status

_RUNS = 12
_QUARANTINED = 5


def status_table(status: Status, url: str) -> RenderableType:
    """Return what a person wants to see, at most 80 columns wide."""
    parts: list[RenderableType] = [_headline(status, url), _pools(status.pools)]
    if status.leases_by_run:
        parts.append(_runs(status.leases_by_run))
    parts.append(_faults(status))
    for one in status.quarantined[-_QUARANTINED:]:
        parts.append(Text(f"quarantined {one.instance}: {one.reason}", style="yellow"))
    for pool in status.pools:
        if pool.trouble:
            parts.append(Text(f"{pool.env.kind} cannot start: {pool.trouble}", style="bold red"))
    return Group(*parts)


def _headline(status: Status, url: str) -> Text:
    state = ("draining", "bold yellow") if status.draining else ("serving", "bold green")
    return Text.assemble(
        state,
        f"  {url}  up {_span(status.up_s)}  ",
        (f"{status.leases} leases, {status.in_flight} under way", ""),
        (f", {status.acquiring} waiting" if status.acquiring else "", "yellow"),
    )


def _pools(pools: tuple[PoolStatus, ...]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("pool", no_wrap=True)
    for name in ("hosts", "free", "leased", "starting", "waiting", "quarantined"):
        table.add_column(name, justify="right", no_wrap=True)
    for pool in pools:
        width, height = pool.env.size_px
        table.add_row(
            f"{pool.env.kind} {width}x{height}",
            f"{pool.hosts - pool.hosts_starting}/{pool.hosts}",
            str(pool.ready - pool.taken),
            str(pool.taken),
            str(pool.starting),
            Text(str(pool.waiting), style="yellow" if pool.waiting else ""),
            Text(str(pool.quarantined), style="red" if pool.quarantined else ""),
        )
    return table


def _runs(leases: dict[str, int]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("run", no_wrap=True, overflow="ellipsis", max_width=50)
    table.add_column("leases", justify="right")
    most = sorted(leases.items(), key=lambda one: (-one[1], one[0]))
    for run, number in most[:_RUNS]:
        table.add_row(run, str(number))
    if len(most) > _RUNS:
        table.add_row(f"and {len(most) - _RUNS} more", str(sum(n for _, n in most[_RUNS:])))
    return table


def _faults(status: Status) -> Text:
    over = status.evaluated + status.unscored
    ratio = f" ({100 * status.unscored / over:.1f} %)" if over else ""
    faults = ", ".join(f"{number} {blame}" for blame, number in sorted(status.faults.items()))
    return Text.assemble(
        f"{status.evaluated} verdicts, {status.unscored} attempts without one{ratio}; faults: ",
        (faults or "none", "red" if status.faults else "green"),
    )


def _span(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"
