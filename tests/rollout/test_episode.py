"""One Episode, from acquire to Verdict."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest
from played import Bench, Clock, PlayedAgent, a_call, an_attempt, fake_task, play

from screenloop.actions import (
    Action,
    Answer,
    Ask,
    Batch,
    Finish,
    Key,
    Noop,
    Pinch,
    Tap,
    Tool,
    Wait,
    pin_frame,
)
from screenloop.agent.base import Decision
from screenloop.config import RetryPolicy
from screenloop.envs.base import Environment
from screenloop.envs.fake import FakeEnvironment, FakeFault
from screenloop.errors import (
    AgentError,
    Blame,
    ConfigError,
    InfraFault,
    ModelUnavailable,
    TaskError,
)
from screenloop.manager.direct import DirectManager
from screenloop.rollout.context import Deadlines
from screenloop.types import (
    Budget,
    EndReason,
    EnvRef,
    Lease,
    Mode,
    Observation,
    SnapshotKey,
    Start,
    StepResult,
    Task,
    Usage,
)

MISS = Tap(at=(0.99, 0.5))
"""A tap on nothing."""


def solution(task: Task) -> list[Action]:
    return [*task.golden, Finish()]


@pytest.mark.parametrize("name", ["add_to_counter", "add_note", "count_notes", "delete_note"])
async def test_a_golden_path_is_played_judged_and_recorded(name: str, tmp_path: Path) -> None:
    task = fake_task(name)
    agent = PlayedAgent(*solution(task))
    ending, episode = await play(agent, tmp_path, attempt=an_attempt(task))
    assert ending.verdict.success
    assert ending.verdict.reward == 1.0
    assert ending.end.reason is EndReason.FINISHED
    assert not ending.may_retry
    assert episode.verdict == ending.verdict
    assert episode.end == ending.end
    assert [step.index for step in episode.steps] == list(range(len(task.golden) + 1))
    assert all(step.observation.frame for step in episode.steps)
    assert all(len(step.effects) == len(step.actions) for step in episode.steps)


async def test_the_agent_learns_the_goal_and_nothing_that_tells_the_solution(
    tmp_path: Path,
) -> None:
    agent = PlayedAgent(Finish())
    await play(agent, tmp_path)
    assert agent.assignment is not None
    fields = msgspec.structs.asdict(agent.assignment)
    assert set(fields) == {"episode_id", "goal", "spec", "mode", "seed"}
    assert fields["seed"] == 7


async def test_each_turn_carries_the_effects_of_the_one_before(tmp_path: Path) -> None:
    agent = PlayedAgent(MISS, Key(name="home"), Finish())
    _, episode = await play(agent, tmp_path)
    assert agent.turns[0].effects == ()
    assert agent.turns[1].effects == episode.steps[0].effects
    assert agent.turns[1].effects[0].code == "nothing_here"
    assert agent.turns[1].observation == episode.steps[1].observation


# ---- how it ends ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("moves", "budget", "reason", "steps"),
    [
        ([Finish(status="failure")], Budget(), EndReason.FINISHED, 1),
        ([Wait()], Budget(steps=3), EndReason.STEP_LIMIT, 3),
        ([Wait()], Budget(steps=0), EndReason.STEP_LIMIT, 0),
        ([Noop()], Budget(), EndReason.LOOP, 5),
        ([Decision(parse_error="gibberish")], Budget(), EndReason.PARSE_ERRORS, 5),
    ],
)
async def test_ends_for_a_reason_and_is_scored(
    moves: list[Action], budget: Budget, reason: EndReason, steps: int, tmp_path: Path
) -> None:
    attempt = an_attempt(fake_task(), budget=budget)
    ending, episode = await play(PlayedAgent(*moves), tmp_path, attempt=attempt)
    assert (ending.end.reason, len(episode.steps)) == (reason, steps)
    assert ending.verdict.unscored is None
    assert not ending.verdict.success


async def test_tokens_and_money_end_an_episode_and_are_added_up(tmp_path: Path) -> None:
    usage = Usage(prompt=100, cached=50, completion=10, cost_usd=0.01)
    moves = [Decision(actions=(Wait(seconds=step),), call=a_call(step, usage)) for step in range(9)]
    attempt = an_attempt(fake_task(), budget=Budget(tokens=300))
    ending, episode = await play(PlayedAgent(*moves), tmp_path, attempt=attempt)
    assert ending.end.reason is EndReason.TOKEN_LIMIT
    assert ending.end.usage == Usage(prompt=300, cached=150, completion=30, cost_usd=0.03)
    assert [call.call_id for call in episode.calls] == [step.call_id for step in episode.steps]
    attempt = an_attempt(fake_task(), budget=Budget(cost_usd=0.02))
    ending, _ = await play(PlayedAgent(*moves), tmp_path, attempt=attempt)
    assert ending.end.reason is EndReason.COST_LIMIT


async def test_time_ends_an_episode_by_the_clock_that_is_given(tmp_path: Path) -> None:
    bench = Bench()
    setting = bench.setting(clock=Clock(tick_s=1.0))
    attempt = an_attempt(fake_task(), budget=Budget(seconds=10))
    agent = PlayedAgent(*[Wait(seconds=n) for n in range(20)])
    ending, _ = await play(agent, tmp_path, attempt=attempt, setting=setting)
    assert ending.end.reason is EndReason.TIME_LIMIT
    assert ending.end.seconds >= 10


async def test_readable_replies_between_unreadable_ones_start_the_count_again(
    tmp_path: Path,
) -> None:
    bad = Decision(parse_error="gibberish", reply="%%")
    agent = PlayedAgent(bad, bad, Wait(), bad, bad, Finish())
    attempt = an_attempt(fake_task(), retry=RetryPolicy(parse_errors_in_row=3))
    ending, episode = await play(agent, tmp_path, attempt=attempt)
    assert ending.end.reason is EndReason.FINISHED
    assert [step.parse_error is not None for step in episode.steps] == [1, 1, 0, 1, 1, 0]
    assert agent.turns[1].parse_error == "gibberish"
    assert episode.steps[0].reply == "%%"


async def test_a_script_at_its_end_is_scored_and_says_why(tmp_path: Path) -> None:
    task = fake_task("zero_counter")
    agent = PlayedAgent(*task.golden, AgentError("the script is at its end"))
    ending, _ = await play(agent, tmp_path, attempt=an_attempt(task))
    assert ending.verdict.unscored is None
    assert ending.verdict.reward == 1.0
    assert ending.end.detail == "the script is at its end"


# ---- actions -------------------------------------------------------------------------------


async def test_the_last_answer_counts_and_does_not_end_the_episode(tmp_path: Path) -> None:
    task = fake_task("count_notes")
    right = next(action for action in task.golden if isinstance(action, Answer))
    agent = PlayedAgent(Answer(text="99"), right, Finish())
    ending, episode = await play(agent, tmp_path, attempt=an_attempt(task))
    assert ending.verdict.success
    assert len(episode.steps) == 3


async def test_a_question_is_answered_at_the_next_turn(tmp_path: Path) -> None:
    class Friend:
        async def reply(self, episode_id: str, question: str) -> str:
            return f"about {question}: yes"

    bench = Bench()
    agent = PlayedAgent(Ask(text="tea"), Finish())
    _, episode = await play(agent, tmp_path, setting=bench.setting(person=Friend()))
    assert agent.turns[1].ask_reply == "about tea: yes"
    assert episode.steps[0].effects[0].message == "about tea: yes"


async def test_without_a_person_the_agent_is_told_to_decide(tmp_path: Path) -> None:
    agent = PlayedAgent(Ask(text="tea?"), Finish())
    await play(agent, tmp_path)
    assert agent.turns[1].ask_reply == "No person is here; decide yourself."


async def test_a_batch_is_one_step_and_stops_at_the_first_failure(tmp_path: Path) -> None:
    bench = Bench()
    batch = Batch(actions=(Wait(), MISS, Wait(), Finish()))
    agent = PlayedAgent(batch, Finish())
    ending, episode = await play(agent, tmp_path, bench)
    assert [effect.ok for effect in episode.steps[0].effects] == [True, False]
    assert len(episode.steps) == 2
    assert bench.devices[0].calls["step"] == 2
    assert ending.end.reason is EndReason.FINISHED


async def test_a_finish_inside_a_batch_ends_it_there(tmp_path: Path) -> None:
    bench = Bench()
    agent = PlayedAgent(Batch(actions=(Wait(), Finish(), Wait())))
    ending, episode = await play(agent, tmp_path, bench)
    assert len(episode.steps[0].effects) == 2
    assert ending.end.reason is EndReason.FINISHED
    assert bench.devices[0].calls["step"] == 1


async def test_only_the_first_action_of_a_batch_is_bound_to_the_frame(tmp_path: Path) -> None:
    class Pinning(PlayedAgent):
        async def decide(self, turn, *, deadline_s):  # type: ignore[no-untyped-def]
            decision = await super().decide(turn, deadline_s=deadline_s)
            frame = turn.observation.frame
            return Decision(actions=tuple(pin_frame(a, frame) for a in decision.actions))

    task = fake_task("add_to_counter")
    agent = Pinning(Batch(actions=tuple(task.golden)), Finish())  # type: ignore[arg-type]
    ending, episode = await play(agent, tmp_path, attempt=an_attempt(task))
    assert ending.verdict.success
    assert all(effect.ok for effect in episode.steps[0].effects)


async def test_refused_actions_are_effects_and_the_episode_goes_on(tmp_path: Path) -> None:
    bench = Bench()
    agent = PlayedAgent(
        Pinch(at=(0.5, 0.5), scale=2),
        Tap(at=(0.5, 0.5), frame="sha256-gone.png"),
        Tool(name="teapot.boil"),
        Finish(),
    )
    ending, episode = await play(agent, tmp_path, bench)
    effects = [step.effects[0] for step in episode.steps[:3]]
    assert [effect.ok for effect in effects] == [False, False, False]
    assert [effect.code for effect in effects[:2]] == ["unsupported", "stale_frame"]
    assert all(effect.message for effect in effects[:2])
    assert ending.verdict.unscored is None
    assert bench.devices[0].calls["observe"] == 1


async def test_a_step_records_what_it_changed_with_its_action_id(tmp_path: Path) -> None:
    class Telling(FakeEnvironment):
        async def step(self, action: Action, *, action_id: str, deadline_s: float) -> StepResult:
            result = await super().step(action, action_id=action_id, deadline_s=deadline_s)
            log = (await self.evidence(deadline_s=deadline_s)).diff
            rows = tuple(row for row in log if row.action_id == action_id)
            return msgspec.structs.replace(result, changes=rows)

    bench = Bench()

    async def open_telling(ref: EnvRef) -> Environment:
        return Telling(bench.blobs)

    task = fake_task("add_to_counter")
    batch = Batch(actions=tuple(task.golden))  # type: ignore[arg-type]
    _, episode = await play(
        PlayedAgent(batch, Finish()),
        tmp_path,
        attempt=an_attempt(task),
        setting=bench.setting(manager=DirectManager(open_telling)),
    )
    rows = episode.steps[0].changes
    assert [row.after for row in rows] == list(range(1, len(task.golden)))
    assert [row.action_id for row in rows] == [f"ep/0/{n}" for n in range(1, len(task.golden))]
    assert episode.steps[1].changes == ()


# ---- failures ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "blame", "stage"),
    [
        (FakeFault(operation="reset", kind="environment"), Blame.ENVIRONMENT, "reset"),
        (FakeFault(operation="step", kind="environment"), Blame.ENVIRONMENT, "step"),
        (FakeFault(operation="step", kind="crash"), Blame.ENVIRONMENT, "step"),
        (FakeFault(operation="step", kind="infrastructure"), Blame.INFRASTRUCTURE, "step"),
        (FakeFault(operation="evidence", kind="environment"), Blame.ENVIRONMENT, "evaluate"),
    ],
)
async def test_a_fault_leaves_the_attempt_unscored_with_blame_and_stage(
    fault: FakeFault, blame: Blame, stage: str, tmp_path: Path
) -> None:
    agent = PlayedAgent(Wait(), Finish())
    ending, episode = await play(agent, tmp_path, Bench([fault]))
    assert ending.verdict.unscored is not None
    assert (ending.verdict.unscored.blame, ending.verdict.unscored.stage) == (blame, stage)
    assert ending.end.reason is EndReason.FAULT
    assert ending.may_retry
    assert episode.is_complete


@pytest.mark.parametrize("kind", ["hang", "deaf"])
async def test_a_device_that_does_not_answer_is_infrastructure(kind: str, tmp_path: Path) -> None:
    bench = Bench([FakeFault(operation="step", kind=kind)])  # type: ignore[arg-type]
    setting = bench.setting(deadlines=Deadlines(step_s=0.02))
    ending, _ = await play(PlayedAgent(Wait()), tmp_path, bench, setting=setting)
    assert ending.verdict.unscored is not None
    assert ending.verdict.unscored.blame is Blame.INFRASTRUCTURE
    assert "did not" in ending.verdict.unscored.reason


@pytest.mark.parametrize(
    ("failure", "blame", "may_retry"),
    [
        (ModelUnavailable("connection refused"), Blame.INFRASTRUCTURE, True),
        (TaskError("no plan"), Blame.TASK, False),
        (KeyError("a defect"), Blame.INFRASTRUCTURE, True),
    ],
)
async def test_failures_while_deciding(
    failure: Exception, blame: Blame, may_retry: bool, tmp_path: Path
) -> None:
    ending, _ = await play(PlayedAgent(Wait(), failure), tmp_path)
    unscored = ending.verdict.unscored
    assert unscored is not None
    assert (unscored.blame, unscored.stage) == (blame, "model")
    assert type(failure).__name__ in unscored.reason
    assert ending.may_retry is may_retry
    assert ending.end.steps == 1


async def test_an_agent_that_never_answers_is_infrastructure(tmp_path: Path) -> None:
    class Silent(PlayedAgent):
        async def decide(self, turn, *, deadline_s):  # type: ignore[no-untyped-def]
            await asyncio.Event().wait()

    bench = Bench()
    setting = bench.setting(deadlines=Deadlines(decide_s=0.02))
    ending, _ = await play(Silent(), tmp_path, bench, setting=setting)
    assert ending.verdict.unscored is not None
    assert "took longer than 0.02 s" in ending.verdict.unscored.reason


async def test_a_broken_world_is_the_tasks_fault(tmp_path: Path) -> None:
    task = fake_task()
    odd = msgspec.structs.replace(
        task, world=msgspec.structs.replace(task.world, patches=({"teapot": 1},))
    )
    ending, _ = await play(PlayedAgent(Finish()), tmp_path, attempt=an_attempt(odd))
    assert ending.verdict.unscored is not None
    assert ending.verdict.unscored.blame is Blame.TASK
    assert not ending.may_retry


async def test_a_wrong_setting_ends_the_run_and_leaves_no_result(tmp_path: Path) -> None:
    bench = Bench()
    with pytest.raises(ConfigError):
        await play(PlayedAgent(ConfigError("no such dialect")), tmp_path, bench)
    assert b'"end"' not in (tmp_path / "episode.jsonl").read_bytes()


async def test_the_instance_is_given_back_whatever_happens(tmp_path: Path) -> None:
    bench = Bench()
    await play(PlayedAgent(Finish()), tmp_path, bench)
    await play(PlayedAgent(TaskError("x")), tmp_path, bench)
    await play(PlayedAgent(Finish()), tmp_path, bench)
    assert len(bench.devices) == 1


async def test_a_verdict_stands_when_the_instance_cannot_be_given_back(tmp_path: Path) -> None:
    class OneWay(DirectManager):
        async def release(self, lease: Lease) -> None:
            raise InfraFault("the manager cannot be reached")

    bench = Bench()
    bench.manager = OneWay(bench.open)
    task = fake_task()
    ending, episode = await play(
        PlayedAgent(*solution(task)), tmp_path, bench, attempt=an_attempt(task)
    )
    assert ending.verdict.success
    assert not ending.may_retry
    assert episode.verdict == ending.verdict


async def test_a_cancelled_episode_has_no_end_and_gives_its_instance_back(tmp_path: Path) -> None:
    reached = asyncio.Event()

    class Thinking(PlayedAgent):
        async def decide(self, turn, *, deadline_s):  # type: ignore[no-untyped-def]
            if turn.step_index == 2:
                reached.set()
                await asyncio.Event().wait()
            return await super().decide(turn, deadline_s=deadline_s)

    bench = Bench()
    task = asyncio.create_task(play(Thinking(Wait()), tmp_path, bench))
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    lines = (tmp_path / "episode.jsonl").read_bytes().splitlines()
    assert len(lines) == 3
    assert b'"kind":"end"' not in lines[-1]
    await play(PlayedAgent(Finish()), tmp_path, bench)
    assert len(bench.devices) == 1


async def test_the_oracle_gets_its_plan_before_the_first_turn(tmp_path: Path) -> None:
    told: list[tuple[str, str, Mode]] = []

    async def prepare(episode_id: str, task: Task, mode: Mode) -> None:
        told.append((episode_id, task.id, mode))

    bench = Bench()
    await play(PlayedAgent(Finish()), tmp_path, setting=bench.setting(prepare=prepare))
    assert told == [("ep", "fake/add_to_counter@1", "gui_only")]


async def test_a_plan_that_cannot_be_made_is_the_tasks_fault(tmp_path: Path) -> None:
    async def prepare(episode_id: str, task: Task, mode: Mode) -> None:
        raise TaskError("no GUI path to the golden state")

    bench = Bench()
    ending, _ = await play(PlayedAgent(Finish()), tmp_path, setting=bench.setting(prepare=prepare))
    assert ending.verdict.unscored is not None
    assert (ending.verdict.unscored.blame, ending.verdict.unscored.stage) == (Blame.TASK, "plan")


async def test_an_environment_that_ends_itself_ends_the_episode(tmp_path: Path) -> None:
    class Closing(FakeEnvironment):
        async def step(self, action: Action, *, action_id: str, deadline_s: float) -> StepResult:
            result = await super().step(action, action_id=action_id, deadline_s=deadline_s)
            gone = msgspec.structs.replace(result.observation, frame=None, done=True)
            return StepResult(effect=result.effect, observation=gone)

    bench = Bench()

    async def open_closing(ref: EnvRef) -> Environment:
        return Closing(bench.blobs)

    setting = bench.setting(manager=DirectManager(open_closing))
    agent = PlayedAgent(Batch(actions=(Wait(), Wait())))
    ending, episode = await play(agent, tmp_path, setting=setting)
    assert ending.end.reason is EndReason.DONE
    assert ending.verdict.unscored is None
    assert len(episode.steps[0].effects) == 1


async def test_an_environments_own_words_replace_the_tasks_goal(tmp_path: Path) -> None:
    class Worded(FakeEnvironment):
        async def reset(self, start: Start | SnapshotKey, *, deadline_s: float) -> Observation:
            seen = await super().reset(start, deadline_s=deadline_s)
            return msgspec.structs.replace(seen, goal="Click the button named ok.")

    bench = Bench()

    async def open_worded(ref: EnvRef) -> Environment:
        return Worded(bench.blobs)

    agent = PlayedAgent(Finish())
    await play(agent, tmp_path, setting=bench.setting(manager=DirectManager(open_worded)))
    assert agent.assignment is not None
    assert agent.assignment.goal.text == "Click the button named ok."


async def test_a_missing_screenshot_is_a_fault_and_never_a_blind_step(tmp_path: Path) -> None:
    class Blind(FakeEnvironment):
        async def step(self, action: Action, *, action_id: str, deadline_s: float) -> StepResult:
            result = await super().step(action, action_id=action_id, deadline_s=deadline_s)
            unseen = msgspec.structs.replace(result.observation, frame=None)
            return StepResult(effect=result.effect, observation=unseen)

    bench = Bench()

    async def open_blind(ref: EnvRef) -> Environment:
        return Blind(bench.blobs)

    agent = PlayedAgent(Wait())
    setting = bench.setting(manager=DirectManager(open_blind))
    ending, _ = await play(agent, tmp_path, setting=setting)
    assert ending.verdict.unscored is not None
    assert ending.verdict.unscored.blame is Blame.ENVIRONMENT
    assert len(agent.turns) == 1
