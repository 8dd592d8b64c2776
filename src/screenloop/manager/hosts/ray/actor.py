"""What runs in a Ray actor's process: one host, which clients reach directly."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from pathlib import Path

import msgspec

from screenloop.manager.clock import SystemClock
from screenloop.manager.hosts.base import HostOrders
from screenloop.manager.hosts.server import run_host

_CARD = "card.json"
_LOOK_S = 0.02


class HostActor:
    """What runs in the actor's process."""

    async def __init__(self, orders: bytes) -> None:  # type: ignore[misc]
        """Serve, and return once the host answers; Ray awaits this.

        Args:
            orders: `HostOrders` as JSON, without an address.
        """
        import ray

        told = msgspec.json.decode(orders, type=HostOrders)
        self._ended = asyncio.Event()
        self._answered = False
        folder = Path(tempfile.mkdtemp(prefix="screenloop-host-"))
        path = folder / _CARD
        self._orders = msgspec.structs.replace(
            told, listen=ray.util.get_node_ip_address(), ready_file=str(path)
        )
        self._serving = asyncio.create_task(self._serve())
        try:
            while not _is_there(path):
                if self._serving.done():
                    # Says why it did not come up.
                    await self._serving
                await asyncio.sleep(_LOOK_S)
            self._card = _read(path)
        finally:
            # An actor may be killed at any time: nothing of it is left on the disk.
            shutil.rmtree(folder, ignore_errors=True)
        self._answered = True

    async def card(self) -> bytes:
        return self._card

    async def end(self) -> None:
        """Close all Instances and stop serving; the process is the launcher's to end."""
        self._ended.set()
        await asyncio.wait({self._serving})

    async def _serve(self) -> None:
        import ray

        try:
            await run_host(self._orders, self._ended, clock=SystemClock())
        finally:
            if self._answered and not self._ended.is_set():
                # No manager came back: without this Ray would keep the actor for ever.
                ray.kill(ray.get_runtime_context().current_actor, no_restart=True)


def _is_there(path: Path) -> bool:
    return path.exists()


def _read(path: Path) -> bytes:
    return path.read_bytes()
