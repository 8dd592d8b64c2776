"""The web Environment on local pages: actions, refusals, deadlines, and browsers that die."""

import asyncio
import io
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
from PIL import Image
from web_parts import SIZE_PX, LocalPages, start

from screenloop.actions import (
    Action,
    Answer,
    Ask,
    Bash,
    Finish,
    Hotkey,
    Hover,
    Key,
    Open,
    Scroll,
    Swipe,
    Tap,
    Tool,
    Type,
    Wait,
)
from screenloop.envs.web.environment import WebEnvironment, WebEnvironments
from screenloop.envs.web.site import is_local_url
from screenloop.envs.web.tree import TreeNode
from screenloop.errors import (
    ConfigError,
    DeadlinePassed,
    EnvironmentFault,
    StaleFrame,
    TaskError,
    UnsupportedAction,
)
from screenloop.store.blobs import MemoryBlobs
from screenloop.types import Effect, EnvRef, Observation, StepResult

browser = pytest.mark.browser
REF = EnvRef(kind="web", size_px=SIZE_PX)


class Bench:
    """One Instance on local pages, with short ways to use it."""

    def __init__(self, env: WebEnvironment, site: LocalPages, blobs: MemoryBlobs) -> None:
        self.env = env
        self.site = site
        self.blobs = blobs

    async def load(self, body: str, file: str = "a.html") -> Observation:
        self.site.write(file, body)
        return await self.env.reset(start(f"pages/{file}"), deadline_s=60)

    async def act(self, action: Action) -> StepResult:
        return await self.env.step(action, action_id="t", deadline_s=60)

    async def do(self, *actions: Action) -> Effect:
        for action in actions:
            effect = (await self.act(action)).effect
        return effect

    async def told(self) -> dict[str, object]:
        evidence = await self.env.evidence(deadline_s=60)
        told: dict[str, object] = evidence.after["pages"]
        return told


@pytest.fixture
async def environments(tmp_path: Path) -> AsyncIterator[tuple[WebEnvironments, Bench]]:
    blobs, site = MemoryBlobs(), LocalPages(tmp_path)
    environments = WebEnvironments(blobs, sites=(site,))
    try:
        yield environments, Bench(await environments.open(REF), site, blobs)
    finally:
        await environments.close()


@pytest.fixture
def bench(environments: tuple[WebEnvironments, Bench]) -> Bench:
    return environments[1]


LOG = "<script>window.told = {log: []}; const log = s => told.log.push(s);</script>"


@browser
async def test_a_reset_shows_the_page_and_announces_its_goal(bench: Bench) -> None:
    seen = await bench.load("<h1>Hello</h1><script>window.told = {goal: 'Say hello.'}</script>")
    assert seen.goal == "Say hello."
    assert seen.app == "a.html"
    assert seen.clock_s == 0.5
    assert seen.size_px == SIZE_PX
    assert seen.frame is not None
    assert Image.open(io.BytesIO(bench.blobs.get(seen.frame))).size == SIZE_PX
    later = await bench.env.observe(deadline_s=60)
    assert later.goal is None
    assert (later.frame, later.state_hash) == (seen.frame, seen.state_hash)


@browser
async def test_what_is_wanted_comes_with_the_reset_and_with_every_step(tmp_path: Path) -> None:
    blobs, site = MemoryBlobs(), LocalPages(tmp_path)
    environments = WebEnvironments(blobs, sites=(site,), want=("tree",))
    try:
        bench = Bench(await environments.open(REF), site, blobs)
        seen = await bench.load("<button>Save</button><script>window.told = {}</script>")
        later = (await bench.act(Tap(at=(0.5, 0.5)))).observation
    finally:
        await environments.close()
    for one in (seen, later):
        assert (one.frame, one.text) == (None, None)
        assert one.tree is not None
        assert b"Save" in blobs.get(one.tree)


@browser
async def test_taps_click_double_click_long_press_and_right_click(bench: Bench) -> None:
    await bench.load(
        LOG + "<button style='width:100px;height:80px' onclick='log(`click${event.detail}`)'"
        " ondblclick='log(`double`)' oncontextmenu='log(`menu`)'"
        " onmousedown='this.t = Date.now()' onmouseup='log(Date.now() - this.t)'>Go</button>"
    )
    at = (0.25, 0.25)
    effect = await bench.do(Tap(at=at))
    assert effect.executed == "left click 50,40 on <button> 'Go'"
    await bench.do(Tap(at=at, hold_ms=700), Tap(at=at, count=2), Tap(at=at, button="right"))
    assert (await bench.told())["log"] == [
        0,
        "click1",
        700,
        "click1",
        0,
        "click1",
        0,
        "click2",
        "double",
        "menu",
        0,
    ]


@browser
async def test_typing_clears_and_submits(bench: Bench) -> None:
    await bench.load(
        LOG + "<form onsubmit='log(f.value); return false'><input id=f value=old"
        " style='width:180px;height:40px'></form>"
    )
    await bench.do(
        Type(text=" new", at=(0.5, 0.1)),
        Key(name="enter"),
        Type(text="Ünï 1", clear=True, submit=True),
        Hotkey(keys=("ctrl", "a")),
        Key(name="delete"),
        Key(name="enter"),
    )
    assert (await bench.told())["log"] == ["old new", "Ünï 1", ""]


@browser
async def test_swipes_drag_along_their_path_on_the_page_clock(bench: Bench) -> None:
    await bench.load(
        LOG + "<div style='height:160px' onmousedown='window.t = Date.now(); log([x(event)])'"
        " onmousemove='event.buttons && (window.last = x(event))'"
        " onmouseup='log([last, x(event), Date.now() - t])'></div>"
        "<script>const x = e => e.clientX</script>"
    )
    await bench.do(Swipe(path=((0.1, 0.5), (0.5, 0.9), (0.8, 0.5)), duration_ms=400, hold_ms=100))
    log = (await bench.told())["log"]
    assert log == [[20], [160, 160, pytest.approx(500, abs=1)]]


@browser
async def test_scrolling_goes_in_content_direction_by_screens(bench: Bench) -> None:
    await bench.load(
        "<div style='width:900px;height:900px'></div><script>"
        "onscroll = () => window.told = {at: [scrollX, scrollY]}</script>"
    )
    await bench.do(Scroll(direction="down", screens=1.5), Scroll(direction="up", screens=0.5))
    assert (await bench.told())["at"] == [0, 160]
    await bench.do(Scroll(direction="right", screens=0.5, at=(0.1, 0.1)))
    assert (await bench.told())["at"] == [100, 160]


@browser
async def test_hovering_shows_what_hides_until_then(bench: Bench) -> None:
    first = await bench.load(
        "<style>p{height:80px;background:white} p:hover{background:red}</style><p></p>"
    )
    hovered = (await bench.act(Hover(at=(0.5, 0.3)))).observation
    away = (await bench.act(Hover(at=(0.5, 0.9)))).observation
    assert hovered.frame != first.frame == away.frame


@browser
async def test_waiting_runs_the_page_clock(bench: Bench) -> None:
    await bench.load("<script>window.told = {n: 0}; setInterval(() => told.n += 1, 1000)</script>")
    result = await bench.act(Wait(seconds=10))
    assert result.observation.clock_s == 11.0
    assert (await bench.told())["n"] == 11


@browser
async def test_opening_stays_on_this_machine_and_back_returns(bench: Bench, tmp_path: Path) -> None:
    bench.site.write("b.html", "second")
    await bench.load("first")
    opened = await bench.act(Open(app=(tmp_path / "b.html").as_uri()))
    assert (opened.effect.ok, opened.observation.app) == (True, "b.html")
    refused = await bench.act(Open(app="https://example.org/"))
    assert (refused.effect.ok, refused.effect.code) == (False, "not_allowed")
    assert refused.observation.app == "b.html"
    back = await bench.act(Key(name="back"))
    assert (back.effect.ok, back.observation.app) == (True, "a.html")
    nowhere = await bench.act(Key(name="back"))
    assert nowhere.effect.code == "nothing_to_go_back_to"


@browser
async def test_a_link_that_is_tapped_is_loaded_before_the_frame(bench: Bench) -> None:
    bench.site.write("b.html", "<body style='background:rgb(0,0,200)'>")
    await bench.load("<a href=b.html style='display:block;height:160px'>go</a>")
    result = await bench.act(Tap(at=(0.5, 0.5)))
    assert result.observation.app == "b.html"
    assert result.observation.frame is not None
    picture = Image.open(io.BytesIO(bench.blobs.get(result.observation.frame))).convert("RGB")
    assert picture.getpixel((100, 80)) == (0, 0, 200)


@browser
async def test_keys_that_a_browser_lacks_do_nothing_and_say_so(bench: Bench) -> None:
    await bench.load("")
    assert (await bench.do(Key(name="volume_up"))).code == "no_such_key"
    effect = await bench.do(Hotkey(keys=("ctrl", "hyper")))
    assert (effect.ok, effect.message) == (False, "There is no key 'hyper'.")


@browser
async def test_tree_and_text_tell_what_is_shown(bench: Bench) -> None:
    await bench.load(
        "<p style='display:none'>hidden</p><div style='height:40px'></div>"
        "<input aria-label=Name value=Ada style='position:absolute;left:10px;top:50px;width:100px;"
        "height:20px;box-sizing:border-box' autofocus>"
        "<label><input type=checkbox checked>On</label>"
        "<div style='height:900px'></div><script>scrollTo(0, 30)</script>"
    )
    seen = await bench.env.observe(("tree", "text"), deadline_s=60)
    assert seen.frame is None
    assert seen.tree is not None
    assert seen.text is not None
    assert bench.blobs.get(seen.text) == b"On"
    tree = msgspec.json.decode(bench.blobs.get(seen.tree), type=TreeNode)
    nodes = {node.name: node for node in tree.children}
    assert nodes["Name"].role == "textbox"
    assert nodes["Name"].value == "Ada"
    assert nodes["Name"].box == (10, 20, 100, 20)
    assert nodes["Name"].focused


@browser
async def test_a_page_that_ends_itself_takes_no_more_actions(bench: Bench) -> None:
    await bench.load(
        "<button style='width:200px;height:160px' onclick='window.told ="
        " {done: true, n: (window.told?.n || 0) + 1}'>end</button>"
    )
    assert (await bench.act(Tap(at=(0.5, 0.5)))).observation.done
    again = await bench.act(Tap(at=(0.5, 0.5)))
    assert (again.effect.ok, again.effect.code) == (False, "episode_over")
    assert (await bench.told())["n"] == 1


@browser
async def test_coordinates_of_an_earlier_frame_are_refused(bench: Bench) -> None:
    first = await bench.load(LOG + "<input style='height:160px' onclick='log(1)' autofocus>")
    await bench.do(Type(text="changed"))
    with pytest.raises(StaleFrame, match="frame sha256-"):
        await bench.do(Tap(at=(0.1, 0.5), frame=first.frame))
    assert (await bench.told())["log"] == []
    current = await bench.env.observe(deadline_s=60)
    await bench.do(Tap(at=(0.1, 0.5), frame=current.frame))
    assert (await bench.told())["log"] == [1]


@browser
@pytest.mark.parametrize(
    "action",
    [Ask(text="?"), Answer(text="!"), Finish(), Bash(command="ls"), Tool(name="a.b")],
    ids=lambda action: type(action).__name__,
)
async def test_what_is_not_for_a_browser_is_refused(bench: Bench, action: Action) -> None:
    await bench.load("")
    with pytest.raises(UnsupportedAction, match="it does: hotkey, hover, key"):
        await bench.act(action)


@browser
async def test_a_snapshot_is_refused_and_the_spec_says_so(bench: Bench) -> None:
    await bench.load("")
    assert not bench.env.spec.can_fork
    with pytest.raises(UnsupportedAction, match="can_fork is False"):
        await bench.env.snapshot(deadline_s=20)
    with pytest.raises(UnsupportedAction):
        await bench.env.reset("snap-1", deadline_s=20)


@browser
async def test_a_missed_deadline_needs_a_reset_only_when_an_action_was_cut_short(
    bench: Bench,
) -> None:
    await bench.load("<p>here</p>")
    with pytest.raises(DeadlinePassed, match="observe took longer than 0 s"):
        await bench.env.observe(deadline_s=0)
    await bench.env.observe(deadline_s=60)
    with pytest.raises(DeadlinePassed):
        await bench.env.step(Tap(at=(0.5, 0.5)), action_id="t", deadline_s=0)
    with pytest.raises(EnvironmentFault, match="reset it first"):
        await bench.env.observe(deadline_s=20)
    await bench.load("<p>again</p>")


@browser
async def test_a_page_that_hangs_misses_its_deadline_and_the_others_go_on(
    environments: tuple[WebEnvironments, Bench],
) -> None:
    web, bench = environments
    other = Bench(await web.open(REF), bench.site, bench.blobs)
    await other.load("fine", "fine.html")
    await bench.load("<body onclick='for (;;);' style='height:160px'>")
    hanging = asyncio.create_task(bench.env.step(Tap(at=(0.5, 0.5)), action_id="t", deadline_s=1))
    for _ in range(5):
        await other.do(Wait(seconds=1))
    with pytest.raises(DeadlinePassed):
        await hanging
    await bench.load("<p>again</p>")


@browser
async def test_a_browser_that_dies_is_a_fault_and_the_next_reset_has_a_new_one(
    environments: tuple[WebEnvironments, Bench],
) -> None:
    web, bench = environments
    first = await bench.load("<p>here</p>")
    (pid,) = web.host.pids
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(EnvironmentFault):
        await bench.do(*[Tap(at=(0.5, 0.5))] * 3)
    second = await bench.load("<p>here</p>")
    assert web.host.pids != (pid,)
    assert (second.frame, second.state_hash) == (first.frame, first.state_hash)


@browser
async def test_instances_share_a_browser_but_nothing_else(
    environments: tuple[WebEnvironments, Bench],
) -> None:
    web, bench = environments
    other = Bench(await web.open(REF), bench.site, bench.blobs)
    body = (
        "<script>window.told = {seen: document.cookie + (localStorage.x || ''), goal: 'g'};"
        "localStorage.x = 'left'; document.cookie = 'x=left'</script>"
    )
    for one in (bench, other, bench):
        await one.load(body)
        assert (await one.told())["seen"] == ""
    assert len(web.host.pids) == 1


@browser
async def test_closing_twice_and_acting_on_nothing(bench: Bench) -> None:
    await bench.env.close()
    await bench.env.close()
    with pytest.raises(EnvironmentFault, match="reset it first"):
        await bench.act(Wait())


@browser
async def test_a_world_that_is_not_there_is_the_tasks_fault(bench: Bench) -> None:
    with pytest.raises(TaskError, match=r"no page 'missing\.html'"):
        await bench.env.reset(start("pages/missing.html"), deadline_s=20)
    with pytest.raises(TaskError, match="Unknown web site 'elsewhere/a'"):
        await bench.env.reset(start("elsewhere/a"), deadline_s=20)


async def test_another_kind_is_refused_at_opening() -> None:
    with pytest.raises(ConfigError, match="not 'phone'"):
        await WebEnvironments(MemoryBlobs()).open(EnvRef(kind="phone", size_px=SIZE_PX))


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("file:///usr/share/doc/index.html", True),
        ("http://127.0.0.1:8080/a", True),
        ("http://localhost/", True),
        ("https://[::1]/", True),
        ("http://example.org/", False),
        ("http://127.0.0.1.example.org/", False),
        ("file://server/share", False),
        ("javascript:alert(1)", False),
        ("data:text/html,x", False),
        ("about:blank", False),
        ("10.0.0.1", False),
    ],
)
def test_only_files_and_loopback_are_local(url: str, local: bool) -> None:
    assert is_local_url(url) is local
