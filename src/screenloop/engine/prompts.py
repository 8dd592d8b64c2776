"""Messages to prompt ids: the model's own chat template, pictures expanded, replies as sampled.

A reply that this engine gave is never encoded again: its very ids go into the next prompt, so
inside a window each prompt extends the one before id for id, whatever the tokenizer would make of
the words.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

from transformers import PreTrainedTokenizerBase

from screenloop.engine.replies import ReplyMemory
from screenloop.engine.vision import VisionRule, place
from screenloop.errors import ConfigError
from screenloop.messages import ImagePart, ImageSpan, Message, TextPart
from screenloop.types import Struct


class Prompt(Struct, frozen=True, kw_only=True):
    """What the network reads: ids with placeholders expanded, and the pictures behind them."""

    token_ids: tuple[int, ...]
    images: tuple[ImageSpan, ...] = ()

    @property
    def keys(self) -> tuple[int, ...]:
        """One integer a token that tells its content apart, for the prefix cache.

        Text is its id. A placeholder is a negative number made of the picture's own hash and the
        place inside it, since all placeholders have one id.
        """
        keys = list(self.token_ids)
        for image in self.images:
            name = int(hashlib.sha256(image.key.encode()).hexdigest()[:15], 16)
            for index in range(image.length):
                keys[image.start + index] = -((name << 20) + index + 1)
        return tuple(keys)


class PromptWriter:
    """Writes prompts for one tokenizer."""

    def __init__(
        self,
        tokenizer: PreTrainedTokenizerBase,
        *,
        vision: VisionRule | None,
        stop_ids: frozenset[int],
    ) -> None:
        self._tokenizer = tokenizer
        self._vision = vision
        self._stop_ids = stop_ids
        self._stops = {str(tokenizer.convert_ids_to_tokens(i)): i for i in stop_ids}
        self._markers = tuple(
            text for text in tokenizer.all_special_tokens if text and not text.isspace()
        )
        self.replies = ReplyMemory()

    def write(self, messages: Sequence[Message], tools: Sequence[dict[str, Any]] = ()) -> Prompt:
        """Return the prompt for the next reply.

        Raises:
            ConfigError: the model takes no pictures, or one has an impossible size.
        """
        pictures = [p for m in messages for p in m.parts if isinstance(p, ImagePart)]
        if pictures and self._vision is None:
            raise ConfigError(
                "this model takes no pictures; use a dialect that reads the screen as text, "
                "e.g. tinytree, or an image-text model"
            )
        ids: list[int] = []
        waiting = iter(pictures)
        for piece, is_reply in self._pieces(messages, tools):
            if is_reply:
                known = self.replies.recall(ids, piece)
                ids += self._encode(piece) if known is None else known
            else:
                ids += self._expand(self._encode(self._behind_stop(piece, ids)), waiting)
        if self._vision is None:
            return Prompt(token_ids=tuple(ids))
        placed = place(ids, [(p.key, p.size_px) for p in pictures], self._vision)
        return Prompt(token_ids=tuple(ids), images=placed)

    # ---- parts -----------------------------------------------------------------------------

    def _pieces(
        self, messages: Sequence[Message], tools: Sequence[dict[str, Any]]
    ) -> Iterator[tuple[str, bool]]:
        """Yield the templated chat cut at the replies; the flag marks a reply.

        A reply that the template rewrites (as some do with old thinking) stays part of the text
        around it.
        """
        chat = [self._chat(message) for message in messages]
        whole = self._template(chat, tools)
        at = 0
        for index, message in enumerate(messages):
            if message.role != "assistant":
                continue
            head = self._template(chat[:index], tools)
            reply = str(chat[index]["content"])
            if len(head) >= at and whole.startswith(head + reply):
                yield whole[at : len(head)], False
                yield reply, True
                at = len(head) + len(reply)
        yield whole[at:], False

    def _template(self, chat: list[dict[str, Any]], tools: Sequence[dict[str, Any]]) -> str:
        text = self._tokenizer.apply_chat_template(
            chat, tools=list(tools) or None, tokenize=False, add_generation_prompt=True
        )
        assert isinstance(text, str)
        return text

    def _chat(self, message: Message) -> dict[str, Any]:
        if self._vision is None or message.role != "user":
            return {"role": message.role, "content": self._plain(message.text, message.role)}
        parts = [
            {"type": "text", "text": self._plain(part.text, message.role)}
            if isinstance(part, TextPart)
            else {"type": "image"}
            for part in message.parts
        ]
        return {"role": message.role, "content": parts}

    def _plain(self, text: str, role: str) -> str:
        """Return the words with control tokens spelt apart, so that a page cannot forge a turn."""
        if role == "assistant":
            return text
        for marker in self._markers:
            if marker in text:
                text = text.replace(marker, f"{marker[0]} {marker[1:]}")
        return text

    def _behind_stop(self, piece: str, ids: Sequence[int]) -> str:
        """Leave out the turn's end where the reply before already holds it as its last token."""
        if ids and ids[-1] in self._stop_ids:
            for token, token_id in self._stops.items():
                if token_id == ids[-1] and piece.startswith(token):
                    return piece.removeprefix(token)
        return piece

    def _encode(self, text: str) -> list[int]:
        ids = self._tokenizer.encode(text, add_special_tokens=False)
        return [int(i) for i in ids]

    def _expand(self, ids: list[int], waiting: Iterator[ImagePart]) -> list[int]:
        if self._vision is None or self._vision.image_id not in ids:
            return ids
        out: list[int] = []
        for token_id in ids:
            if token_id == self._vision.image_id:
                picture = next(waiting, None)
                if picture is None:
                    raise ConfigError(
                        "the chat template asks for more pictures than the messages hold"
                    )
                count = self._vision.tokens(self._vision.grid(picture.size_px))
                out += [token_id] * count
            else:
                out.append(token_id)
        return out
