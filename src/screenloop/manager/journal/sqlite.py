"""A Journal in a SQLite file: one manager on one machine, the default.

WAL with `synchronous=OFF`: a record survives the death of the process, not a loss of power. Calls
write at once, on the event loop: a write takes about 10 us, less than handing it to a thread. The
file is locked while it is open, so that a second manager cannot use it; the lock goes with the
process.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from screenloop.errors import ConfigError, InfraFault, LeaseLost
from screenloop.manager.journal.base import FreeRecord, Intent, Journalled, LeaseRecord
from screenloop.manager.journal.rows import intent_row, read_free, read_intent, read_lease, row_of

SCHEMA = 1
"""Number of the table layout, kept in the file's `user_version`."""
BUSY_S = 1.0
"""How long to wait for another process to let go of the file."""
_TABLES = """
BEGIN IMMEDIATE;
CREATE TABLE instances (
  instance TEXT PRIMARY KEY, fence INTEGER NOT NULL,
  kind TEXT NOT NULL, width INTEGER NOT NULL, height INTEGER NOT NULL,
  host TEXT NOT NULL, boot TEXT NOT NULL,
  lease_id TEXT, run_id TEXT, request_id TEXT, ttl_s REAL
) WITHOUT ROWID;
CREATE TABLE intents (
  instance TEXT NOT NULL, fence INTEGER NOT NULL, action_id TEXT NOT NULL,
  lease_id TEXT NOT NULL, action BLOB NOT NULL, deadline_s REAL NOT NULL, number INTEGER NOT NULL,
  PRIMARY KEY (instance, fence, action_id)
) WITHOUT ROWID;
PRAGMA user_version = 1;
COMMIT;
"""
_PUT = """
INSERT INTO instances VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (instance) DO UPDATE SET
  fence = excluded.fence, kind = excluded.kind, width = excluded.width, height = excluded.height,
  host = excluded.host, boot = excluded.boot, lease_id = excluded.lease_id,
  run_id = excluded.run_id, request_id = excluded.request_id, ttl_s = excluded.ttl_s
"""
_GRANT = _PUT + "WHERE instances.fence < excluded.fence"
_END = _PUT + "WHERE instances.fence <= excluded.fence"
_INTEND = "INSERT OR IGNORE INTO intents VALUES (?, ?, ?, ?, ?, ?, ?)"
_SETTLE = "DELETE FROM intents WHERE instance = ? AND fence = ? AND action_id = ?"
_STRIKE = "DELETE FROM intents WHERE instance = ?"
_FORGET = "DELETE FROM instances WHERE instance = ?"
_LEASES = "SELECT * FROM instances WHERE lease_id IS NOT NULL ORDER BY instance"
_FREE = "SELECT * FROM instances WHERE lease_id IS NULL ORDER BY instance"
_INTENTS = """
SELECT intents.* FROM intents JOIN instances
  ON intents.instance = instances.instance AND intents.fence = instances.fence
WHERE instances.lease_id IS NOT NULL ORDER BY number
"""


class SqliteJournal:
    """Keeps the records in one file."""

    def __init__(self, path: Path, *, max_pages: int | None = None) -> None:
        """Open the file, or make it.

        Args:
            path: of the file; its folder is made.
            max_pages: size limit in pages of 4 KiB, besides that of the disk.

        Raises:
            ConfigError: it is no journal, or one of another version.
            InfraFault: it cannot be opened.
        """
        self._path = path
        self._numbers = 0
        self._db = self._open()
        if max_pages is not None:
            self._db.execute(f"PRAGMA max_page_count = {max_pages:d}")

    async def grant(self, record: LeaseRecord) -> None:
        if self._write(_GRANT, row_of(record)) == 0:
            raise LeaseLost(
                f"the journal knows fence {record.fence} of {record.instance} or a newer one: it "
                "cannot be granted"
            )

    async def end(self, record: FreeRecord) -> None:
        if self._write(_END, row_of(record)) > 0:
            # An intent left behind by a crash here has no lease and is never asked for.
            self._write(_STRIKE, (record.instance,))

    async def forget(self, instance: str) -> None:
        self._write(_FORGET, (instance,))
        self._write(_STRIKE, (instance,))

    async def intend(self, intent: Intent) -> None:
        self._numbers += 1
        self._write(_INTEND, (*intent_row(intent), self._numbers))

    async def settle(self, instance: str, fence: int, action_id: str) -> None:
        self._write(_SETTLE, (instance, fence, action_id))

    async def load(self) -> Journalled:
        try:
            leases = [read_lease(row) for row in self._db.execute(_LEASES)]
            free = [read_free(row) for row in self._db.execute(_FREE)]
            intents = [read_intent(row) for row in self._db.execute(_INTENTS)]
            last = self._db.execute("SELECT COALESCE(MAX(number), 0) FROM intents").fetchone()
        except (sqlite3.Error, msgspec.MsgspecError) as error:
            raise InfraFault(f"cannot read the journal {self._path}: {error}") from error
        self._numbers = last[0]
        return Journalled(leases=tuple(leases), free=tuple(free), intents=tuple(intents))

    async def close(self) -> None:
        self._db.close()

    def _open(self) -> sqlite3.Connection:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            db = sqlite3.connect(self._path, isolation_level=None, timeout=BUSY_S)
            db.row_factory = sqlite3.Row
            try:
                db.execute("PRAGMA locking_mode = EXCLUSIVE")
                db.execute("PRAGMA journal_mode = WAL")
                db.execute("PRAGMA synchronous = OFF")
                version = db.execute("PRAGMA user_version").fetchone()[0]
                if version == 0 and not db.execute("SELECT 1 FROM sqlite_master").fetchone():
                    db.executescript(_TABLES)
                elif version != SCHEMA:
                    raise ConfigError(
                        f"{self._path} is no journal of layout {SCHEMA} (it says {version}): name "
                        "another file, or start without it."
                    )
            except BaseException:
                db.close()
                raise
        except (OSError, sqlite3.OperationalError) as error:
            if "locked" in str(error):
                raise InfraFault(
                    f"the journal {self._path} is in use: another manager serves from this folder; "
                    "end it first, or name another folder"
                ) from error
            raise InfraFault(f"cannot open the journal {self._path}: {error}") from error
        except sqlite3.DatabaseError as error:
            raise ConfigError(f"{self._path} is no journal: {error}") from error
        return db

    def _write(self, statement: str, values: Sequence[Any]) -> int:
        """Carry out one statement, which commits itself; returns how many rows it touched."""
        try:
            return self._db.execute(statement, values).rowcount
        except sqlite3.Error as error:
            raise InfraFault(f"cannot write the journal {self._path}: {error}") from error
