"""The tiny models' own tokenizer: whole words, and one token for each place on the screen.

Known words are one token each; any other printable ASCII word falls apart into letters, the rest
is `<|unk|>`. Words are lower-cased. Coordinates are bins `<x0> ... <y0> ...`, listed elements have
marks `<e0> ...`, quotes of the goal `<q0> ...`, tools `<t0> ...`. The chat template has one token a
role, an end for replies alone, and only appends, so each prompt of a window extends the one before.
The words that are asked for stand right before the reply, where a small network finds them most
easily.
"""

from __future__ import annotations

import hashlib
import re
import string
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

from screenloop.types import Struct

PAD, UNK, END = "<|pad|>", "<|unk|>", "<|end|>"
ROLES = ("<|system|>", "<|user|>", "<|assistant|>")
VISION_START, IMAGE, VISION_END, VIDEO = (
    "<|vision_start|>",
    "<|image_pad|>",
    "<|vision_end|>",
    "<|video_pad|>",
)
SPECIAL = (PAD, UNK, END, *ROLES, VISION_START, IMAGE, VISION_END, VIDEO)
ACTION_WORDS = (
    *"tap swipe scroll type key answer done fail infeasible up down left right".split(),
    *"back home enter recents wait clear on off selected switch button tab field".split(),
)
HARNESS_WORDS = tuple(
    "goal screen result ok not done do nothing was your reply could be read is no action place "
    "expected one of each with its places and then to or a mark from needs quote the first it has "
    "counted empty cut off at tokens shown longer screenshot in front tools can called here there "
    "person replied here nowhere unsupported".split()
)
"""What the harness says around every screen, so that it stays short."""
CHAT_TEMPLATE = (
    "{%- for message in messages -%}"
    "<|{{ message.role }}|>"
    "{%- if message.content is string -%}{{ message.content }}"
    "{%- else -%}{%- for part in message.content -%}"
    "{%- if part.type == 'image' -%}<|vision_start|><|image_pad|><|vision_end|>"
    "{%- else -%}{{ part.text }}{%- endif -%}"
    "{%- endfor -%}{%- endif -%}"
    "{%- if message.role == 'assistant' -%}<|end|>{%- endif -%}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}<|assistant|>{%- endif -%}"
)
_WORD = re.compile(r"[a-z]+|[0-9]+")


class TinyWords(Struct, frozen=True, kw_only=True):
    """What a tiny tokenizer can say."""

    words: tuple[str, ...] = ()
    x_bins: int = 21
    y_bins: int = 41
    marks: int = 24
    quotes: int = 4
    tools: int = 0

    def places(self) -> tuple[str, ...]:
        """Return the tokens that stand for places, elements, quotes and tools."""
        return (
            *(f"<x{i}>" for i in range(self.x_bins)),
            *(f"<y{i}>" for i in range(self.y_bins)),
            *(f"<e{i}>" for i in range(self.marks)),
            *(f"<q{i}>" for i in range(self.quotes)),
            *(f"<t{i}>" for i in range(self.tools)),
        )


def frequent_words(texts: Iterable[str], limit: int) -> tuple[str, ...]:
    """Return the most frequent words of some texts, as the tokenizer cuts them; ties by name."""
    counts = Counter(word for text in texts for word in _WORD.findall(text.lower()))
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(word for word, _ in ranked[:limit])


def tiny_tokenizer(tiny: TinyWords) -> PreTrainedTokenizerFast:
    """Make the tokenizer; the same words give the same ids."""
    letters = [c for c in string.printable if c.isprintable() and not c.isspace()]
    letters = [c for c in letters if c == c.lower()]
    entries = dict.fromkeys(
        (
            *SPECIAL,
            *tiny.places(),
            *ACTION_WORDS,
            *HARNESS_WORDS,
            *(word.lower() for word in tiny.words),
            *letters,
            *(f"##{c}" for c in letters),
        )
    )
    vocab = {entry: number for number, entry in enumerate(entries)}
    inner = Tokenizer(models.WordPiece(vocab, unk_token=UNK, max_input_chars_per_word=64))
    inner.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    inner.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation(behavior="isolated")]
    )
    inner.decoder = decoders.WordPiece(prefix="##", cleanup=False)
    inner.add_special_tokens([AddedToken(t, normalized=False, special=True) for t in SPECIAL])
    inner.add_tokens([AddedToken(t, normalized=False, special=False) for t in tiny.places()])
    make: Any = PreTrainedTokenizerFast
    tokenizer: PreTrainedTokenizerFast = make(
        tokenizer_object=inner,
        pad_token=PAD,
        unk_token=UNK,
        eos_token=END,
        additional_special_tokens=[*ROLES, VISION_START, IMAGE, VISION_END, VIDEO],
        chat_template=CHAT_TEMPLATE,
        clean_up_tokenization_spaces=False,
    )
    return tokenizer


def tokenizer_hash(tokenizer: PreTrainedTokenizerBase) -> str:
    """Return 16 hex digits over the vocabulary with its ids and the special tokens."""
    vocab = sorted((number, entry) for entry, number in tokenizer.get_vocab().items())
    return _digest(
        [f"{number} {entry}" for number, entry in vocab] + sorted(tokenizer.all_special_tokens)
    )


def template_hash(tokenizer: PreTrainedTokenizerBase) -> str:
    """Return 16 hex digits over the chat template."""
    return _digest([str(tokenizer.chat_template)])


def _digest(lines: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
