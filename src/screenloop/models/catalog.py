"""Models by name: `oracle`, `random`, `scripted:FILE`, `replay:RUN`, `openai:MODEL@BASE_URL`.

`openai+tokens:MODEL@BASE_URL` is the same server, asked for token ids and log-probs with each
reply, so that what is collected can be trained on; servers that do not know these fields refuse.
`gguf:FILE` runs in this process, by the optional extra of that name; a model that sees needs its
second file as well: `gguf:FILE,MMPROJ`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from importlib.util import find_spec
from pathlib import Path

from screenloop.actions import Action
from screenloop.envs.draws import DRAWABLE
from screenloop.errors import ConfigError
from screenloop.models.base import Model
from screenloop.models.client import OpenAIModel, api_key_from, parse_endpoint
from screenloop.models.oracle import OracleModel
from screenloop.models.random_actions import RandomModel
from screenloop.models.replaying import ReplayingModel
from screenloop.models.scripted import ScriptedModel
from screenloop.models.usage import Price
from screenloop.registry import load
from screenloop.store.blobs import BlobStore
from screenloop.types import Struct

FORMS = (
    "oracle",
    "random",
    "scripted:FILE",
    "replay:RUN",
    "openai:MODEL@BASE_URL",
    "openai+tokens:MODEL@BASE_URL",
    "gguf:FILE[,MMPROJ]",
)
_NEEDS_MORE = {
    "oracle": False,
    "random": False,
    "scripted": True,
    "replay": True,
    "openai": True,
    "openai+tokens": True,
    "gguf": True,
}
"""Kind to whether something stands behind its colon."""
_GGUF = "screenloop.engine.gguf.model:gguf_model"


class ModelName(Struct, frozen=True, kw_only=True):
    """A model as named on the command line."""

    kind: str
    rest: str = ""


def parse_model(text: str) -> ModelName:
    """Read a model's name.

    Raises:
        ConfigError: it has none of the forms; names them.
    """
    kind, colon, rest = text.partition(":")
    needs = _NEEDS_MORE
    if kind not in needs or needs[kind] != bool(colon) or bool(colon) != bool(rest):
        raise ConfigError(f"Unknown model {text!r}. Valid: {', '.join(FORMS)}.")
    if kind in ("openai", "openai+tokens"):
        parse_endpoint(rest)
    return ModelName(kind=kind, rest=rest)


def make_model(
    name: ModelName,
    *,
    blobs: BlobStore,
    render: Callable[[Action], str],
    actions: Collection[str],
    seed: int = 0,
    price: Price | None = None,
) -> Model:
    """Make a model.

    Args:
        name: which one.
        blobs: where the pictures of requests lie.
        render: writes an Action in the dialect, for models that play from a plan or by chance.
        actions: wire names of what the Environment executes.
        seed: of the random model, and of what a GGUF model samples.
        price: of a served model's tokens.

    Raises:
        ConfigError: a file cannot be used, or an optional package is missing.
    """
    match name.kind:
        case "oracle":
            return OracleModel(render)
        case "random":
            return RandomModel(render, seed=seed, kinds=DRAWABLE & frozenset(actions))
        case "scripted":
            return ScriptedModel.from_file(Path(name.rest))
        case "replay":
            return ReplayingModel.from_run(Path(name.rest))
        case "gguf":
            return _gguf(name.rest, blobs, seed)
        case _:
            key = api_key_from(os.environ)
            return OpenAIModel(
                parse_endpoint(name.rest),
                blobs=blobs,
                api_key=key,
                token_facts=name.kind == "openai+tokens",
                price=price,
            )


def _gguf(files: str, blobs: BlobStore, seed: int) -> Model:
    if find_spec("xllamacpp") is None:
        raise ConfigError(
            "gguf models need xllamacpp, which is not installed: pip install 'screenloop[gguf]'"
        )
    model: Model = load(_GGUF)(files, blobs, seed=seed)
    return model
