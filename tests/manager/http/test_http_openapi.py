"""The OpenAPI document is valid, is true of every route, and no generated request breaks it."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from http_place import TOKEN, serving
from hypothesis import HealthCheck, settings
from openapi_spec_validator import validate
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from screenloop import __version__
from screenloop.manager.wire.endpoints import MANAGER_ROWS, manager_document

RIGHT = {"Authorization": f"Bearer {TOKEN}"}
DOCUMENT = manager_document(__version__)
EXAMPLES = 12
"""Generated requests an operation."""
CHECKS = [
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
"""What an answer must be; a well-formed request may be refused all the same: few leases exist."""


schema = schemathesis.openapi.from_dict(DOCUMENT, config=SchemathesisConfig())


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a manager in a thread, for a client that waits."""
    loop = asyncio.new_event_loop()
    ended = asyncio.Event()
    up: list[str] = []
    ready = threading.Event()

    async def serve() -> None:
        folder: Path = tmp_path_factory.mktemp("openapi")
        async with serving(folder) as served:
            up.append(served.url)
            ready.set()
            await ended.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    assert ready.wait(30)
    yield up[0]
    loop.call_soon_threadsafe(ended.set)
    thread.join(30)
    loop.close()


def test_the_document_is_valid_and_names_every_route() -> None:
    validate(DOCUMENT)
    assert json.loads(json.dumps(DOCUMENT)) == DOCUMENT
    told = {(method.upper(), path) for path, one in DOCUMENT["paths"].items() for method in one}
    assert told == {(one.method, one.path) for one in MANAGER_ROWS}


async def test_the_document_is_served_as_it_is_and_tells_of_what_is_served(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path) as served:
        status, body = await served.get("/openapi.json", headers={})
        assert status == 200
        assert json.loads(body) == DOCUMENT
        for one in MANAGER_ROWS:
            path = served.url + one.path
            assert path.startswith("http://127.0.0.1")
            if one.method == "POST":
                assert (await served.post(one.path, {}))[0] == 400
            else:
                assert (await served.get(one.path))[0] in (200, 400)


@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
def test_generated_requests_get_answers_that_the_document_allows(
    case: schemathesis.Case[Any], running: str
) -> None:
    response = case.call(base_url=running, headers=RIGHT, timeout=30)
    assert response.status_code < 500 or response.status_code == 503
    case.validate_response(response, checks=CHECKS)
