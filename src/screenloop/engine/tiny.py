"""Tiny models from a configuration, initialised so that they can learn within CPU-minutes.

The usual initial scale of 0.02 is several times below 1 / sqrt(fan-in) at these widths and leaves
such models nearly untrainable. Here linear and convolution weights are drawn with a standard
deviation of 0.8 / sqrt(fan-in), embeddings with 0.3; biases are 0 and norms 1.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import nn
from transformers import (
    PreTrainedModel,
    PreTrainedTokenizerFast,
    Qwen3Config,
    Qwen3ForCausalLM,
    Qwen3VLConfig,
    Qwen3VLForConditionalGeneration,
)

from screenloop.engine.policy import Policy, make_policy
from screenloop.engine.tokenizer import (
    END,
    IMAGE,
    PAD,
    VIDEO,
    VISION_END,
    VISION_START,
    TinyWords,
    tiny_tokenizer,
)
from screenloop.engine.vision import VisionRule
from screenloop.types import Struct

LINEAR_GAIN = 0.8
EMBEDDING_STD = 0.3


class TinySize(Struct, frozen=True, kw_only=True):
    """The shape of a tiny model."""

    hidden: int = 64
    layers: int = 2
    heads: int = 4
    head_dim: int = 16
    mlp: int = 256
    context_tokens: int = 2048
    patch_px: int = 16
    vision_hidden: int = 96
    vision_depth: int = 1
    vision_heads: int = 4


TEXT_SIZE = TinySize()
"""Reads element lists."""
PIXEL_SIZE = TinySize(hidden=96, layers=3, head_dim=24, mlp=256)
"""Reads screenshots, 16 px a patch, one token a patch."""


def tiny_text(words: TinyWords, *, seed: int = 0, size: TinySize = TEXT_SIZE) -> Policy:
    """Make a text policy: the text tower of Qwen3-VL without its picture side."""
    tokenizer = tiny_tokenizer(words)
    config = Qwen3Config(
        **_text_settings(tokenizer, size),
        rope_parameters={"rope_type": "default", "rope_theta": 10_000.0},
        tie_word_embeddings=False,
        architectures=["Qwen3ForCausalLM"],
    )
    with torch.random.fork_rng(devices=[]):
        model = Qwen3ForCausalLM(config)
    initialise(model, seed)
    return make_policy("tiny-text", model, tokenizer, None)


def tiny_pixels(words: TinyWords, *, seed: int = 0, size: TinySize = PIXEL_SIZE) -> Policy:
    """Make a policy that sees: a small Qwen3-VL whose patches are not merged."""
    tokenizer = tiny_tokenizer(words)
    vocab = tokenizer.get_vocab()
    section = size.head_dim // 2
    text = {
        **_text_settings(tokenizer, size),
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": 10_000.0,
            "mrope_interleaved": True,
            "mrope_section": [section - 2 * (section // 3), section // 3, section // 3],
        },
    }
    vision = {
        "depth": size.vision_depth,
        "hidden_size": size.vision_hidden,
        "intermediate_size": 2 * size.vision_hidden,
        "num_heads": size.vision_heads,
        "patch_size": size.patch_px,
        "spatial_merge_size": 1,
        "temporal_patch_size": 1,
        "out_hidden_size": size.hidden,
        "num_position_embeddings": 256,
        "deepstack_visual_indexes": [],
    }
    config = Qwen3VLConfig(
        text_config=text,
        vision_config=vision,
        image_token_id=vocab[IMAGE],
        video_token_id=vocab[VIDEO],
        vision_start_token_id=vocab[VISION_START],
        vision_end_token_id=vocab[VISION_END],
        tie_word_embeddings=False,
        architectures=["Qwen3VLForConditionalGeneration"],
    )
    with torch.random.fork_rng(devices=[]):
        model = Qwen3VLForConditionalGeneration(config)
    initialise(model, seed)
    rule = VisionRule(patch_px=size.patch_px, merge=1, frames=1, image_id=vocab[IMAGE])
    return make_policy("tiny-pixels", model, tokenizer, rule)


def initialise(model: PreTrainedModel, seed: int) -> None:
    """Draw every weight anew, from the seed alone."""
    source = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, nn.Embedding):
                module.weight.normal_(0.0, EMBEDDING_STD, generator=source)
            elif isinstance(module, nn.Linear | nn.Conv3d):
                fan_in = math.prod(module.weight.shape[1:])
                module.weight.normal_(0.0, LINEAR_GAIN / math.sqrt(fan_in), generator=source)
                if module.bias is not None:
                    module.bias.zero_()


def _text_settings(tokenizer: PreTrainedTokenizerFast, size: TinySize) -> dict[str, Any]:
    vocab = tokenizer.get_vocab()
    return {
        "vocab_size": len(tokenizer),
        "hidden_size": size.hidden,
        "intermediate_size": size.mlp,
        "num_hidden_layers": size.layers,
        "num_attention_heads": size.heads,
        "num_key_value_heads": size.heads,
        "head_dim": size.head_dim,
        "max_position_embeddings": size.context_tokens,
        "pad_token_id": vocab[PAD],
        "eos_token_id": vocab[END],
        "bos_token_id": None,
    }
