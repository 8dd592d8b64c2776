"""The templates over calendar, clock and settings, alone and with other apps."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from screenloop.actions import Action, Answer, Open, Tool
from screenloop.envs.kinds import Environments
from screenloop.phone.apps.calendar import actions as calendar
from screenloop.phone.apps.clock import actions as clock
from screenloop.phone.apps.messages import actions as messages
from screenloop.phone.apps.settings import actions as settings
from screenloop.phone.device.boot import installed
from screenloop.store.blobs import MemoryBlobs
from screenloop.suites.phone_core.across import devices as between_devices
from screenloop.suites.phone_core.across import times as across_times
from screenloop.suites.phone_core.apps import calendar as calendar_tasks
from screenloop.suites.phone_core.apps import calendar_days, settings_connect
from screenloop.suites.phone_core.apps import clock as clock_tasks
from screenloop.suites.phone_core.apps import settings as settings_tasks
from screenloop.suites.phone_core.template import Template, build, call
from screenloop.types import Claim, Start, Task, Verdict
from screenloop.verify.judge import judge

PACKS = (
    calendar_tasks.pack,
    calendar_days.pack,
    clock_tasks.pack,
    settings_tasks.pack,
    settings_connect.pack,
    across_times.pack,
    between_devices.pack,
)
TEMPLATES = {name: t for pack in PACKS for name, t in pack.templates.items()}
SEEDS = range(10)


async def verdict_on(task: Task, steps: tuple[Action, ...], answer: str | None = None) -> Verdict:
    """Play steps by tools and judge what they lead to."""
    environments = Environments(MemoryBlobs())
    env = await environments.open(task.env)
    await env.reset(Start(task=task, mode="hybrid"), deadline_s=60)
    for number, step in enumerate(steps):
        if isinstance(step, Answer):
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


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
def test_a_template_makes_a_task_of_every_world_and_worlds_differ(template: Template) -> None:
    tasks = [build(template, seed, None) for seed in SEEDS]
    assert len({repr((t.world.patches, t.checks, t.golden)) for t in tasks}) > 1


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
def test_a_template_makes_the_same_task_again(template: Template) -> None:
    assert build(template, 3, None) == build(template, 3, None)


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
def test_a_goal_is_in_the_words_of_a_person(template: Template) -> None:
    apps = installed().values()
    tools = {name for app in apps for name in (*app.actions, *app.queries) if "." in name}
    for seed in SEEDS:
        own = re.sub(r'"[^"]*"', "", build(template, seed, None).goal.text)
        assert own[0].isupper()
        assert own[-1] in ".? "
        assert not set(re.findall(r"[a-z_]+\.[a-z_]+", own)) & tools
        assert not re.search(r"\b(button|tool|screen|widget|field|tab|chip)\b", own)
        assert not re.search(r"\b(event|alarm|network|device|thread|note|timer|person)\d+\b", own)


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
def test_all_apps_of_a_solution_are_named_as_needed(template: Template) -> None:
    golden = build(template, 0, None).golden
    used = {step.name.partition(".")[0] for step in golden if isinstance(step, Tool)}
    assert used == set(template.apps)
    for before, step in pairwise(golden):
        assert not isinstance(step, Answer) or isinstance(before, Tool), "looked up, then told"


def test_there_are_templates_enough_for_each_app_and_across_apps() -> None:
    apps = [template.apps for template in TEMPLATES.values()]
    assert apps.count(("calendar",)) >= 8
    assert apps.count(("clock",)) >= 6
    assert apps.count(("settings",)) >= 7
    assert sum(len(names) > 1 for names in apps) >= 8


@pytest.mark.parametrize("seed", SEEDS)
async def test_of_three_offered_hours_just_one_is_free(seed: int) -> None:
    task = build(TEMPLATES["offer_free_hour"], seed, None)
    offer = task.world.patches[1]["row"]["text"]
    send = task.golden[-1]
    assert isinstance(send, Tool)
    offered = re.findall(r"\d\d:\d\d", offer)
    assert len(set(offered)) == 3
    for hour in offered:
        text = Tool(name=send.name, args={**send.args, "text": f"{hour} is fine."})
        assert (await verdict_on(task, (text,))).success == (hour == task.params["free"])


async def test_a_lesson_that_falls_through_must_not_end_the_course() -> None:
    task = build(TEMPLATES["lesson_falls_through"], 0, None)
    gone = call(calendar.delete, event=task.params["event"])
    assert not (await verdict_on(task, (gone,))).success


async def test_an_alarm_that_rings_every_day_does_not_ring_just_this_once() -> None:
    task = build(TEMPLATES["wake_before_event"], 0, None)
    daily = call(clock.add_alarm, time=task.params["time"], days="1,2,3,4,5,6,7")
    verdict = await verdict_on(task, (daily,))
    assert not verdict.success
    assert 0 < verdict.reward < 1


async def test_invitations_may_be_sent_in_any_order() -> None:
    task = build(TEMPLATES["invite_people_of_city"], 0, None)
    names = reversed(task.params["names"])
    steps = tuple(call(calendar.invite, event=task.params["event"], name=name) for name in names)
    assert (await verdict_on(task, steps)).success
    assert not (await verdict_on(task, steps[1:])).success


async def test_another_network_that_is_saved_on_the_way_spoils_the_ending() -> None:
    task = build(TEMPLATES["join_network_from_note"], 0, None)
    assert (await verdict_on(task, task.golden)).success
    open_one = call(settings.join, network="network3")
    assert not (await verdict_on(task, (open_one,))).success
    verdict = await verdict_on(task, (open_one, *task.golden))
    assert not verdict.success, "the open network is saved now as well"


async def test_the_name_of_the_hotspot_without_its_password_is_not_enough() -> None:
    task = build(TEMPLATES["hotspot_for_friend"], 0, None)
    switch, _, send = task.golden
    assert isinstance(send, Tool)
    name = send.args["text"].partition(",")[0]
    short = call(messages.start, phone=send.args["phone"], text=name)
    assert not (await verdict_on(task, (switch, short))).success
    assert (await verdict_on(task, (switch, send))).success


async def test_other_timers_may_run_on_while_one_is_taken_away() -> None:
    task = build(TEMPLATES["kitchen_timers"], 0, None)
    resume, cancel = task.golden
    assert (await verdict_on(task, (cancel, resume))).success
    assert not (await verdict_on(task, (cancel,))).success
