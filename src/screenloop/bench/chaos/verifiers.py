"""Verifiers that are code, for the chaos bench: a sound one, one that dies, one that hangs."""

from __future__ import annotations

import os
import time
from typing import Any

from screenloop.types import Claim, Evidence
from screenloop.verify.finding import Finding

SOUND = f"{__name__}:counter_shows"
CRASHING = f"{__name__}:dies"
HANGING = f"{__name__}:hangs"


def counter_shows(evidence: Evidence, claim: Claim, params: dict[str, Any]) -> Finding:
    """Pass where the counter shows `params["to"]`."""
    value = evidence.after["counter"]["value"]
    return Finding(
        passed=value == params["to"],
        detail=f"the counter shows {value}",
        accounts_for=tuple(row for row in evidence.diff if row.app == "counter"),
    )


def dies(evidence: Evidence, claim: Claim, params: dict[str, Any]) -> Finding:
    """End the worker's process."""
    os._exit(3)


def hangs(evidence: Evidence, claim: Claim, params: dict[str, Any]) -> Finding:
    """Give no answer in a year."""
    time.sleep(365 * 86_400)
    return Finding(passed=True)
