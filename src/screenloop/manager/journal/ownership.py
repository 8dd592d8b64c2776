"""Which manager owns what, where several keep their journals in one PostgreSQL database.

Each Instance belongs to one manager, and that one alone writes of it. A manager is a name and an
epoch: a number that no other process ever had. Each write checks the epoch, under a lock and in the
same statement; who comes under the same name or takes over draws a new one, or strikes the name
off, and from then on every write of the old process is refused, also one that was on its way.

A manager says by heartbeats that it lives. All times are the server's: no two clocks need agree.
"""

from __future__ import annotations

from typing import Any

from screenloop.errors import ConfigError
from screenloop.types import Struct

SILENT_S = 30.0
"""How long a manager may be silent before others take over what it owns."""
BEATS = 4
"""Heartbeats within that time."""

TABLES = """
CREATE SEQUENCE epochs;
CREATE TABLE managers (
  manager text PRIMARY KEY, fleet text NOT NULL, epoch bigint NOT NULL,
  seen timestamptz NOT NULL, silent_s float8 NOT NULL
);
"""
# FOR SHARE waits for whoever replaces this manager, and makes them wait for the write.
ME = "me AS MATERIALIZED (SELECT manager FROM managers WHERE manager = $1 AND epoch = $2 FOR SHARE)"
"""Part of each statement: one row while the manager $1 is in epoch $2, else none."""
BEAT = """
WITH me AS (
  UPDATE managers SET seen = clock_timestamp() WHERE manager = $1 AND epoch = $2 RETURNING 1
) SELECT EXISTS (SELECT FROM me) AS mine, true AS written
"""
LEAVE = """
WITH me AS (
  UPDATE managers SET seen = '-infinity' WHERE manager = $1 AND epoch = $2 RETURNING 1
) SELECT EXISTS (SELECT FROM me) AS mine, true AS written
"""
_JOIN = """
INSERT INTO managers VALUES ($1, $2, nextval('epochs'), clock_timestamp(), $3)
ON CONFLICT (manager) DO UPDATE SET
  fleet = excluded.fleet, epoch = excluded.epoch, seen = excluded.seen,
  silent_s = excluded.silent_s
RETURNING epoch
"""
# Who holds a lock on its row is writing just now, and so not silent.
_STRIKE = """
DELETE FROM managers WHERE manager IN (
  SELECT manager FROM managers
  WHERE fleet = $1 AND manager <> $2 AND seen + silent_s * interval '1 s' < clock_timestamp()
  FOR UPDATE SKIP LOCKED
) RETURNING manager
"""
_INHERIT = "UPDATE instances SET manager = $1 WHERE manager = ANY ($2::text[]) RETURNING 1"


class JournalOwner(Struct, frozen=True, kw_only=True):
    """A manager among those that share a database."""

    manager: str
    """Its name; a process that comes under the same name takes its place at once."""
    fleet: str = ""
    """Managers of one fleet can reach each other's hosts: only they take over from each other."""
    silent_s: float = SILENT_S
    """How long it may be silent before others take over; also how late they do."""

    def __post_init__(self) -> None:
        """Refuse what could never hold."""
        if not self.manager:
            raise ConfigError("a manager that shares a database needs a name")
        if not self.silent_s > 0:
            raise ConfigError(f"a manager needs a limit of silence above 0 s, not {self.silent_s}")


class Inherited(Struct, frozen=True, kw_only=True):
    """What was taken over from silent managers."""

    managers: tuple[str, ...]
    instances: int


async def join(connection: Any, member: JournalOwner) -> int:
    """Enter a manager, in place of an earlier process of this name; returns its epoch."""
    return int(await connection.fetchval(_JOIN, member.manager, member.fleet, member.silent_s))


async def inherit(connection: Any, member: JournalOwner, epoch: int) -> Inherited | None:
    """Take over what silent managers of the fleet own; within a transaction.

    Of several who try at once one gets each silent manager's Instances, all of them. `None` when
    this manager itself was replaced.
    """
    if not await connection.fetchval(f"WITH {ME} TABLE me", member.manager, epoch):
        return None
    rows = await connection.fetch(_STRIKE, member.fleet, member.manager)
    silent = tuple(str(row["manager"]) for row in rows)
    # A statement of its own: it sees what they wrote before their rows were locked.
    taken = await connection.fetch(_INHERIT, member.manager, silent) if silent else ()
    return Inherited(managers=silent, instances=len(taken))
