"""What the operating system says about this process."""

from __future__ import annotations

import os
from pathlib import Path


def resident_bytes(pid: int | None = None) -> int:
    """Return the resident memory of a process (this one by default), as Linux counts it."""
    fields = Path(f"/proc/{pid or os.getpid()}/statm").read_text().split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")
