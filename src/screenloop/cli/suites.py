"""Commands that look at suites: list them and their tasks, prove their verifiers."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Annotated

from cyclopts import Parameter
from rich.markup import escape
from rich.table import Table

from screenloop.cli.output import Json, error_console, out_console, print_json, show
from screenloop.config import plain
from screenloop.report.terminal import struct_table
from screenloop.rollout.proof import TaskProof, prove_suite, summary
from screenloop.suites.catalog import find_suite, list_suites, select


def suites(*, json: Json = False) -> None:
    """List the suites."""
    rows, left_out = list_suites()
    for sentence in left_out:
        error_console.print(f"[yellow]warning[/] {escape(sentence)}", soft_wrap=True)
    if json:
        print_json({"suites": [plain(row) for row in rows]})
        return
    table = Table("suite", "version", "environment", "tasks", "package", box=None)
    for row in rows:
        table.add_row(*(str(value) for value in plain(row).values()))
    out_console.print(table)
    out_console.print("\nnext: screenloop tasks SUITE", style="dim")


def tasks(suite: str, *, seed: int = 0, tasks: str = "*", json: Json = False) -> None:
    """List the tasks of a suite.

    Parameters
    ----------
    suite
        Name of the suite.
    seed
        Which instance of each template.
    tasks
        Pattern of template names.
    """
    chosen = select(find_suite(suite), glob=tasks, seed=seed)
    if json:
        print_json({"suite": suite, "tasks": chosen})
        return
    table = Table("task", "goal", "apps", "shortest", box=None)
    for task in chosen:
        name = task.id.partition("/")[2]
        shortest = "" if task.optimal_steps is None else str(task.optimal_steps)
        table.add_row(name, escape(task.goal.text), task.tags.get("apps", ""), shortest)
    out_console.print(table)
    command = f"screenloop eval --suite {suite} --model oracle"
    out_console.print(f"\n{len(chosen)} tasks; next: {command}", style="dim")


def proof(
    suite_name: Annotated[str, Parameter(name="--suite")],
    *,
    tasks: str = "*",
    seed: int = 0,
    json: Json = False,
) -> None:
    """Prove a suite's verifiers: three states, a path by touch, mutants.

    Parameters
    ----------
    suite_name
        Name of the suite.
    tasks
        Pattern of task names.
    seed
        Which instance of each template.
    """
    proofs = asyncio.run(prove_suite(suite_name, tasks, seed, tell=_tell_proof(json)))
    total = summary(suite_name, proofs)
    show(total, json, struct_table)
    if total.rejected:
        sys.exit(1)


def _tell_proof(quiet: bool) -> Callable[[TaskProof], None]:
    def tell(one: TaskProof) -> None:
        for reason in one.reasons:
            error_console.print(f"[red]rejected[/] {escape(one.task)}: {escape(reason)}")
        if one.accepted and not quiet:
            line = f"{one.task}: {one.steps} steps, {one.killed} of {one.mutants} mutants killed"
            out_console.print(line, highlight=False)

    return tell
