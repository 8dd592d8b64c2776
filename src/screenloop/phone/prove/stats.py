"""Figures about the apps: what exploration and replay found, per app and as medians.

Peer medians an app, published for MobileGym++: 37 routes, 166 actions, 86 transitions, depth 3.
"""

from __future__ import annotations

from statistics import median
from typing import Any

from screenloop.phone.declare.app import App
from screenloop.phone.declare.system import OS_ID
from screenloop.phone.device.boot import installed
from screenloop.phone.device.device import Apps
from screenloop.phone.prove.explore import AppCoverage, Coverage, explore
from screenloop.phone.prove.replay import FlowReport, replay_all
from screenloop.types import Struct


class AppRow(Struct, frozen=True, kw_only=True, omit_defaults=False):
    """One app."""

    app: str
    routes: int
    """Route templates reached by touch."""
    actions: int
    """Distinct kinds of touches: route template and widget key template."""
    transitions: int
    """Distinct (route, kind of touch, route)."""
    depth: int
    """Touches from the launcher to the farthest route template."""
    tools: int
    flows: int
    unreached: tuple[str, ...] = ()
    uncovered_actions: tuple[str, ...] = ()
    replay_failures: tuple[str, ...] = ()


class AppsStats(Struct, frozen=True, kw_only=True, omit_defaults=False):
    """All apps; the system itself has a row in the table but is in no count or median."""

    apps: int
    tools: int
    routes_median: float
    actions_median: float
    transitions_median: float
    depth_median: float
    uncovered_actions: int
    replay_failures: int
    broken_links: tuple[str, ...] = ()
    table: tuple[AppRow, ...] = ()


def apps_stats() -> AppsStats:
    """Explore all apps, replay all flows, and count."""
    return stats_of(installed(), explore(), replay_all())


def stats_of(apps: Apps, coverage: Coverage, reports: tuple[FlowReport, ...]) -> AppsStats:
    """Return the figures of an exploration and of replays."""
    table = tuple(_row(app, coverage.apps[app.id], reports) for app in apps.values())
    rows = [row for row in table if row.app != OS_ID]
    return AppsStats(
        apps=len(rows),
        tools=sum(row.tools for row in rows),
        routes_median=median(row.routes for row in rows),
        actions_median=median(row.actions for row in rows),
        transitions_median=median(row.transitions for row in rows),
        depth_median=median(row.depth for row in rows),
        uncovered_actions=sum(len(row.uncovered_actions) for row in table),
        replay_failures=sum(len(row.replay_failures) for row in table),
        broken_links=coverage.broken,
        table=table,
    )


def _row(app: App[Any], found: AppCoverage, reports: tuple[FlowReport, ...]) -> AppRow:
    return AppRow(
        app=app.id,
        routes=len(found.routes),
        actions=len(found.actions),
        transitions=len(found.transitions),
        depth=found.depth,
        tools=len(app.tools()),
        flows=len(app.flows),
        unreached=found.unreached,
        uncovered_actions=found.uncovered,
        replay_failures=tuple(
            f"{report.where}: {report.flow}: {failure}"
            for report in reports
            if report.app == app.id
            for failure in report.failures
        ),
    )
