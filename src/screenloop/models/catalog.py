"""Models by name: `oracle`, `random`, `scripted:FILE`, `replay:RUN`, `openai:MODEL@BASE_URL`.

Besides these, a class by its dotted path `package.module:Class`, or by a name that an installed
package adds by an entry point of the group `screenloop.models`. It is made as
`Class(blobs=..., render=..., actions=..., seed=...)` with what `make_model` is given, and keeps the
contract of `models.base.Model`; a `**rest` takes what it has no use for.

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
from typing import Any

from screenloop.actions import Action
from screenloop.envs.draws import DRAWABLE
from screenloop.errors import ConfigError
from screenloop.models.base import Model
from screenloop.models.client import OpenAIModel, api_key_from, parse_endpoint
from screenloop.models.oracle import OracleModel
from screenloop.models.replaying import ReplayingModel
from screenloop.models.scripted import RandomModel, ScriptedModel
from screenloop.models.usage import Price
from screenloop.registry import entries, find, is_path, load
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
    "package.module:Class",
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
_CLASS = "class"
"""The kind of a model from outside."""
_PARTS = ("complete", "preflight", "close")
_GGUF = "screenloop.engine.gguf.model:gguf_model"


class ModelName(Struct, frozen=True, kw_only=True):
    """A model as named on the command line."""

    kind: str
    rest: str = ""


def parse_model(text: str) -> ModelName:
    """Read a model's name.

    Raises:
        ConfigError: it has none of the forms; names them. Or it names no class of a model.
    """
    kind, colon, rest = text.partition(":")
    needs = _NEEDS_MORE
    added = {entry.name for entry in entries("model", {})}
    if kind not in needs and (text in added or is_path(text)):
        _find_class(text)
        return ModelName(kind=_CLASS, rest=text)
    if kind not in needs or needs[kind] != bool(colon) or bool(colon) != bool(rest):
        valid = ", ".join([*FORMS, *sorted(added)])
        raise ConfigError(f"Unknown model {text!r}. Valid: {valid}.")
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
        seed: of what is drawn: by the random model, a GGUF model, a class from outside.
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
        case "class":
            return _make_class(name.rest, blobs=blobs, render=render, actions=actions, seed=seed)
        case _:
            key = api_key_from(os.environ)
            return OpenAIModel(
                parse_endpoint(name.rest),
                blobs=blobs,
                api_key=key,
                token_facts=name.kind == "openai+tokens",
                price=price,
            )


def _find_class(name: str) -> Callable[..., Model]:
    made = find("model", name, {})
    missing = [part for part in _PARTS if not hasattr(made, part)]
    if not isinstance(made, type) or missing:
        raise ConfigError(
            f"{name!r} is no model: a model is a class with {', '.join(_PARTS)}"
            + (f"; it lacks {', '.join(missing)}" if isinstance(made, type) else "")
        )
    return made


def _make_class(name: str, **given: Any) -> Model:
    try:
        model = _find_class(name)(**given)
    except TypeError as error:
        raise ConfigError(
            f"model {name!r} cannot be made as Class(blobs=..., render=..., actions=..., "
            f"seed=...): {error}"
        ) from error
    if not isinstance(getattr(model, "name", None), str):
        raise ConfigError(f"model {name!r} has no `name`; records say who replied")
    return model


def _gguf(files: str, blobs: BlobStore, seed: int) -> Model:
    if find_spec("xllamacpp") is None:
        raise ConfigError(
            "gguf models need xllamacpp, which is not installed: pip install 'screenloop[gguf]'"
        )
    model: Model = load(_GGUF)(files, blobs, seed=seed)
    return model
