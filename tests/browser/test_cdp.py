"""The CDP client against a scripted browser at the other end of the pipes."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from screenloop.browser.cdp import BrowserGone, CdpConnection, CommandRefused
from screenloop.errors import DeadlinePassed


class Far:
    """The browser's ends of the pipes."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self.read_fd = read_fd
        self.write_fd = write_fd

    async def command(self) -> dict[str, object]:
        """Return the next command that the client sends."""
        data = b""
        while not data.endswith(b"\0"):
            data += await asyncio.to_thread(os.read, self.read_fd, 1)
        command: dict[str, object] = json.loads(data[:-1])
        return command

    def say(self, **message: object) -> None:
        os.write(self.write_fd, json.dumps(message).encode() + b"\0")

    def end(self) -> None:
        os.close(self.write_fd)
        self.write_fd = -1


@asynccontextmanager
async def connected() -> AsyncIterator[tuple[CdpConnection, Far]]:
    commands_out, commands_in = os.pipe()
    answers_out, answers_in = os.pipe()
    far = Far(commands_out, answers_in)
    connection = await CdpConnection.over_pipes(answers_out, commands_in)
    try:
        yield connection, far
    finally:
        connection.close()
        await asyncio.sleep(0)
        os.close(far.read_fd)
        if far.write_fd >= 0:
            far.end()


async def test_a_command_gets_its_own_answer_whatever_the_order() -> None:
    async with connected() as (connection, far):
        first = connection.browser.post("A.one")
        second = connection.session("s1").post("B.two", {"x": 1})
        sent = [await far.command(), await far.command()]
        assert sent[1] == {"id": 2, "method": "B.two", "params": {"x": 1}, "sessionId": "s1"}
        far.say(id=2, result={"is": "second"}, sessionId="s1")
        far.say(id=1, result={"is": "first"})
        assert await first == {"is": "first"}
        assert await second == {"is": "second"}


async def test_an_error_answer_names_the_command() -> None:
    async with connected() as (connection, far):
        answer = connection.browser.post("Page.fly")
        await far.command()
        far.say(id=1, error={"code": -32601, "message": "'Page.fly' wasn't found"})
        with pytest.raises(CommandRefused, match=r"Page\.fly: .*wasn't found"):
            await answer


async def test_a_command_without_an_answer_misses_its_deadline() -> None:
    async with connected() as (connection, _):
        with pytest.raises(DeadlinePassed, match=r"A\.slow was not answered in 0\.01 s"):
            await connection.browser.send("A.slow", deadline_s=0.01)


async def test_a_late_answer_disturbs_nobody() -> None:
    async with connected() as (connection, far):
        with pytest.raises(DeadlinePassed):
            await connection.browser.send("A.slow", deadline_s=0.01)
        answer = connection.browser.post("A.quick")
        far.say(id=1, result={"late": True})
        far.say(id=2, result={"late": False})
        assert await answer == {"late": False}


async def test_when_the_browser_ends_all_that_waits_fails_at_once() -> None:
    async with connected() as (connection, far):
        session = connection.session("s1")
        answers = [connection.browser.post("A.one"), session.post("B.two")]
        with session.listen("Page.loadEventFired") as loads:
            far.end()
            for answer in answers:
                with pytest.raises(BrowserGone, match="the browser ended"):
                    await answer
            with pytest.raises(BrowserGone):
                await loads.next()
        with pytest.raises(BrowserGone):
            await session.send("B.three")


async def test_a_detached_page_fails_only_its_own_commands() -> None:
    async with connected() as (connection, far):
        lost, kept = connection.session("s1").post("A.x"), connection.session("s2").post("A.x")
        far.say(method="Target.detachedFromTarget", params={"sessionId": "s1"})
        far.say(id=2, result={"ok": True}, sessionId="s2")
        assert await kept == {"ok": True}
        with pytest.raises(BrowserGone, match="the page ended"):
            await lost


async def test_events_come_in_order_and_only_to_their_session() -> None:
    async with connected() as (connection, far):
        seen: list[object] = []
        connection.session("other").on("A.event", seen.append)
        with connection.session("s1").listen("A.event") as events:
            for n in range(3):
                far.say(method="A.event", params={"n": n}, sessionId="s1")
            far.say(method="A.event", params={"n": 9}, sessionId="unknown")
            assert [await events.next() for _ in range(3)] == [{"n": 0}, {"n": 1}, {"n": 2}]
            with pytest.raises(DeadlinePassed, match=r"no event A\.event within"):
                await events.next(deadline_s=0.01)
        assert seen == []


@given(
    texts=st.lists(st.text(max_size=40), min_size=1, max_size=8),
    cuts=st.lists(st.integers(min_value=1, max_value=60), min_size=1),
)
@settings(max_examples=60, deadline=None)
def test_messages_survive_any_cut_of_the_byte_stream(texts: list[str], cuts: list[int]) -> None:
    connection = CdpConnection()
    heard: list[str] = []
    connection.browser.on("A.event", lambda params: heard.append(params["text"]))
    stream = b"".join(
        json.dumps({"method": "A.event", "params": {"text": text}}).encode() + b"\0"
        for text in texts
    )
    position = 0
    for number in range(len(stream)):
        size = cuts[number % len(cuts)]
        connection.data_received(stream[position : position + size])
        position += size
        if position >= len(stream):
            break
    assert heard == texts
