"""MiniWoB++ pages: what the site refuses, and that seed and actions decide every byte."""

import asyncio
import re

import pytest
from web_parts import start

from screenloop.actions import Action, Hover, Scroll, Swipe, Tap, Type, Wait
from screenloop.envs.web.environment import WebEnvironments
from screenloop.envs.web.miniwob import MiniwobSite, page_path, registered_tasks
from screenloop.errors import TaskError
from screenloop.store.blobs import MemoryBlobs
from screenloop.types import EnvRef, Observation, SizePx, World

SIZE_PX: SizePx = (320, 420)
REF = EnvRef(kind="web", size_px=SIZE_PX)
SCRIPT: tuple[Action, ...] = (
    Tap(at=(0.3, 0.4)),
    Type(text="ab1"),
    Swipe(path=((0.3, 0.4), (0.6, 0.6))),
    Scroll(direction="down", screens=0.3),
    Hover(at=(0.2, 0.5)),
    Wait(seconds=1.0),
    Tap(at=(0.4, 0.75)),
)
SAMPLE = ("choose-list", "click-pie", "drag-cube", "email-inbox", "terminal", "text-editor")
"""Pages with pickers, animation, physics, pictures loaded late, dates and timers."""

Trace = list[tuple[str | None, str | None, str | None, bool]]


async def played(environments: WebEnvironments, name: str, seed: int) -> Trace:
    """Return what each Observation of a fixed run says, and the evidence at its end."""
    env = await environments.open(REF)
    try:
        seen: list[Observation] = [
            await env.reset(start(f"miniwob/{name}", seed=seed, size_px=SIZE_PX), deadline_s=60)
        ]
        for action in SCRIPT:
            result = await env.step(action, action_id="t", deadline_s=60)
            seen.append(result.observation)
        evidence = await env.evidence(deadline_s=60)
    finally:
        await env.close()
    trace = [(one.goal, one.frame, one.state_hash, one.done) for one in seen]
    return [*trace, (str(evidence.native), None, None, False)]


async def differing(names: tuple[str, ...]) -> list[str]:
    """Play each page twice at the same time and name those whose runs are not the same."""
    environments = WebEnvironments(MemoryBlobs())
    found = []
    try:
        for name in names:
            one, other = await asyncio.gather(
                played(environments, name, 7), played(environments, name, 7)
            )
            if one != other:
                step = next(i for i, (a, b) in enumerate(zip(one, other, strict=True)) if a != b)
                found.append(f"{name} at {step}: {one[step]} is not {other[step]}")
    finally:
        await environments.close()
    return found


@pytest.mark.browser
async def test_equal_seeds_and_actions_give_equal_goals_frames_and_states() -> None:
    assert await differing(SAMPLE) == []


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
async def test_every_page_is_decided_by_seed_and_actions(part: int) -> None:
    assert await differing(registered_tasks()[part::5]) == []


@pytest.mark.browser
async def test_another_seed_is_another_instance() -> None:
    environments = WebEnvironments(MemoryBlobs())
    try:
        env = await environments.open(REF)
        goals = set()
        for seed in range(8):
            begun = start("miniwob/enter-text", seed=seed, size_px=SIZE_PX)
            goals.add((await env.reset(begun, deadline_s=60)).goal)
    finally:
        await environments.close()
    assert len(goals) > 4


@pytest.mark.browser
async def test_the_cover_the_reward_display_and_click_marks_are_not_shown() -> None:
    blobs = MemoryBlobs()
    environments = WebEnvironments(blobs)
    try:
        env = await environments.open(REF)
        await env.reset(start("miniwob/click-test-2", size_px=SIZE_PX), deadline_s=60)
        await env.step(Tap(at=(0.5, 0.95)), action_id="t", deadline_s=60)
        seen = await env.observe(("text",), deadline_s=60)
        assert seen.text is not None
        assert blobs.get(seen.text).decode() == "Click button ONE.\nONE\nTWO"
    finally:
        await environments.close()


def test_the_worlds_name_leads_to_the_page_and_nowhere_else() -> None:
    site = MiniwobSite()
    url = site.url(World(name="miniwob/click-test"))
    assert url == page_path("click-test").as_uri()
    for name in ("miniwob/", "miniwob/none", "miniwob/../core/core", "miniwob/click-test.html"):
        with pytest.raises(TaskError, match="has no page"):
            site.url(World(name=name))


def test_patches_set_the_time_limit_and_the_data_mode_and_nothing_else() -> None:
    site = MiniwobSite()
    world = World(
        name="miniwob/click-test", seed=3, patches=({"time_limit_s": 10}, {"data_mode": "test"})
    )
    script = site.begin(world)
    assert 'core.setDataMode("test")' in script
    assert "Math.seedrandom(3)" in script
    assert "EPISODE_MAX_TIME = 10000" in script
    with pytest.raises(TaskError, match="unknown miniwob patch 'difficulty'"):
        site.begin(World(name="miniwob/click-test", patches=({"difficulty": 1},)))
    with pytest.raises(TaskError, match="unknown miniwob data mode 'exam'"):
        site.begin(World(name="miniwob/click-test", patches=({"data_mode": "exam"},)))


def test_no_page_stores_anything_so_a_context_may_load_one_beforehand() -> None:
    root = page_path("click-test").parent.parent
    sources = [p for p in root.rglob("*") if p.suffix in (".html", ".js")]
    stores = re.compile(rb"localStorage|sessionStorage|indexedDB|document\.cookie")
    mine = [p for p in sources if p.parent.name in ("miniwob", "core", "common")]
    assert len(mine) > len(registered_tasks())
    assert [p.name for p in mine if stores.search(p.read_bytes())] == []
