"""What a guess may not win, and what a person may do otherwise."""

from __future__ import annotations

import pytest

from screenloop.actions import Action, Open, Tool
from screenloop.criteria import AnswerIs, Text
from screenloop.envs.kinds import Environments
from screenloop.phone.apps.notes import actions as notes
from screenloop.phone.apps.shop import actions as shop
from screenloop.phone.apps.wallet import actions as wallet
from screenloop.store.blobs import MemoryBlobs
from screenloop.suites.catalog import find_suite, select
from screenloop.suites.phone_core.template import call
from screenloop.types import Claim, Start, Task, Verdict
from screenloop.verify.judge import judge
from screenloop.verify.matchers import answer_matches

GUESSABLE = ("cheapest_in_stock", "code_in_note", "when_and_where_taken")


@pytest.mark.parametrize("name", GUESSABLE)
@pytest.mark.parametrize("seed", range(3))
def test_an_answer_that_lists_every_candidate_is_wrong(name: str, seed: int) -> None:
    (task,) = select(find_suite("phone-core"), glob=name, seed=seed)
    (wanted,) = [
        check.to
        for check in task.checks
        if isinstance(check, AnswerIs) and isinstance(check.to, Text)
    ]
    assert len(wanted.others) >= 2
    assert answer_matches(wanted, f"It is {wanted.value}.")
    assert not answer_matches(wanted, " or ".join((wanted.value, *wanted.others)))


async def verdict_on(task: Task, steps: tuple[Action, ...]) -> Verdict:
    """Play steps by tools, each in its app, and judge."""
    environments = Environments(MemoryBlobs())
    env = await environments.open(task.env)
    await env.reset(Start(task=task, mode="hybrid"), deadline_s=60)
    for number, step in enumerate(steps):
        if isinstance(step, Tool):
            opening = Open(app=step.name.partition(".")[0])
            await env.step(opening, action_id=f"open/{number}", deadline_s=60)
        done = await env.step(step, action_id=f"test/{number}", deadline_s=60)
        assert done.effect.ok, (step, done.effect.message)
    evidence = await env.evidence(deadline_s=60)
    await env.close()
    await environments.close()
    return judge(task, evidence, Claim())


def task_named(name: str) -> Task:
    (task,) = select(find_suite("phone-core"), glob=name, seed=0)
    return task


async def test_how_lists_are_shown_is_no_side_effect() -> None:
    task = task_named("file_note")
    ways = (
        call(notes.sort, by="title"),
        call(notes.show_grid, on=True),
        call(wallet.hide, on=True),
    )
    note = task.golden[0].args["note"] if isinstance(task.golden[0], Tool) else ""
    saved = call(notes.edit, note=note, title="Another title", body="")
    assert (await verdict_on(task, (*ways, *task.golden))).success
    assert not (await verdict_on(task, (*ways, *task.golden, saved))).success


async def test_names_may_be_written_in_other_case() -> None:
    task = task_named("move_and_redirect")
    first, *rest = task.golden
    assert isinstance(first, Tool)
    assert first.name == shop.add_address.tool_name
    loud = Tool(name=first.name, args={**first.args, "label": str(first.args["label"]).upper()})
    assert (await verdict_on(task, (loud, *rest))).success


@pytest.mark.parametrize("name", ["tidy_files", "correct_photo_details", "selfie_into_album"])
async def test_titles_may_be_written_in_other_case(name: str) -> None:
    task = task_named(name)
    loud = tuple(
        Tool(
            name=step.name,
            args={
                field: str(value).upper() if field in ("title", "place", "name") else value
                for field, value in step.args.items()
            },
        )
        for step in task.golden
        if isinstance(step, Tool)
    )
    assert (await verdict_on(task, loud)).success
