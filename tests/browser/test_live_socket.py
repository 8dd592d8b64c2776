"""What the live phone's server answers, without a browser."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import aiohttp
from live_server import Server


async def told(socket: aiohttp.ClientWebSocketResponse) -> dict[str, Any]:
    update: dict[str, Any] = json.loads((await socket.receive(timeout=120)).data)
    return update


NONSENSE: tuple[str | bytes, ...] = (
    "",
    "{",
    "null",
    "[]",
    '{"type":"fly"}',
    '{"type":"tap"}',
    '{"type":"tap","x":"a","y":1}',
    '{"type":"tap","x":1e999,"y":1}',
    '{"type":"tap","x":NaN,"y":1}',
    '{"type":"key","name":"power"}',
    '{"type":"command","name":"explode"}',
    '{"type":"tap","x":1,"y":1,"z":1}',
    '{"type":"text","text":5}',
    b"\xff\xfe",
    b"",
    "[" * 20_000,
)
ODD = (
    {"type": "tap", "x": -5, "y": 1e300},
    {"type": "swipe", "x0": 0, "y0": 0, "x1": 1e9, "y1": -1},
    {"type": "wheel", "x": 1, "y": 1, "dy": 1e12},
    {"type": "text", "text": "no field has focus"},
    {"type": "tap", "x": 1, "y": 500, "hold_ms": -7},
    {"type": "key", "name": "backspace"},
)


def test_nonsense_is_answered_and_changes_nothing(server: Server) -> None:
    async def talk() -> None:
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(f"{server.url}live") as socket,
        ):
            before = await told(socket)
            for data in NONSENSE:
                if isinstance(data, bytes):
                    await socket.send_bytes(data)
                else:
                    await socket.send_str(data)
                after = await told(socket)
                assert (after["effect"]["ok"], after["effect"]["code"]) == (False, "bad_event")
                assert (after["clock"], after["html"]) == (before["clock"], before["html"])
            for event in ODD:
                await socket.send_json(event)
                after = await told(socket)
                assert after["effect"]["ok"] is False
                assert after.get("changes", []) == []

    asyncio.run(talk())


def test_pages_that_all_act_at_once_leave_one_sound_state(server: Server) -> None:
    async def act(session: aiohttp.ClientSession, number: int) -> None:
        async with session.ws_connect(f"{server.url}live") as socket:
            for turn in range(20):
                await socket.send_json({"type": "tap", "x": 60 + 50 * number, "y": 400 + turn * 20})
                await socket.send_json({"type": "key", "name": ("home", "back")[turn % 2]})

    async def all_at_once() -> tuple[dict[str, Any], dict[str, Any]]:
        async with aiohttp.ClientSession() as session:
            await asyncio.gather(*(act(session, number) for number in range(4)))
            async with session.ws_connect(f"{server.url}live") as socket:
                await told(socket)
                await socket.send_json({"type": "command", "name": "reset"})
                while True:
                    reset = await told(socket)
                    if reset.get("effect", {}).get("executed") == "reset":
                        break
                async with session.ws_connect(f"{server.url}live") as other:
                    return reset, await told(other)

    reset, shown = asyncio.run(all_at_once())
    assert reset["route"] == shown["route"] == "os/"
    assert reset["html"] == shown["html"]


def test_what_is_no_image_or_font_is_not_found(server: Server) -> None:
    async def statuses() -> list[int]:
        async with aiohttp.ClientSession() as session:
            found = []
            for path in (
                "image/icon/home/24/1a1c20",
                "image/no/such",
                "image/icon/home/x/y",
                "image/icon/home/24/a%22onload=%22b",
                "font/no.otf",
                "font/..%2f..%2fx",
                "nothing",
            ):
                async with session.get(server.url + path) as response:
                    found.append(response.status)
            return found

    assert asyncio.run(statuses()) == [200, 404, 404, 404, 404, 404, 404]
