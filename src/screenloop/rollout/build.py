"""One builder each for a harness and for an attempt, whatever the Episodes are for.

Evaluating, collecting and training build here alone, so that requests and start records depend on
the Run's configuration and on nothing else.
"""

from __future__ import annotations

from functools import lru_cache

from screenloop.agent.dialects.base import Dialect
from screenloop.agent.harness import Harness
from screenloop.config import RunConfig, config_hash, harness_hash
from screenloop.messages import Sampling
from screenloop.models.base import Model
from screenloop.rollout.context import Attempt
from screenloop.store.blobs import BlobStore
from screenloop.types import Mode, Task


def build_harness(
    config: RunConfig,
    model: Model,
    blobs: BlobStore,
    dialect: Dialect,
    *,
    prompt: str | None = None,
    sampling: Sampling | None = None,
) -> Harness:
    """Return a harness that asks as the configuration says.

    Args:
        config: Of the Run.
        model: Who answers.
        blobs: Where frames lie and pictures go.
        dialect: What `config.dialect` names.
        prompt: Text of the author's prompt file whose hash `config.prompt_hash` is.
        sampling: In place of the configuration's, for attempts that are drawn another way.
    """
    return Harness(
        model,
        blobs,
        dialect=dialect,
        window=config.harness.window,
        image=config.harness.image,
        sampling=config.sampling if sampling is None else sampling,
        prompt=prompt,
    )


def build_attempt(
    config: RunConfig,
    task: Task,
    *,
    episode_id: str,
    run_id: str,
    repeat: int = 0,
    attempt: int = 0,
    seed: int = 0,
    mode: Mode | None = None,
) -> Attempt:
    """Return one attempt at a Task; `mode` is for attempts in another than the configuration's."""
    hash_of_config, hash_of_harness = _hashes(config)
    return Attempt(
        episode_id=episode_id,
        run_id=run_id,
        task=task,
        repeat=repeat,
        attempt=attempt,
        seed=seed,
        mode=mode or config.harness.mode,
        budget=config.harness.budget or task.budget,
        retry=config.harness.retry,
        config_hash=hash_of_config,
        harness_hash=hash_of_harness,
    )


@lru_cache(maxsize=8)
def _hashes(config: RunConfig) -> tuple[str, str]:
    return config_hash(config), harness_hash(config)
