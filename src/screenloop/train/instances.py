"""Where a training run's Instances come from: this process, or a manager elsewhere."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from screenloop.manager.base import Manager
from screenloop.manager.direct import DirectManager
from screenloop.rollout.managers import ManagerAt, manager_for
from screenloop.store.blobs import BlobStore
from screenloop.train.recipe import Recipe


@asynccontextmanager
async def instances_for(
    recipe: Recipe, at: ManagerAt | None, blobs: BlobStore
) -> AsyncIterator[Manager]:
    """Give a manager of what a recipe trains on; it ends with the block.

    Args:
        recipe: says how Instances are opened in this process.
        at: where Instances are leased instead; they are what is served there.
        blobs: the run's own; what is seen elsewhere is kept there.

    Raises:
        ConfigError: the URL or the token is wrong.
        InfraFault: no manager answers there.
    """
    if at is not None:
        async with manager_for(at, blobs, recipe.want) as (remote, _):
            yield remote
        return
    opener = recipe.open_environments(blobs)
    direct = DirectManager(opener.open)
    try:
        yield direct
    finally:
        await direct.close()
        await opener.close()
