"""The OpenAPI 3.1 document of the manager, made from the very structs that read the bodies."""

from __future__ import annotations

from typing import Any

import msgspec

from screenloop.http.errors import ErrorBody
from screenloop.manager.wire.bodies import (
    Done,
    EvaluateBody,
    ObservationReply,
    ObserveBody,
    ResetBody,
    StepBody,
    StepReply,
    VerdictReply,
)
from screenloop.manager.wire.service_bodies import (
    AcquireBody,
    Health,
    Info,
    LeaseReply,
    ReleaseBody,
    Status,
    WithdrawBody,
)
from screenloop.types import EnvSpec, Struct

_REF = "#/components/schemas/{name}"
_ERRORS = {
    "400": "The request cannot be read, or names something unknown. Nothing happened.",
    "401": "The bearer token is missing or wrong. Nothing happened.",
    "409": "The lease is over or was replaced, or the coordinates are of a frame that is gone.",
    "413": "The body is too large. Nothing happened.",
    "422": "The action is not supported here, or the task or its verifier is broken.",
    "503": "The environment or the infrastructure failed, or nothing is free; the body says whose "
    "fault it is, and `Retry-After` when to come again.",
}


class Operation(Struct, frozen=True, kw_only=True):
    """One route as the document tells it."""

    method: str
    path: str
    summary: str
    body: type[Struct] | None = None
    reply: type[Struct] | None = None
    """`None` answers plain text."""
    errors: tuple[str, ...] = ("400", "401", "409", "413", "422", "503")
    token: bool = True
    query: tuple[str, ...] = ()


OPERATIONS = (
    Operation(
        method="post",
        path="/v1/leases",
        body=AcquireBody,
        reply=LeaseReply,
        summary="Grant the exclusive right to an Instance, waiting for one if need be.",
    ),
    Operation(
        method="post",
        path="/v1/leases/withdraw",
        body=WithdrawBody,
        reply=Done,
        summary="Give up a request for a lease; its lease, if granted already, is released.",
    ),
    Operation(
        method="post",
        path="/v1/leases/reset",
        body=ResetBody,
        reply=ObservationReply,
        summary="Bring the Instance to a task's initial state.",
    ),
    Operation(
        method="post",
        path="/v1/leases/observe",
        body=ObserveBody,
        reply=ObservationReply,
        summary="See what is there now.",
    ),
    Operation(
        method="post",
        path="/v1/leases/step",
        body=StepBody,
        reply=StepReply,
        summary="Carry out one action once; a repeated action id returns the first result.",
    ),
    Operation(
        method="post",
        path="/v1/leases/evaluate",
        body=EvaluateBody,
        reply=VerdictReply,
        summary="Judge the task of the last reset; the episode may go on.",
    ),
    Operation(
        method="post",
        path="/v1/leases/release",
        body=ReleaseBody,
        reply=Done,
        summary="Give the Instance back; releasing twice is harmless.",
    ),
    Operation(
        method="get",
        path="/v1/spec",
        reply=EnvSpec,
        query=("kind", "width", "height"),
        summary="Tell what Instances of a kind can do.",
        errors=("400", "401", "503"),
    ),
    Operation(
        method="get",
        path="/v1/info",
        reply=Info,
        errors=("401",),
        summary="Tell the version and where blobs are.",
    ),
    Operation(
        method="get",
        path="/v1/status",
        reply=Status,
        errors=("401",),
        summary="Tell how leases, pools and faults stand.",
    ),
    Operation(
        method="get",
        path="/v1/metrics",
        errors=("401",),
        summary="The same as Prometheus text.",
    ),
    Operation(
        method="get",
        path="/v1/health",
        reply=Health,
        errors=(),
        token=False,
        summary="Tell whether requests are taken.",
    ),
)
"""Every route but the document's own."""


def openapi_document(version: str) -> dict[str, Any]:
    """Return the document as plain data."""
    kinds: set[type[Struct]] = {
        kind for one in OPERATIONS for kind in (one.body, one.reply) if kind is not None
    }
    kinds.add(ErrorBody)
    ordered = sorted(kinds, key=_name)
    _, schemas = msgspec.json.schema_components(ordered, ref_template=_REF)
    paths: dict[str, dict[str, Any]] = {}
    for one in OPERATIONS:
        paths.setdefault(one.path, {})[one.method] = _described(one)
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "screenloop manager",
            "version": version,
            "description": "Leases on Instances of Environments, and the operations on them.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }
    # Defaults of tuples are tuples: only lists are arrays.
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(document))
    return plain


def _name(kind: type[Struct]) -> str:
    return kind.__name__


def _described(one: Operation) -> dict[str, Any]:
    good: dict[str, Any] = {"text/plain": {"schema": {"type": "string"}}}
    if one.reply is not None:
        good = _json(one.reply.__name__)
    told: dict[str, Any] = {
        "operationId": one.path.removeprefix("/v1/").replace("/", "_"),
        "summary": one.summary,
        "security": [{"token": []}] if one.token else [],
        "responses": {
            "200": {"description": "It was done.", "content": good},
            **{
                status: {"description": _ERRORS[status], "content": _json("ErrorBody")}
                for status in one.errors
            },
        },
    }
    if one.body is not None:
        told["requestBody"] = {"required": True, "content": _json(one.body.__name__)}
    if one.query:
        told["parameters"] = [
            {"name": name, "in": "query", "required": True, "schema": _query_schema(name)}
            for name in one.query
        ]
    return told


def _query_schema(name: str) -> dict[str, Any]:
    if name == "kind":
        return {"type": "string", "minLength": 1}
    return {"type": "integer", "minimum": 1, "maximum": 100_000}


def _json(name: str) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": _REF.format(name=name)}}}
