"""What a training run's folder holds beside its metrics: the recipe as it ran, and the policy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from screenloop.config import Window, plain, stable_hash
from screenloop.errors import ConfigError
from screenloop.report.training.metrics import NAME as METRICS
from screenloop.store.runs import write_whole
from screenloop.types import Struct

RECIPE = "recipe.json"
POLICY = "policy"
"""Folder of the newest weights kept, in the layout of Hugging Face."""


class RunRecipe(Struct, frozen=True, kw_only=True, omit_defaults=False):
    """Everything that decides a run, as `recipe.json` says it."""

    name: str
    seed: int
    dialect: str
    window: Window
    modes: tuple[str, ...] = ()
    """Modes of the demonstrations."""
    settings: dict[str, Any]
    """Of the trainer, each one resolved, defaults written out."""
    tasks: dict[str, tuple[str, ...]]
    """Keys of the tasks by set."""
    outside: dict[str, str] = {}
    """SHA-256 of the source of each estimator or loss that is not built in, by dotted path."""
    fingerprint: str = ""
    """Of all the rest; a run is resumed only where it is the same."""

    def fingerprinted(self) -> RunRecipe:
        bare = plain(msgspec.structs.replace(self, fingerprint=""))
        if not self.outside:
            del bare["outside"]
        return msgspec.structs.replace(self, fingerprint=stable_hash(bare))


def write_recipe(folder: Path, recipe: RunRecipe) -> None:
    """Write `recipe.json`, whole or not at all.

    Raises:
        InfraFault: the disk refuses.
    """
    write_whole(folder / RECIPE, msgspec.json.format(msgspec.json.encode(recipe)))


def read_recipe(folder: Path) -> RunRecipe | None:
    """Return what a run was made of, or `None` where the folder does not say.

    Raises:
        ConfigError: the file is damaged.
    """
    path = folder / RECIPE
    try:
        return msgspec.json.decode(path.read_bytes(), type=RunRecipe)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} does not say what the run was made of: {error}") from error


def policy_folder(folder: Path) -> Path:
    """Return the folder of a model: the one given, or the policy of the training run in it.

    Raises:
        ConfigError: it is the folder of a training run that has kept no policy yet.
    """
    if (folder / "config.json").is_file():
        return folder
    kept = folder / POLICY
    if (kept / "config.json").is_file():
        return kept
    if (folder / RECIPE).is_file() or (folder / METRICS).is_file():
        raise ConfigError(
            f"{folder} is a training run that keeps no policy: it stopped before its warm-up was "
            "through, or is of an earlier version. Go on with --resume, or train again"
        )
    return folder
