from __future__ import annotations

import io
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from PIL import Image

from screenloop.actions import (
    Action,
    Bash,
    Finish,
    Hotkey,
    Hover,
    Key,
    Open,
    Pinch,
    Scroll,
    Swipe,
    Tap,
    Tool,
    Type,
    Wait,
)
from screenloop.envs.phone import Codec, FrameCache, PhoneEnvironment, PhoneEnvironments
from screenloop.errors import (
    ConfigError,
    EnvironmentFault,
    StaleFrame,
    TaskError,
    UnsupportedAction,
)
from screenloop.phone.device.boot import new_device
from screenloop.phone.show.render import paint, shared_native
from screenloop.store.blobs import MemoryBlobs
from screenloop.suites.phone_core.suite import PhoneCore
from screenloop.types import (
    DiffRow,
    EnvRef,
    Evidence,
    Mode,
    Observation,
    SizePx,
    Start,
    StepResult,
    Task,
    World,
)
from screenloop.verify.diff import diff

SIZE = (412, 915)
TASK = PhoneCore().task("star_contact", 0)


class Hand:
    """Uses one phone the way an agent would: looks at the tree, touches what it names."""

    def __init__(self, *, size_px: SizePx = SIZE, mode: Mode = "gui_only", **options: Any) -> None:
        self.blobs = MemoryBlobs()
        self.env = PhoneEnvironment(EnvRef(kind="phone", size_px=size_px), self.blobs, **options)
        self.mode = mode
        self.steps = 0

    async def reset(self, task: Task = TASK) -> Observation:
        return await self.env.reset(Start(task=task, mode=self.mode), deadline_s=60)

    async def do(self, action: Action) -> StepResult:
        self.steps += 1
        return await self.env.step(action, action_id=f"ep/{self.steps}/0", deadline_s=60)

    async def nodes(self) -> list[dict[str, Any]]:
        seen = await self.env.observe(("tree",), deadline_s=60)
        assert seen.tree is not None
        found: list[dict[str, Any]] = msgspec.json.decode(self.blobs.get(seen.tree))["nodes"]
        return found

    async def tap(self, label: str, **options: Any) -> StepResult:
        named = [n for n in await self.nodes() if n["label"].startswith(label)]
        assert named, f"nothing is called {label!r}"
        x, y, w, h = named[-1]["box"]
        return await self.do(Tap(at=((x + w / 2) / 412, (y + h / 2) / 915), **options))

    async def save_contact(self, name: str) -> StepResult:
        await self.do(Open(app="Contacts"))
        await self.tap("New contact")
        await self.tap("Name")
        await self.do(Type(text=name))
        await self.do(Key(name="back"))
        return await self.tap("Save")


SCRIPT: tuple[Action, ...] = (
    Open(app="contacts"),
    Scroll(direction="down", screens=0.7),
    Tap(at=(0.4, 0.5)),
    Scroll(direction="down"),
    Key(name="back"),
    Swipe(path=((0.5, 0.02), (0.5, 0.6))),
    Tap(at=(0.85, 0.3)),
    Key(name="home"),
    Open(app="calendar"),
    Wait(seconds=90),
)


# ---- reset and runs ------------------------------------------------------------------------


async def test_a_reset_gives_the_same_state_and_the_same_bytes() -> None:
    hand, other = Hand(), Hand()
    first = await hand.reset()
    for action in SCRIPT:
        await hand.do(action)
    again, elsewhere = await hand.reset(), await other.reset()
    assert first.state_hash == again.state_hash == elsewhere.state_hash
    assert first.frame is not None
    assert first.frame == again.frame == elsewhere.frame
    assert hand.blobs.get(first.frame) == other.blobs.get(first.frame)


async def test_two_identical_runs_give_equal_states_and_pixels() -> None:
    runs = []
    for _ in range(2):
        hand = Hand(cache=FrameCache(entries=0))
        await hand.reset()
        seen = [(await hand.do(action)).observation for action in SCRIPT]
        runs.append([(o.state_hash, o.frame, o.clock_s, o.app) for o in seen])
    assert runs[0] == runs[1]
    assert len({state for state, *_ in runs[0]}) == len(SCRIPT)


async def test_worlds_differ_by_seed_and_by_patches() -> None:
    hand = Hand()
    first = await hand.reset()
    other_seed = await hand.reset(replace(TASK, world=World(seed=7)))
    patch = {"app": "os", "op": "set", "field": "dark", "value": True}
    patched = await hand.reset(replace(TASK, world=World(seed=0, patches=(patch,))))
    hashes = {first.state_hash, other_seed.state_hash, patched.state_hash}
    assert len(hashes) == 3


async def test_a_patch_that_names_nothing_is_the_tasks_fault() -> None:
    patch = {"app": "os", "op": "set", "field": "no_such_field", "value": True}
    with pytest.raises(TaskError, match="no_such_field"):
        await Hand().reset(replace(TASK, world=World(patches=(patch,))))


async def test_a_phone_that_was_never_reset_says_so() -> None:
    with pytest.raises(EnvironmentFault, match="not been reset"):
        await Hand().env.observe(deadline_s=1)


async def test_a_closed_phone_starts_again_only_by_a_reset() -> None:
    hand = Hand()
    first = await hand.reset()
    await hand.env.close()
    with pytest.raises(EnvironmentFault, match="closed"):
        await hand.do(Wait())
    assert (await hand.reset()).state_hash == first.state_hash


# ---- frames --------------------------------------------------------------------------------


async def test_phones_that_share_a_cache_paint_an_equal_screen_once() -> None:
    cache = FrameCache()
    first, second = Hand(cache=cache), Hand(cache=cache)
    seen = await first.reset()
    assert cache.hits == 0
    assert (await second.reset()).frame == seen.frame
    assert cache.hits == 1


async def test_a_cached_frame_equals_a_painted_one() -> None:
    cached, fresh = Hand(), Hand(cache=FrameCache(entries=0))
    await cached.reset()
    again, painted = await cached.reset(), await fresh.reset()
    assert again.frame == painted.frame


async def test_the_cache_forgets_the_oldest() -> None:
    cache = FrameCache(entries=2)
    for number in range(3):
        cache.put(f"screen {number}", f"key {number}")
    assert [cache.get(f"screen {n}") for n in range(3)] == [None, "key 1", "key 2"]


@pytest.mark.parametrize("size_px", [SIZE, (824, 1830), (1080, 2400)])
async def test_a_frame_has_the_size_that_was_asked_for(size_px: SizePx) -> None:
    hand = Hand(size_px=size_px)
    seen = await hand.reset()
    assert seen.frame is not None
    with Image.open(io.BytesIO(hand.blobs.get(seen.frame))) as picture:
        assert (picture.size, picture.format) == (size_px, "JPEG")
    assert seen.size_px == hand.env.spec.size_px == size_px


async def test_the_size_of_the_frame_changes_no_state() -> None:
    small, large = Hand(), Hand(size_px=(1080, 2400))
    await small.reset()
    await large.reset()
    for action in SCRIPT:
        a, b = await small.do(action), await large.do(action)
        assert a.observation.state_hash == b.observation.state_hash
        assert a.effect.executed == b.effect.executed


@pytest.mark.parametrize(
    "size_px", [(915, 412), (400, 400), (412, 800), (400, 900), (0, 0), (-412, -915)]
)
def test_other_proportions_are_refused(size_px: SizePx) -> None:
    with pytest.raises(ConfigError, match="412x915 or 1080x2400"):
        Hand(size_px=size_px)


async def test_a_lossless_frame_shows_what_the_renderer_painted() -> None:
    hand = Hand(codec=Codec(name="png"))
    seen = await hand.reset()
    assert seen.frame is not None
    assert seen.frame.endswith(".png")
    with Image.open(io.BytesIO(hand.blobs.get(seen.frame))) as picture:
        painted = paint(shared_native(), new_device().painted()).image()
        assert picture.convert("RGB").tobytes() == painted.tobytes()


# ---- what is asked for and what is seen ----------------------------------------------------


async def test_only_the_named_parts_of_the_screen_are_carried() -> None:
    hand = Hand()
    await hand.reset()
    seen = await hand.env.observe(("text",), deadline_s=60)
    assert (seen.frame, seen.tree) == (None, None)
    assert seen.text is not None
    everything = await hand.env.observe(("frame", "tree", "text"), deadline_s=60)
    assert None not in (everything.frame, everything.tree, everything.text)


async def test_the_tree_tells_what_can_be_read_and_touched() -> None:
    hand = Hand()
    await hand.reset()
    await hand.do(Open(app="contacts"))
    await hand.tap("New contact")
    nodes = {n["label"]: n for n in await hand.nodes()}
    name = nodes["Name"]
    assert (name["role"], name["field"], name["can"]) == ("field", "name", ["tap"])
    assert nodes["Save"]["enabled"] is False
    chip = nodes["Work"]
    assert chip["role"] == "chip"
    for node in nodes.values():
        x, y, w, h = node["box"]
        assert 0 <= x < x + w <= 412
        assert 0 <= y < y + h <= 915
    await hand.tap("Name")
    await hand.do(Type(text="Zoe"))
    nodes = {n["label"]: n for n in await hand.nodes()}
    assert nodes["Name"]["value"] == "Zoe"
    assert nodes["Name"]["selected"] is True


async def test_the_text_of_a_screen_holds_its_words() -> None:
    hand = Hand()
    await hand.reset()
    await hand.do(Open(app="contacts"))
    seen = await hand.env.observe(("text",), deadline_s=60)
    assert seen.text is not None
    lines = hand.blobs.get(seen.text).decode().splitlines()
    assert "Contacts" in lines
    assert "New contact" in lines


async def test_the_clock_moves_by_the_quantum_and_by_waiting() -> None:
    hand = Hand()
    first = await hand.reset()
    moved = await hand.do(Key(name="home"))
    waited = await hand.do(Wait(seconds=60))
    assert moved.observation.clock_s - first.clock_s == 1
    assert waited.observation.clock_s - moved.observation.clock_s == 61


async def test_the_app_in_front_is_told() -> None:
    hand = Hand()
    assert (await hand.reset()).app == "os"
    assert (await hand.do(Open(app="通讯录"))).observation.app == "contacts"


# ---- refusals ------------------------------------------------------------------------------


async def test_coordinates_of_a_frame_that_is_gone_are_refused() -> None:
    hand = Hand()
    first = await hand.reset()
    await hand.do(Open(app="contacts"))
    for action in (
        Tap(at=(0.5, 0.5), frame=first.frame),
        Swipe(path=((0.5, 0.6), (0.5, 0.4)), frame=first.frame),
        Scroll(direction="down", frame=first.frame),
        Type(text="x", at=(0.5, 0.5), frame=first.frame),
        Pinch(at=(0.5, 0.5), scale=2, frame=first.frame),
    ):
        with pytest.raises(StaleFrame, match="observe again"):
            await hand.do(action)


async def test_a_refused_action_changes_nothing_not_even_the_clock() -> None:
    hand = Hand()
    before = await hand.reset()
    for action in (Hover(at=(0.5, 0.5)), Bash(command="ls"), Hotkey(keys=("ctrl", "c")), Finish()):
        with pytest.raises(UnsupportedAction, match="a phone does not execute"):
            await hand.do(action)
    with pytest.raises(StaleFrame):
        await hand.do(Tap(at=(0.5, 0.5), frame="sha256-other.jpg"))
    after = await hand.env.observe(deadline_s=60)
    assert after.state_hash == before.state_hash


async def test_tools_are_refused_and_not_announced_in_gui_only() -> None:
    hand = Hand(mode="gui_only")
    await hand.reset()
    opened = await hand.do(Open(app="contacts"))
    assert opened.observation.tools == ()
    with pytest.raises(UnsupportedAction, match="gui_only"):
        await hand.do(Tool(name="contacts.people.search", args={"text": "a"}))


async def test_the_tools_of_the_app_in_front_can_be_called_in_hybrid() -> None:
    hand = Hand(mode="hybrid")
    await hand.reset()
    opened = await hand.do(Open(app="contacts"))
    assert "contacts.people.search" in opened.observation.tools
    assert {t.name for t in hand.env.spec.tools} >= set(opened.observation.tools)
    found = await hand.do(Tool(name="contacts.people.search", args={"text": ""}))
    assert found.effect.ok
    assert len(found.effect.result) == 20
    elsewhere = await hand.do(Tool(name="calendar.events.list"))
    assert (elsewhere.effect.ok, elsewhere.effect.code) == (False, "no_such_tool")
    wrong = await hand.do(Tool(name="contacts.people.delete", args={"person": "nobody"}))
    assert (wrong.effect.ok, wrong.effect.code) == (False, "no_such_row")


@pytest.mark.parametrize(
    ("action", "code"),
    [
        (Tap(at=(0.5, 0.5), button="right"), "no_such_button"),
        (Tap(at=(0.5, 0.5), count=3), "no_such_touch"),
        (Key(name="menu"), "no_such_key"),
        (Open(app="no such app"), "unknown_app"),
        (Type(text="x"), "no_focus"),
        (Tap(at=(0.5, 0.2)), "nothing_here"),
        (Pinch(at=(0.5, 0.5), scale=2), "nothing_here"),
        (Scroll(direction="down"), "nothing_here"),
    ],
)
async def test_what_cannot_be_done_says_why(action: Action, code: str) -> None:
    hand = Hand()
    await hand.reset()
    result = await hand.do(action)
    assert not result.effect.ok
    assert result.effect.code == code
    assert result.effect.message
    assert result.changes == ()


# ---- evidence ------------------------------------------------------------------------------


async def test_changes_name_the_action_and_the_way_they_came_about() -> None:
    hand = Hand(mode="hybrid")
    await hand.reset()
    saved = await hand.save_contact("Zoe Young")
    by_touch = f"ep/{hand.steps}/0"
    assert [(r.op, r.action_id, r.channel) for r in saved.changes] == [("add", by_touch, "gui")]
    await hand.do(Tool(name="contacts.people.note", args={"person": "person3", "note": "hi"}))
    by_tool = f"ep/{hand.steps}/0"
    evidence = await hand.env.evidence(deadline_s=60)
    assert {(r.id, r.field, r.action_id, r.channel) for r in evidence.diff} == {
        ("person21", "", by_touch, "gui"),
        ("person3", "note", by_tool, "tool"),
    }


async def test_a_change_that_was_taken_back_is_no_difference() -> None:
    hand = Hand(mode="hybrid")
    await hand.reset()
    await hand.do(Open(app="contacts"))
    for on in (True, False):
        tool = Tool(name="contacts.people.block", args={"person": "person2", "on": on})
        await hand.do(tool)
    evidence = await hand.env.evidence(deadline_s=60)
    assert evidence.diff == ()
    assert evidence.before == evidence.after


async def test_a_field_changed_twice_carries_its_last_action() -> None:
    hand = Hand(mode="hybrid")
    await hand.reset()
    await hand.do(Open(app="contacts"))
    for note in ("first", "second"):
        await hand.do(Tool(name="contacts.people.note", args={"person": "person2", "note": note}))
    (row,) = (await hand.env.evidence(deadline_s=60)).diff
    assert (row.before, row.after, row.action_id) == ("", "second", f"ep/{hand.steps}/0")


def facts(rows: tuple[DiffRow, ...]) -> set[tuple[str, str, str, str, str, str]]:
    return {(r.app, r.table, r.id, r.field, r.op, r.action_id) for r in rows}


async def test_the_evidence_agrees_with_the_verifiers_own_diff() -> None:
    hand = Hand(mode="hybrid")
    await hand.reset()
    await hand.save_contact("Zoe Young")
    for action in (
        Tool(name="contacts.people.delete", args={"person": "person4"}),
        Tool(name="contacts.people.note", args={"person": "person5", "note": "hi"}),
        Swipe(path=((0.5, 0.02), (0.5, 0.6))),
    ):
        assert (await hand.do(action)).effect.ok
    await hand.tap("Dark")
    evidence = await hand.env.evidence(deadline_s=60)
    assert len(evidence.diff) == 4
    assert facts(diff(evidence.before, evidence.after, evidence.diff)) == facts(evidence.diff)


async def test_evidence_is_plain_json() -> None:
    hand = Hand(mode="hybrid")
    await hand.reset()
    await hand.save_contact("Zoe Young")
    evidence = await hand.env.evidence(deadline_s=60)
    sent = msgspec.json.decode(msgspec.json.encode(evidence), type=Evidence)
    assert sent == evidence


async def test_evidence_right_after_a_reset_is_empty() -> None:
    hand = Hand()
    await hand.reset()
    evidence = await hand.env.evidence(deadline_s=60)
    assert evidence.diff == ()
    assert evidence.before == evidence.after
    assert len(evidence.before["contacts"]["people"]) == 20


# ---- snapshots -----------------------------------------------------------------------------


async def test_a_snapshot_in_the_middle_restores_screen_state_and_evidence() -> None:
    hand = Hand(mode="hybrid")
    await hand.reset()
    await hand.save_contact("Zoe Young")
    here, evidence = await hand.env.observe(deadline_s=60), await hand.env.evidence(deadline_s=60)
    key = await hand.env.snapshot(deadline_s=60)
    await hand.do(Tool(name="contacts.people.delete", args={"person": "person21"}))
    await hand.do(Key(name="home"))
    back = await hand.env.reset(key, deadline_s=60)
    assert (back.state_hash, back.frame, back.tools) == (here.state_hash, here.frame, here.tools)
    assert await hand.env.evidence(deadline_s=60) == evidence


async def test_forks_of_one_snapshot_do_not_see_each_other() -> None:
    hand = Hand()
    await hand.reset()
    await hand.do(Open(app="contacts"))
    key = await hand.env.snapshot(deadline_s=60)
    ends = []
    for name in ("Zoe Young", "Theo Marsh", "Zoe Young"):
        await hand.env.reset(key, deadline_s=60)
        await hand.save_contact(name)
        evidence = await hand.env.evidence(deadline_s=60)
        assert [r.after["name"] for r in evidence.diff] == [name]
        ends.append((await hand.env.observe(deadline_s=60)).state_hash)
    assert ends[0] == ends[2] != ends[1]


async def test_a_snapshot_outlives_a_reset_to_another_task() -> None:
    hand = Hand()
    await hand.reset()
    here = await hand.do(Open(app="contacts"))
    key = await hand.env.snapshot(deadline_s=60)
    await hand.reset(replace(TASK, world=World(seed=3)))
    back = await hand.env.reset(key, deadline_s=60)
    assert back.state_hash == here.observation.state_hash


async def test_an_unknown_snapshot_is_named() -> None:
    hand = Hand()
    await hand.reset()
    with pytest.raises(EnvironmentFault, match="snap-99"):
        await hand.env.reset("snap-99", deadline_s=10)


async def test_phones_of_one_opener_are_separate_but_share_frames() -> None:
    environments = PhoneEnvironments(MemoryBlobs())
    ref = EnvRef(kind="phone", size_px=SIZE)
    one, two = await environments.open(ref), await environments.open(ref)
    first = await one.reset(Start(task=TASK), deadline_s=60)
    await two.reset(Start(task=TASK), deadline_s=60)
    await one.step(Open(app="contacts"), action_id="a", deadline_s=60)
    assert (await two.observe(deadline_s=60)).state_hash == first.state_hash
    await environments.close()
