"""BrowserGym-miniwob on the bench's pages, in a process of its own; prints one JSON object.

Run as `python -m screenloop.bench.web.peer TASK...` where `browsergym-miniwob` is installed. It
runs with its own defaults, on the same browser.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from screenloop.bench.web.run import PeerTimes
from screenloop.browser.binary import find_chromium
from screenloop.envs.web.miniwob import pages_folder

ROUNDS = 2
CLICKS = ("mouse_click(80, 90)", "mouse_click(30, 190)", "mouse_click(140, 190)")


def measure(tasks: Sequence[str], rounds: int = ROUNDS) -> PeerTimes:
    """Reset and step each page `rounds` times.

    Raises:
        ModuleNotFoundError: BrowserGym is not installed.
    """
    os.environ["MINIWOB_URL"] = pages_folder().as_uri() + "/"
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PLAYWRIGHT_BROWSERS_PATH"] = folder
        _lend_browser()
        return _measure(tasks, rounds)


def _lend_browser() -> None:
    """Put our browser where playwright looks for its own: the peer starts two, one by default.

    Where that is depends on playwright's version and on headless or not; its refusal says so.
    """
    api: Any = importlib.import_module("playwright.sync_api")
    with api.sync_playwright() as playwright:
        for _ in range(2):
            try:
                playwright.chromium.launch(headless=True, args=["--no-sandbox"]).close()
                return
            except api.Error as error:
                missing = re.search(r"doesn't exist at (\S+)", str(error))
                if missing is None:
                    raise
            wanted = Path(missing[1])
            wanted.parent.mkdir(parents=True)
            wanted.symlink_to(find_chromium())


def _measure(tasks: Sequence[str], rounds: int) -> PeerTimes:
    gymnasium: Any = importlib.import_module("gymnasium")
    importlib.import_module("browsergym.miniwob")
    actions: Any = importlib.import_module("browsergym.core.action.highlevel")
    mapping = actions.HighLevelActionSet(subsets=["coord"]).to_python_code
    reset_ms: list[float] = []
    step_ms: list[float] = []
    for name in tasks:
        env = gymnasium.make(f"browsergym/miniwob.{name}", action_mapping=mapping)
        try:
            for seed in range(rounds):
                begun = time.perf_counter()
                env.reset(seed=seed)
                reset_ms.append(1000 * (time.perf_counter() - begun))
                for click in CLICKS:
                    begun = time.perf_counter()
                    env.step(click)
                    step_ms.append(1000 * (time.perf_counter() - begun))
        finally:
            env.close()
    return PeerTimes(reset_ms=tuple(reset_ms), step_ms=tuple(step_ms))


if __name__ == "__main__":
    print(msgspec.json.encode(measure(sys.argv[1:])).decode())
