"""Commands about what a Run needs: serve Environments, watch a manager, try everything."""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import uvloop
from cyclopts import Parameter
from rich.console import Group
from rich.live import Live
from rich.text import Text

from screenloop.cli.output import Json, Switch, out_console, print_json, say, show
from screenloop.errors import ConfigError, InfraFault
from screenloop.http.server import end_on_signals
from screenloop.manager.client import ask_manager
from screenloop.manager.serve import DRAIN_S, ServeOptions, Serves, run_manager
from screenloop.manager.supply.desired import read_pool
from screenloop.manager.watch.logs import LogForm, set_up_logs
from screenloop.manager.watch.top import status_table
from screenloop.manager.wire.bodies import Status
from screenloop.rollout.managers import MANAGER_VARIABLE, TOKEN_VARIABLE, manager_at


def token_of(given: str) -> str:
    """Return the token that a client shows: the flag's, or the environment's."""
    return given or os.environ.get(TOKEN_VARIABLE, "")


@dataclass(frozen=True, kw_only=True)
class ServeFlags:
    """Flags of `serve`; the words under each are its help."""

    state: Path = Path("manager")
    """Folder of the journal, the hosts' cards and the blobs; a manager started again with the same
    folder takes over the leases and hosts of the one before."""
    address: str = "127.0.0.1"
    """Where to listen; anything but the loopback address lets other machines in."""
    port: int = 8600
    """0 takes a free one."""
    token: str = ""
    """That clients must show; drawn when left out. $SCREENLOOP_TOKEN serves as well."""
    blobs: str = ""
    """Store for frames and tasks: s3://BUCKET/PREFIX, or file:///FOLDER on a shared disk."""
    hosts: str = "local"
    """Where hosts run: local, kubernetes:FILE or ray:FILE, where FILE holds settings as JSON."""
    journal: str = ""
    """Database for the journal, which several managers may share:
    postgresql://USER@SERVER/DATABASE, the password in $PGPASSWORD or ~/.pgpass. Left out, a file
    in the state folder."""
    keep_hosts: Switch = False
    """Leave hosts running at the end, for the next manager to take over."""
    direct: Switch = False
    """Let clients on this machine go straight to the hosts: faster, but the manager times no steps
    then."""
    orphan_s: float = 60.0
    """How long hosts live on when the manager has died."""
    drain_s: float = DRAIN_S
    """How long running episodes get at the end."""
    log: LogForm = "text"
    """Form of the log on stderr."""

    def options(self, pools: tuple[str, ...]) -> ServeOptions:
        """Return what is to be served.

        Raises:
            ConfigError: no pool is named, or one has another form.
        """
        if not pools:
            raise ConfigError("name at least one pool to keep ready, such as phone-core=20")
        return ServeOptions(
            state=str(self.state),
            pools=tuple(map(read_pool, pools)),
            token=token_of(self.token) or secrets.token_urlsafe(24),
            address=self.address,
            port=self.port,
            blobs=self.blobs,
            hosts=self.hosts,
            journal=self.journal,
            orphan_s=self.orphan_s,
            keep_hosts=self.keep_hosts,
            drain_s=self.drain_s,
            direct=self.direct,
        )


def serve(
    *pools: str,
    flags: Annotated[ServeFlags, Parameter(name="*")] = ServeFlags(),
    json: Json = False,
) -> None:
    """Serve Environments over HTTP until stopped; `eval --manager URL` uses them.

    Parameters
    ----------
    pools
        What to keep ready: SUITE=COUNT, such as phone-core=200, or KIND:WIDTHxHEIGHT=COUNT.
    json
        Print one JSON object once it serves.
    """
    options = flags.options(pools)
    set_up_logs(flags.log, sys.stderr)

    def up(serves: Serves) -> None:
        if json:
            facts = {"url": serves.url, "blobs": serves.blobs, "recovery": serves.recovery}
            print_json({"token": options.token, **facts})
        else:
            _show_address(serves, options.token)

    uvloop.run(_until_told(options, up))


def _show_address(serves: Serves, token: str) -> None:
    before = serves.recovery
    say("manager", serves.url)
    say("blobs", serves.blobs)
    if before.leases or before.revoked:
        say("before", f"{len(before.leases)} leases taken over, {len(before.revoked)} revoked")
    say("token", f"export {TOKEN_VARIABLE}={token}")
    command = f"screenloop eval --manager {serves.url} --suite SUITE --model MODEL"
    say("next", f"{command}; screenloop top {serves.url}")


async def _until_told(options: ServeOptions, up: Callable[[Serves], None]) -> None:
    await run_manager(options, end_on_signals(), up=up)


def top(
    url: str, *, token: str = "", every_s: float = 1.0, once: Switch = False, json: Json = False
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
        show(asyncio.run(_status(url, token)), json, lambda status: status_table(status, url))
        return
    asyncio.run(_watch(url, token, every_s))


async def _status(url: str, token: str) -> Status:
    return await ask_manager(url, "/v1/status", Status, token=token_of(token))


async def _watch(url: str, token: str, every_s: float) -> None:
    table = status_table(await _status(url, token), url)
    with Live(table, console=out_console, auto_refresh=False) as live:
        while True:
            await asyncio.sleep(every_s)
            try:
                table = status_table(await _status(url, token), url)
            except InfraFault as error:
                # It may be restarting: the last table stays, with the reason under it.
                live.update(Group(table, Text(str(error), style="bold red")), refresh=True)
                continue
            live.update(table, refresh=True)


def doctor(*, manager: str = "", json: Json = False) -> None:
    """Try what a Run needs and say what is missing and how to get it.

    Parameters
    ----------
    manager
        URL of a manager to try as well; $SCREENLOOP_MANAGER serves as well.
    """
    from screenloop.doctor import examine, findings_table, is_ready

    at = manager_at(manager or os.environ.get(MANAGER_VARIABLE, ""), os.environ)
    findings = asyncio.run(examine(at))
    if json:
        print_json({"ok": is_ready(findings), "findings": findings})
    else:
        out_console.print(findings_table(findings))
    if not is_ready(findings):
        sys.exit(1)
