"""The resolved, frozen configuration of a Run, and the two hashes that every result carries.

`harness_hash` says whether two numbers may be compared: it covers what was asked and how the loop
ran. `config_hash` says whether two Runs are the same: it adds the model, dialect, prompt and
sampling.
"""

from __future__ import annotations

import hashlib
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from screenloop import __version__
from screenloop.messages import Sampling
from screenloop.types import Budget, Mode, Struct


class Window(Struct, frozen=True, kw_only=True):
    """How much history the model sees: K steps a window, O of them shared with the last."""

    steps: Annotated[int, Meta(ge=1)] = 10
    overlap: Annotated[int, Meta(ge=0)] = 2

    def __post_init__(self) -> None:
        """Refuse an overlap that leaves no new step in a window, and negative numbers."""
        if self.steps < 1 or self.overlap < 0:
            raise ValueError(
                f"a window of {self.steps} steps, {self.overlap} shared, is none: at least 1 step "
                "and 0 shared are needed"
            )
        if self.overlap >= self.steps:
            raise ValueError(
                f"window overlap {self.overlap} must be smaller than its {self.steps} steps"
            )


class ImageRule(Struct, frozen=True, kw_only=True):
    """How a frame becomes the picture that the model sees.

    Each side is rounded to a multiple of `factor_px`; the area is brought into
    `[min_pixels, max_pixels]` (the smart_resize rule of the Qwen-VL processors).
    """

    factor_px: Annotated[int, Meta(ge=1)] = 32
    min_pixels: int = 65_536
    max_pixels: int = 16_777_216
    codec: Literal["jpeg", "png"] = "jpeg"
    quality: Annotated[int, Meta(ge=1, le=100)] = 90
    """Of JPEG."""


class RetryPolicy(Struct, frozen=True, kw_only=True):
    """What happens after failures that are not the agent's."""

    attempts: Annotated[int, Meta(ge=1)] = 3
    """How often an Episode is started before it counts as unscored."""
    parse_errors_in_row: Annotated[int, Meta(ge=1)] = 5
    """Unreadable replies in a row after which the Episode ends."""
    loop_repeats: Annotated[int, Meta(ge=2)] = 5
    """Identical (screen, action) steps in a row that count as a loop."""


class HarnessConfig(Struct, frozen=True, kw_only=True):
    """What was asked and how the loop ran: everything `harness_hash` covers."""

    suite: str
    suite_version: str
    tasks: tuple[str, ...]
    """Keys of the task instances, sorted: `suite/name@version#seed`."""
    repeats: int = 1
    seed: int = 0
    mode: Mode = "gui_only"
    budget: Budget | None = None
    """Overrides each Task's own; `None` keeps them."""
    window: Window = Window()
    image: ImageRule = ImageRule()
    retry: RetryPolicy = RetryPolicy()
    package_version: str = __version__


class RunConfig(Struct, frozen=True, kw_only=True):
    """A Run's whole configuration: everything `config_hash` covers."""

    harness: HarnessConfig
    model: str
    """Who answered; the agent's path where it asks no model."""
    agent: str = ""
    """Dotted path of a class that decides Actions itself; empty for the harness."""
    agent_hash: str = ""
    """Of the file that the class stands in."""
    dialect: str = "plain"
    prompt_hash: str = ""
    """Of the author's prompt file; empty for the dialect's own prompt."""
    sampling: Sampling = Sampling()
    outside: tuple[str, ...] = ()
    """Suite, Environment, judge, dialect and model of other packages as `name=hash`, the hash of
    the file that each stands in; sorted.
    """


def plain(value: Any) -> Any:
    """Return a struct without tags as plain data, fields at their defaults written out."""
    if isinstance(value, msgspec.Struct):
        return {name: plain(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return msgspec.to_builtins(value)


def stable_hash(value: Struct) -> str:
    """Return 16 hex digits of the SHA-256 of the value's JSON, defaults and all, keys sorted."""
    return hashlib.sha256(msgspec.json.encode(plain(value), order="sorted")).hexdigest()[:16]


def harness_hash(config: RunConfig) -> str:
    """Return the hash that two Runs must share to be compared."""
    return stable_hash(config.harness)


def config_hash(config: RunConfig) -> str:
    """Return the hash that names this configuration."""
    return stable_hash(config)
