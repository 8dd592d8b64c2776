"""Pools as they are written on the command line: `phone-core=200`, `web:320x420=8`."""

from __future__ import annotations

import re

from screenloop.envs.kinds import KINDS, find_kind
from screenloop.errors import ConfigError
from screenloop.manager.supply.desired import PoolPlan
from screenloop.suites.catalog import find_suite, select
from screenloop.types import EnvRef

_FORM = re.compile(
    r"(?P<name>[^=]+?)(?::(?P<width>\d{1,5})x(?P<height>\d{1,5}))?=(?P<count>\d{1,6})"
)
_PER_HOST = {"web": 16}
"""Instances that one host runs at most, where a thousand are too many."""
_PER_HOST_ELSE = 1000


def read_pool(words: str) -> PoolPlan:
    """Return the plan of a pool, named by a suite or by an environment kind with its size.

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
        env=env,
        target=count,
        most=count,
        per_host=_PER_HOST.get(env.kind, _PER_HOST_ELSE),
    )
