"""What should be there: the desired state of a pool of Instances, and what judges it."""

from __future__ import annotations

import math
import re
from typing import Annotated

from msgspec import Meta

from screenloop.envs.kinds import KINDS, find_kind
from screenloop.errors import ConfigError
from screenloop.suites.catalog import find_suite, select
from screenloop.types import EnvRef, Struct

Count = Annotated[int, Meta(ge=0)]
Seconds = Annotated[float, Meta(gt=0.0)]

_FORM = re.compile(
    r"(?P<name>[^=]+?)(?::(?P<width>\d{1,5})x(?P<height>\d{1,5}))?=(?P<count>\d{1,6})"
)
_PER_HOST = {"web": 16}
"""Instances that one host runs at most, where a thousand are too many."""
_PER_HOST_ELSE = 1000


class PoolPlan(Struct, frozen=True, kw_only=True):
    """How many Instances of one Environment there should be, where, and when they are let go.

    Wanted are `target` Instances, or as many as are leased and asked for and `spares` besides,
    whichever is more, and `most` at most.
    """

    env: EnvRef
    target: Count = 0
    """Instances kept even when nobody asks."""
    spares: Count = 0
    """Free ones kept beyond those leased and asked for."""
    most: Annotated[int, Meta(ge=1)] = 1000
    """Instances at most, leased and starting ones included."""
    per_host: Annotated[int, Meta(ge=1)] = 1000
    """Instances that one host runs at most."""
    opens_at_once: Annotated[int, Meta(ge=1)] = 64
    """Instances of one host that may be starting at the same time."""
    starts_at_once: Count = 4
    """Hosts that may be starting at the same time; 0 for attached hosts, which are not ours to
    start or end."""
    recycle_after: Annotated[int, Meta(ge=1)] | None = None
    """Episodes after which an Instance is replaced by a new one."""
    host_memory_mb: Annotated[float, Meta(gt=0.0)] | None = None
    """Resident memory past which a host is drained and replaced."""
    host_faults: Annotated[int, Meta(ge=1)] | None = 3
    """Quarantined Instances of one host, within the window, from which on the host itself is taken
    for unhealthy; `None` for never. Larger hosts are allowed a share of what they hold."""
    host_fault_share: Annotated[float, Meta(ge=0.0, le=1.0)] = 0.25
    """Of `per_host`. With a tenth, devices that fail in one episode of twenty cost their hosts time
    and again: 13 points of use in `bench fleet`."""
    fault_window_s: Seconds = 600.0
    linger_s: Seconds = 60.0
    """How long a free Instance beyond those wanted is kept."""
    silent_s: Seconds = 10.0
    """How long a host may give no sign of life before it counts as gone."""
    start_s: Seconds = 300.0
    """How long a host may take to start."""

    @property
    def fault_limit(self) -> int | None:
        """Quarantined Instances within the window from which on a host is unhealthy."""
        if self.host_faults is None:
            return None
        return max(self.host_faults, math.ceil(self.host_fault_share * self.per_host))


class BackOff(Struct, frozen=True, kw_only=True):
    """How long to wait after starts that failed: doubling, bounded, with jitter."""

    first_s: Seconds = 0.5
    most_s: Seconds = 30.0

    def wait_s(self, failures: int, draw: float) -> float:
        """Return the seconds to wait after so many failures in a row.

        Args:
            failures: in a row; 0 is no wait.
            draw: uniform in [0, 1): spreads the wait over its upper half, so that many who failed
                together do not come again together.
        """
        if failures <= 0:
            return 0.0
        # Bounded before the power, which overflows for a start that fails all night.
        full = min(self.most_s, self.first_s * 2.0 ** min(failures - 1, 64))
        return full * (0.5 + 0.5 * draw)


class Timing(Struct, frozen=True, kw_only=True):
    """How often a supply looks, and how long it waits for hosts."""

    look_s: Seconds = 0.5
    """Between two looks when nothing happens."""
    beat_s: Seconds = 2.0
    """Between two heartbeats of a host."""
    beat_deadline_s: Seconds = 5.0
    open_s: Seconds = 120.0
    """How long an Instance may take to become ready."""
    shut_s: Seconds = 15.0
    adopt_s: Seconds = 10.0
    """How long hosts of an earlier manager may take to answer before they count as gone."""
    stop_again_s: Seconds = 5.0
    """After how long a host that is still there is told to end once more."""
    close_s: Seconds = 20.0
    """How long ending everything may take."""
    back_off: BackOff = BackOff()


def read_pool(words: str) -> PoolPlan:
    """Return the plan of a pool, named by a suite or by an environment kind with its size.

    As on the command line: `phone-core=200`, `web:320x420=8`.

    An Environment of another package is imported at once, so that a manager whose hosts could never
    open it does not start.

    Raises:
        ConfigError: the words have another form, or there is no such suite or kind.
    """
    form = _FORM.fullmatch(words)
    if form is None or int(form["count"]) < 1:
        raise ConfigError(
            f"{words!r} describes no pool; expected SUITE=COUNT, such as phone-core=200, or "
            "KIND:WIDTHxHEIGHT=COUNT"
        )
    count = int(form["count"])
    if form["width"]:
        env = EnvRef(kind=form["name"], size_px=(int(form["width"]), int(form["height"])))
    else:
        env = select(find_suite(form["name"]), limit=1)[0].env
    if env.kind not in KINDS:
        find_kind(env.kind)
    return PoolPlan(
        env=env, target=count, most=count, per_host=_PER_HOST.get(env.kind, _PER_HOST_ELSE)
    )
