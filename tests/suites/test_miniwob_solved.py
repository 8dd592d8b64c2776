"""Pages solved, and failed, through the whole chain: tree, Actions, page's reward, verifier."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from miniwob_person import Person

from screenloop.actions import Hotkey, Key, Swipe, Tap, Type, Wait
from screenloop.envs.web.environment import WebEnvironments
from screenloop.store.blobs import MemoryBlobs
from screenloop.suites.miniwob import SIZE_PX, MiniWob
from screenloop.types import EnvRef

pytestmark = pytest.mark.browser
Play = Callable[[Person], Awaitable[None]]


@pytest.fixture
async def person() -> AsyncIterator[Person]:
    blobs = MemoryBlobs()
    environments = WebEnvironments(blobs)
    try:
        env = await environments.open(EnvRef(kind="web", size_px=SIZE_PX))
        yield Person(env, blobs)
    finally:
        await environments.close()


def quoted(text: str) -> list[str]:
    return re.findall(r'"([^"]*)"', text)


async def click_test(person: Person) -> None:
    await person.tap("button", "Click Me!")


async def click_test_2(person: Person) -> None:
    await person.tap("button", "ONE")


async def click_button(person: Person) -> None:
    await person.tap("button", quoted(person.goal)[0])


async def click_dialog(person: Person) -> None:
    await person.tap("button", "Close")


async def enter_text(person: Person) -> None:
    await person.fill(quoted(person.goal)[0])
    await person.tap("button", "Submit")


async def focus_text(person: Person) -> None:
    await person.tap("textbox")


async def click_tab(person: Person) -> None:
    await person.tap("tab", re.findall(r"Tab #\d", person.goal)[0])


async def login_user(person: Person) -> None:
    user, password = quoted(person.goal)
    await person.fill(user, 0)
    await person.fill(password, 1)
    await person.tap("button", "Login")


async def click_checkboxes(person: Person) -> None:
    wanted = person.goal.removeprefix("Select ").removesuffix(" and click Submit.")
    for name in wanted.split(", "):
        if name != "nothing":
            await person.tap("checkbox", name)
    await person.tap("button", "Submit")


async def choose_list(person: Person) -> None:
    wanted = re.findall(r"Select (.*) from the list", person.goal)[0]
    await person.tap("combobox")
    await person.tap("option", wanted)
    await person.tap("button", "Submit")


async def enter_date(person: Person) -> None:
    month, day, year = re.findall(r"(\d+)/(\d+)/(\d+)", person.goal)[0]
    left, middle = await person.at("Date")
    await person.do(Tap(at=(left - 0.3, middle)))
    await person.do(Type(text=month + day + year))
    await person.tap("button", "Submit")


async def copy_paste(person: Person) -> None:
    source = next(i for i, n in enumerate(await person.nodes("textbox")) if n.value)
    await person.tap("textbox", index=source)
    await person.do(Hotkey(keys=("ctrl", "a")))
    await person.do(Hotkey(keys=("ctrl", "c")))
    await person.tap("textbox", index=1 - source)
    await person.do(Hotkey(keys=("ctrl", "v")))
    await person.tap("button", "Submit")


async def use_spinner(person: Person) -> None:
    wanted = re.findall(r"-?\d+", person.goal)[0]
    box = (await person.nodes("spinbutton"))[0].box
    assert box is not None
    x = (box[0] + box[2] + 6) / SIZE_PX[0]
    y = (box[1] + box[3] * (0.75 if wanted.startswith("-") else 0.25)) / SIZE_PX[1]
    for _ in range(abs(int(wanted))):
        await person.do(Tap(at=(x, y)))
    await person.tap("button", "Submit")


async def click_collapsible(person: Person) -> None:
    await person.tap("tab")
    await person.tap("button", "Submit")


async def drag_box(person: Person) -> None:
    small, large = await person.at("StaticText", "s"), await person.at("StaticText", "L")
    # The letters stand at the boxes' corners: a little further is inside.
    await person.do(Swipe(path=(small, (large[0] + 0.06, large[1] + 0.05)), hold_ms=100))
    await person.tap("button", "Submit")


async def highlight_text(person: Person) -> None:
    node = (await person.nodes("StaticText"))[1]
    assert node.box is not None
    left, top, _, height = (v / s for v, s in zip(node.box, SIZE_PX * 2, strict=True))
    await person.do(Swipe(path=((left, top + 0.01), (0.99, top + height + 0.01))))
    await person.tap("button", "Submit")


async def simple_arithmetic(person: Person) -> None:
    text = "".join(n.name for n in await person.nodes("StaticText"))
    one, sign, other = re.findall(r"(\d+)\s*([-+x])\s*(\d+)\s*=", text)[0]
    values = {"+": int(one) + int(other), "-": int(one) - int(other), "x": int(one) * int(other)}
    await person.fill(str(values[sign]))
    await person.tap("button", "Submit")


async def terminal(person: Person) -> None:
    await person.do(Tap(at=(0.5, 0.6)))
    await person.do(Type(text="ls", submit=True))
    lines = [n.name for n in await person.nodes("StaticText")]
    listed = lines[lines.index("ls") + 1].split()
    ending = re.findall(r"extension (\.\S+)", person.goal)
    file = next(f for f in listed if (f.endswith(ending[0]) if ending else "." not in f))
    await person.do(Type(text=f"rm {file}", submit=True))


SOLUTIONS: dict[str, Play] = {
    "choose-list": choose_list,
    "click-button": click_button,
    "click-checkboxes": click_checkboxes,
    "click-collapsible": click_collapsible,
    "click-dialog": click_dialog,
    "click-tab": click_tab,
    "click-test": click_test,
    "click-test-2": click_test_2,
    "copy-paste": copy_paste,
    "drag-box": drag_box,
    "enter-date": enter_date,
    "enter-text": enter_text,
    "focus-text": focus_text,
    "highlight-text": highlight_text,
    "login-user": login_user,
    "simple-arithmetic": simple_arithmetic,
    "terminal": terminal,
    "use-spinner": use_spinner,
}


@pytest.mark.parametrize("name", SOLUTIONS)
async def test_a_solved_page_is_a_success_and_was_none_before(person: Person, name: str) -> None:
    for seed in (0, 5):
        await person.begin(MiniWob().task(name, seed))
        before = await person.verdict()
        assert (before.reward, before.success) == (0.0, False)
        await SOLUTIONS[name](person)
        after = await person.verdict()
        assert after.native["raw_reward"] == pytest.approx(1.0), after.native
        assert (after.reward, after.success) == (1.0, True)
        assert after.side_effects == ()
        assert person.seen is not None
        assert person.seen.done


async def test_a_wrong_answer_that_pays_a_little_is_no_success(person: Person) -> None:
    await person.begin(MiniWob().task("find-greatest", 0))
    numbers = [int(n.name) for n in (await person.nodes("StaticText"))[1:4]]
    wrong = numbers.index(min(numbers))
    await person.do(Tap(at=(0.18 + 0.32 * wrong, 0.46)))
    await person.tap("button", "Submit")
    verdict = await person.verdict()
    assert verdict.native["raw_reward"] == pytest.approx(0.1)
    assert (verdict.reward, verdict.success) == (0.0, False)


async def test_half_the_checkboxes_are_no_success(person: Person) -> None:
    for seed in range(20):
        await person.begin(MiniWob().task("click-checkboxes", seed))
        if "nothing" not in person.goal and len(await person.nodes("checkbox")) > 3:
            break
    wanted = person.goal.removeprefix("Select ").removesuffix(" and click Submit.").split(", ")
    for name in wanted[1:]:
        await person.tap("checkbox", name)
    await person.tap("button", "Submit")
    verdict = await person.verdict()
    assert 0 < verdict.native["raw_reward"] < 1
    assert not verdict.success


async def test_time_that_the_model_takes_costs_nothing(person: Person) -> None:
    rewards = []
    for waits in (0, 1):
        await person.begin(MiniWob().task("click-test", 0))
        for _ in range(waits):
            await person.do(Wait(seconds=30))
        await click_test(person)
        verdict = await person.verdict()
        assert verdict.success
        rewards.append(verdict.native["reward"])
    # Half a second of 300 passes before the first action; the wait was asked for.
    assert rewards == [
        pytest.approx(1 - 0.5 / 300, abs=1e-6),
        pytest.approx(1 - 31 / 300, abs=1e-6),
    ]


async def test_page_time_that_runs_out_ends_the_episode_as_a_failure(person: Person) -> None:
    await person.begin(MiniWob().task("click-test", 0))
    await person.do(Wait(seconds=301))
    assert person.seen is not None
    assert person.seen.done
    verdict = await person.verdict()
    assert (verdict.native["raw_reward"], verdict.success) == (-1, False)
    effect = await person.do(Key(name="enter"))
    assert (effect.ok, effect.code) == (False, "episode_over")
