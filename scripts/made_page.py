"""The two uses of a script that makes a page of docs/: write it, or say whether it is current."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path


def write_or_check(target: Path, page: Callable[[], str], describes: str) -> None:
    """Write the page; with `--check` end with 1 while it is not current."""
    parser = argparse.ArgumentParser(description=describes.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="only say whether it is current")
    if not parser.parse_args().check:
        target.write_text(page(), "utf-8")
    elif target.read_text("utf-8") != page():
        sys.exit(f"{target.name} is not current; run python scripts/{Path(sys.argv[0]).name}")
