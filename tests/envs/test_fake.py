import asyncio
import io

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from screenloop.actions import Action, Key, Open, Scroll, Tap, Tool, Type, Wait
from screenloop.envs import fake_machine as machine
from screenloop.envs.draws import draw_action, one_of_each
from screenloop.envs.fake import FakeEnvironment, FakeEnvironments, FakeFault, VirtualClock
from screenloop.errors import (
    ConfigError,
    DeadlinePassed,
    EnvironmentFault,
    InfraFault,
    StaleFrame,
    TaskError,
    UnsupportedAction,
)
from screenloop.store.blobs import MemoryBlobs
from screenloop.suites.fake import FakeSuite
from screenloop.types import EnvRef, Start, World

START = Start(task=FakeSuite().task("add_to_counter", 0))
HYBRID = Start(task=START.task, mode="hybrid")


def press(page: machine.Page, label: str) -> Tap:
    shown = machine.widgets(machine.FakeState(page=page))
    return Tap(at=next(w.centre for w in shown if w.label == label))


async def step(env: FakeEnvironment, action: Action, deadline_s: float = 5):
    return await env.step(action, action_id="e/0/0", deadline_s=deadline_s)


async def opened(*faults: FakeFault, start: Start = START, **more) -> FakeEnvironment:
    env = FakeEnvironment(MemoryBlobs(), faults=faults, **more)
    await env.reset(start, deadline_s=5)
    return env


async def counter_of(env: FakeEnvironment) -> int:
    return (await env.evidence(deadline_s=5)).after["counter"]["value"]


async def test_taps_change_the_state_and_the_evidence_tells_by_which_action():
    env = await opened()
    await step(env, press("home", "Counter"))
    result = await env.step(press("counter", "+1"), action_id="e/1/0", deadline_s=5)
    evidence = await env.evidence(deadline_s=5)
    assert result.effect.ok
    assert result.effect.executed == "tap 80,80 on '+1'"
    assert (evidence.before["counter"], evidence.after["counter"]) == ({"value": 0}, {"value": 1})
    assert [(row.table, row.after, row.action_id) for row in evidence.diff] == [
        ("value", 1, "e/1/0")
    ]


async def test_an_action_that_does_nothing_says_so():
    env = await opened()
    effects = [
        (await step(env, action)).effect
        for action in (
            Tap(at=(0.0, 0.0)),
            Type(text="x"),
            Scroll(direction="down"),
            Open(app="maps"),
            Key(name="enter"),
        )
    ]
    assert not any(effect.ok for effect in effects)
    assert [effect.code for effect in effects] == [
        "nothing_here",
        "no_focus",
        "at_the_end",
        "no_such_app",
        "no_effect",
    ]


async def test_frames_are_pictures_of_the_declared_size():
    blobs = MemoryBlobs()
    env = FakeEnvironment(blobs)
    seen = await env.reset(START, deadline_s=5)
    assert Image.open(io.BytesIO(blobs.get(seen.frame))).size == machine.SIZE_PX == seen.size_px
    after = (await step(env, press("home", "Notes"))).observation
    assert after.frame != seen.frame


async def test_tree_and_text_are_given_when_asked_for():
    blobs = MemoryBlobs()
    env = FakeEnvironment(blobs)
    await env.reset(START, deadline_s=5)
    seen = await env.observe(("tree", "text"), deadline_s=5)
    assert seen.frame is None
    assert blobs.get(seen.text) == b"Counter\nNotes"
    assert [w["label"] for w in msgspec.json.decode(blobs.get(seen.tree))] == ["Counter", "Notes"]


async def test_tools_work_in_hybrid_mode_and_only_those_of_the_app_in_front():
    env = await opened(start=HYBRID)
    call = Tool(name="counter.add", args={"amount": 3})
    assert (await step(env, call)).effect.code == "tool_not_available"
    seen = (await step(env, Open(app="counter"))).observation
    assert seen.tools == ("counter.add",)
    done = await step(env, call)
    assert (done.effect.ok, done.effect.result) == (True, {"value": 3})
    wrong = await step(env, Tool(name="counter.add", args={"amount": "3"}))
    assert wrong.effect.code == "bad_arguments"
    assert (await env.evidence(deadline_s=5)).diff[0].channel == "tool"


async def test_tools_are_off_in_gui_only_mode():
    env = await opened()
    seen = (await step(env, Open(app="counter"))).observation
    assert seen.tools == ()
    result = await step(env, Tool(name="counter.add", args={"amount": 3}))
    assert result.effect.code == "tool_not_available"


async def test_actions_outside_the_spec_and_stale_frames_are_refused():
    env = await opened()
    for action in one_of_each():
        if type(action).__name__.lower() not in env.spec.actions:
            with pytest.raises(UnsupportedAction, match="does not execute"):
                await step(env, action)
    with pytest.raises(StaleFrame):
        await step(env, Tap(at=(0.5, 0.5), frame="sha256-0.png"))


async def test_waiting_moves_the_devices_own_clock():
    env = await opened()
    assert (await step(env, Wait(seconds=90))).observation.clock_s == 90


async def test_a_snapshot_can_be_forked_again_and_again():
    env = await opened()
    await step(env, Open(app="counter"))
    key = await env.snapshot(deadline_s=5)
    hashes = set()
    for _ in range(2):
        restored = await env.reset(key, deadline_s=5)
        hashes.add(restored.state_hash)
        await step(env, press("counter", "+1"))
        assert await counter_of(env) == 1
    assert len(hashes) == 1
    with pytest.raises(EnvironmentFault, match="took no snapshot"):
        await env.reset("snap-nowhere", deadline_s=5)


async def test_a_task_for_another_device_is_refused():
    other = msgspec.structs.replace(
        START.task, env=msgspec.structs.replace(START.task.env, size_px=(1, 1))
    )
    env = FakeEnvironment(MemoryBlobs())
    with pytest.raises(TaskError, match="wants fake"):
        await env.reset(Start(task=other), deadline_s=5)


@pytest.mark.parametrize(
    ("world", "said"),
    [(World(name="mars"), "no world 'mars'"), (World(patches=({"clock": 1},)), "no patch")],
)
def test_an_unknown_world_or_patch_breaks_the_task(world: World, said: str):
    with pytest.raises(TaskError, match=said):
        machine.initial_state(world)


async def test_an_instance_must_be_reset_first_and_not_be_closed():
    env = FakeEnvironment(MemoryBlobs())
    with pytest.raises(EnvironmentFault, match="reset it first"):
        await env.observe(deadline_s=5)
    await env.close()
    await env.close()
    with pytest.raises(EnvironmentFault, match="closed"):
        await env.reset(START, deadline_s=5)


async def test_the_opener_refuses_another_size():
    opener = FakeEnvironments(MemoryBlobs())
    env = await opener.open(START.task.env)
    await env.reset(START, deadline_s=5)
    with pytest.raises(ConfigError, match="measure"):
        await opener.open(EnvRef(kind="fake", size_px=(1, 1)))
    await opener.close()


# ---- scripted faults -----------------------------------------------------------------------


async def test_a_fault_comes_at_the_nth_call_only():
    env = await opened(FakeFault(operation="step", nth=2, kind="environment"))
    await step(env, Open(app="counter"))
    with pytest.raises(EnvironmentFault, match="scripted fault of step"):
        await step(env, press("counter", "+1"))
    await step(env, press("counter", "+1"))
    assert await counter_of(env) == 1


@pytest.mark.parametrize("operation", ["reset", "observe", "evidence", "snapshot"])
async def test_every_operation_can_fail_by_infrastructure(operation):
    nth = 2 if operation == "reset" else 1
    env = await opened(FakeFault(operation=operation, nth=nth, kind="infrastructure"))
    args = (START,) if operation == "reset" else ()
    with pytest.raises(InfraFault, match=f"fault of {operation}"):
        await getattr(env, operation)(*args, deadline_s=5)


async def test_a_crash_in_a_step_breaks_the_instance_until_its_reset():
    env = await opened(FakeFault(operation="step", kind="crash"))
    with pytest.raises(EnvironmentFault, match="crashed in the middle"):
        await step(env, Open(app="counter"))
    with pytest.raises(EnvironmentFault, match="reset it first"):
        await env.observe(deadline_s=5)
    await env.reset(START, deadline_s=5)
    await env.observe(deadline_s=5)


async def test_a_lost_reply_leaves_the_action_done():
    env = await opened(FakeFault(operation="step", nth=2, kind="lost_reply"))
    await step(env, Open(app="counter"))
    with pytest.raises(InfraFault, match="reply is lost"):
        await step(env, press("counter", "+1"))
    assert await counter_of(env) == 1


async def test_delays_are_taken_from_the_clock_and_not_waited_for():
    clock = VirtualClock()
    slow = FakeFault(operation="observe", nth=1, kind="slow", delay_s=3)
    slower = FakeFault(operation="observe", nth=2, kind="slow", delay_s=60)
    env = await opened(slow, slower, clock=clock)
    await env.observe(deadline_s=5)
    assert clock.now_s == 3
    with pytest.raises(DeadlinePassed, match="within 5 s"):
        await env.observe(deadline_s=5)
    assert clock.now_s == 8


async def test_a_hang_ends_at_the_deadline_and_a_deaf_call_never():
    hang = FakeFault(operation="observe", nth=1, kind="hang")
    deaf = FakeFault(operation="observe", nth=2, kind="deaf")
    env = await opened(hang, deaf)
    with pytest.raises(DeadlinePassed):
        await env.observe(deadline_s=0.01)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(env.observe(deadline_s=0.01), 0.1)


# ---- properties ----------------------------------------------------------------------------


@settings(deadline=None)
@given(st.integers(0, 50), st.randoms(use_true_random=False))
def test_the_machine_never_fails_and_its_changes_are_the_difference(seed, rng):
    state = machine.initial_state(World(seed=seed))
    kinds = machine.ACTIONS - {"open", "tool"}
    for _ in range(25):
        after = machine.apply(state, draw_action(rng, kinds)).state
        rows = machine.changes(state, after, action_id="", channel="gui")
        assert bool(rows) == (machine.business_data(state) != machine.business_data(after))
        assert after.clock_s > state.clock_s
        state = after
