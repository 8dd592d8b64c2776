"""The table of endpoints of a manager and of a host; the operations on a Lease are in both."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request

from screenloop.http.endpoints import Act, EndpointRow, openapi_document
from screenloop.manager.base import VERBS, LeaseToken, OperationFor, Verbs
from screenloop.manager.wire import bodies
from screenloop.store.blobs import BlobStore
from screenloop.types import EnvSpec

ACQUIRE = "/v1/leases"
RELEASE = "/v1/leases/release"
WITHDRAW = "/v1/leases/withdraw"
SPEC, INFO, STATUS = "/v1/spec", "/v1/info", "/v1/status"
METRICS, HEALTH = "/v1/metrics", "/v1/health"
OPEN, BIND, SHUT, REPORT = "/v1/host/open", "/v1/host/bind", "/v1/host/shut", "/v1/host/report"


def operate_path(verb: str) -> str:
    """Return where an operation is asked for."""
    return f"/v1/leases/{verb}"


def _post(path: str, body: Any, reply: Any, does: str) -> EndpointRow:
    return EndpointRow(method="POST", path=path, body=body, reply=reply, does=does)


def _get(path: str, reply: Any, does: str, **more: Any) -> EndpointRow:
    return EndpointRow(
        method="GET", path=path, reply=reply, does=does, **{"errors": (401,), **more}
    )


_PIXELS = {"type": "integer", "minimum": 1, "maximum": 100_000}
_ENV = {"kind": {"type": "string", "minLength": 1}, "width": _PIXELS, "height": _PIXELS}

OPERATE_ROWS = tuple(
    _post(
        operate_path(verb),
        bodies.OperateBody[kind],  # type: ignore[valid-type]
        bodies.OperateReply[kind.result_type],  # type: ignore[name-defined]
        (kind.__doc__ or "").partition("\n")[0],
    )
    for verb, kind in VERBS.items()
)
MANAGER_ROWS = (
    _post(
        ACQUIRE,
        bodies.AcquireBody,
        bodies.AcquireReply,
        "Grant the exclusive right to an Instance, waiting.",
    ),
    _post(
        WITHDRAW,
        bodies.WithdrawBody,
        bodies.Done,
        "Give up a request for a lease, granted already or not.",
    ),
    *OPERATE_ROWS,
    _post(
        RELEASE,
        bodies.ReleaseBody,
        bodies.Done,
        "Give the Instance back; releasing twice is harmless.",
    ),
    _get(SPEC, EnvSpec, "Tell what a kind can do.", query=_ENV, errors=(400, 401, 503)),
    _get(INFO, bodies.Info, "Tell the version and where blobs are."),
    _get(STATUS, bodies.Status, "Tell how leases, pools and faults stand."),
    _get(METRICS, None, "The same as Prometheus text."),
    _get(HEALTH, bodies.Health, "Tell whether requests are taken.", errors=(), token=False),
)
"""Every endpoint of a manager but its OpenAPI document."""
HOST_ROWS = (
    *OPERATE_ROWS,
    _post(OPEN, bodies.OpenBody, EnvSpec, "Start an Instance."),
    _post(BIND, bodies.BindBody, bodies.Done, "Put a new fence in force."),
    _post(SHUT, bodies.ShutBody, bodies.Done, "Close one Instance."),
    _get(REPORT, bodies.HostReport, "Say what there is."),
)
"""Every endpoint of a host; the manager's own are all but the operations."""


def operate_acts(operations: Verbs[LeaseToken], blobs: BlobStore) -> dict[tuple[str, str], Act]:
    """Return what carries out the operations' rows.

    Args:
        operations: of the manager or the host.
        blobs: the store that both sides share.
    """

    def act_of(kind: type[OperationFor[Any]]) -> Act:
        async def act(request: Request, body: bodies.OperateBody[Any]) -> bodies.OperateReply[Any]:
            operation = bodies.unstow(body.operation, body.blob, kind, blobs)
            result = await operations.operate(body.lease, operation, deadline_s=body.deadline_s)
            inline, key = bodies.stow(result, blobs)
            return bodies.OperateReply(result=inline, blob=key)

        return act

    return {("POST", operate_path(verb)): act_of(kind) for verb, kind in VERBS.items()}


def operate_body(
    token: LeaseToken, operation: OperationFor[Any], deadline_s: float, blobs: BlobStore
) -> bodies.OperateBody[Any]:
    """Return the body that asks for an operation; a large one goes to the store."""
    inline, key = bodies.stow(operation, blobs)
    return bodies.OperateBody(lease=token, deadline_s=deadline_s, operation=inline, blob=key)


def result_of(
    reply: bodies.OperateReply[Any], operation: OperationFor[Any], blobs: BlobStore
) -> Any:
    """Return what an operation came to."""
    return bodies.unstow(reply.result, reply.blob, operation.result_type, blobs)


def manager_document(version: str) -> dict[str, Any]:
    """Return the manager's OpenAPI document as plain data."""
    return openapi_document(
        MANAGER_ROWS,
        title="screenloop manager",
        version=version,
        description="Leases on Instances of Environments, and the operations on them.",
    )
