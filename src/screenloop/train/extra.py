"""Whether the packages of the `train` extra are there; imports none of them."""

from __future__ import annotations

from importlib.util import find_spec

PACKAGES = ("torch", "transformers", "peft", "safetensors", "tokenizers")
"""What the `train` extra adds."""


def missing_packages() -> tuple[str, ...]:
    """Return the names of those that are not installed."""
    return tuple(name for name in PACKAGES if not is_installed(name))


def is_installed(name: str) -> bool:
    """Whether a package is there; it is not imported."""
    try:
        return find_spec(name) is not None
    except ValueError:
        # A module that was set to None is marked as not to be had.
        return False
