"""Endpoints as rows of a table: routes, clients and the OpenAPI document are made from the same."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from screenloop.errors import ConfigError, InfraFault
from screenloop.http.errors import ErrorBody
from screenloop.http.server import Endpoint, Routes, answer, body_of
from screenloop.types import Struct

ALL_ERRORS = (400, 401, 409, 413, 422, 503)
_ERRORS = {
    400: "The request cannot be read, or names something unknown. Nothing happened.",
    401: "The bearer token is missing or wrong. Nothing happened.",
    409: "The lease is over or was replaced, or the coordinates are of a frame that is gone.",
    413: "The body is too large. Nothing happened.",
    422: "The action is not supported here, or the task or its verifier is broken.",
    503: "The environment or the infrastructure failed, or nothing is free; the body says whose "
    "fault it is, and `Retry-After` when to come again.",
}
_REF = "#/components/schemas/{name}"

T = TypeVar("T")
Act = Callable[[Request, Any], Awaitable[Any]]
"""Given the request and its body, read; returns what is encoded, or a whole Response."""


class EndpointRow(Struct, frozen=True, kw_only=True):
    """One endpoint: what comes, what goes out, what it does."""

    method: Literal["GET", "POST"]
    path: str
    does: str
    body: Any = None
    """Type of the JSON body; `None` takes none."""
    reply: Any = None
    """Type of the JSON answer; `None` answers plain text."""
    errors: tuple[int, ...] = ALL_ERRORS
    token: bool = True
    query: Mapping[str, Mapping[str, Any]] = {}
    """JSON schemas of the query's parameters, all of them required."""


def routes_of(
    acts: Mapping[tuple[str, str], Act],
    rows: tuple[EndpointRow, ...],
    admit: Callable[[EndpointRow, Request], None],
) -> Routes:
    """Return the app that serves a table.

    Args:
        acts: what carries each row out, by method and path.
        rows: the table.
        admit: raises for requests that may not pass; called before the body is read.
    """
    return Routes(
        {(row.method, row.path): _endpoint(row, acts[row.method, row.path], admit) for row in rows}
    )


def _endpoint(
    row: EndpointRow, act: Act, admit: Callable[[EndpointRow, Request], None]
) -> Endpoint:
    decoder = None if row.body is None else msgspec.json.Decoder(row.body)
    name = name_of(row.body)

    async def endpoint(request: Request) -> Response:
        admit(row, request)
        body = None if decoder is None else _read(await body_of(request), decoder, name)
        value = await act(request, body)
        return value if isinstance(value, Response) else answer(value)

    return endpoint


def _read(data: bytes, decoder: msgspec.json.Decoder[Any], name: str) -> Any:
    try:
        return decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"the body is no {name}: {error}") from error


def read_reply(data: bytes, kind: type[T], where: str) -> T:
    """Read an answer's body.

    Raises:
        InfraFault: it is cut short or something else.
    """
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InfraFault(
            f"{where} answered with something that is no {name_of(kind)}: {error}"
        ) from error


# ---- OpenAPI -------------------------------------------------------------------------------


def openapi_document(
    rows: tuple[EndpointRow, ...], *, title: str, version: str, description: str
) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of a table as plain data."""
    kinds = {kind for row in rows for kind in (row.body, row.reply) if kind is not None}
    ordered = sorted({*kinds, ErrorBody}, key=name_of)
    refs, schemas = msgspec.json.schema_components(ordered, ref_template=_REF)
    schema_of = dict(zip(ordered, refs, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for row in rows:
        paths.setdefault(row.path, {})[row.method.lower()] = _described(row, schema_of)
    document = {
        "openapi": "3.1.0",
        "info": {"title": title, "version": version, "description": description},
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }
    # Defaults of tuples are tuples: only lists are arrays.
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(document))
    return plain


def name_of(kind: Any) -> str:
    """Return the name of a type, its parameters included."""
    parts = getattr(kind, "__args__", ())
    name: str = getattr(kind, "__name__", str(kind))
    return f"{name}[{', '.join(map(name_of, parts))}]" if parts else name


def _described(row: EndpointRow, schema_of: Mapping[Any, Any]) -> dict[str, Any]:
    def json(kind: Any) -> dict[str, Any]:
        return {"application/json": {"schema": schema_of[kind]}}

    good = {"text/plain": {"schema": {"type": "string"}}} if row.reply is None else json(row.reply)
    failures = {
        str(status): {"description": _ERRORS[status], "content": json(ErrorBody)}
        for status in row.errors
    }
    told: dict[str, Any] = {
        "operationId": row.path.removeprefix("/v1/").replace("/", "_"),
        "summary": row.does,
        "security": [{"token": []}] if row.token else [],
        "responses": {"200": {"description": "It was done.", "content": good}, **failures},
    }
    if row.body is not None:
        told["requestBody"] = {"required": True, "content": json(row.body)}
    if row.query:
        told["parameters"] = [
            {"name": name, "in": "query", "required": True, "schema": schema}
            for name, schema in row.query.items()
        ]
    return told
