"""The commands of the manager service: serve Environments, watch a manager."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from screenloop.errors import ConfigError, InfraFault
from screenloop.manager.client import ask_manager
from screenloop.manager.serve import DRAIN_S, ServeOptions, Serves, run_manager
from screenloop.manager.supply.pool_words import read_pool
from screenloop.manager.watch.logs import LogForm, set_up_logs
from screenloop.manager.watch.top import status_table
from screenloop.manager.wire.bodies import Status
from screenloop.report.terminal import print_fitted
from screenloop.rollout.managers import TOKEN_VARIABLE

Json = Annotated[bool, Parameter(help="Print one JSON object on stdout.", negative="")]
Switch = Annotated[bool, Parameter(negative="")]


def token_of(given: str) -> str:
    """Return the token that a client shows: the flag's, or the environment's."""
    return given or os.environ.get(TOKEN_VARIABLE, "")


def serve(
    *pools: str,
    state: Path = Path("manager"),
    address: str = "127.0.0.1",
    port: int = 8600,
    token: str = "",
    blobs: str = "",
    hosts: str = "local",
    journal: str = "",
    keep_hosts: Switch = False,
    direct: Switch = False,
    orphan_s: float = 60.0,
    drain_s: float = DRAIN_S,
    log: LogForm = "text",
    json: Json = False,
) -> None:
    """Serve Environments over HTTP until stopped; `eval --manager URL` uses them.

    Parameters
    ----------
    pools
        What to keep ready: SUITE=COUNT, such as phone-core=200, or KIND:WIDTHxHEIGHT=COUNT.
    state
        Folder of the journal, the hosts' cards and the blobs; a manager started again with the
        same folder takes over the leases and hosts of the one before.
    address
        Where to listen; anything but the loopback address lets other machines in.
    port
        0 takes a free one.
    token
        That clients must show; drawn when left out. $SCREENLOOP_TOKEN serves as well.
    blobs
        Store for frames and tasks: s3://BUCKET/PREFIX, or file:///FOLDER on a shared disk.
    hosts
        Where hosts run: local, kubernetes:FILE or ray:FILE, where FILE holds settings as JSON.
    journal
        Database for the journal, which several managers may share:
        postgresql://USER@SERVER/DATABASE, the password in $PGPASSWORD or ~/.pgpass. Left out, a
        file in the state folder.
    keep_hosts
        Leave hosts running at the end, for the next manager to take over.
    direct
        Let clients on this machine go straight to the hosts: faster, but the manager times no
        steps then.
    orphan_s
        How long hosts live on when the manager has died.
    drain_s
        How long running episodes get at the end.
    log
        Form of the log on stderr.
    json
        Print one JSON object once it serves.
    """
    if not pools:
        raise ConfigError("name at least one pool to keep ready, such as phone-core=20")
    token = token_of(token) or secrets.token_urlsafe(24)
    options = ServeOptions(
        state=str(state),
        pools=tuple(map(read_pool, pools)),
        token=token,
        address=address,
        port=port,
        blobs=blobs,
        hosts=hosts,
        journal=journal,
        orphan_s=orphan_s,
        keep_hosts=keep_hosts,
        drain_s=drain_s,
        direct=direct,
    )
    set_up_logs(log, sys.stderr)
    console = Console(soft_wrap=True)

    def up(serves: Serves) -> None:
        if json:
            told = {
                "url": serves.url,
                "token": token,
                "blobs": serves.blobs,
                "recovery": serves.recovery,
            }
            sys.stdout.write(msgspec.json.encode(told).decode() + "\n")
            sys.stdout.flush()
            return
        found = serves.recovery
        console.print(f"manager  {serves.url}")
        console.print(f"blobs    {serves.blobs}")
        if found.leases or found.revoked:
            console.print(
                f"before   {len(found.leases)} leases taken over, {len(found.revoked)} revoked"
            )
        console.print(f"token    export {TOKEN_VARIABLE}={token}", markup=False)
        console.print(
            f"next     screenloop eval --manager {serves.url} --suite SUITE --model MODEL; "
            f"screenloop top {serves.url}",
            style="dim",
            markup=False,
        )

    asyncio.run(_until_told(options, up))


async def _until_told(options: ServeOptions, up: Callable[[Serves], None]) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    await run_manager(options, ended, up=up)


def top(
    url: str,
    *,
    token: str = "",
    every_s: float = 1.0,
    once: Switch = False,
    json: Json = False,
) -> None:
    """Watch a manager: pools, leases by run, faults, as a live table.

    Parameters
    ----------
    url
        Of the manager.
    token
        That it demands; $SCREENLOOP_TOKEN serves as well.
    every_s
        Seconds between two looks.
    once
        Print the table once and end.
    json
        Print the status once as one JSON object.
    """
    if every_s <= 0:
        raise ConfigError(f"--every-s must be above 0, not {every_s:g}.")
    if json or once:
        status = asyncio.run(_status(url, token))
        if json:
            sys.stdout.write(msgspec.json.encode(status).decode() + "\n")
        else:
            print_fitted(Console(), status_table(status, url))
        return
    asyncio.run(_watch(url, token, every_s))


async def _status(url: str, token: str) -> Status:
    return await ask_manager(url, "/v1/status", Status, token=token_of(token))


async def _watch(url: str, token: str, every_s: float) -> None:
    table = status_table(await _status(url, token), url)
    with Live(table, console=Console(), auto_refresh=False) as live:
        while True:
            await asyncio.sleep(every_s)
            try:
                table = status_table(await _status(url, token), url)
            except InfraFault as error:
                # It may be restarting: the last table stays, with the reason under it.
                live.update(Group(table, Text(str(error), style="bold red")), refresh=True)
                continue
            live.update(table, refresh=True)
