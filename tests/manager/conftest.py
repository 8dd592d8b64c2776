"""A PostgreSQL server of our own, for the tests of the journal in it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from postgres_server import PostgresServer


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    server = PostgresServer()
    try:
        server.start()
        yield server
    finally:
        server.remove()
