import pytest

from screenloop.envs.phone import PhoneEnvironment
from screenloop.errors import TaskError
from screenloop.phone.device.boot import new_device
from screenloop.store.blobs import MemoryBlobs
from screenloop.train.data.tasks_split import apart
from screenloop.train.recipes.paths import PATHS, UNSEEN, Path, task_of, tasks_of, walk
from screenloop.types import Claim, Start
from screenloop.verify.judge import judge

KNOWN = tasks_of("known", PATHS, range(60))
OTHER_APPS = tasks_of("unseen", UNSEEN, range(12))
TASKS = [*KNOWN[:24], *OTHER_APPS]
DEADLINE_S = 5.0


async def solved(task, touches):
    phone = PhoneEnvironment(task.env, MemoryBlobs(), want=())
    await phone.reset(Start(task=task), deadline_s=DEADLINE_S)
    for number, touch in enumerate(touches):
        await phone.step(touch, action_id=f"a{number}", deadline_s=DEADLINE_S)
    return judge(task, await phone.evidence(deadline_s=DEADLINE_S), Claim()).success


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.key)
async def test_the_found_touches_solve_a_task_and_no_fewer_do(task):
    for count in range(len(task.golden)):
        assert not await solved(task, task.golden[:count])
    assert await solved(task, task.golden)


def test_a_task_takes_two_or_three_touches_and_allows_no_more():
    assert {len(task.golden) for task in KNOWN} == {2, 3}
    assert all(task.budget.steps == len(task.golden) for task in (*KNOWN, *OTHER_APPS))


def test_a_number_gives_the_same_task_whenever_it_is_asked_for():
    assert task_of("known", PATHS, 7) == KNOWN[7]
    assert task_of("other", PATHS, 7) != KNOWN[7]


def test_tasks_begin_in_the_worlds_that_are_given():
    held_out = tasks_of("known", PATHS, range(100, 112), worlds=range(50, 52))
    assert {task.world.seed for task in held_out} == {50, 51}
    assert apart(KNOWN, held_out) == held_out


def test_tasks_that_are_known_under_another_number_are_left_out():
    more = tasks_of("known", PATHS, range(58, 64))
    assert apart(KNOWN, more) == more[2:]


def test_the_apps_that_are_not_trained_on_are_never_entered():
    known = {task.tags["domain"] for task in KNOWN}
    assert known == {"settings", "notes", "messages", "shop"}
    assert not known & {task.tags["domain"] for task in OTHER_APPS}
    fronts = {path.front for path in PATHS} | {path.app for path in PATHS}
    assert not fronts & {path.app for path in UNSEEN}


def test_words_that_name_nothing_lead_nowhere():
    assert walk(new_device(), ("wallet", "no such place")) is None
    with pytest.raises(TaskError, match="no path of 'lost'"):
        task_of("lost", (Path(app="notes", front="os", through=("no such place",)),), 0)


def test_a_touch_on_the_way_that_changes_something_is_no_way():
    device = new_device(patches=({"app": "notes", "op": "show", "path": "/"},))
    assert walk(device, ("show as list",)) is None
