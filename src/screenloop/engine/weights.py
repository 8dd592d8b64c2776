"""Weights by name: checked before they replace others, and kept as safetensors files."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import PreTrainedModel

from screenloop.errors import ConfigError


def weights_of(model: PreTrainedModel) -> dict[str, Tensor]:
    """Return a copy of every weight, detached from the model."""
    return {name: value.detach().clone() for name, value in model.state_dict().items()}


def check_weights(model: PreTrainedModel, weights: Mapping[str, Tensor]) -> None:
    """Make sure that weights fit a model and are numbers.

    Raises:
        ConfigError: names the first tensor that is missing, unknown, of another shape or not
            finite.
    """
    own = model.state_dict()
    for name in own:
        if name not in weights:
            raise ConfigError(f"the weights lack {name}; give all of the model's tensors")
    for name, value in weights.items():
        if name not in own:
            raise ConfigError(f"the model has no weight {name}; these are another model's weights")
        if value.shape != own[name].shape:
            raise ConfigError(
                f"weight {name} has the shape {tuple(value.shape)}, the model's is "
                f"{tuple(own[name].shape)}"
            )
        if value.is_floating_point() and not torch.isfinite(value).all():
            raise ConfigError(f"weight {name} holds numbers that are not finite")


@torch.no_grad()
def copy_weights(model: PreTrainedModel, weights: Mapping[str, Tensor]) -> None:
    """Copy checked weights into the model, in its own number format."""
    for name, own in model.state_dict().items():
        own.copy_(weights[name])


def weights_digest(weights: Mapping[str, Tensor]) -> str:
    """Return 16 hex digits of SHA-256 over names and numbers."""
    digest = hashlib.sha256()
    for name in sorted(weights):
        digest.update(name.encode())
        value = weights[name].detach().cpu().contiguous()
        digest.update(value.view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()[:16]


def save_weights(weights: Mapping[str, Tensor], path: Path, *, half: bool = False) -> None:
    """Write weights to one file, which appears whole or not at all.

    Args:
        weights: By name.
        path: Ends in `.safetensors`.
        half: Store floats in 16 bits, for checkpoints that ship with a package.
    """
    kept = {
        name: (value.half() if half and value.is_floating_point() else value).contiguous().cpu()
        for name, value in weights.items()
    }
    partial = path.with_suffix(".part")
    save_file(kept, partial)
    partial.replace(path)


def read_weights(path: Path) -> dict[str, Tensor]:
    """Read weights from a file; 16-bit floats stay as they are until they are copied.

    Raises:
        ConfigError: there is no such file, or it is damaged.
    """
    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise ConfigError(f"{path} holds no weights that can be read: {error}") from error
