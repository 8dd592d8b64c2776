"""Deciding what a failed request means and when to send it again; pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from screenloop.types import Struct

_RETRIED_STATUS = frozenset({408, 409, 425, 429})
_OVERFLOW_SIGNS = (
    "context_length_exceeded",
    "exceed_context_size",
    "context length",
    "context window",
    "context size",
    "maximum model length",
    "max_model_len",
    "prompt is too long",
    "too many tokens",
)


class RequestBackOff(Struct, frozen=True, kw_only=True):
    """How often and how patiently a request is sent again."""

    attempts: int = 5
    """Times a request is sent at most."""
    first_s: float = 0.5
    factor: float = 2.0
    cap_s: float = 20.0


def is_retried(status: int) -> bool:
    """Whether another try may succeed where this HTTP status came back."""
    return status in _RETRIED_STATUS or 500 <= status <= 599


def is_overflow(status: int, body: str) -> bool:
    """Whether a refusal says that the prompt is longer than the model's context."""
    said = body.casefold()
    return status in (400, 413, 422) and any(sign in said for sign in _OVERFLOW_SIGNS)


def delay_s(back_off: RequestBackOff, attempt: int, key: str, retry_after_s: float | None) -> float:
    """Return the seconds to wait after the `attempt`-th try (from 1) failed.

    A server's own Retry-After wins. Otherwise the delay doubles from `first_s` up to `cap_s`, and
    is spread over [0.5, 1] of that by a hash of the key, so that callers refused together do not
    come back together.
    """
    if retry_after_s is not None:
        return retry_after_s
    full = min(back_off.cap_s, back_off.first_s * back_off.factor ** (attempt - 1))
    digest = hashlib.sha256(f"{key}/{attempt}".encode()).digest()
    return full * (0.5 + 0.5 * digest[0] / 255)


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Read a Retry-After header: seconds, or a date relative to the response's own Date header.

    `None` when there is no such header or it cannot be read.
    """
    value = headers.get("Retry-After", "").strip()
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        then = parsedate_to_datetime(value)
        now = parsedate_to_datetime(headers.get("Date", ""))
        return max(0.0, (then - now).total_seconds())
    except (ValueError, TypeError):
        return None
