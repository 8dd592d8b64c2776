"""What a verifier that is code found."""

from __future__ import annotations

from screenloop.types import DiffRow, Struct


class Finding(Struct, frozen=True, kw_only=True):
    """The outcome of one `Code` check; what the verifier returns."""

    passed: bool
    detail: str = ""
    """Why not, for people."""
    accounts_for: tuple[DiffRow, ...] = ()
    """Rows of `evidence.diff` that were wanted; the others count as side effects."""
