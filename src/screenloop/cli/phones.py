"""Commands about mocked phones: use one, explore the apps, see the demo."""

from __future__ import annotations

from cyclopts import App

from screenloop.cli.output import Json, error_console, out_console, show
from screenloop.report.terminal import struct_table

apps = App(name="apps", help="The mocked phone's apps.")


def phone(*, host: str = "127.0.0.1", port: int = 8412, world_seed: int = 0) -> None:
    """Serve one live mocked phone as a web page.

    Parameters
    ----------
    host
        Address to listen on.
    port
        Port to listen on; 0 takes a free one.
    world_seed
        Which world the phone lives in.
    """
    from screenloop.phone.show.serve import serve_phone

    serve_phone(host, port, world_seed, tell=out_console.print)


@apps.command(name="stats")
def stats(*, json: Json = False) -> None:
    """Explore every app and replay its flows."""
    from screenloop.phone.prove.stats import apps_stats

    with error_console.status("Exploring the apps ..."):
        found = apps_stats()
    show(found, json, struct_table)


def demo() -> None:
    """Evaluate two agents on phones and in a browser, and write reports worth a look."""
    from screenloop.demo import run_demo

    run_demo(out_console)
