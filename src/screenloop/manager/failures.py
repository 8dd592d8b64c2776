"""How failures of an operation are told apart and put into words."""

from __future__ import annotations

from screenloop.errors import ConfigError, StaleFrame, TaskError, UnsupportedAction

REFUSALS = (UnsupportedAction, StaleFrame, TaskError, ConfigError)
"""Failures that leave an Instance as it was; after any other its state is not known."""


def message_of(error: BaseException) -> str:
    """Return an error's class and, where it says something, its words."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
