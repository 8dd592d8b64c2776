"""Write the shortest known touch paths of phone-core, which tasks carry as `optimal_steps`.

Run it after a template or an app has changed: `python scripts/measure_optimal.py`.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
from rich.progress import track

from screenloop.actions import Finish
from screenloop.rollout.plans import golden_plan
from screenloop.suites import phone_core
from screenloop.suites.phone_core.suite import PhoneCore

SEEDS = range(3)
TARGET = Path(phone_core.__file__).parent / "optimal_steps.json"


async def measure() -> dict[str, int]:
    """Return the number of Actions of each shortest path, the finish left out."""
    suite = PhoneCore()
    found: dict[str, int] = {}
    for name in track(suite.names(), description="Planning"):
        for seed in SEEDS:
            task = suite.task(name, seed)
            plan = await golden_plan(task, "gui_only")
            found[task.key] = sum(not isinstance(action, Finish) for action in plan)
    return found


if __name__ == "__main__":
    measured = asyncio.run(measure())
    TARGET.write_bytes(msgspec.json.format(msgspec.json.encode(measured), indent=1) + b"\n")
    print(f"{len(measured)} task instances -> {TARGET}")
