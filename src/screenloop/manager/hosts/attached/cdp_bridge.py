"""Stands in for a browser's process and speaks for one that somebody else runs.

`browser.launch` starts this in place of a browser: it speaks CDP over the pipes 3 and 4, as a
browser told `--remote-debugging-pipe` does, and passes everything on to the websocket of a browser
that is there already. It never ends that browser: `Browser.close` ends the bridge alone.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import stat
import sys
from pathlib import Path
from typing import Any

import aiohttp
import msgspec

from screenloop.errors import ConfigError, EnvironmentFault
from screenloop.types import Struct

COMMANDS_FD, ANSWERS_FD = 3, 4
CONNECT_S = 10.0
_LIMIT_BYTES = 256 * 1024 * 1024
_CLOSE = b'"Browser.close"'


class _Version(msgspec.Struct, frozen=True, rename={"socket": "webSocketDebuggerUrl"}):
    socket: str


class _Command(msgspec.Struct, frozen=True):
    id: int
    method: str


class _Answer(Struct, frozen=True, kw_only=True, omit_defaults=False):
    id: int
    result: dict[str, Any] = {}


def bridge_script(path: Path, url: str) -> Path:
    """Write the executable that bridges to the browser at `url`, and return its path.

    Raises:
        ConfigError: the URL is none of `http://`, `https://`, `ws://`, `wss://`.
    """
    if url.partition("://")[0] not in ("http", "https", "ws", "wss"):
        raise ConfigError(
            f"{url!r} is no address of a browser: expected http://HOST:PORT of its debugging port, "
            "or the ws:// URL of its browser target"
        )
    python, target = shlex.quote(sys.executable), shlex.quote(url)
    module = "screenloop.manager.hosts.attached.cdp_bridge"
    path.write_text(f"#!/bin/sh\nexec {python} -m {module} {target}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


async def bridge(url: str, commands: asyncio.StreamReader, answers: asyncio.StreamWriter) -> None:
    """Pass messages on until one side ends.

    Raises:
        EnvironmentFault: the browser cannot be reached.
    """
    try:
        async with aiohttp.ClientSession() as session:
            async with asyncio.timeout(CONNECT_S):
                socket = await session.ws_connect(
                    await _socket_of(session, url), max_msg_size=0, heartbeat=None
                )
            ways = (
                asyncio.create_task(_to_browser(commands, socket, answers)),
                asyncio.create_task(_from_browser(socket, answers)),
            )
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in ways:
                way.cancel()
            await socket.close()
    except (TimeoutError, aiohttp.ClientError, OSError, msgspec.DecodeError) as error:
        raise EnvironmentFault(
            f"no browser answers at {url}: {type(error).__name__} {error}"
        ) from error


async def _socket_of(session: aiohttp.ClientSession, url: str) -> str:
    if url.startswith("ws"):
        return url
    async with session.get(url.rstrip("/") + "/json/version") as reply:
        reply.raise_for_status()
        return msgspec.json.decode(await reply.read(), type=_Version).socket


async def _to_browser(
    commands: asyncio.StreamReader,
    socket: aiohttp.ClientWebSocketResponse,
    answers: asyncio.StreamWriter,
) -> None:
    while True:
        try:
            message = (await commands.readuntil(b"\0"))[:-1]
        except asyncio.IncompleteReadError:
            return
        if _CLOSE in message:
            command = msgspec.json.decode(message, type=_Command)
            if command.method == "Browser.close":
                answers.write(msgspec.json.encode(_Answer(id=command.id)) + b"\0")
                await answers.drain()
                return
        await socket.send_str(message.decode())


async def _from_browser(
    socket: aiohttp.ClientWebSocketResponse, answers: asyncio.StreamWriter
) -> None:
    async for message in socket:
        data = message.data
        answers.write((data.encode() if isinstance(data, str) else data) + b"\0")
        await answers.drain()


async def _main(url: str) -> None:
    loop = asyncio.get_running_loop()
    commands = asyncio.StreamReader(limit=_LIMIT_BYTES)
    await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(commands), os.fdopen(COMMANDS_FD, "rb", 0)
    )
    transport, protocol = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, os.fdopen(ANSWERS_FD, "wb", 0)
    )
    await bridge(url, commands, asyncio.StreamWriter(transport, protocol, None, loop))


def main() -> None:
    """Bridge between our pipes and the browser named on the command line."""
    try:
        asyncio.run(_main(sys.argv[1]))
    except EnvironmentFault as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
