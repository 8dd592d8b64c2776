"""The templates over contacts, messages and notes, alone and together."""

from __future__ import annotations

import re

import pytest

from screenloop.actions import Action, Answer, Open, Tool, Wait
from screenloop.envs.kinds import Environments
from screenloop.phone.apps.messages import actions as messages
from screenloop.phone.apps.messages.seed import facts
from screenloop.phone.declare.cast import cast
from screenloop.phone.device.boot import installed
from screenloop.store.blobs import MemoryBlobs
from screenloop.suites.phone_core.across import chats as between_chats
from screenloop.suites.phone_core.across import people as between_people
from screenloop.suites.phone_core.apps import (
    contacts,
    long_chats,
    messages_questions,
    notes,
    notes_questions,
)
from screenloop.suites.phone_core.apps import messages as messages_tasks
from screenloop.suites.phone_core.template import WORLD, build, call
from screenloop.types import Claim, Start, Task, Verdict
from screenloop.verify.judge import judge

PACKS = (
    contacts.pack,
    messages_tasks.pack,
    messages_questions.pack,
    notes.pack,
    notes_questions.pack,
    between_chats.pack,
    between_people.pack,
    long_chats.pack,
)
TEMPLATES = {name: template for pack in PACKS for name, template in pack.templates.items()}
SEEDS = range(10)


def tasks_of(name: str) -> list[Task]:
    return [build(TEMPLATES[name], seed, None) for seed in SEEDS]


async def verdict_on(task: Task, steps: tuple[Action, ...], answer: str | None = None) -> Verdict:
    """Play steps by tools, wait until everybody who answers has answered, and judge."""
    environments = Environments(MemoryBlobs())
    env = await environments.open(task.env)
    await env.reset(Start(task=task, mode="hybrid"), deadline_s=60)
    for number, step in enumerate((*steps, Wait(seconds=60))):
        if isinstance(step, Answer):
            answer = step.text
            continue
        if isinstance(step, Tool):
            opening = Open(app=step.name.partition(".")[0])
            await env.step(opening, action_id=f"open/{number}", deadline_s=60)
        done = await env.step(step, action_id=f"test/{number}", deadline_s=60)
        assert done.effect.ok, (task.key, step, done.effect.message)
    evidence = await env.evidence(deadline_s=60)
    await env.close()
    await environments.close()
    return judge(task, evidence, Claim(answer=answer))


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_makes_a_task_of_every_world_and_worlds_differ(name: str) -> None:
    tasks = tasks_of(name)
    assert len({repr((task.world.patches, task.checks, task.golden)) for task in tasks}) >= 2


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_goal_says_nothing_of_tools_or_rows(name: str) -> None:
    tools = {tool.name for app in installed().values() for tool in app.tools()}
    for task in tasks_of(name):
        words = set(re.findall(r"[\w.]+", task.goal.text))
        assert not words & tools
        assert not re.search(r"\b(thread|message|note|item|person|folder)\d+\b", task.goal.text)
        assert task.goal.text[0].isupper()


@pytest.mark.parametrize("name", TEMPLATES)
def test_all_apps_of_a_solution_are_named_as_needed(name: str) -> None:
    golden = build(TEMPLATES[name], 0, None).golden
    used = {step.name.partition(".")[0] for step in golden if isinstance(step, Tool)}
    assert used <= set(TEMPLATES[name].apps)
    asked = any(isinstance(step, Answer) for step in golden)
    assert not asked or isinstance(golden[-2], Tool), "a fact is looked up before it is told"


def test_there_are_templates_enough_for_each_app_and_across_apps() -> None:
    apps: list[tuple[str, ...]] = [template.apps for template in TEMPLATES.values()]
    assert apps.count(("contacts",)) >= 8
    assert apps.count(("messages",)) >= 9
    assert apps.count(("notes",)) >= 8
    assert sum(len(names) > 1 for names in apps) >= 8


@pytest.mark.parametrize(
    "name", ["reply_to_friend", "say_yes_to_dinner", "pass_booking_on", "cancel_scheduled_text"]
)
async def test_nobody_answers_of_their_own_accord_and_spoils_an_ending(name: str) -> None:
    task = build(TEMPLATES[name], 3, None)
    verdict = await verdict_on(task, task.golden)
    assert (verdict.success, verdict.side_effects) == (True, ())


async def test_a_reply_may_be_written_as_a_new_message_to_the_same_number() -> None:
    task = build(TEMPLATES["reply_with_flight"], 1, None)
    text = "Flight {}".format(next(s.args["text"] for s in task.golden[1:] if isinstance(s, Tool)))
    phone = facts(cast(WORLD, task.seed)).flat.phone
    verdict = await verdict_on(task, (call(messages.start, phone=phone, text=text),))
    assert verdict.success


async def test_a_text_that_also_tells_what_no_longer_holds_is_wrong() -> None:
    task = build(TEMPLATES["text_moved_review"], 0, None)
    send = next(s for s in task.golden if isinstance(s, Tool) and s.name.endswith(".start"))
    both = Tool(name=send.name, args={**send.args, "text": f"{send.args['text']}, not 11:00"})
    assert (await verdict_on(task, (send,))).success
    assert not (await verdict_on(task, (both,))).success


async def test_a_second_text_to_somebody_else_is_a_side_effect() -> None:
    task = build(TEMPLATES["reply_to_friend"], 0, None)
    extra = call(messages.start, phone="555-300-4000", text="Sorry, wrong person")
    verdict = await verdict_on(task, (*task.golden, extra))
    assert verdict.reward == 1
    assert not verdict.success
