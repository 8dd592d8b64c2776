import pytest

from screenloop.actions import Answer, Finish
from screenloop.envs.fake import FakeEnvironment
from screenloop.errors import ConfigError
from screenloop.store.blobs import MemoryBlobs
from screenloop.suites.fake import FakeSuite
from screenloop.types import Claim, Start, Task, Verdict
from screenloop.verify.judge import judge, require_judgeable

SUITE = FakeSuite()


async def verdict_after(task: Task, *, play: bool) -> Verdict:
    env = FakeEnvironment(MemoryBlobs())
    await env.reset(Start(task=task), deadline_s=60)
    answer = None
    for index, action in enumerate(task.golden if play else ()):
        if isinstance(action, Answer):
            answer = action.text
        else:
            result = await env.step(action, action_id=f"e/{index}/0", deadline_s=60)
            assert result.effect.ok, (task.key, action, result.effect)
    evidence = await env.evidence(deadline_s=60)
    await env.close()
    return judge(task, evidence, Claim(answer=answer, finish=Finish()))


@pytest.mark.parametrize("name", SUITE.names())
async def test_each_task_is_solved_by_its_golden_path_and_by_nothing_less(name: str):
    for seed in range(12):
        task = SUITE.task(name, seed)
        require_judgeable(task)
        idle = await verdict_after(task, play=False)
        done = await verdict_after(task, play=True)
        assert (idle.reward, idle.success) == (0.0, False), task.key
        assert (done.reward, done.success, done.side_effects) == (1.0, True, ()), task.key


def test_the_same_seed_gives_the_same_task_and_others_differ():
    assert SUITE.task("add_note", 3) == SUITE.task("add_note", 3)
    goals = {SUITE.task("add_to_counter", seed).goal.text for seed in range(20)}
    assert len(goals) > 1


def test_an_unknown_template_names_the_nearest():
    with pytest.raises(ConfigError, match="Did you mean 'add_note'"):
        SUITE.task("add_notes", 0)
