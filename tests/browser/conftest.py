"""A live phone for the tests of a file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from live_server import Server


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    server = Server()
    yield server
    if server.process.poll() is None:
        server.stop()
