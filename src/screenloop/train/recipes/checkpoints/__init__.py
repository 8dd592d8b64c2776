"""Trained policies of a megabyte or less that the package holds, each with its run card."""

from __future__ import annotations

from pathlib import Path

from screenloop.registry import unknown

CARD = "README.md"
"""What a policy is, how it was made, what it reached and what it cannot do."""
_MODEL = "config.json"


def shipped_names() -> tuple[str, ...]:
    """Return the names of the policies that the package holds."""
    return tuple(sorted(path.parent.name for path in Path(__file__).parent.glob(f"*/{_MODEL}")))


def shipped(name: str) -> Path:
    """Return the folder of a policy that the package holds, in the layout of Hugging Face.

    Raises:
        ConfigError: there is none of this name; names those there are.
    """
    names = shipped_names()
    if name not in names:
        raise unknown("shipped policy", name, names)
    return folder_of(name)


def folder_of(name: str) -> Path:
    """Return where a policy of this name lies, or would lie."""
    return Path(__file__).parent / name
