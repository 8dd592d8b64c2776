"""A Journal in a PostgreSQL database, which several managers may share; see `ownership`.

A record is as safe as the server's settings make it: with its defaults, also from a loss of power.
Needs the extra `screenloop[postgres]`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import msgspec

from screenloop.errors import ConfigError, InfraFault, LeaseLost, ScreenloopError
from screenloop.manager.clock import Clock, SystemClock
from screenloop.manager.failures import message_of
from screenloop.manager.journal import ownership
from screenloop.manager.journal.base import FreeRecord, Intent, Journalled, LeaseRecord
from screenloop.manager.journal.ownership import ME, JournalOwner
from screenloop.manager.journal.rows import intent_row, read_free, read_intent, read_lease, row_of

LAYOUT = 1
"""Number of the table layout, kept in the table `layout`."""
SCHEMA = "screenloop"
CONNECTIONS = 8
"""At most, of one manager."""
CONNECT_S = 5.0
COMMAND_S = 10.0
_CLOSE_S = 5.0
_LOCK = 0x7363726E
"""Advisory lock of those who make the tables at the same time; any number nobody else uses."""

_TABLES = f"""
{ownership.TABLES}
CREATE TABLE instances (
  instance text PRIMARY KEY, manager text NOT NULL, fence bigint NOT NULL,
  kind text NOT NULL, width integer NOT NULL, height integer NOT NULL,
  host text NOT NULL, boot text NOT NULL,
  lease_id text, run_id text, request_id text, ttl_s float8
);
CREATE TABLE intents (
  instance text NOT NULL, fence bigint NOT NULL, action_id text NOT NULL,
  lease_id text NOT NULL, action bytea NOT NULL, deadline_s float8 NOT NULL,
  number bigint GENERATED ALWAYS AS IDENTITY,
  PRIMARY KEY (instance, fence, action_id)
);
CREATE TABLE layout (number integer NOT NULL);
INSERT INTO layout VALUES ({LAYOUT});
"""
_PUT = f"""
WITH {ME}, done AS (
  INSERT INTO instances
  SELECT $3::text, manager, $4::bigint, $5::text, $6::integer, $7::integer, $8::text, $9::text,
    $10::text, $11::text, $12::text, $13::float8 FROM me
  ON CONFLICT (instance) DO UPDATE SET
    fence = excluded.fence, kind = excluded.kind, width = excluded.width, height = excluded.height,
    host = excluded.host, boot = excluded.boot, lease_id = excluded.lease_id,
    run_id = excluded.run_id, request_id = excluded.request_id, ttl_s = excluded.ttl_s
  WHERE instances.manager = excluded.manager AND instances.fence"""
_DONE = "SELECT EXISTS (SELECT FROM me) AS mine, EXISTS (SELECT FROM done) AS written"
_GRANT = f"{_PUT} < excluded.fence RETURNING instance) {_DONE}"
_END = f"""{_PUT} <= excluded.fence RETURNING instance), struck AS (
  DELETE FROM intents USING done WHERE intents.instance = done.instance
) {_DONE}"""
_INTEND = f"""
WITH {ME}, done AS (
  INSERT INTO intents
  SELECT $3::text, $4::bigint, $5::text, $6::text, $7::bytea, $8::float8 FROM me
  ON CONFLICT DO NOTHING RETURNING 1
) {_DONE}
"""
_SETTLE = f"""
WITH {ME}, done AS (
  DELETE FROM intents USING me WHERE instance = $3 AND fence = $4 AND action_id = $5 RETURNING 1
) {_DONE}
"""
_FORGET = f"""
WITH {ME}, done AS (
  DELETE FROM instances USING me
  WHERE instances.manager = me.manager AND instance = $3 RETURNING 1
), struck AS (
  DELETE FROM intents USING me WHERE instance = $3 AND NOT EXISTS (
    SELECT FROM instances WHERE instance = $3 AND instances.manager <> me.manager
  )
) {_DONE}
"""
_LEASES = "SELECT * FROM instances WHERE manager = $1 AND lease_id IS NOT NULL ORDER BY instance"
_FREE = "SELECT * FROM instances WHERE manager = $1 AND lease_id IS NULL ORDER BY instance"
_INTENTS = """
SELECT intents.* FROM intents JOIN instances USING (instance, fence)
WHERE manager = $1 AND instances.lease_id IS NOT NULL ORDER BY number
"""

_log = logging.getLogger(__name__)


class PostgresJournal:
    """Keeps what one manager owns in tables that it shares with others.

    Connects at the first call and again after each loss. From then on it says by heartbeats that
    its manager lives, until `close`. `load` takes over what silent managers of the same fleet left.
    Once another process has taken this one's place every call is refused: the manager must let go
    of its hosts, which are the other's now, and end.
    """

    def __init__(
        self,
        url: str,
        member: JournalOwner,
        *,
        schema: str = SCHEMA,
        clock: Clock | None = None,
        replaced: Callable[[], None] = lambda: None,
    ) -> None:
        """Take the place; nothing is asked of it yet.

        Args:
            url: `postgresql://USER:PASSWORD@SERVER:PORT/DATABASE`.
            member: which manager this is.
            schema: where the tables are; made with them at first.
            clock: of the heartbeats.
            replaced: called once, when it turns out that another process has its place.

        Raises:
            ConfigError: the URL or the name of the schema has another form.
        """
        parts = urlsplit(url)
        if parts.scheme not in ("postgresql", "postgres"):
            raise ConfigError(
                "the URL of a journal in PostgreSQL is "
                "postgresql://USER:PASSWORD@SERVER:PORT/DATABASE"
            )
        if not re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", schema):
            raise ConfigError(f"{schema!r} is no plain name of a schema, such as {SCHEMA}")
        self._url = url
        # Never the user's password.
        self._place = f"{parts.hostname or 'its socket'}{parts.path}"
        self._member = member
        self._schema = schema
        self._clock = clock or SystemClock()
        self._tell_replaced = replaced
        self._pool: Any = None
        self._epoch = 0
        self._joining = asyncio.Lock()
        self._beating: asyncio.Task[None] | None = None
        self._over = ""
        """Why nothing more is read or written."""

    # ---- the Journal contract ----------------------------------------------------------------

    async def grant(self, record: LeaseRecord) -> None:
        if not await self._write(_GRANT, *row_of(record)):
            raise LeaseLost(
                f"the journal knows fence {record.fence} of {record.instance} or a newer one, or "
                "another manager owns it: it cannot be granted"
            )

    async def end(self, record: FreeRecord) -> None:
        await self._write(_END, *row_of(record))

    async def forget(self, instance: str) -> None:
        await self._write(_FORGET, instance)

    async def intend(self, intent: Intent) -> None:
        await self._write(_INTEND, *intent_row(intent))

    async def settle(self, instance: str, fence: int, action_id: str) -> None:
        await self._write(_SETTLE, instance, fence, action_id)

    async def load(self) -> Journalled:
        """Return all that this manager owns, what it takes over now included."""
        epoch = await self._joined()
        manager = self._member.manager
        with self._faults("read"):
            async with (
                self._pool.acquire(timeout=COMMAND_S) as connection,
                connection.transaction(),
            ):
                inherited = await ownership.inherit(connection, self._member, epoch)
                if inherited is None:
                    raise self._lose_place()
                leases = [read_lease(row) for row in await connection.fetch(_LEASES, manager)]
                free = [read_free(row) for row in await connection.fetch(_FREE, manager)]
                intents = [read_intent(row) for row in await connection.fetch(_INTENTS, manager)]
        if inherited.managers:
            _log.warning(
                "%s took over %d instances from silent managers: %s",
                manager,
                inherited.instances,
                ", ".join(inherited.managers),
            )
        return Journalled(leases=tuple(leases), free=tuple(free), intents=tuple(intents))

    async def close(self) -> None:
        """Say that this manager is gone, and let go of the server."""
        if self._beating is not None:
            self._beating.cancel()
            await asyncio.wait({self._beating})
        if self._epoch and not self._over:
            try:
                await self._write(ownership.LEAVE)
            except InfraFault as error:
                # It will be seen by its silence instead.
                _log.warning("manager %s left without a word: %s", self._member.manager, error)
        self._over = self._over or "it was closed"
        pool, self._pool = self._pool, None
        if pool is not None:
            try:
                await asyncio.wait_for(pool.close(), _CLOSE_S)
            except TimeoutError:
                pool.terminate()

    # ---- parts -------------------------------------------------------------------------------

    async def _write(self, statement: str, *values: Any) -> bool:
        """Carry out one statement, which commits itself; returns whether it touched anything."""
        epoch = await self._joined()
        with self._faults("write"):
            async with asyncio.timeout(COMMAND_S), self._pool.acquire() as connection:
                row = await connection.fetchrow(statement, self._member.manager, epoch, *values)
        if not row["mine"]:
            raise self._lose_place()
        return bool(row["written"])

    def _lose_place(self) -> InfraFault:
        """Take note that another process has this manager's place."""
        if not self._over:
            self._over = (
                f"this manager, {self._member.manager} of epoch {self._epoch}, was replaced: "
                "another process owns its leases and hosts now"
            )
            _log.error("%s", self._over)
            self._tell_replaced()
        return InfraFault(f"the journal at {self._place} is not written: {self._over}")

    async def _joined(self) -> int:
        """Return the epoch of this process; the first call enters it."""
        if self._over:
            raise InfraFault(f"the journal at {self._place} is out of use: {self._over}")
        if not self._epoch:
            async with self._joining:
                if not self._epoch:
                    await self._join()
        return self._epoch

    async def _join(self) -> None:
        with self._faults("open"):
            pool = self._pool
            if pool is None:
                pool = await asyncpg.create_pool(
                    self._url,
                    min_size=0,
                    max_size=CONNECTIONS,
                    timeout=CONNECT_S,
                    command_timeout=COMMAND_S,
                    reset=_leave_as_it_is,
                    server_settings={
                        "search_path": self._schema,
                        "application_name": f"screenloop {self._member.manager}",
                        # A process that stops in the middle of a takeover keeps no locks.
                        "idle_in_transaction_session_timeout": f"{COMMAND_S:.0f}s",
                    },
                )
                self._pool = pool
            async with pool.acquire(timeout=COMMAND_S) as connection, connection.transaction():
                await self._make_tables(connection)
                epoch = await ownership.join(connection, self._member)
        self._epoch = epoch
        self._beating = asyncio.create_task(self._beat())

    async def _make_tables(self, connection: Any) -> None:
        await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
        layout = f"{self._schema}.layout"
        if await connection.fetchval("SELECT to_regclass($1)", layout) is None:
            await connection.execute(f"CREATE SCHEMA IF NOT EXISTS {self._schema}")
            await connection.execute(_TABLES)
        number = await connection.fetchval("SELECT max(number) FROM layout")
        if number != LAYOUT:
            raise ConfigError(
                f"schema {self._schema} at {self._place} is no journal of layout {LAYOUT} (it says "
                f"{number}): name another one."
            )

    async def _beat(self) -> None:
        """Say that this manager lives, until it is closed or replaced."""
        while not self._over:
            await self._clock.sleep(self._member.silent_s / ownership.BEATS)
            try:
                await self._write(ownership.BEAT)
            except ScreenloopError as error:
                _log.warning("no heartbeat of manager %s: %s", self._member.manager, error)

    @contextlib.contextmanager
    def _faults(self, what: str) -> Iterator[None]:
        """Turn the client's errors into ours."""
        try:
            yield
        except asyncpg.DataError as error:
            raise ConfigError(f"PostgreSQL cannot keep a value: {error}") from error
        except (
            asyncpg.ClientConfigurationError,
            asyncpg.InsufficientPrivilegeError,
            asyncpg.InvalidAuthorizationSpecificationError,
            asyncpg.InvalidCatalogNameError,
        ) as error:
            fault = ConfigError if what == "open" else InfraFault
            raise fault(f"cannot {what} the journal at {self._place}: {error}") from error
        except (
            asyncpg.PostgresError,
            asyncpg.InterfaceError,
            asyncpg.InternalClientError,
            OSError,
            msgspec.MsgspecError,
        ) as error:
            words = f"cannot {what} the journal at {self._place}: {message_of(error)}"
            raise InfraFault(words) from error


async def _leave_as_it_is(connection: Any) -> None:
    """Give a connection back to the pool: no statement here changes its state.

    What the pool would do else is one more message to the server for each call.
    """
