"""A tiny Qwen3 as a torch policy and as the same weights in a GGUF file, and a picture side."""

from dataclasses import replace
from functools import lru_cache

import gguf
import numpy as np
import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM
from transformers.convert_slow_tokenizer import bytes_to_unicode

from screenloop.engine.policy import make_policy
from screenloop.engine.tiny import initialise

BYTES = bytes_to_unicode()
MERGES = (
    ("h", "e"),
    ("l", "l"),
    ("he", "ll"),
    ("hell", "o"),
    ("Ġ", "t"),
    ("Ġt", "a"),
    ("Ġta", "p"),
)
WORDS = (*BYTES.values(), *("".join(pair) for pair in MERGES))
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|image_pad|>")
END_ID, IMAGE_ID = len(WORDS) + 2, len(WORDS) + 3
PARTIAL_IDS = tuple(i for i, byte in enumerate(BYTES) if byte >= 128)
"""Tokens that are no character by themselves."""
TEMPLATE = (
    "{% for message in messages %}"
    "<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_OUTER = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
}
_INNER = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def byte_tokenizer():
    inner = Tokenizer(models.BPE({word: i for i, word in enumerate(WORDS)}, list(MERGES)))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    inner.add_special_tokens([AddedToken(t, normalized=False, special=True) for t in SPECIAL])
    return PreTrainedTokenizerFast(
        tokenizer_object=inner,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=["<|im_start|>", "<|image_pad|>"],
        chat_template=TEMPLATE,
    )


@lru_cache
def byte_policy(context_tokens=1024, seed=0):
    """Return a policy that, like its GGUF file, never says half a character."""
    tokenizer = byte_tokenizer()
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        max_position_embeddings=context_tokens,
        rope_parameters={"rope_type": "default", "rope_theta": 10_000.0},
        tie_word_embeddings=False,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
    )
    model = Qwen3ForCausalLM(config)
    initialise(model, seed)
    policy = make_policy("tiny-bytes", model, tokenizer, None)
    return replace(policy, banned_ids=tuple(sorted({*policy.banned_ids, *PARTIAL_IDS})))


def write_gguf(policy, path, *, unused=PARTIAL_IDS, architecture="qwen3", template=TEMPLATE):
    """Write the policy's weights and tokenizer; `unused` ids are marked so that none is sampled."""
    config = policy.model.config
    kinds = [gguf.TokenType.NORMAL] * len(WORDS) + [gguf.TokenType.CONTROL] * len(SPECIAL)
    for token_id in unused:
        kinds[token_id] = gguf.TokenType.UNUSED
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_key_length(config.head_dim)
    writer.add_value_length(config.head_dim)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list([*WORDS, *SPECIAL])
    writer.add_token_types(kinds)
    writer.add_token_merges([" ".join(pair) for pair in MERGES])
    writer.add_eos_token_id(policy.tokenizer.eos_token_id)
    writer.add_pad_token_id(policy.tokenizer.pad_token_id)
    writer.add_add_bos_token(False)
    if template:
        writer.add_chat_template(template)
    for name, value in policy.model.state_dict().items():
        writer.add_tensor(_tensor_name(name), value.numpy().astype(np.float32))
    return _closed(writer, path)


def write_projector(path, *, out=64, hidden=32, mlp=64, blocks=2, image_px=28, patch_px=14):
    """Write a picture side with random weights: a LLaVA-like encoder, four tokens a picture."""
    draws = np.random.default_rng(0)
    writer = gguf.GGUFWriter(path, "clip")
    writer.add_bool("clip.has_vision_encoder", True)
    writer.add_string("clip.projector_type", "mlp")
    writer.add_bool("clip.use_gelu", True)
    writer.add_uint32("clip.vision.image_size", image_px)
    writer.add_uint32("clip.vision.patch_size", patch_px)
    writer.add_uint32("clip.vision.embedding_length", hidden)
    writer.add_uint32("clip.vision.feed_forward_length", mlp)
    writer.add_uint32("clip.vision.block_count", blocks)
    writer.add_uint32("clip.vision.attention.head_count", 2)
    writer.add_float32("clip.vision.attention.layer_norm_epsilon", 1e-5)
    writer.add_uint32("clip.vision.projection_dim", out)
    writer.add_array("clip.vision.image_mean", [0.5, 0.5, 0.5])
    writer.add_array("clip.vision.image_std", [0.5, 0.5, 0.5])

    def linear(name, rows, columns):
        weight = draws.normal(size=(rows, columns)) / np.sqrt(columns)
        writer.add_tensor(f"{name}.weight", weight.astype(np.float32))
        writer.add_tensor(f"{name}.bias", np.zeros(rows, np.float32))

    def norm(name):
        writer.add_tensor(f"{name}.weight", np.ones(hidden, np.float32))
        writer.add_tensor(f"{name}.bias", np.zeros(hidden, np.float32))

    def table(name, *shape):
        writer.add_tensor(name, draws.normal(0, 0.3, shape).astype(np.float32))

    table("v.patch_embd.weight", hidden, 3, patch_px, patch_px)
    table("v.class_embd", hidden)
    table("v.position_embd.weight", (image_px // patch_px) ** 2 + 1, hidden)
    norm("v.pre_ln")
    for block in range(blocks):
        for part in ("attn_q", "attn_k", "attn_v", "attn_out"):
            linear(f"v.blk.{block}.{part}", hidden, hidden)
        norm(f"v.blk.{block}.ln1")
        norm(f"v.blk.{block}.ln2")
        linear(f"v.blk.{block}.ffn_up", mlp, hidden)
        linear(f"v.blk.{block}.ffn_down", hidden, mlp)
    linear("mm.0", out, hidden)
    linear("mm.2", out, out)
    return _closed(writer, path)


def _closed(writer, path):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _tensor_name(name):
    stem = name.removesuffix(".weight")
    if stem in _OUTER:
        return f"{_OUTER[stem]}.weight"
    _, _, block, rest = stem.split(".", 3)
    return f"blk.{block}.{_INNER[rest]}.weight"


@torch.no_grad()
def logits_of(policy, prompt_ids, reply_ids):
    """Return the logits that decide each token of the reply."""
    ids = torch.tensor([[*prompt_ids, *reply_ids]])
    return policy.model(ids).logits[0, len(prompt_ids) - 1 : -1]
