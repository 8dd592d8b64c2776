"""The main job on a fresh machine: two agents on phones, one in a browser, and their reports."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path

import msgspec
from msgspec.structs import replace
from rich.console import Console
from rich.rule import Rule

from screenloop.agent.dialects import DIALECTS
from screenloop.config import config_hash
from screenloop.errors import ConfigError
from screenloop.registry import find
from screenloop.report.html import write_report
from screenloop.report.terminal import ProgressBar, print_fitted, run_table
from screenloop.rollout.card import versions_here
from screenloop.rollout.play import RunRequest, play, resolve
from screenloop.suites.catalog import find_suite, select
from screenloop.types import Budget

PARTS = (
    (
        "The oracle plays the shortest touch path of every phone task: all must be solved.",
        RunRequest(suite="phone-core", model="oracle", out="runs/demo-phone-oracle"),
    ),
    (
        "An agent that acts at random on the same tasks: hardly any may be solved.",
        RunRequest(
            suite="phone-core", model="random", out="runs/demo-phone-random",
            budget=Budget(steps=10),
        ),
    ),
    (
        "The same loop on web pages, in a real browser, at random.",
        RunRequest(
            suite="miniwob", model="random", out="runs/demo-web-random", tasks="click-*", limit=12,
            budget=Budget(steps=10),
        ),
    ),
)  # fmt: skip


def demo_folder(request: RunRequest) -> str:
    """Return a part's folder, named after its configuration and the versions here.

    The same demo goes on where it stopped; after an update it starts afresh in another folder.
    """
    tasks = select(
        find_suite(request.suite), glob=request.tasks, limit=request.limit, seed=request.seed
    )
    config = resolve(request, tasks, find("dialect", request.dialect, DIALECTS)())
    facts = msgspec.json.encode((config_hash(config), versions_here()), order="sorted")
    return f"{request.out}-{hashlib.sha256(facts).hexdigest()[:8]}"


def run_demo(console: Console) -> None:
    """Play the parts, print their tables, write their reports; a second run goes on."""
    pages: list[Path] = []
    for words, request in PARTS:
        console.print(Rule(style="dim"))
        console.print(words, style="bold")
        request = replace(request, out=demo_folder(request))
        try:
            with ProgressBar(console) as bar:
                result = asyncio.run(play(request, bar))
        except ConfigError as error:
            # Without a browser the phones are still worth showing.
            if request.suite != "miniwob":
                raise
            console.print(f"Left out: {error}", style="yellow")
            continue
        print_fitted(console, run_table(result, request.out))
        pages.append(write_report(Path(request.out)))
    console.print(Rule(style="dim"))
    console.print("Reports, with a replay of every episode:", style="bold")
    for page in pages:
        console.print(f"  {page}", soft_wrap=True)
    console.print("Next:", style="bold")
    console.print("  .venv/bin/screenloop phone                 use a mocked phone in a browser")
    console.print(
        "  .venv/bin/screenloop eval --suite phone-core --model openai:MODEL@BASE_URL",
        soft_wrap=True,
    )
