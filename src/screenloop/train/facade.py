"""Training from plain Python: waits for the run; torch is imported when it is called."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from screenloop.errors import ConfigError
from screenloop.rollout.managers import manager_at
from screenloop.rollout.play import run_sync
from screenloop.train.extra import missing_packages

if TYPE_CHECKING:
    from screenloop.train.recipe import Recipe
    from screenloop.train.run import TrainResult
    from screenloop.train.trainer import Watch


def require_train_extra() -> None:
    """Refuse to go on without the packages of the `train` extra.

    Raises:
        ConfigError: names what is missing and the command that installs it.
    """
    missing = missing_packages()
    if missing:
        raise ConfigError(
            f"this needs {', '.join(missing)}, which is not installed: "
            "pip install 'screenloop[train]'"
        )


def train(
    recipe: str | Recipe,
    *,
    seed: int = 0,
    out: Path | str = "",
    resume: bool = False,
    manager: str = "",
    watch: Watch = lambda line: None,
) -> TrainResult:
    """Train a policy; metrics, episodes, checkpoint and result are in the folder of the run.

    Args:
        recipe: At hand, or its name or dotted path.
        seed: Of everything that is drawn.
        out: Folder of the run; a new one under `runs/` when not given.
        resume: Whether to go on from the checkpoint in the folder.
        manager: URL of a manager to lease from; its token is $SCREENLOOP_TOKEN.
        watch: Told each line of the metrics.

    Raises:
        ConfigError: a name, a setting or the folder is wrong, or the `train` extra is missing;
            nothing ran.
        TrainingStopped: an update was refused; the folder holds the evidence and a checkpoint of
            the last good weights.
    """
    require_train_extra()
    from screenloop.train.recipes import find_recipe
    from screenloop.train.run import run_folder
    from screenloop.train.run import train as trained

    chosen = find_recipe(recipe) if isinstance(recipe, str) else recipe
    folder = run_folder(chosen.name, seed, str(out), time.time())
    at = manager_at(manager, os.environ)
    return run_sync(trained(chosen, seed, folder, resume=resume, watch=watch, at=at))
