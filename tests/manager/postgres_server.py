"""A PostgreSQL server in a temporary folder, on a socket in it, without fsync: for tests."""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import asyncpg

START_S = 60.0
"""The longest that it may take; a busy machine needs a few seconds."""


def find_postgres() -> Path:
    """Return the folder of the server's programs, which distributions keep out of the path."""
    named = shutil.which("initdb")
    places = [Path(named).resolve().parent] if named else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    places += [Path("/usr/pgsql/bin"), Path("/usr/local/pgsql/bin")]
    for place in places:
        if (place / "initdb").exists() and (place / "postgres").exists():
            return place
    raise RuntimeError(
        "These tests need a PostgreSQL server of their own, and its programs are not installed. "
        "Run: sudo apt install postgresql (scripts/bootstrap dev does so when root)."
    )


class PostgresServer:
    """Started, stopped and killed by the tests; nobody else can reach it."""

    def __init__(self) -> None:
        self._bin = find_postgres()
        self.folder = Path(tempfile.mkdtemp(prefix="screenloop-pg-"))
        # PostgreSQL refuses to run as root.
        self._user = pwd.getpwuid(os.getuid()).pw_name
        if os.getuid() == 0:
            known = {one.pw_name for one in pwd.getpwall()}
            self._user = "postgres" if "postgres" in known else "nobody"
            shutil.chown(self.folder, self._user)
        self._process: subprocess.Popen[bytes] | None = None
        self._schemas = itertools.count(1)
        self._made = False

    @property
    def url(self) -> str:
        return f"postgresql://tester@/postgres?host={self.folder}"

    def new_schema(self) -> str:
        """Return the name of a schema that nobody used yet."""
        return f"test_{next(self._schemas)}"

    def start(self) -> None:
        """Start, and return once it answers."""
        if not self._made:
            self._run(
                "initdb",
                "-D",
                str(self.folder / "data"),
                "-U",
                "tester",
                "-A",
                "trust",
                "--no-sync",
                "--no-locale",
                "-E",
                "UTF8",
            ).wait()
            self._made = True
        self._process = self._run(
            "postgres",
            "-D",
            str(self.folder / "data"),
            "-k",
            str(self.folder),
            "-c",
            "listen_addresses=",
            "-c",
            "fsync=off",
            "-c",
            "shared_buffers=16MB",
            "-c",
            "max_connections=60",
            "-c",
            "autovacuum=off",
        )
        end_s = time.monotonic() + START_S
        while subprocess.run(
            [self._bin / "pg_isready", "-q", "-h", str(self.folder)], check=False
        ).returncode:
            if self._process.poll() is not None or time.monotonic() > end_s:
                raise RuntimeError(f"PostgreSQL did not start: {self._log().read_text()[-2000:]}")
            time.sleep(0.05)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End it: SIGINT cuts all connections in good order, SIGQUIT as in a crash."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(START_S)
            self._process = None

    def remove(self) -> None:
        """End it, and leave nothing behind."""
        self.stop()
        shutil.rmtree(self.folder)

    async def run(self, statement: str, *values: Any) -> list[Any]:
        """Carry out one statement on a connection of its own."""
        connection = await asyncpg.connect(self.url, timeout=10)
        try:
            return list(await connection.fetch(statement, *values))
        finally:
            await connection.close()

    def _log(self) -> Path:
        return self.folder / "log"

    def _run(self, program: str, *arguments: str) -> subprocess.Popen[bytes]:
        whose: dict[str, Any] = {}
        if os.getuid() == 0:
            entry = pwd.getpwnam(self._user)
            whose = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
        with self._log().open("ab") as log:
            return subprocess.Popen(
                [self._bin / program, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env={"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"},
                start_new_session=True,
                **whose,
            )
