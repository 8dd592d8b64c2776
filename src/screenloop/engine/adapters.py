"""Low-rank adapters (LoRA, Hu et al., arXiv:2106.09685) on a policy: few weights are trained.

The network keeps its class, so scoring, sampling and saving need not know. What an engine is given
are whole weights again: the base plus alpha / rank * B A.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from typing import Annotated, Any

import torch
from msgspec import Meta
from torch import Tensor, nn
from transformers import PreTrainedModel

from screenloop.engine.policy import Policy
from screenloop.errors import ConfigError
from screenloop.types import Struct

ADAPTER = "default"
_BASE = ".base_layer"
_LOW_RANK = ".lora_"


class LoraSettings(Struct, frozen=True, kw_only=True):
    """Which layers get adapters, and how large they are."""

    rank: Annotated[int, Meta(ge=1)] = 8
    alpha: Annotated[int, Meta(ge=1)] = 16
    """The adapters' part is scaled by alpha / rank."""
    targets: tuple[str, ...] = (
        "q_proj",
        "k_proj",
        "v_proj",
        "o_proj",
        "gate_proj",
        "up_proj",
        "down_proj",
    )
    """Last parts of the names of linear layers."""


def with_adapters(policy: Policy, settings: LoraSettings, *, seed: int = 0) -> Policy:
    """Return a copy of the policy in which adapters alone can be trained; it says the same.

    Raises:
        ConfigError: a target names no linear layer, or one that cannot be adapted.
    """
    # Importing it takes seconds, which runs without adapters need not spend.
    from peft import LoraConfig, inject_adapter_in_model

    model: Any = deepcopy(policy.model)
    _require_targets(model, settings)
    config = LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        target_modules=list(settings.targets),
        lora_dropout=0.0,
        bias="none",
    )
    with torch.random.fork_rng(devices=[]):
        inject_adapter_in_model(config, model, adapter_name=ADAPTER)
    made = replace(policy, model=model)
    begin_adapters(model, seed)
    model.eval()
    return made


@torch.no_grad()
def begin_adapters(model: PreTrainedModel, seed: int = 0) -> None:
    """Draw A anew from the seed alone and set B to 0, so that the adapters change nothing."""
    source = torch.Generator().manual_seed(seed)
    for layer in _adapted(model):
        nn.init.kaiming_uniform_(layer.lora_A[ADAPTER].weight, a=math.sqrt(5), generator=source)
        layer.lora_B[ADAPTER].weight.zero_()


def merged_weights(model: PreTrainedModel) -> dict[str, Tensor]:
    """Return a copy of the weights as the network without adapters would hold them to say the same.

    A model without adapters gives its own weights.
    """
    deltas = _deltas(model)
    return {
        name.replace(_BASE, ""): (
            value.detach() + deltas[name] if name in deltas else value.detach().clone()
        )
        for name, value in model.state_dict().items()
        if _LOW_RANK not in name
    }


@torch.no_grad()
def fold_adapters(model: PreTrainedModel, seed: int = 0) -> None:
    """Add what the adapters have learnt to the base, and begin them anew."""
    deltas = _deltas(model)
    for name, value in model.state_dict().items():
        if name in deltas:
            value += deltas[name]
    begin_adapters(model, seed)


@contextmanager
def adapters_off(model: PreTrainedModel) -> Iterator[None]:
    """Let the network say what its base says."""
    layers = _adapted(model)
    for layer in layers:
        layer.enable_adapters(False)
    try:
        yield
    finally:
        for layer in layers:
            layer.enable_adapters(True)


def _adapted(model: PreTrainedModel) -> list[Any]:
    return [module for module in model.modules() if hasattr(module, "lora_A")]


@torch.no_grad()
def _deltas(model: PreTrainedModel) -> dict[str, Tensor]:
    """Return what the adapters add, by the name of the weight that it is added to."""
    return {
        f"{name}{_BASE}.weight": module.get_delta_weight(ADAPTER).detach()
        for name, module in model.named_modules()
        if hasattr(module, "lora_A")
    }


def _require_targets(model: PreTrainedModel, settings: LoraSettings) -> None:
    network: Any = model
    head = network.get_output_embeddings()
    linear = {
        name.rpartition(".")[2]
        for name, module in model.named_modules()
        if isinstance(module, nn.Linear) and module is not head
    }
    for target in settings.targets:
        if target not in linear:
            raise ConfigError(
                f"lora.targets names {target!r}, but this network has no such linear layer that "
                f"can be adapted; it has {', '.join(sorted(linear))}"
            )
    if not settings.targets:
        raise ConfigError(f"lora.targets is empty; name some of {', '.join(sorted(linear))}")
