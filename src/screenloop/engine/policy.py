"""A policy: a network with its tokenizer, and everything that turns messages into ids and back."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import torch
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.models.auto.modeling_auto import MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES
from transformers.utils import logging as bars

from screenloop.config import stable_hash
from screenloop.engine.tokenizer import template_hash, tokenizer_hash
from screenloop.engine.vision import VisionRule
from screenloop.errors import ConfigError
from screenloop.types import Struct

PREPROCESSOR_FILE = "preprocessor_config.json"
POLICY_FILE = "screenloop.json"
"""What the layout of Hugging Face has no place for; a folder without it is a foreign model's."""
_QWEN_VL = ("qwen2_vl", "qwen2_5_vl", "qwen3_vl", "qwen3_vl_moe")
_VISION_WORDS = ("image", "vision", "video", "audio")
_STOP_TOKENS = ("<|im_end|>", "<|end|>", "<|eot_id|>", "<|endoftext|>", "<end_of_turn>", "</s>")


class PolicyFacts(Struct, frozen=True, kw_only=True, omit_defaults=False):
    """What is written to `POLICY_FILE`."""

    name: str
    banned_token_ids: tuple[int, ...]
    """All that is never sampled: a policy may be kept from words that its tokenizer can read."""


class PolicyCard(Struct, frozen=True, kw_only=True):
    """What a record must name so that its ids and log-probs can be read again."""

    name: str
    architecture: str
    parameters: int
    dtype: str
    tokenizer_hash: str
    chat_template_hash: str
    processor_hash: str
    """Of the rule for pictures; empty for a text model."""
    stop_token_ids: tuple[int, ...]
    banned_token_ids: tuple[int, ...]
    """Never sampled, minus infinity in every log-prob: pictures' tokens, ids without text."""
    context_tokens: int


@dataclass(frozen=True)
class Policy:
    """A network that can be asked, trained and saved."""

    name: str
    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    vision: VisionRule | None
    stop_ids: frozenset[int]
    banned_ids: tuple[int, ...]
    context_tokens: int

    @property
    def vocab(self) -> int:
        return _width(self.model)

    @property
    def device(self) -> torch.device:
        return next(self.model.parameters()).device

    def text_of(self, token_ids: Sequence[int]) -> str:
        """Return the words of sampled ids, the stop token at their end left out."""
        ids = list(token_ids)
        if ids and ids[-1] in self.stop_ids:
            ids.pop()
        text = self.tokenizer.decode(ids, skip_special_tokens=False)
        assert isinstance(text, str)
        return text

    def ids_besides(self, tokens: Collection[str]) -> tuple[int, ...]:
        """Return the ids of all tokens but these: banned, the policy can say nothing else."""
        vocab = self.tokenizer.get_vocab()
        return tuple(sorted(int(number) for token, number in vocab.items() if token not in tokens))

    def card(self) -> PolicyCard:
        return PolicyCard(
            name=self.name,
            architecture=type(self.model).__name__,
            parameters=sum(p.numel() for p in self.model.parameters()),
            dtype=str(next(self.model.parameters()).dtype).removeprefix("torch."),
            tokenizer_hash=tokenizer_hash(self.tokenizer),
            chat_template_hash=template_hash(self.tokenizer),
            processor_hash="" if self.vision is None else stable_hash(self.vision),
            stop_token_ids=tuple(sorted(self.stop_ids)),
            banned_token_ids=self.banned_ids,
            context_tokens=self.context_tokens,
        )

    def save(self, folder: Path) -> None:
        """Write everything that `load_policy` reads back, in the layout of Hugging Face.

        Weights (safetensors), configuration and tokenizer; the name and the banned ids beside them.
        """
        with _without_bars():
            self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)
        facts = PolicyFacts(name=self.name, banned_token_ids=self.banned_ids)
        (folder / POLICY_FILE).write_bytes(msgspec.json.encode(facts))
        if self.vision is not None:
            rule = {
                "patch_size": self.vision.patch_px,
                "merge_size": self.vision.merge,
                "temporal_patch_size": self.vision.frames,
                "image_mean": list(self.vision.mean),
                "image_std": list(self.vision.std),
            }
            (folder / PREPROCESSOR_FILE).write_bytes(msgspec.json.encode(rule))


def make_policy(
    name: str, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, vision: VisionRule | None
) -> Policy:
    """Put a policy together.

    Raises:
        ConfigError: the tokenizer has no chat template or no token that ends a turn, or the
            network keeps its past in a form that cannot be cut (linear attention).
    """
    config: Any = model.config
    text_config = config.get_text_config(decoder=True)
    if not tokenizer.chat_template:
        raise ConfigError(f"{name}: the tokenizer has no chat template; use a chat model")
    kinds = set(getattr(text_config, "layer_types", None) or ())
    if kinds - {"full_attention", "sliding_attention"}:
        raise ConfigError(
            f"{name}: layers of the kind {', '.join(sorted(kinds - {'full_attention'}))} keep a "
            "state that no prefix cache can cut; serve this model with vLLM or SGLang"
        )
    stops = _stop_ids(model, tokenizer)
    if not stops:
        raise ConfigError(
            f"{name}: no token ends a turn; the tokenizer needs an eos token or one of "
            f"{', '.join(_STOP_TOKENS)}"
        )
    network: Any = model
    network.eval()
    return Policy(
        name=name,
        model=model,
        tokenizer=tokenizer,
        vision=vision,
        stop_ids=frozenset(stops),
        banned_ids=tuple(sorted(_banned_ids(model, tokenizer) - stops)),
        context_tokens=int(getattr(text_config, "max_position_embeddings", 4096)),
    )


def load_policy(folder: Path, *, device: str = "cpu", dtype: str = "float32") -> Policy:
    """Load a policy from a folder in the Hugging Face layout; nothing is downloaded.

    Text models of any architecture with ordinary or sliding attention; image-text models of the
    Qwen2-VL, Qwen2.5-VL and Qwen3-VL families.

    Raises:
        ConfigError: the folder holds no such model; says what is missing.
    """
    if not (folder / "config.json").is_file():
        raise ConfigError(f"{folder} holds no model: it has no config.json")
    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True)
        kind = config.model_type
        sees = kind in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES
        if sees and kind not in _QWEN_VL:
            raise ConfigError(
                f"{folder}: pictures of {kind!r} models are not supported here. Valid: "
                f"{', '.join(_QWEN_VL)}, or any text model"
            )
        family: Any = AutoModelForImageTextToText if sees else AutoModelForCausalLM
        model = family.from_pretrained(
            folder, local_files_only=True, dtype=getattr(torch, dtype)
        ).to(device)
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError) as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(f"{folder} holds no model that can be loaded: {error}") from error
    vision = vision_rule(config, folder) if sees else None
    return _with_facts(make_policy(folder.name, model, tokenizer, vision), folder / POLICY_FILE)


def _with_facts(policy: Policy, path: Path) -> Policy:
    """Return the policy under the name and with the bans that it was saved with.

    Raises:
        ConfigError: the file is damaged, or bans ids that the network does not have.
    """
    if not path.is_file():
        return policy
    try:
        facts = msgspec.json.decode(path.read_bytes(), type=PolicyFacts)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} does not say what may not be sampled: {error}") from error
    unknown = [i for i in facts.banned_token_ids if not 0 <= i < policy.vocab]
    if unknown:
        raise ConfigError(
            f"{path} bans the id {unknown[0]}, but the network has ids 0 to {policy.vocab - 1}: "
            "the files are of two models"
        )
    banned = set(policy.banned_ids).union(facts.banned_token_ids)
    return replace(policy, name=facts.name, banned_ids=tuple(sorted(banned)))


def vision_rule(config: Any, folder: Path) -> VisionRule:
    """Read the rule for pictures from a Qwen-VL model's two configuration files.

    Raises:
        ConfigError: the preprocessor file is missing or no JSON.
    """
    path = folder / PREPROCESSOR_FILE
    try:
        rule = msgspec.json.decode(path.read_bytes())
        return VisionRule(
            patch_px=rule["patch_size"],
            merge=rule["merge_size"],
            frames=rule["temporal_patch_size"],
            mean=tuple(rule["image_mean"]),
            std=tuple(rule["image_std"]),
            image_id=config.image_token_id,
        )
    except (OSError, msgspec.DecodeError, KeyError, TypeError) as error:
        raise ConfigError(f"{path} does not say how pictures are cut up: {error!r}") from error


@contextmanager
def _without_bars() -> Iterator[None]:
    """Keep the library from drawing over the display of a run that saves now and then."""
    shown = bars.is_progress_bar_enabled()
    bars.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        if shown:
            bars.enable_progress_bar()  # type: ignore[no-untyped-call]


def _stop_ids(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> set[int]:
    vocab = tokenizer.get_vocab()
    stops = {vocab[token] for token in _STOP_TOKENS if token in vocab}
    if tokenizer.eos_token_id is not None:
        stops.add(int(tokenizer.eos_token_id))
    generation: Any = getattr(model, "generation_config", None)
    ends = getattr(generation, "eos_token_id", None)
    if ends is not None:
        stops.update([ends] if isinstance(ends, int) else ends)
    return stops


def _banned_ids(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> set[int]:
    """Return what may never be sampled.

    A sampled picture token breaks the next forward pass, which looks for the picture behind it;
    an id beyond the tokenizer has no text.
    """
    config: Any = model.config
    banned = {
        value
        for name, value in config.to_dict().items()
        if name.endswith("token_id")
        and isinstance(value, int)
        and any(word in name for word in _VISION_WORDS)
    }
    banned |= {
        number
        for token, number in tokenizer.get_added_vocab().items()
        if token.startswith("<") and any(word in token for word in _VISION_WORDS)
    }
    if tokenizer.pad_token_id is not None:
        banned.add(int(tokenizer.pad_token_id))
    width = _width(model)
    known = {int(i) for i in tokenizer.get_vocab().values()}
    banned |= {i for i in range(width) if i not in known}
    return {i for i in banned if i < width}


def _width(model: PreTrainedModel) -> int:
    network: Any = model
    return int(network.get_output_embeddings().weight.shape[0])
