"""What all commands share: their common flags, the two consoles, JSON on stdout."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated, TypeVar

import msgspec
from cyclopts import Parameter
from rich.console import Console, RenderableType

from screenloop.errors import ConfigError
from screenloop.report.terminal import print_fitted

Json = Annotated[bool, Parameter(help="Print one JSON object on stdout.", negative="")]
Switch = Annotated[bool, Parameter(negative="")]
T = TypeVar("T")

out_console = Console()
error_console = Console(stderr=True)


def print_json(value: object) -> None:
    """Print one JSON object on stdout."""
    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")
    sys.stdout.flush()


def show(value: T, json: bool, table: Callable[[T], RenderableType]) -> None:
    """Print a value as JSON, or as its table."""
    if json:
        print_json(value)
    else:
        print_fitted(out_console, table(value))


def say(label: str, words: object) -> None:
    """Print a line for people under a result: what it is, and a path or command to copy."""
    out_console.print(f"{label:<8} {words}", soft_wrap=True, highlight=False, markup=False)


def require_range(flag: str, value: float, low: float, high: float | None = None) -> None:
    """Refuse a number out of range.

    Raises:
        ConfigError: names the flag and the range.
    """
    if value < low or (high is not None and value > high):
        wanted = f"at least {low:g}" if high is None else f"{low:g} to {high:g}"
        raise ConfigError(f"--{flag.replace('_', '-')} must be {wanted}, not {value:g}.")
