"""What a number may depend on besides the configuration: versions and the machine."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

RENDERING = ("screenloop", "pytakumi", "pillow", "miniwob")
"""Packages that decide what an agent sees."""


def versions_here() -> dict[str, str]:
    """Return the versions of Python and of the packages that decide what an agent sees."""
    found = {"python": platform.python_version()}
    for package in RENDERING:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def machine_here() -> dict[str, str]:
    """Return the CPU's model, the cores this process may use, and the system."""
    return {
        "cpu": _cpu_model() or platform.machine(),
        "cores": str(len(os.sched_getaffinity(0))),
        "system": f"{platform.system()} {platform.machine()}",
    }


def _cpu_model() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "")
