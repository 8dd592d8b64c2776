"""Serving the live phone until it is stopped."""

from __future__ import annotations

import socket
from collections.abc import Callable

import uvicorn

from screenloop.errors import ConfigError
from screenloop.phone.show.live import LivePhone, make_app

GRACE_S = 2
"""How long open pages and half-sent requests may hold up the end."""


def serve_phone(host: str, port: int, world_seed: int, *, tell: Callable[[str], None]) -> None:
    """Serve one phone; returns when the process is interrupted.

    Args:
        host: address to listen on.
        port: port to listen on; 0 takes a free one.
        world_seed: which world the phone lives in.
        tell: hears where the page is.

    Raises:
        ConfigError: the address cannot be listened on.
    """
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()
    except (OSError, OverflowError) as error:
        listener.close()
        raise ConfigError(
            f"cannot listen on {host}:{port}: {error}. Choose another with --host and --port."
        ) from error
    shown = f"[{host}]" if ":" in host else host
    tell(f"A live phone is at http://{shown}:{listener.getsockname()[1]}/ - stop it with Ctrl-C.")
    config = uvicorn.Config(
        make_app(LivePhone(seed=world_seed)),
        log_level="warning",
        ws="wsproto",
        lifespan="off",
        timeout_graceful_shutdown=GRACE_S,
    )
    uvicorn.Server(config).run(sockets=[listener])
