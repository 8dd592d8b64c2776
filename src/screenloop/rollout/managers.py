"""Where a Run's Instances come from: this process, or a manager elsewhere."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from screenloop.envs.kinds import Environments
from screenloop.manager.base import Manager
from screenloop.manager.client import connect
from screenloop.manager.direct import DirectManager
from screenloop.store.blobs import BlobStore
from screenloop.types import Struct, Want

TOKEN_VARIABLE = "SCREENLOOP_TOKEN"
"""Environment variable that holds the token of a manager."""
MANAGER_VARIABLE = "SCREENLOOP_MANAGER"
"""Environment variable that holds the URL of a manager, for `doctor`."""


class ManagerAt(Struct, frozen=True, kw_only=True):
    """A manager elsewhere."""

    url: str
    token: str


def manager_at(url: str, environ: Mapping[str, str]) -> ManagerAt | None:
    """Return where Instances are leased: in this process, without a URL."""
    return ManagerAt(url=url, token=environ.get(TOKEN_VARIABLE, "")) if url else None


@asynccontextmanager
async def manager_for(
    at: ManagerAt | None, own: BlobStore, want: Sequence[Want]
) -> AsyncIterator[tuple[Manager, BlobStore]]:
    """Give a manager and the store that its Observations are read from; both end with the block.

    Args:
        at: where it is; `None` opens Instances in this process.
        own: the Run's blobs; what is read from elsewhere is kept there.
        want: what Observations must carry.

    Raises:
        ConfigError: the URL or the token is wrong.
        InfraFault: no manager answers there.
    """
    if at is not None:
        remote = await connect(at.url, token=at.token, own=own, want=want)
        try:
            yield remote, remote.blobs
        finally:
            await remote.close()
        return
    environments = Environments(own, want=want)
    direct = DirectManager(environments.open)
    try:
        yield direct, own
    finally:
        await direct.close()
        await environments.close()
