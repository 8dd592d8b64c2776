"""Failures as they travel: an exception to a status and a body, and back to the very class."""

from __future__ import annotations

import math
from http import HTTPStatus
from typing import Any

import msgspec

from screenloop import errors
from screenloop.types import Struct

MESSAGE_LETTERS = 800
"""Longer messages are cut, so that an answer stays small."""

CLASSES: dict[str, type[errors.ScreenloopError]] = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, errors.ScreenloopError)
}
"""The error tree by name."""

_STATUS: tuple[tuple[type[errors.ScreenloopError], HTTPStatus], ...] = (
    (errors.ConfigError, HTTPStatus.BAD_REQUEST),
    (errors.LeaseLost, HTTPStatus.CONFLICT),
    (errors.StaleFrame, HTTPStatus.CONFLICT),
    (errors.UnsupportedAction, HTTPStatus.UNPROCESSABLE_ENTITY),
    (errors.TaskError, HTTPStatus.UNPROCESSABLE_ENTITY),
    (errors.AgentError, HTTPStatus.UNPROCESSABLE_ENTITY),
    (errors.ScreenloopError, HTTPStatus.SERVICE_UNAVAILABLE),
)
"""First fit counts."""


class ErrorBody(Struct, frozen=True, kw_only=True):
    """Why an operation was not carried out, or failed."""

    error: str
    """Class name in the error tree."""
    blame: errors.Blame
    message: str
    retry: bool
    retry_after_s: float | None = None


def known_class(error: BaseException) -> type[errors.ScreenloopError]:
    """Return the nearest class of the error tree; `InfraFault` for what is not of it."""
    for kind in type(error).__mro__:
        if CLASSES.get(kind.__name__) is kind:
            return CLASSES[kind.__name__]
    return errors.InfraFault


def error_body(error: BaseException) -> ErrorBody:
    """Return what travels of a failure."""
    kind = known_class(error)
    said = str(error)
    if not isinstance(error, errors.ScreenloopError):
        said = f"unexpected {type(error).__name__}: {error}"
    return ErrorBody(
        error=kind.__name__,
        blame=kind.blame,
        message=said if len(said) <= MESSAGE_LETTERS else said[: MESSAGE_LETTERS - 1] + "…",
        retry=kind.retry,
        retry_after_s=error.retry_after_s if isinstance(error, errors.Busy) else None,
    )


def error_status(error: BaseException) -> HTTPStatus:
    """Return the status that goes with a failure; never 500."""
    kind = known_class(error)
    return next(status for base, status in _STATUS if issubclass(kind, base))


def error_headers(error: BaseException) -> dict[str, str]:
    """Return the headers that go with a failure: `Retry-After` in whole seconds, rounded up."""
    if isinstance(error, errors.Busy):
        return {"Retry-After": str(max(1, math.ceil(error.retry_after_s)))}
    return {}


def is_error_body(data: bytes) -> bool:
    """Tell whether an answer's body is one of ours."""
    return _read(data) is not None


def error_from(status: int, data: bytes, where: str) -> errors.ScreenloopError:
    """Return the failure that an answer with a bad status stands for.

    A body that cannot be read gives an `InfraFault`: something between us and the service spoke.
    """
    body = _read(data)
    if body is None:
        return errors.InfraFault(f"{where} answered {status} without a readable error body")
    kind: Any = CLASSES.get(body.error)
    if kind is None:
        return errors.InfraFault(f"{where} answered {status} {body.error}: {body.message}")
    if kind is errors.Busy:
        return errors.Busy(body.message, retry_after_s=body.retry_after_s or 1.0)
    failure: errors.ScreenloopError = kind(body.message)
    return failure


def _read(data: bytes) -> ErrorBody | None:
    try:
        return msgspec.json.decode(data, type=ErrorBody)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
