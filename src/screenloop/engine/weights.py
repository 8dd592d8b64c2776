"""Weights by name: checked before they replace others."""

from __future__ import annotations

from collections.abc import Mapping

import torch
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
